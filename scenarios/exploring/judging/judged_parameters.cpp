#include "scenarios/exploring/judging/judged_parameters.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "checker/violations/violations.hpp"
#include "sim/worlds/fault_kinds.hpp"

namespace lockstep::scenarios {
namespace {

constexpr sim::DurationRange kAnyMagnitude{sim::Duration::zero(), checker::kLongestLength};

checker::Frontier region_of(std::span<const checker::Frontier> frontiers, std::span<const JudgedParameter> parameters) {
  // Of two from 0 on also what follows from the file's ranges is told: files quote it.
  const auto is_from_0_on = [](const checker::FrontierAxis& axis) { return axis.is_upward && !axis.is_below; };
  const std::span<const checker::FrontierAxis> axes = frontiers.front().axes();
  if (frontiers.size() == 1 && axes.size() == 2 && std::all_of(axes.begin(), axes.end(), is_from_0_on))
    return frontiers.front().with_axes();
  std::vector<checker::Frontier> sides;
  for (const checker::Frontier& frontier : frontiers) {
    std::vector<sim::DurationRange> ranges;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const checker::FrontierAxis& axis = frontier.axes()[p];
      const sim::DurationRange& range = parameters[p].range;
      const sim::DurationRange magnitudes{sim::Duration::zero(), axis.is_below ? -range.lo : range.hi};
      ranges.push_back(axis.is_upward ? magnitudes : range);
    }
    sides.push_back(frontier.within(ranges).with_axes().simplified());
  }
  return together(sides);
}

}  // namespace

std::string_view parameter_of(const checker::FaultBudget& budget) {
  return sim::ranged_parameter(budget.kind, length_of(budget));
}

std::vector<JudgedParameter> judged_parameters(std::span<const checker::FaultBudget> budgets, std::string_view only) {
  std::vector<JudgedParameter> parameters;
  for (const checker::FaultBudget& budget : budgets) {
    const std::string_view name = parameter_of(budget);
    if (name.empty() || (!only.empty() && name != only)) continue;
    sim::DurationRange range = *length_of(budget);
    range = {range.lo - budget.restart_delay, range.hi - budget.restart_delay};
    auto known = std::find_if(parameters.begin(), parameters.end(),
                              [&](const JudgedParameter& parameter) { return parameter.name == name; });
    const bool is_another = known != parameters.end();
    if (!is_another) known = parameters.insert(known, {std::string(name), range});
    known->range = {std::min(known->range.lo, range.lo), std::max(known->range.hi, range.hi)};
    known->is_magnitude = known->is_magnitude || is_another || (budget.times > 1 && budget.who.size() > 1);
  }
  for (JudgedParameter& parameter : parameters) {
    const bool has_both_sides =
        parameter.range.lo < sim::Duration::zero() && parameter.range.hi > sim::Duration::zero();
    parameter.is_magnitude = parameter.is_magnitude && has_both_sides;
    if (!parameter.is_magnitude) continue;
    parameter.range = {sim::Duration::zero(), std::max(-parameter.range.lo, parameter.range.hi)};
  }
  return parameters;
}

std::vector<checker::Frontier> frontiers_of(std::span<const JudgedParameter> parameters) {
  std::vector<std::vector<checker::FrontierAxis>> sides(parameters.size() > 1 ? 1 : 0);
  for (const JudgedParameter& parameter : parameters) {
    const bool is_upward = !may_come_back(*sim::kind_of_parameter(parameter.name));
    const bool is_below = is_upward && parameter.range.lo < sim::Duration::zero();
    const bool is_above = !is_below || parameter.range.hi > sim::Duration::zero();
    std::vector<std::vector<checker::FrontierAxis>> all;
    for (const bool below : {false, true}) {
      if (!(below ? is_below : is_above)) continue;
      for (const std::vector<checker::FrontierAxis>& known : sides) {
        all.push_back(known);
        all.back().push_back({parameter.name, is_upward ? kAnyMagnitude : parameter.range, is_upward, below});
      }
    }
    sides = std::move(all);
  }
  std::vector<checker::Frontier> frontiers;
  for (std::vector<checker::FrontierAxis>& axes : sides) frontiers.emplace_back(std::move(axes));
  return frontiers;
}

std::optional<checker::Frontier> joint_region(std::span<const checker::Frontier> frontiers,
                                              std::span<const JudgedParameter> parameters) {
  if (frontiers.empty()) return std::nullopt;
  const checker::Frontier region = region_of(frontiers, parameters);
  return region.says_more() ? std::optional(region) : std::nullopt;
}

bool are_covered(std::span<const checker::Frontier> frontiers, std::span<const checker::Frontier> known) {
  return std::equal(known.begin(), known.end(), frontiers.begin(), frontiers.end(),
                    [](const auto& one, const auto& other) { return one.with_axes().covers(other); });
}

}  // namespace lockstep::scenarios
