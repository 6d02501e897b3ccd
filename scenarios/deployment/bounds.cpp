// What properties ask of a story: which of them it can answer, how long is too long, and how many are too many.

#include <algorithm>

#include "checker/properties/properties.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::scenarios {
namespace {

/// As many as an attempt can take at all servers, and that twice.
sim::Duration some_round_trips(const Scenario& scenario, const models::locks::Entry& entry) {
  return scenario.network.latency.hi * 2 * (2 * entry.round_trips) * static_cast<std::int64_t>(scenario.servers.size());
}

}  // namespace

sim::Duration Deployment::probe_slack() const {
  return some_round_trips(scenario_, entry_) * static_cast<std::int64_t>(locks_.size());
}

sim::Duration Deployment::slowest_round_trip() const {
  sim::Duration slowest;
  for (std::size_t i = 0; i < scenario_.servers.size(); ++i) slowest = std::max(slowest, latency_to(i).hi * 2);
  return slowest;
}

sim::Duration Deployment::quick_attempt() const {
  sim::Duration all;
  for (std::size_t i = 0; i < scenario_.servers.size(); ++i) all += latency_to(i).lo * 2 * entry_.round_trips;
  return all * static_cast<std::int64_t>(locks_.size());
}

sim::Duration Deployment::patience() const {
  sim::Duration longest = scenario_.network.timeout.value_or(sim::Duration::zero());
  longest =
      std::max(longest, parameters_.duration(models::locks::ParameterRole::server_patience).value_or(sim::Duration()));
  return longest * static_cast<std::int64_t>(scenario_.servers.size() * locks_.size());
}

sim::Duration Deployment::recovery_bound() const {
  return scenario_.recover_within.value_or(lease().value_or(sim::Duration::seconds(1)) + probe_slack());
}

/// After a lease ran out, a client that waited for it knows at its next attempt but one: the next may have come just
/// before.
std::optional<sim::Duration> Deployment::least_deadlock() const {
  const auto takes_several = [](const ClientSpec& client) { return client.locks.size() > 1; };
  if (std::none_of(scenario_.clients.begin(), scenario_.clients.end(), takes_several)) return std::nullopt;
  if (scenario_.deadlock_lasting) return scenario_.deadlock_lasting;
  const std::optional<sim::Duration> longest_lease = lease();
  if (!longest_lease) return sim::Duration::zero();
  sim::Duration retry;
  for (const ClientSpec& client : scenario_.clients) {
    retry = std::max(retry, client.retry.value_or(parameters_.range("retry")).hi);
  }
  return *longest_lease + retry + some_round_trips(scenario_, entry_);
}

bool Deployment::keeps_one_state() const {
  return models::locks::server_kind_of(entry_).keep_one_state(scenario_.servers);
}

checker::WakeupQuestion Deployment::wakeup_question() const {
  const sim::Duration round_trip = latency_to(0).hi * 2;
  const sim::Duration patience = scenario_.network.timeout.value_or(sim::Duration::zero());
  return {.server = keeps_one_state() ? servers_->ids().front() : sim::ProcessId{},
          .object = scenario_.lock.key,
          .within = scenario_.wake_within.value_or(round_trip * 8 + patience * 2),
          .end = world_.now()};
}

std::optional<std::int64_t> Deployment::places() const {
  const auto* places = models::locks::find(entry_.parameters, models::locks::ParameterRole::places);
  if (places == nullptr) return std::nullopt;
  return parameters_.number(places->name);
}

bool Deployment::shares_lock() const {
  const auto shares = [&](const ClientSpec& client) {
    return client.mode.value_or(entry_.mode) == models::Mode::shared;
  };
  return std::any_of(scenario_.clients.begin(), scenario_.clients.end(), [&](const ClientSpec& client) {
    if (client.threads.empty()) return client.commands.empty() && shares(client);
    return std::any_of(client.threads.begin(), client.threads.end(), shares);
  });
}

