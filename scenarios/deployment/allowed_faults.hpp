#pragma once

// What [[may]] allows in a concrete run, and what of it has struck: for whoever decides where it does, a grid or
// chance.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/deployment/deployment.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/worlds/faults.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::scenarios {

/// The name of the parameter that a fault's range is, or nothing if it has none.
std::string_view parameter_of(const MaySpec& may);

class AllowedFaults {
 public:
  /// One [[may]]: whom it may strike, and how often it still may in the present run.
  struct Budget {
    const MaySpec* may = nullptr;
    std::vector<sim::ProcessId> who;
    std::vector<sim::Sides> sides;  ///< of a partition: one of them
    std::int64_t left = 0;
    bool allows(sim::ProcessId process) const;
  };

  /// Requires: `scenario` and `deployment` outlive it.
  AllowedFaults(const Scenario& scenario, Deployment& deployment);

  /// A run begins: nothing has struck.
  void begin();
  std::vector<Budget>& budgets() { return budgets_; }
  const std::vector<Budget>& budgets() const { return budgets_; }

  /// Whether this message can be lost or delayed. A subscriber's cannot be struck alone: its connection would be lost
  /// with it.
  bool can_strike(const Budget& budget, const sim::Event& message) const;
  /// Whether whoever may be struck is at what he has to be at for that.
  bool is_at_it(const Budget& budget, sim::ProcessId process) const;
  /// The fault as the world knows it; `length`: of a pause, of a jump, until a restart.
  sim::PlannedFault fault_of(const Budget& budget, sim::ProcessId victim, sim::Duration length) const;
  /// Strikes between two events. What is lost is not struck, but `spent`.
  void strike(Budget& budget, const sim::PlannedFault& fault, sim::Instant moment);
  /// From `moment` on nothing passes between these sides of the budget for so long.
  void separate(Budget& budget, std::size_t side, sim::Instant moment, sim::Duration length);
  /// A message takes so much longer.
  void delay(Budget& budget, sim::Duration length);
  static void spend(Budget& budget) { --budget.left; }

  /// With which values faults of parameters have struck in the present run.
  const std::vector<std::pair<std::string_view, sim::Duration>>& struck() const { return struck_; }
  /// The largest of one parameter; zero if no such fault did.
  sim::Duration largest(std::string_view parameter) const;

 private:
  sim::World& world_;
  std::vector<Budget> budgets_;
  std::vector<sim::Duration> restart_delays_;  ///< by process
  std::vector<std::pair<std::string_view, sim::Duration>> struck_;
};

/// Whether its victim comes back. When, and what was on its way meanwhile, depends on when it crashed: that need not be
/// when something happens to it.
bool comes_back(const MaySpec& may);

}  // namespace lockstep::scenarios
