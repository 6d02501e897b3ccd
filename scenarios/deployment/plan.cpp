// What a story plans for its world beforehand: faults, pins, the schedule.

#include <algorithm>
#include <cassert>
#include <optional>

#include <fmt/format.h>

#include "scenarios/deployment/deployment.hpp"
#include "scenarios/story/step_name.hpp"
#include "sim/invariant.hpp"

namespace lockstep::scenarios {

namespace {

/// The name in the world of a step at which a fault strikes: before its write and after its read a client's program
/// says that it is there.
std::string step_named(const Trigger& trigger) {
  const bool is_of_program = (trigger.step == "write" && trigger.kind == Trigger::Kind::before) ||
                             (trigger.step == "read" && trigger.kind == Trigger::Kind::after);
  return is_of_program ? trigger.step : message_named(trigger.step);
}

}  // namespace

std::optional<sim::ProcessId> Deployment::find_process(const std::string& name) const {
  for (std::size_t i = 0; i < world_.process_count(); ++i) {
    const sim::ProcessId id{static_cast<std::uint16_t>(i)};
    if (world_.name(id) == name) return id;
  }
  return std::nullopt;
}

sim::ProcessId Deployment::process_named(const std::string& name) const {
  const std::optional<sim::ProcessId> id = find_process(name);
  sim::invariant(id.has_value(), "a name that is looked up is that of a process");
  return *id;
}

std::optional<std::string> Deployment::look_for_missing_process() const {
  const std::string* missing = nullptr;
  const auto look = [&](const std::string& name) {
    if (missing == nullptr && !find_process(name)) missing = &name;
  };
  const auto look_for_both = [&](const std::string& process, const std::string& server) {
    look(process);
    if (!server.empty()) look(server);
  };
  for (const FaultSpec& fault : scenario_.faults) {
    for (const std::vector<std::string>& side : fault.between) std::for_each(side.begin(), side.end(), look);
    if (!cuts_off(fault.kind)) look(fault.who);
  }
  for (const PinEntry& entry : scenario_.pin) look_for_both(entry.client, entry.server);
  for (const ScheduleEntry& entry : scenario_.schedule) look_for_both(entry.process, entry.server);
  for (const ClientSpec& client : scenario_.clients) {
    if (!client.commands.empty() && !client.server.empty()) look(client.server);
  }
  return missing == nullptr ? std::nullopt : std::optional(*missing);
}

sim::Sides Deployment::sides_named(const std::vector<std::string>& left, const std::vector<std::string>& right) const {
  sim::Sides sides;
  for (const std::string& name : left) sides.left.push_back(process_named(name));
  for (const std::string& name : right) sides.right.push_back(process_named(name));
  return sides;
}

void Deployment::plan_faults() {
  for (const FaultSpec& spec : scenario_.faults) {
    if (cuts_off(spec.kind)) {
      plan_partition(spec);
    } else {
      sim::PlannedFault fault = planned(spec);
      fault.number = static_cast<std::uint32_t>(&spec - scenario_.faults.data());
      world_.plan(std::move(fault));
      planned_faults_.push_back(&spec);
    }
  }
}

void Deployment::plan_partition(const FaultSpec& spec) {
  const sim::Instant from = sim::Instant::at(spec.trigger.time);
  world_.plan(sim::Partition{sides_named(spec.between[0], spec.between[1]), from, from + spec.length.lo});
}

sim::PlannedFault Deployment::planned(const FaultSpec& spec) const {
  sim::PlannedFault fault;
  assert(entry_of(spec.kind).can_be_planned && !cuts_off(spec.kind));
  fault.kind = spec.kind;
  fault.process = process_named(spec.who);
  fault.length = moves_clock(spec.kind) ? spec.by.lo : spec.length.lo;
  fault.restart_after = spec.restart_after;
  for (const ServerSpec& server : scenario_.servers) {
    if (server.name != spec.who || !fault.restart_after) continue;
    fault.restart_after->lo += server.restart_delay;
    fault.restart_after->hi += server.restart_delay;
  }
  fault.keep = spec.keep;
  const bool of_messages = strikes_message(spec.kind);
  fault.step = of_messages ? message_named(spec.trigger.step) : step_named(spec.trigger);
  fault.occurrence = spec.trigger.occurrence;
  fault.of_reply = spec.direction == FaultSpec::Direction::reply;
  switch (spec.trigger.kind) {
    case Trigger::Kind::at: fault.at = spec.trigger.time; break;
    case Trigger::Kind::before: fault.moment = sim::Moment::before; break;
    case Trigger::Kind::sent: fault.moment = sim::Moment::sent; break;
    case Trigger::Kind::after: fault.moment = sim::Moment::after; break;
  }
  return fault;
}

std::vector<std::string> Deployment::missed_faults() const {
  std::vector<std::string> sentences;
  for (const std::size_t index : world_.faults_that_never_struck()) {
    const FaultSpec& spec = *planned_faults_[index];
    sentences.push_back(fmt::format("the fault in line {} never struck: {} did not come to {}{}", spec.at.line,
                                    spec.who, spec.trigger.step,
                                    spec.trigger.occurrence > 1 ? fmt::format(" #{}", spec.trigger.occurrence) : ""));
  }
  return sentences;
}

void Deployment::plan_pins() {
  std::vector<sim::Pin> order;
  for (const PinEntry& entry : scenario_.pin) {
    order.push_back({.client = process_named(entry.client),
                     .step = message_named(entry.command),
                     .occurrence = entry.occurrence,
                     .server = entry.server.empty() ? sim::ProcessId{} : process_named(entry.server)});
  }
  if (!order.empty()) simulation_.pin(std::move(order));
}

void Deployment::plan_schedule() {
  std::vector<sim::ScheduledEvent> events;
  for (const ScheduleEntry& entry : scenario_.schedule) {
    events.push_back({.at = entry.time,
                      .what = entry.what,
                      .process = process_named(entry.process),
                      .step = message_named(entry.step),
                      .server = entry.server.empty() ? sim::ProcessId{} : process_named(entry.server),
                      .occurrence = entry.occurrence,
                      .choices = entry.choices});
  }
  if (!events.empty()) simulation_.schedule(std::move(events));
}

}  // namespace lockstep::scenarios
