#pragma once

// Which lengths a story has, the story with another value of one, and what moves with it.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/families/family.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/linear_simulation.hpp"

namespace lockstep::scenarios {

/// All lengths whose families can be made, in the order of the file: of its faults, of clocks that are off, of links. A
/// drift is none, since no time is linear in it; nor is the jump of a client's clock, whose readings from before and
/// after it have no common measure here.
std::vector<FamilyParameter> family_parameters(const Scenario& story, const models::locks::Catalogue& catalogue);

/// The same story with this value.
Scenario with_value(Scenario story, const FamilyParameter& parameter, sim::Duration value);

/// The file's own run. Nothing: it has a schedule, so all its times are fixed, or a clock that drifts.
std::optional<FamilyStory> as_told(const Scenario& story);

/// What `check` shows of a violation: each event takes as long as in the witness, and the lengths of faults are free.
/// Nothing: without its schedule the witness does not break the property. `original` is what was explored.
std::optional<FamilyStory> as_witnessed(const Scenario& witness, const Scenario& original, std::string_view property,
                                        const models::locks::Catalogue& catalogue);

/// Delays that are fixed by the events' identities, in nanoseconds beyond the least; all else is the first of what
/// there is. Requires: `Simulation::set_tick(1ns)`.
class FixedDelays final : public sim::Decisions {
 public:
  explicit FixedDelays(const FamilyStory& story) : story_(story) {}
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override;
  bool always_first() const override { return true; }

 private:
  const FamilyStory& story_;
};

/// What moves with the first parameter, and with the second if there is one. Requires: `deployment` is of `valued`,
/// which is `story` with their values.
sim::LinearSimulation::Settings linear_settings(const FamilyStory& story, const Scenario& valued,
                                                const models::locks::Catalogue& catalogue, const Deployment& deployment,
                                                const FamilyParameter& x, const FamilyParameter* y);
/// Partitions whose length moves are planned anew.
void plan_partitions(const Scenario& valued, Deployment& deployment, sim::LinearSimulation& simulation,
                     const FamilyParameter& x, const FamilyParameter* y);

}  // namespace lockstep::scenarios
