// Redlock: the lock is held by whoever holds a majority of independent servers, and only for what is left of the lease.
// Source: redis.io distlock page; redisson-source (six steps, one server after the other); lock-summary, pit 10.
// Claims: mutual-exclusion among clients that look at their clock, own-release, recoverable.
// Breaks: f003-2-redlock-pause (paused before its write, the owner still believes). As variants, and not as specified:
//         f003-5-slow-servers-unchecked (no look at the clock), f003-6-unlocks-only-granted (a failure undone in part).

#include <array>

#include "models/client.hpp"
#include "models/locks/entries.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

constexpr std::array<std::string_view, 2> kClocks{"monotonic", "wall"};
constexpr std::array<std::string_view, 2> kUnlock{"all", "granted"};

class RedlockSeq final : public LockAlgorithm {
 public:
  explicit RedlockSeq(const Parameters& p)
      : ttl_(p.duration("ttl")),
        node_timeout_(p.duration("node_timeout")),
        drift_(p.duration("ttl") * p.number("drift_percent") / 100 + p.duration("drift_extra")),
        quorum_(static_cast<std::size_t>(p.number("quorum"))),
        wall_clock_(p.choice("clock") == "wall"),
        check_validity_(p.flag("check_validity")),
        unlock_granted_only_(p.choice("unlock") == "granted") {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // Step 1: look at the clock before anything is sent, and draw a value for this attempt alone.
    const sim::Clock& clock = wall_clock_ ? client.clock() : client.monotonic();
    const sim::Instant started = clock.now();
    const redis::Value token = client.unique_token();

    // Step 2: one server after the other, each with a short patience. A missing reply is no vote.
    std::size_t votes = 0;
    std::uint64_t granted = 0;
    const std::span<redis::Connection> masters = client.redis_masters();
    for (std::size_t i = 0; i < masters.size(); ++i) {
      redis::Connection master = masters[i].with_timeout(node_timeout_);
      const Reply reply = co_await master.set(key(), token, {.nx = true, .px = ttl_});
      if (!reply.is_ok()) continue;
      ++votes;
      granted |= std::uint64_t{1} << i;
    }

    // Steps 3 to 5: a majority, and something left of the lease.
    Hold hold{token};
    if (check_validity_) hold.valid_until = started + ttl_ - drift_;
    hold.on_monotonic_clock = !wall_clock_;
    const std::size_t quorum = quorum_ != 0 ? quorum_ : masters.size() / 2 + 1;
    const bool is_too_late = hold.valid_until && clock.has_reached(*hold.valid_until);
    if (votes >= quorum && !is_too_late) co_return hold;

    // Step 6: give back what was taken, also where no answer came.
    co_await unlock(client, token, unlock_granted_only_ ? granted : ~std::uint64_t{0});
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    co_return co_await unlock(client, hold.token, ~std::uint64_t{0});
  }

 private:
  /// Compare-and-delete on the servers of the set. Whether a majority of all still had it.
  sim::Task<bool> unlock(Client& client, redis::Value token, std::uint64_t servers) const {
    std::size_t deleted = 0;
    const std::span<redis::Connection> masters = client.redis_masters();
    for (std::size_t i = 0; i < masters.size(); ++i) {
      if ((servers >> i & 1) == 0) continue;
      redis::Connection master = masters[i].with_timeout(node_timeout_);
      const Reply reply = co_await master.eval(scripts::delete_if_mine_lua, {key()}, {token});
      if (reply.is_integer(1)) ++deleted;
    }
    co_return deleted > masters.size() / 2;
  }

  sim::Duration ttl_;
  sim::Duration node_timeout_;
  sim::Duration drift_;
  std::size_t quorum_;
  bool wall_clock_;
  bool check_validity_;
  bool unlock_granted_only_;
};

}  // namespace

Entry redlock_seq() {
  return {.id = "redlock-seq",
          .summary = "Redlock on independent servers, asked one after the other",
          .documents = {"redisson-source", "lock-summary"},
          .parameters = {{"ttl", 10_s, "time to live of each key"},
                         {"node_timeout", 50_ms, "patience with one server"},
                         {"drift_percent", std::int64_t{1}, "share of the lease that is given up for clock drift"},
                         {"drift_extra", 2_ms, "and this much more"},
                         {"quorum", std::int64_t{0}, "votes that are needed; 0: more than half of the servers"},
                         {"check_validity", true,
                          "look whether anything is left of the lease; the algorithm is wrong without"},
                         {"clock", std::string("monotonic"), "what measures the time an attempt took", kClocks},
                         {"unlock", std::string("all"),
                          "whom a failed attempt gives back to: all, or only those that granted", kUnlock},
                         attempts_parameter(3),
                         retry_parameter({100_ms, 300_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .many_nodes = true,
          .make = [](const Parameters& p) { return std::make_unique<RedlockSeq>(p); }};
}

}  // namespace lockstep::models::locks
