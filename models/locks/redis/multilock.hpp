#pragma once

// Several of Redisson's locks as one: all of them, or, as a red lock, a majority.

#include "models/locks/redis/rlock.hpp"

namespace lockstep::models::locks {

class MultiLock final : public LockAlgorithm {
 public:
  enum class Quorum : std::uint8_t { all, majority };
  MultiLock(const Parameters& parameters, Quorum quorum);

  sim::Task<std::optional<Hold>> acquire(Client& client) const override;
  sim::Task<bool> release(Client& client, Hold hold) const override;

 private:
  std::vector<RLock> parts_for(Client& client) const;
  sim::Task<bool> unlock(Client& client, const std::vector<RLock>& parts, std::uint64_t which) const;
  sim::Task<void> set_lease(Client& client, const std::vector<RLock>& parts, std::uint64_t which) const;

  RLockRules rules_;
  std::optional<sim::Duration> lease_;
  sim::Duration wait_;
  std::size_t parts_;
  bool opposite_orders_;
  bool checks_lease_;
  Quorum quorum_;
};

std::vector<ParameterSpec> multilock_parameters();

}  // namespace lockstep::models::locks
