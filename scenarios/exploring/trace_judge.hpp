#pragma once

// Judges every trace of an exploration for all properties: which can be broken, from which lengths of the faults on,
// and by which trace it is best shown.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "checker/explorer/witness_size.hpp"
#include "checker/time/frontier.hpp"
#include "checker/time/parameter_space.hpp"
#include "checker/time/thresholds.hpp"
#include "checker/time/value_set.hpp"
#include "checker/violations/violations.hpp"
#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/exploring/judging/judged_parameters.hpp"
#include "scenarios/exploring/trace_marks.hpp"

namespace lockstep::scenarios {

/// The trace that shows a violation best, so far.
struct BestTrace {
  checker::WitnessSize size;
  checker::Branch branch;  ///< this trace alone
};

/// The trace in which a violation lasts longest, so far.
struct LongestTrace {
  sim::Duration longest;  ///< as `longest_of` has it
  BestTrace trace;        ///< of several that last as long the best
};

/// What a judge knows of one property after the traces that it looked at.
struct PropertyTally {
  std::string_view name;               ///< as in checker/properties/properties.hpp, in whose order the tallies are
  std::uint64_t violating_traces = 0;  ///< some of their delays break it
  bool is_seen = false;                ///< some trace has what it is about
  std::uint64_t unconfirmed = 0;       ///< of the others: a widened way is feasible, so that only a replay could tell
  std::vector<checker::ThresholdFold> thresholds;  ///< over the violating ways, one for each judged parameter
  std::vector<checker::ThresholdFold> alone;       ///< of several: likewise, without faults of the other ranges
  std::vector<checker::ThresholdFold> possible;    ///< likewise over those that are widened: no margin is below these
  std::vector<checker::ValueSet>
      values;  ///< of `restart_after`, likewise: each restart takes just that long; of others empty
  std::vector<checker::ValueSet> alone_values;
  std::vector<checker::ValueSet> possible_values;
  std::vector<checker::Frontier> frontiers;  ///< over the violating ways, if several parameters are judged together
  std::vector<checker::Frontier> possible_frontiers;  ///< likewise over those that are widened
  std::vector<BestTrace> best;                        ///< of the violating traces, the best first
  std::vector<BestTrace> suspects;                    ///< of the unconfirmed ones, likewise
  std::optional<LongestTrace> longest;                ///< over the violating ways that last
  sim::Duration possibly_longest;                     ///< over those that are widened, if that is longer

  /// Of the only parameter, a length: nothing smaller breaks it, in no trace and on no widened times.
  std::optional<checker::Extent> least_possible() const {
    checker::ThresholdFold all = thresholds.front();
    all.merge(possible.front());
    return all.upward();
  }

  /// So many traces are kept: one of them may be such that no times in whole nanoseconds show it.
  static constexpr std::size_t kKept = 6;
};

/// Called at the end of each trace. Two judges that looked at different traces can be merged, in any order and
/// grouping: the result is that of one judge that looked at all.
class TraceJudge {
 public:
  /// Requires: `story`, `finder` and `parameters` outlive it. `finder` keeps its memory from judge to judge, and is
  /// asked by one at a time.
  TraceJudge(const ExploredStory& story, checker::ViolationFinder& finder,
             std::span<const checker::FaultBudget> budgets, std::span<const JudgedParameter> parameters);

  /// Of these properties alone.
  void ask(const std::function<bool(std::string_view)>& is_asked);
  /// Also how long they are broken.
  void ask_how_long() { is_length_asked_ = true; }

  /// Requires: the trace, its world and its constraints stand.
  void look(checker::Explorer& explorer);
  /// Requires: made for the same story.
  void merge(const TraceJudge& other);

  /// In the order of checker/properties/properties.hpp.
  std::span<const PropertyTally> tallies() const { return tallies_; }
  const TraceMarks& marks() const { return marks_; }
  /// Traces that violate nothing for certain, but something perhaps.
  std::uint64_t unconfirmed() const { return unconfirmed_; }
  /// Why some trace says nothing for certain: a script was stopped. Of several reasons the first by text.
  const std::optional<std::string>& script_trouble() const { return script_trouble_; }
  /// Likewise: a script ran into an error of its own. What such traces break, and what they reach, does not count.
  const std::optional<std::string>& script_mistake() const { return script_mistake_; }

