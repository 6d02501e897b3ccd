#include "scenarios/deployment/allowed_faults.hpp"

#include <algorithm>
#include <cassert>

#include "scenarios/deployment/partition_sides.hpp"
#include "scenarios/story/step_name.hpp"

namespace lockstep::scenarios {

using sim::Duration;

std::string_view parameter_of(const MaySpec& may) { return sim::ranged_parameter(may.kind, length_of(may)); }

bool comes_back(const MaySpec& may) { return may_come_back(may.kind) && may.restart_after.has_value(); }

bool AllowedFaults::Budget::allows(sim::ProcessId process) const {
  return std::find(who.begin(), who.end(), process) != who.end();
}

AllowedFaults::AllowedFaults(const Scenario& scenario, Deployment& deployment) : world_(deployment.world()) {
  const std::vector<Lane> lanes = deployment.lanes();
  for (const MaySpec& may : scenario.may) {
    Budget& budget = budgets_.emplace_back();
    budget.may = &may;
    const bool strikes_servers = entry_of(may.kind).unless_named == sim::Whose::servers;
    const Lane::Role anybody = strikes_servers ? Lane::Role::server : Lane::Role::client;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].host.is_valid()) continue;  // a thread or a background task is not struck alone
      const bool is_named = std::find(may.who.begin(), may.who.end(), lanes[i].name) != may.who.end();
      if (may.who.empty() ? lanes[i].role == anybody : is_named)
        budget.who.push_back(sim::ProcessId{static_cast<std::uint16_t>(i)});
    }
    for (const PartitionSides& sides : partition_sides(scenario, may)) {
      budget.sides.push_back(deployment.sides_named(sides.left, sides.right));
    }
  }
  restart_delays_.resize(lanes.size());
  for (std::size_t i = 0; i < scenario.servers.size(); ++i)
    restart_delays_[scenario.clients.size() + i] = scenario.servers[i].restart_delay;
}

void AllowedFaults::begin() {
  struck_.clear();
  world_.reunite();
  for (Budget& budget : budgets_)
    budget.left = is_nothing(budget.may->kind, length_of(*budget.may)) ? 0 : budget.may->times;
}

bool AllowedFaults::can_strike(const Budget& budget, const sim::Event& message) const {
  if (message.kind != sim::EventKind::message || message.bounced) return false;
  const sim::Message& content = *message.message;
  if (content.is_push || content.is_fin) return false;
  const MaySpec& may = *budget.may;
  if (!may.message.empty() && content.name() != message_named(may.message)) return false;
  if (may.direction && (*may.direction == FaultSpec::Direction::reply) != content.is_reply) return false;
  if (!world_.is_of(content, may.during)) return false;
  return budget.allows(world_.client_of(sim::ConnectionId{message.channel / 2}));
}

bool AllowedFaults::is_at_it(const Budget& budget, sim::ProcessId process) const {
  return world_.is_at(process, budget.may->during);
}

sim::PlannedFault AllowedFaults::fault_of(const Budget& budget, sim::ProcessId victim, Duration length) const {
  const MaySpec& may = *budget.may;
  assert(strikes_process(may.kind));
  // Where the clock of a running process turns out to be off, it jumps.
  sim::PlannedFault fault{.kind = moves_clock(may.kind) ? sim::FaultKind::jump : may.kind,
                          .process = victim,
                          .length = lasts(may.kind) || moves_clock(may.kind) ? length : Duration::zero(),
                          .keep = may.keep};
  if (comes_back(may)) fault.restart_after = sim::DurationRange::exactly(length + restart_delays_[victim.index]);
  return fault;
}

void AllowedFaults::separate(Budget& budget, std::size_t side, sim::Instant moment, Duration length) {
  spend(budget);
  struck_.emplace_back(parameter_of(*budget.may), length);
  world_.plan(sim::Partition{budget.sides[side], moment, moment + length});
}

void AllowedFaults::delay(Budget& budget, Duration length) {
  spend(budget);
  struck_.emplace_back(parameter_of(*budget.may), length);
}

void AllowedFaults::strike(Budget& budget, const sim::PlannedFault& fault, sim::Instant moment) {
  spend(budget);
  // A margin of `restart_after` is that of the key in the file, without the server's own delay.
  const bool is_away = fault.restart_after.has_value();
  struck_.emplace_back(parameter_of(*budget.may),
                       is_away ? fault.restart_after->lo - restart_delays_[fault.process.index] : fault.length);
  world_.strike_now(fault, moment);
}

Duration AllowedFaults::largest(std::string_view parameter) const {
  Duration most;
  bool is_first = true;
  for (const auto& [name, value] : struck_) {
    if (name != parameter) continue;
    most = is_first ? value : std::max(most, value);
    is_first = false;
  }
  return most;
}

}  // namespace lockstep::scenarios
