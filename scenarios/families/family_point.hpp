#pragma once

// A story at one value of its parameters: what happens there, how each moment moves, and for which values the same
// happens; and the run that proves it.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "checker/properties/ownership.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "scenarios/families/family.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "sim/schedules/linear_simulation.hpp"

namespace lockstep::scenarios {

/// How the story's moments move.
struct PointEvent {
  sim::EventId id;
  sim::Duration sent;
  sim::Duration at;
  sim::Slope sent_slope;
  sim::Slope at_slope;
};

struct PointMoment {
  sim::Duration at;
  sim::Slope slope;
};

/// Of an operation, in the order of the history.
struct PointOperation {
  PointMoment invoked;
  PointMoment completed;  ///< if it was
  std::optional<PointMoment> valid_until;
};

/// Of a pause or a crash, likewise.
struct PointInterruption {
  PointMoment from;
  std::optional<PointMoment> until;
};

/// What happens at a point, told by `LinearSimulation`.
struct FamilyPoint {
  std::vector<PointEvent> events;                ///< of the trace, without the probe
  std::vector<PointOperation> operations;        ///< of a plane alone
  std::vector<PointInterruption> interruptions;  ///< likewise
  std::vector<sim::LinearBound> bounds;          ///< for these values the same
  bool is_impossible = false;
  bool is_unknown = false;  ///< something here depends on the parameters in a way that is not known
};

/// For tests alone: points that are wrong on purpose, and must be found out.
enum class FamilyMutant : std::uint8_t {
  none,
  forget_bound,    ///< the closest bound is not told
  late_border,     ///< bounds are a nanosecond too far out
  stiff_pauses,    ///< what a pause puts off does not move with it
  no_confirmation  ///< no run is asked
};

/// Which order of moments is to be the same, besides that of the events.
enum class SameOrder : std::uint8_t {
  of_beliefs,  ///< of all that begins and ends what clients believe: then who believes at once is the same
  of_history   ///< of all that checkers see
};

class FamilyPoints {
 public:
  /// Requires: `story`, `catalogue` outlive it, and the parameters. `y`: null if there is one parameter.
  FamilyPoints(const FamilyStory& story, const models::locks::Catalogue& catalogue, const FamilyParameter& x,
               const FamilyParameter* y, FamilyMutant mutant = FamilyMutant::none)
      : story_(story), catalogue_(catalogue), x_(x), y_(y), mutant_(mutant) {}

  Scenario scenario(sim::Duration x, sim::Duration y = {}) const;
  /// `explores`: `LinearSimulation::Settings::explores`.
  FamilyPoint at(sim::Duration x, sim::Duration y, SameOrder order, bool explores);
  /// A run there, with its trace; or why there is none. Runs are kept. What their messages say is left out.
  using Ran = std::variant<Outcome, Diagnostic>;
  const Ran& run_at(sim::Duration x, sim::Duration y = {}) { return kept_run(x, y, false).ran; }
  /// The same with what its messages say. What `run_at` returned for this value is gone then.
  const Ran& told_at(sim::Duration x) { return kept_run(x, {}, true).ran; }
  /// Whether the run there shows what the point says, moved so far.
  bool shows(const FamilyPoint& point, sim::Duration point_x, sim::Duration point_y, sim::Duration x,
             sim::Duration y = {});
  /// Of all that was run so far: a measure of the work that is the same on every machine.
  std::uint64_t events() const { return events_; }
  /// In which ways `at` can be asked: in a world that takes its instants for symbolic, what cannot be explored has no
  /// end, and sentinels have none.
  std::vector<bool> worlds() const;

 private:
  struct Kept {
    Ran ran;
    bool has_texts;
  };
  const Kept& kept_run(sim::Duration x, sim::Duration y, bool with_texts);

  const FamilyStory& story_;
  const models::locks::Catalogue& catalogue_;
  const FamilyParameter& x_;
  const FamilyParameter* y_;
  FamilyMutant mutant_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Kept>> runs_;
  std::uint64_t events_ = 0;
};

std::vector<FamilyVerdict> verdicts_of(const Outcome& outcome);
/// The beliefs of the story; the probe's are no part of it.
std::vector<checker::OwnershipInterval> beliefs_of(const Outcome& outcome);
/// Whether both believe at once, and may not.
bool do_overlap(const checker::OwnershipInterval& a, const checker::OwnershipInterval& b);
/// How many lines of the trace are the story's, before the probe comes.
std::size_t story_length(const Outcome& outcome);

}  // namespace lockstep::scenarios
