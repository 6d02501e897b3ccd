// `Explorer` is what users see of a `Search`.

#include "checker/explorer/explorer.hpp"

#include <utility>

#include "checker/explorer/search/search.hpp"
#include "sim/coroutines/region.hpp"

namespace lockstep::checker {

Explorer::Explorer(ExplorerOptions options) : search_(std::make_unique<explorer::Search>(*this, std::move(options))) {}
Explorer::~Explorer() = default;

ExplorerCounts Explorer::explore(Explorable& subject, const Visitor& visit) {
  return explore(subject, Branch{}, {.traces = search_->options().max_traces}, visit).counts;
}

BranchOutcome Explorer::explore(Explorable& subject, const Branch& branch, BranchLimits limits, const Visitor& visit) {
  return search_->explore(subject, branch, limits, visit);
}

void Explorer::keep(OrderInTime order) { search_->keep(order); }
void Explorer::have_enough() { search_->have_enough(); }

sim::World& Explorer::world() { return search_->moment().world(); }
const sim::World& Explorer::world() const { return search_->moment().world(); }
std::span<const std::uint32_t> Explorer::pending() const { return search_->moment().pending(); }
DifferenceConstraints& Explorer::constraints() { return search_->timing().constraints(); }
std::vector<ExploredEvent> Explorer::trace() const { return search_->trace().explored(); }
Branch Explorer::here() const { return search_->tree().here(); }
const ExploredEvent& Explorer::event_at(std::uint32_t position) const { return search_->trace()[position].event; }
sim::Instant Explorer::time_at(std::uint32_t position) const { return search_->trace()[position].at; }
sim::ProcessId Explorer::process_at(std::uint32_t position) const { return search_->trace()[position].process; }
std::uint32_t Explorer::trace_length() const { return search_->trace().length(); }
std::uint32_t Explorer::story_length() const {
  return search_->moment().coda_from().value_or(search_->trace().length());
}
std::span<const ExploredFault> Explorer::faults() const { return search_->faults().faults(); }
std::span<const ExploredParameter> Explorer::parameters() const { return search_->faults().parameters(); }
std::span<const ParametricBound> Explorer::parametric() const { return search_->readings().parametric(); }
std::span<const sim::WholeUnits> Explorer::whole_units() const { return search_->readings().whole_units(); }
bool Explorer::is_widened() const { return search_->readings().is_widened(); }

std::vector<sim::PlannedChoice> Explorer::choices_at(std::uint32_t position) const {
  std::vector<sim::PlannedChoice> choices;
  for (const Answer& answer : search_->trace()[position].answers) {
    if (answer.is_choice != 0) choices.push_back({.index = answer.index, .options = answer.options});
  }
  return choices;
}

std::uint64_t Explorer::choose(sim::Choice choice, std::uint64_t options, sim::EventId) {
  const sim::Region::Outside outside;
  return search_->answer(choice, options);
}

}  // namespace lockstep::checker
