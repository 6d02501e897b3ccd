#include "scenarios/exploring/judging/how_long.hpp"

#include <algorithm>
#include <vector>

#include "checker/properties/ownership.hpp"
#include "checker/time/parameter_space.hpp"
#include "sim/invariant.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Constraint;
using checker::DifferenceConstraints;
using checker::Explorer;
using checker::ParametricBound;
using sim::Duration;

/// Those of the trace come first.
struct Parameters {
  std::vector<ParametricBound> bounds;
  std::vector<sim::DurationRange> ranges;

  explicit Parameters(Explorer& explorer) : bounds(explorer.parametric().begin(), explorer.parametric().end()) {
    for (const checker::ExploredParameter& parameter : explorer.parameters()) ranges.push_back(parameter.range);
  }
};

}  // namespace

bool lasts_longer(const checker::Violation& way, Duration length, Explorer& explorer) {
  DifferenceConstraints& constraints = explorer.constraints();
  checker::Violation longer = way;
  longer.last_longer_than(length);
  const DifferenceConstraints::Mark mark = constraints.mark();
  bool does = constraints.add_all(longer.constraints);
  if (does) {
    Parameters parameters(explorer);
    checker::add_parametric(longer.sums, parameters.bounds, parameters.ranges);
    if (!parameters.ranges.empty())
      does = !checker::ParameterSpace(constraints, parameters.bounds, parameters.ranges).is_empty();
  }
  constraints.undo(mark);
  return does;
}

Duration longest_of(const checker::Violation& way, Explorer& explorer) {
  DifferenceConstraints& constraints = explorer.constraints();
  const DifferenceConstraints::Mark mark = constraints.mark();
  const bool is_feasible = constraints.add_all(way.constraints);
  sim::invariant(is_feasible, "what is measured is feasible");
  Parameters parameters(explorer);
  const auto lasting = static_cast<std::uint32_t>(parameters.ranges.size());
  Duration most = checker::kLongestLength;
  for (const checker::Length& length : way.lengths) {
    const Constraint bound = Constraint::at_most(length.from, length.until);
    if (bound.from == bound.to) {
      most = std::min(most, Duration::nanoseconds(bound.bound.ns()));
    } else {
      parameters.bounds.push_back({bound, ParametricBound::none, lasting});
    }
  }
  parameters.ranges.push_back({Duration::zero(), most});
  checker::add_parametric(way.sums, parameters.bounds, parameters.ranges, lasting);
  Duration longest;
  if (parameters.ranges.size() == 1) {
    const auto interval = checker::feasible_parameter(constraints, parameters.bounds, parameters.ranges.front());
    sim::invariant(interval.has_value(), "what is feasible lasts for some time");
    longest = interval->greatest_whole().value;
  } else {
    checker::ParameterSpace space(constraints, parameters.bounds, parameters.ranges);
    std::vector<std::int64_t> factors(parameters.ranges.size(), 0);
    factors[lasting] = -1;
    const auto least = space.least(factors);
    sim::invariant(least.has_value(), "what is feasible lasts for some time");
    longest = -least->whole().value;
  }
  constraints.undo(mark);
  return longest < checker::kLongestLength ? longest : Duration::forever();
}

std::size_t too_many(std::optional<std::int64_t> places) { return static_cast<std::size_t>(places.value_or(1)) + 1; }

Duration longest_together(const sim::History& history, std::size_t holders, sim::ProcessId probe) {
  using checker::OwnershipInterval;
  sim::invariant(holders > 1, "one alone holds it as long as it likes");
  std::vector<OwnershipInterval> holds = checker::ownership_intervals(history);
  std::erase_if(holds, [&](const OwnershipInterval& hold) { return hold.is_empty() || hold.process == probe; });
  const auto end_of = [](const OwnershipInterval& hold) { return hold.to ? hold.to->offset() : Duration::forever(); };
  Duration longest;
  for (const OwnershipInterval& last : holds) {
    // The one that came last, and of each other client the hold that lasts longest.
    std::vector<const OwnershipInterval*> others;
    for (const OwnershipInterval& other : holds) {
      if (other.process == last.process || other.object != last.object || !other.contains(last.from)) continue;
      if (other.is_shared && last.is_shared) continue;
      const auto known =
          std::find_if(others.begin(), others.end(), [&](const auto* one) { return one->process == other.process; });
      if (known == others.end()) {
        others.push_back(&other);
      } else if (end_of(**known) < end_of(other)) {
        *known = &other;
      }
    }
    if (others.size() + 1 < holders) continue;
    std::vector<Duration> ends;
    for (const OwnershipInterval* other : others) ends.push_back(end_of(*other));
    std::sort(ends.begin(), ends.end(), [](Duration a, Duration b) { return b < a; });
    const Duration until = std::min(end_of(last), ends[holders - 2]);
    longest = std::max(longest, until == Duration::forever() ? until : until - last.from.offset());
  }
  return longest;
}

}  // namespace lockstep::scenarios
