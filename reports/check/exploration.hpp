#pragma once

// What `check` found, for a terminal: one story in full, or many in a table.

#include <span>

#include "reports/check/explored.hpp"
#include "reports/text/line.hpp"

namespace lockstep::reports {

/// As many lines one story takes in short: a screen.
inline constexpr std::size_t kShortLinesMax = 30;

struct ExplorationOptions {
  std::size_t width = 100;  ///< at least 60
  Language language = Language::en;
  bool times = true;           ///< real time and speed; false: only what is the same in every run
  bool full = false;           ///< of one story all that is known, and its run as `run` shows it
  bool only_failures = false;  ///< of several stories no rows of those that are as expected; the totals are of all
  std::string witness;         ///< the file that the witness goes to, as the caller named it; empty: none
};

/// The answer, how far the search came, each property's verdict, the margins of what is claimed or expected, and a run
/// that breaks the first of them, in at most kShortLinesMax lines unless that leaves out a verdict. In full also the
/// times and faults, every reason and margin, which states were reached, and the witness as a timeline.
Lines exploration(const ExploredStory& story, const ExplorationOptions& options);

/// The table; then, for each story that is not as expected or not complete, what it is; then the totals.
Lines explorations(std::span<const ExploredStory> stories, const ExplorationOptions& options);

}  // namespace lockstep::reports
