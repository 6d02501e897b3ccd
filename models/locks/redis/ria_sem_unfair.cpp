// Counting semaphore in a sorted set: each holder's id with the time at which it came, by its own clock; the first
// `limit` are in.
// Source: redis-in-action-notes, v4.0; Redis in Action, chapter 6.
// Claims: capacity with equal clocks, recoverable.
// Breaks: f004-6-slow-clock-gets-in (an earlier time is a better rank), f004-6-fast-clock-purges (a fast clock sees
//         others' places as over); sem-rank-off-by-one (variant).

#include <array>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Command;
using redis::Reply;

constexpr std::array<std::string_view, 2> kAdmits{"below-limit", "up-to-limit"};

class RiaSemUnfair final : public LockAlgorithm {
 public:
  explicit RiaSemUnfair(const Parameters& p)
      : ttl_(p.duration("ttl")), last_rank_(p.number("limit") - (p.choice("admits") == "below-limit" ? 1 : 0)) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: the time by one's own clock.
    const sim::Instant now = client.clock().now();
    const Value id = client.unique_token();

    // 2: drop whoever is past its time, join, and see which place that is.
    const Reply done = co_await redis::server_of(client).transaction(
        {Command{"ZREMRANGEBYSCORE", key(), "-inf", Value::milliseconds(now - ttl_)},
         Command{"ZADD", key(), Value::milliseconds(now), id}, Command{"ZRANK", key(), id}});
    if (!done.is_array()) co_return std::nullopt;
    const Reply& rank = done.items().back();

    // 3: one of the first is in.
    if (rank.is_integer() && rank.integer() <= last_rank_) {
      co_return Hold{.token = id, .lease_until = now + ttl_};
    }

    // 4: the others leave again. There is no waiting: busy is an answer.
    co_await redis::server_of(client).call(Command{"ZREM", key(), id});
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 5: 0 says that the place had been given to somebody else.
    const Reply removed = co_await redis::server_of(client).call(Command{"ZREM", key(), hold.token});
    co_return removed.is_integer(1);
  }

 private:
  sim::Duration ttl_;
  std::int64_t last_rank_;
};

}  // namespace

Entry ria_sem_unfair() {
  return {.id = "ria-sem-unfair",
          .summary = "semaphore: a sorted set of ids by the time at which they came, by their own clocks",
          .documents = {"redis-in-action-notes"},
          .parameters = {places_parameter("limit", 5, "how many may hold it at once"),
                         newcomers_lease_parameter("ttl", 10_s,
                                                   "how long a place is kept, by the clocks of those who come later"),
                         {"admits", std::string("below-limit"),
                          "which ranks, counted from 0, are in; up-to-limit is one too many", kAdmits},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"capacity", "fair", "recoverable"},
          .repaired_by = "ria-sem-fair-locked",
          .make = [](const Parameters& p) { return std::make_unique<RiaSemUnfair>(p); }};
}

}  // namespace lockstep::models::locks
