#include "models/locks/redis/multilock.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

MultiLock::MultiLock(const Parameters& p, Quorum quorum)
    : rules_(rlock_rules(p)),
      lease_(explicit_lease(p)),
      wait_(p.duration("wait")),
      parts_(static_cast<std::size_t>(p.number("parts"))),
      opposite_orders_(p.flag("opposite_orders")),
      checks_lease_(p.flag("checks_lease")),
      quorum_(quorum) {}

/// One at each server, or several at the only one.
std::vector<RLock> MultiLock::parts_for(Client& client) const {
  std::vector<RLock> parts;
  const std::size_t servers = redis::servers_of(client).size();
  for (std::size_t i = 0; i < std::max(servers, servers > 1 ? servers : parts_); ++i) {
    const bool is_alone = servers > 1;
    parts.emplace_back(is_alone ? i : 0, is_alone ? key() : fmt::format("{}/{}", key().text(), i + 1), rules_);
  }
  if (opposite_orders_ && client.self().index % 2 == 1) std::reverse(parts.begin(), parts.end());
  return parts;
}

sim::Task<bool> MultiLock::unlock(Client& client, const std::vector<RLock>& parts, std::uint64_t which) const {
  bool all_were_mine = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if ((which >> i & 1) == 0) continue;
    const RLock::Release release = co_await parts[i].unlock(client);
    all_were_mine = all_were_mine && (release == RLock::Release::released || release == RLock::Release::still_held);
  }
  co_return all_were_mine;
}

sim::Task<std::optional<Hold>> MultiLock::acquire(Client& client) const {
  const std::vector<RLock> parts = parts_for(client);
  // 1: until all are there, each part's lease is twice the wait, so that the first does not run out before the last is
  // taken.
  const bool waits = wait_ > sim::Duration::zero();
  const std::optional<sim::Duration> part_lease = lease_ && waits ? std::optional(wait_ * 2) : lease_;
  const auto count = static_cast<std::int64_t>(parts.size());
  const sim::Duration part_wait = quorum_ == Quorum::all ? wait_ : std::max(wait_ / count, 1_ms);
  const std::size_t may_fail = quorum_ == Quorum::all ? 0 : parts.size() - (parts.size() / 2 + 1);

  const sim::Instant started = client.clock().now();

  // 2: one after the other.
  Patience patience(client, waits ? std::optional(wait_) : std::nullopt);
  std::uint64_t got = 0;
  std::size_t failures_left = may_fail;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const RLock::Attempt attempt = waits ? co_await parts[i].try_lock(client, part_wait, part_lease, &patience)
                                         : co_await parts[i].try_once(client, part_lease);
    if (attempt.got) {
      got |= std::uint64_t{1} << i;
    } else {
      if (attempt.is_unknown) co_await parts[i].unlock(client);
      // 3: enough without it, or one failure less to bear, or all over again.
      if (parts.size() - static_cast<std::size_t>(std::popcount(got)) == may_fail) break;
      if (failures_left == 0) {
        co_await unlock(client, parts, got);
        if (!waits) co_return std::nullopt;
        failures_left = may_fail;
        got = 0;
        i = static_cast<std::size_t>(-1);
      } else {
        --failures_left;
      }
    }
    // 4: no time left.
    if (patience.is_over()) {
      co_await unlock(client, parts, got);
      co_return std::nullopt;
    }
  }

  // 5: the lease that was asked for, whoever has the part by now; what the servers answer is ignored.
  const sim::Instant taken = client.clock().now();
  if (lease_) co_await set_lease(client, parts, got);
  Hold hold{.is_renewed = !lease_};
  // The library does not look at what is left of the lease. A careful one would: as long as the first part's lease
  // cannot have run out, the one that counts from here on was set for parts that were still its own.
  if (checks_lease_ && lease_) {
    hold.valid_until = taken + *lease_;
    const sim::Clock& clock = client.clock();
    if (clock.has_reached(started + *part_lease) || clock.has_reached(*hold.valid_until)) {
      co_await unlock(client, parts, got);
      co_return std::nullopt;
    }
  }
  co_return hold;
}

sim::Task<void> MultiLock::set_lease(Client& client, const std::vector<RLock>& parts, std::uint64_t which) const {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if ((which >> i & 1) == 0) continue;
    redis::Connection& server = redis::servers_of(client)[parts[i].server()];
    co_await server.call(redis::Command{"PEXPIRE", parts[i].name(), lease_->floor_ms()});
  }
}

sim::Task<bool> MultiLock::release(Client& client, Hold) const {
  const std::vector<RLock> parts = parts_for(client);
  const bool all_were_mine = co_await unlock(client, parts, ~std::uint64_t{0});
  // The red lock ignores what comes of it.
  co_return quorum_ == Quorum::majority || all_were_mine;
}

std::vector<ParameterSpec> multilock_parameters() {
  std::vector<ParameterSpec> parameters = rlock_parameters();
  parameters.push_back({"wait", 10_s, "how long one attempt goes on; 0ms: each part is asked once"});
  parameters.push_back({.name = "parts",
                        .fallback = std::int64_t{2},
                        .meaning = "at a single server: of how many locks it consists",
                        .min = 1,
                        .one_for_all = "it is what the lock consists of"});
  parameters.push_back({.name = "opposite_orders",
                        .fallback = false,
                        .meaning = "every other client takes the parts from the last to the first",
                        .one_for_all = "it says itself which of the clients do so"});
  parameters.push_back({"checks_lease", false, "gives up if the parts' leases may have run out on the way"});
  parameters.push_back(attempts_parameter(1));
  parameters.push_back(retry_parameter({100_ms, 100_ms}));
  return parameters;
}

}  // namespace lockstep::models::locks
