#pragma once

// The words in which reports speak of an exploration, in both languages: the same in the text of one story and in the
// table of many. Start here for `check`'s reports. What the explorer itself says (`why`) is English.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reports/run/verdicts.hpp"
#include "scenarios/checking/agreement.hpp"
#include "scenarios/checking/formula.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::reports {

/// A scenario that was explored, and what came of it.
struct ExploredStory {
  scenarios::Scenario scenario;
  scenarios::Exploration exploration;
  std::optional<sim::Duration> tick;                       ///< it was explored on a grid of this tick
  std::vector<std::pair<std::string, std::string>> given;  ///< faults of these parameters were no larger
  std::string parameter;  ///< only this parameter's threshold was looked for; empty: all
  /// The file of each property's witness, by property; empty where there is none.
  std::vector<std::string> witness_files;
  scenarios::Formulas formulas;  ///< of the property that the headline is about, if they were looked for
  /// A run of the first witness, with its trace, to be looked at.
  std::optional<Story> replay;
  std::optional<Story> worst_replay;  ///< of the run in which that lasts longest, if it is another one
};

/// The property whose witness is shown and written, of the violated ones that have one: what the algorithm claims or
/// the file did not expect, else what it expected, else the first; nothing if none has.
std::optional<std::size_t> shown_witness(const ExploredStory& story);

/// "holds", "violated by A, B", "unknown".
std::string verdict_text(const scenarios::ExploredProperty& property, Language language);
/// The same of what the file expects, with its thresholds: "violated by A, B, from pause 71ms". Requires: something is.
std::string expectation_text(const scenarios::Expectation& expectation, Language language);

/// "for up to 9.93s", "for 9.93s or longer", "and nothing ends it": how long several hold at once.
std::string lasting_text(const scenarios::WorstCase& worst, Language language);

/// "for every pause above 71ms, and for none up to it"; where a bound or a grid may have missed smaller ones: "with a
/// pause of 82ms; less may break it, too".
std::string threshold_text(const ExploredStory& story, const scenarios::Threshold& threshold, Language language);

/// Whether a line tells it.
bool is_short(const checker::Frontier& region);
/// "together: for pause + skew > 63ms, and for nothing less". Requires: it has a frontier.
std::string frontier_text(const ExploredStory& story, const scenarios::ExploredProperty& property, Language language);

/// "at most one pause of 0ms to 10s, of A or B": one for each [[may]]; nothing if nothing may happen.
std::vector<std::string> faults_in_words(const scenarios::Scenario& scenario, Language language);
/// "latency 1ms to 10ms", "A starts at 0ms to 1s": the ranges of times, the faults' apart.
std::vector<std::string> ranges_in_words(const scenarios::Scenario& scenario, Language language);

/// "complete", "not complete: stopped after the given number of traces".
std::string completeness_text(const ExploredStory& story, Language language);
/// "; 40,000 random runs did not break it either": of what a search that was cut has not broken. Empty: there were
/// none.
std::string random_runs_text(const ExploredStory& story, Language language);
/// "812 traces"; runs on a grid are runs.
std::string traces_text(std::uint64_t n, bool on_a_grid, Language language);

/// What of the file `check` leaves out, a line each: "[[fault]] (2), which happens in `run` alone; …".
std::vector<std::string> left_out_in_words(const scenarios::Scenario& scenario, Language language);
/// "crash of redis2: no client has anything to do with it": what is declared and makes no difference, a line each.
std::vector<std::string> idle_in_words(const ExploredStory& story, Language language);

/// "2 disagreements: concrete runs break what the search called kept". Requires: there are some.
std::string disagreements_text(std::uint64_t n, Language language);

/// "never reached: somebody found the lock taken": what holds where nobody had to wait is weak. Empty: it is not so, or
/// nothing holds.
std::string weakness_text(const scenarios::Exploration& exploration, Language language);

/// What of the number of traces is not as expected: "expected 12 traces, explored 13"; empty if nothing is.
std::string trace_surprise(const scenarios::Exploration& exploration, Language language);

/// "NOT as expected: holds was expected", or that it is still open; the same of what the algorithm claims. Requires:
/// the property is not as expected.
std::string surprise_text(const ExploredStory& story, const scenarios::ExploredProperty& property, Language language);

/// How the story stands to its file, with what was asked of it.
scenarios::Agreement agreement(const ExploredStory& story);

std::size_t count_as_expected(std::span<const ExploredStory> stories);
std::size_t count_complete(std::span<const ExploredStory> stories);

}  // namespace lockstep::reports
