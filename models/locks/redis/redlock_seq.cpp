// Redlock: the lock is held by whoever holds a majority of independent servers, and only for what is left of the lease.
// Source: redis.io distlock page; redisson-source (six steps, one server after the other); lock-summary, pit 10.
// Claims: mutual-exclusion among clients that look at their clock, own-release, recoverable.
// Breaks: f003-2-redlock-pause (paused before its write, the owner still believes). As variants, and not as specified:
//         f003-5-slow-servers-unchecked (no look at the clock), f003-6-unlocks-only-granted (a failure undone in part).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/redlock.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {
namespace {

class RedlockSeq final : public Redlock {
 public:
  using Redlock::Redlock;

 private:
  /// One server after the other, all of them: what was granted early counts only once the last has been asked.
  sim::Task<redis::Votes> ask(Client& client, std::uint64_t servers, redis::Command command, IsYes is_yes,
                              std::optional<std::size_t>) const override {
    redis::Votes votes;
    const std::span<redis::Connection> masters = redis::servers_of(client);
    for (std::size_t i = 0; i < masters.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((servers & bit) == 0) continue;
      redis::Connection master = masters[i].with_timeout(node_timeout());
      const redis::Reply reply = co_await master.call(command);
      if (!reply.is_unknown()) votes.answered |= bit;
      if (is_yes(reply)) votes.yes |= bit;
    }
    co_return votes;
  }
};

}  // namespace

Entry redlock_seq() {
  return {.id = "redlock-seq",
          .summary = "Redlock on independent servers, asked one after the other",
          .documents = {"redisson-source", "lock-summary"},
          .parameters = redlock_parameters(),
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .many_nodes = true,
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<RedlockSeq>(p); }};
}

}  // namespace lockstep::models::locks
