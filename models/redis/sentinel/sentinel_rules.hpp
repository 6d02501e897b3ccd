#pragma once

// The three rules on which Sentinel's safety rests, without processes and messages: one vote per epoch, who has won an
// election, and which replica is promoted. Source: sentinel.c of Redis 7.0 (sentinelVoteLeader, sentinelGetLeader,
// sentinelSelectSlave).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sim/time/time.hpp"

namespace lockstep::models::redis {

/// Number of an election. Whoever starts one counts on from the highest epoch that it has heard of.
using Epoch = std::int64_t;

struct Vote {
  std::string leader;  ///< for whom: the id of a sentinel
  Epoch epoch = 0;     ///< in which election
  bool operator==(const Vote&) const = default;
};

/// What one sentinel must not forget, not even in a crash: the highest epoch that it has heard of, and its latest vote.
class Ballot {
 public:
  Epoch epoch() const { return epoch_; }
  /// Its latest vote; without a leader: it has never voted.
  const Vote& vote() const { return vote_; }

  /// Hears of an epoch. Whether it is news.
  bool hear_of(Epoch epoch);
  /// Begins an election of its own.
  Epoch begin() { return ++epoch_; }
  /// Somebody asks for its vote in an epoch. It votes once per epoch and never in one that is over, so the answer,
  /// which is `vote()`, may name another candidate or an older epoch. Whether it has voted just now.
  bool ask(Epoch epoch, const std::string& candidate);

 private:
  Epoch epoch_ = 0;
  Vote vote_;
};

/// Who has most votes of this epoch; of several the one that comes first in `votes`. Nobody: there are none.
std::optional<Vote> most_voted(std::span<const Vote> votes, Epoch epoch, std::size_t& count);

/// Whom a majority of all `voters` has elected in this epoch, with at least `quorum` votes.
std::optional<std::string> winner(std::span<const Vote> votes, Epoch epoch, std::size_t voters, std::size_t quorum);

/// What decides between replicas that are all fit to be promoted.
struct Candidate {
  std::size_t index = 0;      ///< for the caller
  std::int64_t priority = 0;  ///< replica-priority: the lower the better; 0: never
  std::int64_t offset = 0;    ///< of replication: how much of the primary's stream it has; the more the better
  std::string run_id;         ///< the first in order; one that is not known yet comes last
};

/// The `index` of the best, or nothing if none may be promoted.
std::optional<std::size_t> best_replica(std::span<const Candidate> candidates);

}  // namespace lockstep::models::redis
