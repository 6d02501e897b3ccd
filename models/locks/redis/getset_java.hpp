#pragma once

#include "models/locks/lock.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::locks {

/// The lock of the document's Java code: see `getset_java.cpp`.
class GetsetJava : public LockAlgorithm {
 public:
  explicit GetsetJava(sim::Duration expiry) : expiry_(expiry) {}
  sim::Task<std::optional<Hold>> acquire(Client& client) const override;
  sim::Task<bool> release(Client& client, Hold hold) const override;

 protected:
  sim::Duration expiry() const { return expiry_; }
  /// One round of the document's loop, with this value for SETNX and GETSET.
  sim::Task<std::optional<Hold>> take(Client& client, sim::Instant until) const;

 private:
  sim::Duration expiry_;
};

}  // namespace lockstep::models::locks
