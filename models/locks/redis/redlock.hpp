#pragma once

// Redlock but for how servers are asked: one after the other, or all at once.

#include <vector>

#include "models/locks/lock.hpp"
#include "models/locks/parameters.hpp"
#include "models/redis/client/gather.hpp"

namespace lockstep::models::locks {

class Redlock : public LockAlgorithm {
 public:
  explicit Redlock(const Parameters& parameters);

  sim::Task<std::optional<Hold>> acquire(Client& client) const final;
  sim::Task<bool> release(Client& client, Hold hold) const final;

 protected:
  using IsYes = bool (*)(const redis::Reply&);
  /// Sends `command` to the servers of the set and counts who says yes. `enough`: more votes are not needed.
  virtual sim::Task<redis::Votes> ask(Client& client, std::uint64_t servers, redis::Command command, IsYes is_yes,
                                      std::optional<std::size_t> enough) const = 0;

  /// Patience with one server, or with all that are asked at once.
  sim::Duration node_timeout() const { return node_timeout_; }

 private:
  sim::Task<bool> unlock(Client& client, Value token, std::uint64_t servers) const;

  sim::Duration ttl_;
  sim::Duration node_timeout_;
  sim::Duration drift_;
  std::size_t quorum_;
  bool wall_clock_;
  bool check_validity_;
  bool unlock_granted_only_;
};

/// What every way of asking can be told in a scenario.
std::vector<ParameterSpec> redlock_parameters();

}  // namespace lockstep::models::locks