  /// Which way the present trace breaks a property: a feasible one, for certain if there is one.
  struct Way {
    std::vector<checker::Constraint> constraints;
    std::vector<sim::ProcessId> by;
    bool is_certain = false;
    std::vector<sim::Duration> parameters;  ///< by trace parameter: a value with which it does
    std::vector<checker::WorkPauses> pauses;
    bool is_large = false;  ///< with parameters as large as they can be, not as small
  };
  /// The first of them, at most `most`, those that are certain first. `longer_than`: of those that last longer.
  std::vector<Way> ways_to_break(std::string_view property, checker::Explorer& explorer, std::size_t most,
                                 std::optional<sim::Duration> longer_than = std::nullopt);

  /// All of it, as lines of text; and back. False: it is something else.
  void write(std::ostream& out) const;
  bool read(std::istream& in);

 private:
  /// How a way stands to the trace.
  enum class Feasible : std::uint8_t { no, perhaps, yes };

  std::span<const checker::Violation> ways_of(checker::Explorer& explorer);
  Feasible is_feasible(const checker::Violation& way, checker::Explorer& explorer);
  void fold(std::vector<checker::ThresholdFold>& thresholds, std::vector<checker::ValueSet>& values,
            checker::Explorer& explorer);
  void fold_one(std::size_t parameter, std::vector<checker::ThresholdFold>& thresholds,
                std::vector<checker::ValueSet>& values, checker::Explorer& explorer);
  void fold_alone(PropertyTally& tally, checker::Explorer& explorer);
  bool forbid_others(std::size_t parameter, checker::Explorer& explorer);
  void collect_lengths(std::string_view name, checker::Explorer& explorer);
  std::vector<std::size_t> offsets_of(std::string_view name, const checker::Explorer& explorer) const;
  checker::ParameterSpace space_of(checker::Explorer& explorer) const;
  void fold_frontier(checker::Frontier& frontier, checker::Explorer& explorer);
  void fold_values(checker::ValueSet& values, const JudgedParameter& parameter, checker::Explorer& explorer);
  void fold_length(checker::ThresholdFold& threshold, std::string_view name, checker::Explorer& explorer);
  void fold_offset(checker::ThresholdFold& threshold, const JudgedParameter& parameter, checker::Explorer& explorer);
  void keep(std::vector<BestTrace>& best, checker::Explorer& explorer);
  const checker::WitnessSize& size_of(checker::Explorer& explorer);
  void look_how_long(PropertyTally& tally, const checker::Violation& way, checker::Explorer& explorer);
  void settle(const checker::Violation& way, Way& found, checker::Explorer& explorer);
  void note_seen();

  const ExploredStory* story_;
  checker::ViolationFinder* finder_;
  std::span<const checker::FaultBudget> budgets_;
  std::span<const JudgedParameter> parameters_;
  std::vector<sim::ProcessId> resources_;
  std::vector<PropertyTally> tallies_;
  std::vector<bool> is_judged_;  ///< by property, as are the tallies
  bool is_length_asked_ = false;
  TraceMarks marks_;
  std::uint64_t unconfirmed_ = 0;
  std::optional<std::string> script_trouble_;
  std::optional<std::string> script_mistake_;

  // Of the present trace.
  std::vector<checker::Length> lengths_;
  // Of the way that is looked at: of the trace's parameters, then of the way's own.
  std::vector<checker::ParametricBound> bounds_;
  std::vector<sim::DurationRange> ranges_;
  std::optional<checker::ParameterInterval> interval_;  ///< if there is only one of them
  std::optional<checker::ParameterSpace> space_;        ///< if there are several
  std::optional<checker::WitnessSize> size_;
};

}  // namespace lockstep::scenarios
