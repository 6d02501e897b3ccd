#pragma once

// The lock of the book in its first version: SETNX until the client's own wall clock says that it has waited enough.

#include "models/locks/lock.hpp"
#include "models/locks/parameters.hpp"

namespace lockstep::models::locks {

class RiaLock : public LockAlgorithm {
 public:
  explicit RiaLock(const Parameters& parameters)
      : acquire_timeout_(parameters.duration("acquire_timeout")), poll_(parameters.range("poll")) {}
  RiaLock(sim::Duration acquire_timeout, sim::DurationRange poll) : acquire_timeout_(acquire_timeout), poll_(poll) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override;
  sim::Task<bool> release(Client& client, Hold hold) const override;

 protected:
  /// The key that stands for the lock.
  virtual Value lock_key() const { return key(); }

  /// What follows a SETNX that created the key, and one that found it. Nothing, in the first version.
  virtual sim::Task<void> taken(Client& client) const;
  virtual sim::Task<void> found_taken(Client& client) const;

 private:
  sim::Duration acquire_timeout_;
  sim::DurationRange poll_;
};

/// `acquire_timeout` and `poll`, with the book's figures.
ParameterSpec ria_acquire_timeout(sim::Duration fallback);
ParameterSpec ria_poll();

}  // namespace lockstep::models::locks
