// Processes that are alike, and the order in which they come.

#include <algorithm>

#include "checker/explorer/explorer.hpp"

namespace lockstep::checker {
namespace {

using Kind = ExploredFault::Kind;
using Mutant = ExplorerOptions::Mutant;
using sim::Duration;

}  // namespace

void Explorer::put_alike_in_order() {
  alike_before_.clear();
  const auto first_channel = [&](sim::ProcessId process) {
    for (std::uint32_t i = 0; i < world_->connection_count(); ++i) {
      if (world_->client_of(sim::ConnectionId{i}) == process) return i * 2;
    }
    return sim::Event::kNoChannel;
  };
  for (const std::vector<sim::ProcessId>& group : options_.alike) {
    const auto strikes = [&](const FaultBudget& budget) {
      if (budget.kind != Kind::crash && budget.kind != Kind::lose) return false;
      return std::find_first_of(budget.who.begin(), budget.who.end(), group.begin(), group.end()) != budget.who.end();
    };
    const bool by_start = std::any_of(options_.faults.begin(), options_.faults.end(), strikes);
    for (std::size_t i = 1; i < group.size(); ++i) {
      if (alike_before_.size() <= group[i].index) alike_before_.resize(group[i].index + 1u);
      alike_before_[group[i].index] = {group[i - 1], by_start, first_channel(group[i - 1]), first_channel(group[i])};
    }
  }
}

/// Whom it has to come after, if it is the event of its process that is put in order.
const Explorer::AlikeBefore* Explorer::alike_before(const sim::Event& event) const {
  const bool is_request = event.kind == sim::EventKind::message;
  const sim::ProcessId process = is_request ? event.from : event.process;
  if (process.index >= alike_before_.size()) return nullptr;
  const AlikeBefore& before = alike_before_[process.index];
  if (!before.process.is_valid()) return nullptr;
  if (before.by_start) return event.kind == sim::EventKind::start && event.cause == 0 ? &before : nullptr;
  const bool is_first = is_request && event.channel == before.own_channel &&
                        (event.channel >= last_on_.size() || last_on_[event.channel] == kNone);
  return is_first ? &before : nullptr;
}

bool Explorer::waits_for_alike(const sim::Event& event) const {
  const AlikeBefore* before = alike_before(event);
  if (before == nullptr) return false;
  if (!before->by_start) return before->channel >= last_on_.size() || last_on_[before->channel] == kNone;
  return std::any_of(pending_.begin(), pending_.end(), [&](std::uint32_t slot) {
    const sim::Event& other = world_->event(slot);
    return other.kind == sim::EventKind::start && other.cause == 0 && other.process == before->process;
  });
}

/// Where that stands which it comes after.
std::uint32_t Explorer::position_of_alike(const sim::Event& event) const {
  const AlikeBefore* before = alike_before_.empty() ? nullptr : alike_before(event);
  if (before == nullptr) return kNone;
  for (std::uint32_t i = 0; i < position_; ++i) {
    const Node& node = nodes_[i];
    const bool is_start = node.event.kind == sim::EventKind::start && node.cause == kNone;
    if (before->by_start ? is_start && node.process == before->process : node.channel == before->channel) return i;
  }
  return kNone;
}

void Explorer::come_after_alike(const Node& node) {
  const Node* first = node_at(node.alike_before);
  if (first == nullptr) return;
  const bool is_strict = options_.mutant == Mutant::strictly_alike;
  at_most(first->at + Duration::nanoseconds(is_strict ? 1 : 0), node.at);
}

}  // namespace lockstep::checker
