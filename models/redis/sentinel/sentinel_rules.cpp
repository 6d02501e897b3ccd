#include "models/redis/sentinel/sentinel_rules.hpp"

#include <algorithm>
#include <tuple>

namespace lockstep::models::redis {

bool Ballot::hear_of(Epoch epoch) {
  if (epoch <= epoch_) return false;
  epoch_ = epoch;
  return true;
}

bool Ballot::ask(Epoch epoch, const std::string& candidate) {
  hear_of(epoch);
  if (vote_.epoch >= epoch || epoch_ > epoch) return false;
  vote_ = {candidate, epoch};
  return true;
}

std::optional<Vote> most_voted(std::span<const Vote> votes, Epoch epoch, std::size_t& count) {
  const Vote* leading = nullptr;
  count = 0;
  for (const Vote& candidate : votes) {
    if (candidate.epoch != epoch || candidate.leader.empty()) continue;
    const auto same = static_cast<std::size_t>(std::count(votes.begin(), votes.end(), candidate));
    if (same <= count) continue;
    leading = &candidate;
    count = same;
  }
  return leading != nullptr ? std::optional(*leading) : std::nullopt;
}

/// The quorum says how many must agree that the primary is down; a majority keeps two sides of a partition from
/// electing one leader each. Therefore both, also if the quorum alone is smaller than a majority.
std::optional<std::string> winner(std::span<const Vote> votes, Epoch epoch, std::size_t voters, std::size_t quorum) {
  std::size_t count = 0;
  const std::optional<Vote> leading = most_voted(votes, epoch, count);
  if (!leading || count < voters / 2 + 1 || count < quorum) return std::nullopt;
  return leading->leader;
}

std::optional<std::size_t> best_replica(std::span<const Candidate> candidates) {
  const auto rank = [](const Candidate& candidate) {
    return std::tuple(candidate.priority, -candidate.offset, candidate.run_id.empty(),
                      std::string_view(candidate.run_id));
  };
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.priority == 0) continue;
    if (best == nullptr || rank(candidate) < rank(*best)) best = &candidate;
  }
  return best != nullptr ? std::optional(best->index) : std::nullopt;
}

}  // namespace lockstep::models::redis
