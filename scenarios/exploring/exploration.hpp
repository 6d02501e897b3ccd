#pragma once

// A story in every order and with every delay that its file allows: `[[client]]` and `[network]` ranges, and the faults of
// `[[may]]`. What `[[fault]]` and `[pin]` say belongs to `run` and is left out.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "checker/properties/verdict.hpp"
#include "checker/time/difference_constraints.hpp"
#include "checker/time/frontier.hpp"
#include "checker/time/value_set.hpp"
#include "checker/violations/violations.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/format/diagnostic.hpp"
#include "scenarios/running/outcome.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

class Threads;

/// How far an exploration has come, for people who wait.
struct ExplorationProgress {
  checker::ExplorerCounts counts;
  double seconds = 0;
  /// Knuth's estimate of the number of all traces (mean over the explored ones of the product of the branchings on their
  /// way), weighted by what is done; nothing before there is anything to estimate from.
  std::optional<double> estimated_traces;
};

struct ExplorationOptions {
  bool reduction = true;         ///< false: all interleavings
  std::uint64_t max_traces = 0;  ///< 0: no bound
  std::uint64_t max_events = 0;  ///< of all executions, those that are no traces included; 0: no bound
  double max_seconds = 0;        ///< 0: no bound. Requires: `stopwatch`
  /// Seconds since some moment, for `max_seconds`, progress and `Exploration::seconds`: real time comes from outside, or not at
  /// all. Asked from any thread.
  std::function<double()> stopwatch;
  unsigned jobs = 1;           ///< threads; the result is the same for any number
  Threads* threads = nullptr;  ///< these, if there are any, and not `jobs` new ones
  /// Look for the threshold of this parameter alone ("pause", "jump", "skew", "restart_after"); empty: of all.
  std::string parameter;
  /// Asked now and then, from the thread that explores: true ends the exploration as a bound does.
  std::function<bool()> interrupted;
  /// Told now and then, from the thread that called.
  std::function<void(const ExplorationProgress&)> progress;
  /// Given a checkpoint now and then, and at the end: text that says how far the exploration has come. Null: nobody wants any.
  std::function<void(const std::string&)> save;
  std::string resume_from;      ///< the text of a checkpoint to go on from; empty: from the beginning
  std::string resume_name;      ///< what that file is called, for messages
  bool goes_back = true;        ///< false: each trace runs from its beginning, for comparison
  bool thorough = false;        ///< `ExplorerOptions::thorough`
  bool exchanges_names = true;  ///< false: clients that are alike start in every order, for comparison
  /// For tests alone: a search, or a judge of its traces, that is broken on purpose.
  checker::ExplorerOptions::Mutant search_mutant = checker::ExplorerOptions::Mutant::none;
  checker::JudgingMutant judging_mutant = checker::JudgingMutant::none;
};

/// The smallest value of a range of the file with which a property is violable.
struct Threshold {
  std::string parameter;  ///< "pause", "jump", "skew", "restart_after"
  checker::Extent infimum;
  /// False: what breaks it with less rests on times that were widened, so that only a replay could tell; the margin is at most this.
  bool is_exact = true;
  /// restart_after: all values that break it; several restarts take equally long. Others: empty.
  std::vector<checker::ValueInterval> values;
  sim::DurationRange range = {};  ///< what the file allows

  /// The largest value that is known to break it. Requires: `values` is not empty.
  const checker::Extent& greatest() const { return values.back().greatest; }
};

/// One property after all traces.
struct ExploredProperty {
  std::string_view name;
  /// violated: some order and delays break it, and the witness was replayed. holds: none does, and the exploration is complete.
  /// unknown: a bound was hit, or it cannot be judged here (`why` says).
  checker::Verdict verdict = checker::Verdict::unknown;
  std::string why;  ///< one sentence for people
  std::uint64_t violating_traces = 0;
  std::vector<std::string> by;          ///< violated: whom the witness blames
  std::vector<checker::WaitFor> waits;  ///< no-deadlock, violated: who waits for whom in the witness
  std::vector<Threshold> thresholds;    ///< violated: one for each parameter that is a range
  /// violated, and two parameters are ranges from 0 on: for which of both together, exactly, "pause + skew > 63ms"; empty if it says no more than the thresholds.
  std::string frontier;
  std::vector<checker::FrontierPolygon> polygons;  ///< the same
  /// violated: a story with exact times and faults, which `run` replays to the same verdict.
  std::optional<Scenario> witness;
  std::string unconfirmed;  ///< the text of a story that was to show a violation and did not; empty: there is none
  std::optional<Expectation> expected;
  Claim claim = Claim::none;
  bool is_judged =
      true;  ///< false: it does not apply to this story, or an exploration cannot judge it there; `why` says which
  bool as_expected = true;  ///< true when nothing was expected
};

/// A state that shows that a verdict is not vacuous: "a lease ran out while its holder believed", "a holder was paused", …
struct Mark {
  std::string_view name;
  std::uint64_t traces = 0;       ///< in how many explored traces it can be reached
  std::string_view name_zh = {};  ///< the same in Chinese
};

struct Exploration {
  checker::ExplorerCounts counts;
  double seconds = 0;
  std::string
      bound;  ///< which bound was hit: "max-traces", "max-events", "max-seconds", "interrupted"; empty if none was
  /// Traces with a violation that rests on an expression which is no difference of two instants, was widened, and could not
  /// be confirmed by a replay.
  std::uint64_t unconfirmed = 0;
  /// Verdicts and margins that concrete runs contradict: mistakes of lockstep, each told in `ExploredProperty::why`.
  std::uint64_t disagreements = 0;
  std::vector<ExploredProperty> properties;  ///< in the order of `checker/properties/properties.hpp`
  std::vector<Mark> marks;
  std::vector<std::vector<std::string>>
      alike;  ///< clients that differ in their names alone: what one does, each of them can do
  std::vector<std::string> script_mistakes;  ///< one sentence for each Lua script that ran into an error of its own
  std::optional<std::int64_t> expected_traces;
  bool as_expected = true;  ///< all properties and the number of traces

  const ExploredProperty& property(std::string_view name) const;
};

/// Whether its executions end: sentinels that look for ever do not.
bool can_be_explored(const Scenario& scenario, const models::locks::Catalogue& catalogue);

/// A diagnostic when the file cannot be explored: what it allows is not known here, its world does not end, a checkpoint
/// belongs to something else.
std::variant<Exploration, Diagnostic> explore(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                              const ExplorationOptions& options = {});

}  // namespace lockstep::scenarios
