#pragma once

// A story in every order and with every delay that its file allows: `[[client]]` and `[network]` ranges, and the faults
// of `[[may]]`. What `[[fault]]` and `[pin]` say belongs to `run` and is left out.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "checker/explorer/explorer.hpp"
#include "checker/violations/violations.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration_result.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

class Threads;

/// How far an exploration has come, for people who wait.
struct ExplorationProgress {
  checker::ExplorerCounts counts;
  double seconds = 0;
  /// Knuth's estimate of the number of all traces (mean over the explored ones of the product of the branchings on
  /// their way), weighted by what is done; nothing before there is anything to estimate from.
  std::optional<double> estimated_traces;
};

struct ExplorationOptions {
  bool reduction = true;         ///< false: all interleavings
  std::uint64_t max_traces = 0;  ///< 0: no bound
  std::uint64_t max_events = 0;  ///< of all executions, those that are no traces included; 0: no bound
  double max_seconds = 0;        ///< 0: no bound. Requires: `stopwatch`
  /// Seconds since some moment, for `max_seconds`, progress and `Exploration::seconds`: real time comes from outside,
  /// or not at all. Asked from any thread.
  std::function<double()> stopwatch;
  /// What it said when `max_seconds` began; nothing: they begin with the call.
  std::optional<double> began = std::nullopt;
  double begin() const { return began ? *began : stopwatch ? stopwatch() : 0; }
  unsigned jobs = 1;           ///< threads; the result is the same for any number
  Threads* threads = nullptr;  ///< these, if there are any, and not `jobs` new ones
  /// Look for the threshold of this parameter alone ("pause", "restart_after", …); empty: of all.
  std::string parameter;
  /// Of a property: whether somebody wants to know. Empty: of all. The others are unknown, "not asked". Asked from any
  /// thread.
  std::function<bool(std::string_view)> asks;
  /// Asked now and then, from the thread that explores: true ends the exploration as a bound does.
  std::function<bool()> interrupted;
  /// Told now and then, from the thread that called.
  std::function<void(const ExplorationProgress&)> progress;
  /// Given a checkpoint now and then, and at the end: text that says how far the exploration has come. Null: nobody
  /// wants any.
  std::function<void(const std::string&)> save;
  std::string resume_from;      ///< the text of a checkpoint to go on from; empty: from the beginning
  std::string resume_name;      ///< what that file is called, for messages
  bool goes_back = true;        ///< false: each trace runs from its beginning, for comparison
  bool thorough = false;        ///< `ExplorerOptions::thorough`
  bool worst = false;           ///< also how long a violation lasts at worst: `ExploredProperty::worst`
  bool exchanges_names = true;  ///< false: clients that are alike start in every order, for comparison
  /// For tests alone: told of each thread's explorer, and of what finds the violations of its traces, before they
  /// begin, from that thread. Null: nobody wants to know.
  std::function<void(checker::Explorer&, checker::ViolationFinder&)> alter_search;
};

/// Whether its executions end: sentinels that look for ever do not.
bool can_be_explored(const Scenario& scenario, const models::locks::Catalogue& catalogue);

/// A diagnostic when the file cannot be explored: what it allows is not known here, its world does not end, a
/// checkpoint belongs to something else.
std::variant<Exploration, Diagnostic> explore(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                              const ExplorationOptions& options = {});

}  // namespace lockstep::scenarios
