#pragma once

// What every checker answers. Start here.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/worlds/history.hpp"

namespace lockstep::checker {

enum class Verdict : std::uint8_t {
  holds,      ///< what it is about was seen, and kept it
  violated,   ///< something breaks it
  unknown,    ///< it could not be told: a bound was hit, a script made a mistake, …
  not_judged  ///< what it is about did not occur, or does not in this story: nothing was looked at
};

/// "holds", "violated", "unknown", "not judged": the word of every output. `Finding::why` says why it is not known, or
/// not judged.
std::string_view to_string(Verdict verdict);

/// Whose truth a property is about. They are separate verdicts: two clients may believe that they hold a lock while
/// the server is in perfect order and nothing is damaged yet.
enum class View : std::uint8_t { belief, server, damage };

std::string_view to_string(View view);

/// One process that waits for what another holds: an edge of a wait-for graph.
struct WaitFor {
  sim::ProcessId waiter;
  sim::ProcessId holder;  ///< may be the waiter itself: it takes a lock twice that can be taken once
  std::string object;
  auto operator<=>(const WaitFor&) const = default;
};

/// One judgement of one property, with its evidence.
struct Finding {
  std::string_view property;  ///< "mutual-exclusion", …; static text
  View view = View::belief;
  Verdict verdict = Verdict::unknown;
  /// violated: the processes to blame, in the order in which they came (the earlier holder first).
  std::vector<sim::ProcessId> by;
  /// violated: true time of the first moment at which the property is broken.
  std::optional<sim::Instant> at;
  /// violated: the steps of the execution that prove it, ascending.
  std::vector<sim::Step> evidence;
  /// One sentence, for people: why it is violated, or what was looked at when it holds. Names processes through the
  /// `Names` that the checker was given, and times as `sim::to_string` prints them.
  std::string why;
  /// no-deadlock, violated: all waits at `at`.
  std::vector<WaitFor> waits = {};
};

/// Names of processes, by index.
using Names = std::vector<std::string>;

}  // namespace lockstep::checker
