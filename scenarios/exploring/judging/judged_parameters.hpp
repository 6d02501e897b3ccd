#pragma once

// The ranges of a file whose margins are looked for, and the region in which several of them break a property together.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explorer/fault_budget.hpp"
#include "checker/time/frontier.hpp"

namespace lockstep::scenarios {

/// A range of the file of which a threshold is asked.
struct JudgedParameter {
  std::string name;  ///< "pause", "restart_after", …: sim/worlds/fault_kinds.hpp
  sim::DurationRange range;
  /// Several clocks may be off at once, to both sides: the threshold is that of the largest magnitude.
  bool is_magnitude = false;
};

/// One for each name; budgets of one name share it. `only`: that name alone; empty: all.
std::vector<JudgedParameter> judged_parameters(std::span<const checker::FaultBudget> budgets, std::string_view only);

/// Of several parameters: a frontier for each combination of sides to which clocks may be off, above 0 first. Of one:
/// none.
std::vector<checker::Frontier> frontiers_of(std::span<const JudgedParameter> parameters);

/// What they tell, in as few words as can be; nullopt: no more than the margins do. Requires: they are those of
/// `frontiers_of`.
std::optional<checker::Frontier> joint_region(std::span<const checker::Frontier> frontiers,
                                              std::span<const JudgedParameter> parameters);

/// Whether these lie within the known ones, each in its own.
bool are_covered(std::span<const checker::Frontier> frontiers, std::span<const checker::Frontier> known);

/// The name of the parameter that a range of this budget is; empty: it has none.
std::string_view parameter_of(const checker::FaultBudget& budget);

}  // namespace lockstep::scenarios
