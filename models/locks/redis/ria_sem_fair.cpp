// Counting semaphore whose places go by a counter of the server: the clocks only say when a place is over.
// Source: redis-in-action-notes, v4.0 ("combine with a counter"); Redis in Action, chapter 6.
// Claims: capacity, fair, with equal clocks; recoverable.
// Breaks: f004-7-counter-before-place (counting and joining are two steps), f004-8-counter-wraps (a client that
//         keeps 32 bits of the counter).

#include "models/locks/redis/ria_sem_fair.hpp"

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;
using redis::Command;
using redis::Reply;

/// As a client has it that keeps so many bits, with a sign. The server counts with 64.
std::int64_t RiaSemFair::wrapped(std::int64_t count) const {
  if (bits_ == 0) return count;
  const std::int64_t values = std::int64_t{1} << bits_;
  const std::int64_t half = values / 2;
  return ((count + half) % values + values) % values - half;
}

sim::Task<std::optional<Hold>> RiaSemFair::acquire(Client& client) const {
  // 1: drop whoever is past its time, here and among the owners, and draw a number.
  const sim::Instant now = client.clock().now();
  const Value id = client.unique_token();
  const Reply counted = co_await redis::server_of(client).transaction(
      {Command{"ZREMRANGEBYSCORE", key(), "-inf", Value::milliseconds(now - ttl_)},
       Command{"ZINTERSTORE", owners(), 2, owners(), key(), "WEIGHTS", 1, 0}, Command{"INCR", counter()}});
  if (!counted.is_array() || !counted.items().back().is_integer()) co_return std::nullopt;
  const std::int64_t number = wrapped(counted.items().back().integer());

  // 2: join with that number, and see which place that is.
  const Reply joined = co_await redis::server_of(client).transaction(
      {Command{"ZADD", key(), Value::milliseconds(now), id}, Command{"ZADD", owners(), number, id},
       Command{"ZRANK", owners(), id}});
  // 3: one of the first is in.
  const bool is_in =
      joined.is_array() && joined.items().back().is_integer() && joined.items().back().integer() < limit_;
  if (is_in) co_return Hold{.token = id, .lease_until = now + ttl_};

  // 4: the others leave again.
  co_await release(client, Hold{id});
  co_return std::nullopt;
}

sim::Task<bool> RiaSemFair::release(Client& client, Hold hold) const {
  // 5: nobody else's id is touched. Whether mine was still there is what the first answer says.
  const Reply removed = co_await redis::server_of(client).transaction(
      {Command{"ZREM", key(), hold.token}, Command{"ZREM", owners(), hold.token}});
  co_return removed.is_array() && removed.items().front().is_integer(1);
}

std::vector<ParameterSpec> ria_sem_fair_parameters() {
  return {places_parameter("limit", 5, "how many may hold it at once"),
          newcomers_lease_parameter("ttl", 10_s, "how long a place is kept, by the clocks of those who come later"),
          {.name = "counter_bits",
           .fallback = std::int64_t{0},
           .meaning = "how many bits of the counter a client keeps, one of them the sign; 0: all 64",
           .one_for_all = "all clients are of one program"}};
}

Entry ria_sem_fair() {
  std::vector<ParameterSpec> parameters = ria_sem_fair_parameters();
  parameters.push_back(attempts_parameter(1));
  parameters.push_back(retry_parameter({100_ms, 100_ms}));
  return {.id = "ria-sem-fair",
          .summary = "semaphore: ids in the order of a counter, and a second sorted set for when they are over",
          .documents = {"redis-in-action-notes"},
          .parameters = std::move(parameters),
          .claims = {"capacity", "fair", "recoverable"},
          .repaired_by = "ria-sem-fair-locked",
          .make = [](const Parameters& p) { return std::make_unique<RiaSemFair>(p); }};
}

}  // namespace lockstep::models::locks
