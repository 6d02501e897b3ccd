#pragma once

// What an exploration found: verdicts, margins, and what it came across.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "checker/properties/verdict.hpp"
#include "checker/time/difference_constraints.hpp"
#include "checker/time/frontier.hpp"
#include "checker/time/value_set.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// How far beyond a value is as near to it as whole nanoseconds allow: one for the fault that is longer than something,
/// one for the violation that lasts.
inline constexpr sim::Duration kJustBeyond = sim::Duration::nanoseconds(2);

/// The smallest value of a range of the file with which a property is violable.
struct Threshold {
  std::string parameter;  ///< "pause", "restart_after", …: sim/worlds/fault_kinds.hpp
  checker::Extent infimum;
  /// False: the margin is at most this. What breaks it with less rests on times that were widened, so that only a
  /// replay could tell; or a bound ended the search before all was looked at.
  bool is_exact = true;
  /// Of one that is not exact because of widened times: with nothing smaller it can break. Nothing: that is not known.
  std::optional<checker::Extent> least_possible = {};
  /// A run breaks it with this value: the margin is exact if that is as near as can be to `least_possible`.
  void show(sim::Duration value);
  /// restart_after: all values that break it; several restarts take equally long. Others: empty.
  std::vector<checker::ValueInterval> values;
  sim::DurationRange range = {};  ///< what the file allows
  /// `infimum` is the value nearest to 0 from below: what is further below breaks it.
  bool is_downward = false;
  /// Other ranges whose faults it needs: with none of them, `alone` is where it begins. Empty: it needs none.
  std::vector<std::string> together_with;
  std::optional<checker::Extent> alone;  ///< nothing: alone it breaks nothing. Of use if `together_with` is not empty

  /// The largest value that is known to break it. Requires: `values` is not empty.
  const checker::Extent& greatest() const { return values.back().greatest; }
};

/// How long several hold at once, at worst.
struct WorstCase {
  sim::Duration longest;        ///< no execution breaks it for longer; forever: nothing ends it
  bool is_exact = false;        ///< false: for so long at least
  sim::Duration shown;          ///< how long it is in `run`: but for a microsecond the same, where `is_exact`
  std::optional<Scenario> run;  ///< nothing: one of a grid
};

/// One property after all traces.
struct ExploredProperty {
  std::string_view name;
  /// violated: some order and delays break it, and the witness was replayed. holds: none does, the exploration is
  /// complete, and what it is about was seen. not_judged: it was not, or there is none in this story. unknown: a bound
  /// was hit, a script made a mistake, … `why` says.
  checker::Verdict verdict = checker::Verdict::unknown;
  std::optional<checker::Extent> least_possible = {};  ///< of the only length: with nothing smaller it can break
  std::string why;                                     ///< one sentence for people
  std::uint64_t violating_traces = 0;
  std::vector<std::string> by;          ///< violated: whom the witness blames
  std::vector<checker::WaitFor> waits;  ///< no-deadlock, violated: who waits for whom in the witness
  std::vector<Threshold> thresholds;    ///< violated: one for each parameter that is a range
  /// violated, and several parameters are ranges: for which of them together, exactly, "pause + skew > 63ms"; empty if
  /// it says no more than the thresholds.
  std::string frontier;
  checker::Frontier region;      ///< the same
  bool is_region_exact = false;  ///< for nothing else
  /// violated: a story with exact times and faults, which `run` replays to the same verdict.
  std::optional<Scenario> witness;
  std::optional<WorstCase> worst;  ///< violated: mutual-exclusion, capacity
  std::string unconfirmed;  ///< the text of a story that was to show a violation and did not; empty: there is none
  std::optional<Expectation> expected;
  Claim claim = Claim::none;
  bool applies = true;       ///< false: the story has nothing that it is about, or nobody asked: then nobody claims it
  bool is_disputed = false;  ///< a concrete run contradicts the search: one of `Exploration::disagreements`
  bool as_expected = true;   ///< true when nothing was expected

  /// Adds the margin that the witness has, of the only length. Requires: a witness and `least_possible`.
  void tell_at_most(const std::string& parameter, sim::DurationRange range);
  /// What several parameters do together.
  void tell(const checker::Frontier& joint, bool is_exact);
};

/// Why a property is unknown of which a search that was cut found no violation.
inline constexpr std::string_view kNotBrokenSoFar = "not broken so far, but a bound was hit";

/// A state that shows that a verdict is not vacuous: "a lease ran out while its holder believed", "a holder was
/// paused", …
struct Mark {
  std::string_view name;
  std::uint64_t traces = 0;       ///< in how many explored traces it can be reached
  std::string_view name_zh = {};  ///< the same in Chinese
};

/// What a story declares, and no client can notice: in no execution does it make a difference.
struct Idle {
  enum class Why : std::uint8_t {
    no_moment,     ///< a fault: there is no moment at which it could strike
    meets_nobody,  ///< a server, or a fault of servers alone, or between these sides: no client has to do with them
    unread_clock   ///< a fault of clocks: nothing reads them
  };
  Why why = Why::no_moment;
  std::size_t number = 0;  ///< of the [[may]], or of the server, in the order of the file
  bool is_server = false;

  bool operator==(const Idle&) const = default;
};

struct Exploration {
  checker::ExplorerCounts counts;
  double seconds = 0;
  std::string
      bound;  ///< which bound was hit: "max-traces", "max-events", "max-seconds", "interrupted"; empty if none was
  /// Traces with a violation that rests on an expression which is no difference of two instants, was widened, and could
  /// not be confirmed by a replay.
  std::uint64_t unconfirmed = 0;
  /// Verdicts and margins that concrete runs contradict: mistakes of lockstep, each told in `ExploredProperty::why`.
  std::uint64_t disagreements = 0;
  std::uint64_t random_runs = 0;             ///< concrete runs that were played beside the search
  std::vector<ExploredProperty> properties;  ///< in the order of `checker/properties/properties.hpp`
  std::vector<Mark> marks;
  std::vector<Idle> idle;  ///< of a complete exploration
  std::vector<std::vector<std::string>>
      alike;  ///< clients that differ in their names alone: what one does, each of them can do
  std::vector<std::string> script_mistakes;  ///< one sentence for each Lua script that ran into an error of its own
  /// One of these, that nobody handled in some execution: then only violations are known that another execution shows.
  /// Empty: there was none.
  std::string mistake;
  std::optional<std::int64_t> expected_traces;
  bool as_expected = true;  ///< all properties and the number of traces

  const ExploredProperty& property(std::string_view name) const;
};

/// What a verdict rests on.
struct VerdictEvidence {
  bool is_whole = false;       ///< all executions were looked at, and no script ended one of them
  bool is_seen = false;        ///< what the property is about occurred
  bool may_be_broken = false;  ///< some trace breaks it, or perhaps does
};
/// No ✓ for what nobody looked at, no ✗ that no run shows. Where it is otherwise, that is our bug: the program ends.
void expect_evidence(const ExploredProperty& property, const VerdictEvidence& evidence);

/// The longest of the faults of a run whose length this parameter is; nothing if there is none.
std::optional<sim::Duration> longest_fault(const Scenario& run, std::string_view parameter);

/// The verdict on what an exploration cannot follow: nothing is known.
Exploration not_explored(std::string_view why);

}  // namespace lockstep::scenarios