checker::Circumstances Deployment::circumstances() const {
  return {.has_resource = scenario_.resource.has_value(),
          .has_market = scenario_.market.has_value(),
          .is_semaphore = places().has_value(),
          .shares_lock = shares_lock(),
          .takes_several_locks = deadlock_bound_.has_value(),
          .promises_turns = overtakings().has_value(),
          .reenters = std::any_of(scenario_.clients.begin(), scenario_.clients.end(),
                                  [](const ClientSpec& client) { return client.reenter > 0; }),
          .servers = keeps_one_state() ? 1 : scenario_.servers.size()};
}

/// A program says when it holds a lock, and not when it began to ask; nor does a server know which of its commands were
/// for that.
std::string_view Deployment::why_not_judged(std::string_view property) const {
  if (!programs_.empty() && property == "recoverable" && is_lock_of_programs(scenario_.lock))
    return "[lock] names no algorithm by which another client could try to take the lock";
  if (!programs_.empty() && property != "mutual-exclusion" && property != "recoverable")
    return "a client is a program, which says when it holds the lock and nothing else";
  const auto why = checker::property_named(property).why_not_judged;
  return why != nullptr ? why(circumstances()) : "";
}

bool Deployment::can_be_claimed(std::string_view property) const {
  // Whoever takes the lock with a lease of its own has nothing renewed. What a script renews only the script knows.
  const auto is_renewed = [&](const ClientSpec& client) {
    using models::locks::ParameterRole;
    const auto lease = parameters_of(entry_, scenario_.lock, client).duration(ParameterRole::lease);
    return client.commands.empty() && lease.value_or(sim::Duration::zero()) == sim::Duration::zero();
  };
  if (property == "faithful-renewal" && !scenario_.lock.own.entry &&
      std::none_of(scenario_.clients.begin(), scenario_.clients.end(), is_renewed))
    return false;
  const auto can_be_seen = checker::property_named(property).can_be_seen;
  return why_not_judged(property).empty() && (can_be_seen == nullptr || can_be_seen(circumstances()));
}

std::optional<std::int64_t> Deployment::overtakings() const {
  const auto asks = [](const Expectation& expectation) { return expectation.property == "fair"; };
  const bool is_asked = std::any_of(scenario_.expect_run.begin(), scenario_.expect_run.end(), asks) ||
                        std::any_of(scenario_.expect_check.begin(), scenario_.expect_check.end(), asks);
  if (scenario_.fair_overtakings || is_asked || claims_fairness_) return scenario_.fair_overtakings.value_or(0);
  return std::nullopt;
}

/// Nobody but the probe has the parameters of [lock] alone, if all clients have their own.
std::optional<sim::Duration> Deployment::longest_lease() const {
  using models::locks::ParameterRole;
  // Where newcomers decide how long a hold counts, the probe is one of them.
  const bool probe_decides = models::locks::find(entry_.parameters, ParameterRole::newcomers_lease) != nullptr;
  std::optional<sim::Duration> longest;
  bool has_users = false;
  for (const ClientSpec& client : scenario_.clients) {
    if (!client.commands.empty()) continue;
    has_users = true;
    longest = std::max(longest, lease_of(parameters_of(entry_, scenario_.lock, client)));
  }
  return has_users && !probe_decides ? longest : std::max(longest, lease_of(parameters_));
}

/// Of all clients; zero if the algorithm has no such parameter.
sim::Duration Deployment::longest(models::locks::ParameterRole role) const {
  sim::Duration longest = parameters_.duration(role).value_or(sim::Duration::zero());
  for (const ClientSpec& client : scenario_.clients) {
    if (client.parameters.empty()) continue;
    longest = std::max(longest, parameters_of(entry_, scenario_.lock, client).duration(role).value_or(longest));
  }
  return longest;
}

}  // namespace lockstep::scenarios
