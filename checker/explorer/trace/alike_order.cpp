#include "checker/explorer/trace/alike_order.hpp"

#include <algorithm>

#include "sim/invariant.hpp"

namespace lockstep::checker::explorer {

void AlikeOrder::watch() {
  before_.clear();
  const sim::World& world = moment_.world();
  const auto first_channel = [&](sim::ProcessId process) {
    for (std::uint32_t i = 0; i < world.connection_count(); ++i) {
      if (world.client_of(sim::ConnectionId{i}) == process) return i * 2;
    }
    return sim::Event::kNoChannel;
  };
  for (const std::vector<sim::ProcessId>& group : rules_.options.alike) {
    const auto strikes = [&](const FaultBudget& budget) {
      if (!silences(budget.kind)) return false;
      return std::find_first_of(budget.who.begin(), budget.who.end(), group.begin(), group.end()) != budget.who.end();
    };
    const bool by_start = std::any_of(rules_.options.faults.begin(), rules_.options.faults.end(), strikes);
    for (std::size_t i = 1; i < group.size(); ++i) {
      if (before_.size() <= group[i].index) before_.resize(group[i].index + 1u);
      Before& before = before_[group[i].index];
      sim::invariant(!before.process.is_valid(), "nobody is in two lists of those who are alike");
      before = {group[i - 1], by_start, first_channel(group[i - 1]), first_channel(group[i])};
    }
  }
}

/// Whom it has to come after, if it is the event of its process that is put in order.
const AlikeOrder::Before* AlikeOrder::before(const sim::Event& event) const {
  const bool is_request = event.kind == sim::EventKind::message;
  const sim::ProcessId process = is_request ? event.from : event.process;
  if (process.index >= before_.size()) return nullptr;
  const Before& before = before_[process.index];
  if (!before.process.is_valid()) return nullptr;
  if (before.by_start) return event.kind == sim::EventKind::start && event.cause == 0 ? &before : nullptr;
  const bool is_first = is_request && event.channel == before.own_channel && moment_.last_on(event.channel) == kNone;
  return is_first ? &before : nullptr;
}

bool AlikeOrder::waits(const sim::Event& event) const {
  const Before* first = before(event);
  if (first == nullptr) return false;
  if (!first->by_start) return moment_.last_on(first->channel) == kNone;
  return std::any_of(moment_.pending().begin(), moment_.pending().end(), [&](std::uint32_t slot) {
    const sim::Event& other = moment_.event(slot);
    return other.kind == sim::EventKind::start && other.cause == 0 && other.process == first->process;
  });
}

std::uint32_t AlikeOrder::position_before(const sim::Event& event, std::uint32_t end) const {
  const Before* first = before_.empty() ? nullptr : before(event);
  if (first == nullptr) return kNone;
  for (std::uint32_t i = 0; i < end; ++i) {
    const Step& step = trace_[i];
    const bool is_start = step.is(sim::EventKind::start) && step.cause == kNone;
    if (first->by_start ? is_start && step.process == first->process : step.channel == first->channel) return i;
  }
  return kNone;
}

}  // namespace lockstep::checker::explorer
