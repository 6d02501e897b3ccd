#pragma once

// The semaphore of the book whose order is that of a counter, with or without a lock around its acquisition.

#include "models/locks/lock.hpp"
#include "models/locks/parameters.hpp"

namespace lockstep::models::locks {

class RiaSemFair : public LockAlgorithm {
 public:
  explicit RiaSemFair(const Parameters& parameters)
      : limit_(parameters.number("limit")),
        ttl_(parameters.duration("ttl")),
        bits_(parameters.number("counter_bits")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override;
  sim::Task<bool> release(Client& client, Hold hold) const override;

 private:
  std::int64_t wrapped(std::int64_t count) const;
  Value owners() const { return key().text() + ":owner"; }
  Value counter() const { return key().text() + ":counter"; }

  std::int64_t limit_;
  sim::Duration ttl_;
  std::int64_t bits_;
};

/// What both variants can be told, besides `attempts` and `retry`.
std::vector<ParameterSpec> ria_sem_fair_parameters();

}  // namespace lockstep::models::locks
