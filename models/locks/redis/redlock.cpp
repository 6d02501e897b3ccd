#include "models/locks/redis/redlock.hpp"

#include <array>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Command;
using redis::Reply;

constexpr std::array<std::string_view, 2> kClocks{"monotonic", "wall"};
constexpr std::array<std::string_view, 2> kUnlock{"all", "granted"};

bool is_granted(const Reply& reply) { return reply.is_ok(); }
bool is_deleted(const Reply& reply) { return reply.is_integer(1); }

}  // namespace

Redlock::Redlock(const Parameters& p)
    : ttl_(p.duration("ttl")),
      node_timeout_(p.duration("node_timeout")),
      drift_(p.duration("ttl") * p.number("drift_percent") / 100 + p.duration("drift_extra")),
      quorum_(static_cast<std::size_t>(p.number("quorum"))),
      wall_clock_(p.choice("clock") == "wall"),
      check_validity_(p.flag("check_validity")),
      unlock_granted_only_(p.choice("unlock") == "granted") {}

sim::Task<std::optional<Hold>> Redlock::acquire(Client& client) const {
  // Step 1: look at the clock before anything is sent, and draw a value for this attempt alone.
  const sim::Clock& clock = wall_clock_ ? client.clock() : client.monotonic();
  const sim::Instant started = clock.now();
  const Value token = client.unique_token();

  // Step 2: ask every server, with a short patience. A missing reply is no vote.
  const std::size_t servers = redis::servers_of(client).size();
  const std::size_t quorum = quorum_ != 0 ? quorum_ : servers / 2 + 1;
  const redis::Votes votes = co_await ask(
      client, redis::kEveryServer, Command{"SET", key(), token, "NX", "PX", ttl_.floor_ms()}, is_granted, quorum);

  // Steps 3 to 5: a majority, and something left of the lease.
  Hold hold{token};
  if (check_validity_) hold.valid_until = started + ttl_ - drift_;
  hold.on_monotonic_clock = !wall_clock_;
  const bool is_too_late = hold.valid_until && clock.has_reached(*hold.valid_until);
  if (votes.count() >= quorum && !is_too_late) co_return hold;

  // Step 6: give back what was taken, also where no answer came.
  co_await unlock(client, token, unlock_granted_only_ ? votes.yes : redis::kEveryServer);
  co_return std::nullopt;
}

sim::Task<bool> Redlock::release(Client& client, Hold hold) const {
  co_return co_await unlock(client, hold.token, redis::kEveryServer);
}

/// Compare-and-delete on the servers of the set. Whether a majority of all still had it.
sim::Task<bool> Redlock::unlock(Client& client, Value token, std::uint64_t servers) const {
  const redis::Votes deleted =
      co_await ask(client, servers, Command{"EVAL", Value::lasting(scripts::delete_if_mine_lua), 1, key(), token},
                   is_deleted, std::nullopt);
  co_return deleted.count() > redis::servers_of(client).size() / 2;
}

std::vector<ParameterSpec> redlock_parameters() {
  return {
      lease_parameter("ttl", 10_s, "time to live of each key"),
      {.name = "node_timeout",
       .fallback = 50_ms,
       .meaning = "patience with one server",
       .role = ParameterRole::server_patience},
      {"drift_percent", std::int64_t{1}, "share of the lease that is given up for clock drift"},
      {"drift_extra", 2_ms, "and this much more"},
      {"quorum", std::int64_t{0}, "votes that are needed; 0: more than half of the servers"},
      {"check_validity", true, "look whether anything is left of the lease; the algorithm is wrong without"},
      {"clock", std::string("monotonic"), "what measures the time an attempt took", kClocks},
      {"unlock", std::string("all"), "whom a failed attempt gives back to: all, or only those that granted", kUnlock},
      attempts_parameter(3),
      retry_parameter({100_ms, 300_ms})};
}

}  // namespace lockstep::models::locks
