#pragma once

// A part of a search that is explored by itself, and what comes of it. `branches.hpp` makes one search of all parts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "checker/explorer/counts.hpp"
#include "checker/explorer/footprint.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::checker {

/// A question of the world, or of the explorer itself, while one event was executed, and the answer that is being
/// tried.
struct Answer {
  std::uint32_t options = 1;
  std::uint32_t index : 31 = 0;
  std::uint32_t is_choice : 1 = 0;  ///< to a `sim::Choice::model`; known when the event has been executed

  bool operator==(const Answer& other) const { return options == other.options && index == other.index; }
};

/// An event that need not be tried here with these answers: it has been, or is being, and nothing since depends on what
/// it then does. A SET NX that found the key taken only read it, so it sleeps on while others read; the same command,
/// had it found the key expired, wakes up. Without this difference clients that poll would multiply each other's
/// traces.
struct Sleeping {
  sim::EventId id;
  sim::ProcessId process;
  Footprint footprint;          ///< with these answers
  std::vector<Answer> answers;  ///< meaningless if it is the only variant
  bool is_impossible = false;   ///< with these answers, as long as it sleeps
  std::uint32_t variants = 1;   ///< how many there are, each with other answers: when all of them sleep, the event does
};

/// Whether there is nothing left to try of this event.
inline bool is_asleep(std::span<const Sleeping> sleep, sim::EventId event) {
  std::uint32_t variants = 0;
  std::uint32_t least = 0;
  for (const Sleeping& s : sleep) {
    if (s.id != event) continue;
    least = variants == 0 ? s.variants : std::min(least, s.variants);
    ++variants;
  }
  return variants > 0 && variants >= least;
}

struct Scheduled {
  sim::EventId id;
  sim::ProcessId process;
};

/// What is to be tried in place of an event that was executed: one of several, any of which will do.
struct Reversal {
  std::vector<Scheduled> candidates;
  std::vector<sim::EventId> then;  ///< what follows the first candidate, if that is chosen, as long as it can
};

/// An event that is to be tried, and what follows it then.
struct Wakeup : Scheduled {
  std::vector<sim::EventId> then;
};

/// Whether some event is in both.
template <class Some, class Others>
bool have_common(const Some& some, const Others& others) {
  return std::any_of(some.begin(), some.end(), [&](const auto& one) {
    return std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.id == one.id; });
  });
}
/// Whether there is nothing left to try of one of them.
bool is_one_asleep(std::span<const Sleeping> sleep, std::span<const Scheduled> candidates);

/// A state from which several branches start: what leads there from the state before, and what has been given to
/// branches.
struct BranchPoint {
  std::shared_ptr<BranchPoint> before;  ///< null for the beginning
  sim::EventId chosen;                  ///< the event that leads here; meaningless for the beginning
  std::vector<Answer> answers;  ///< with these answers; of the beginning: to what is decided before the first event
  std::vector<Scheduled> backtrack;  ///< tried, or given to a branch, when the point was made

  // What has become of it since. Those who explore its branches, on any thread, do not look at it.
  std::vector<Scheduled> given_later;  ///< to a branch
  std::vector<Sleeping> sleep;         ///< in the branch that is made next
  std::size_t number = 0;              ///< while a search is written down
};

/// The points from the beginning to this one; null: none.
std::vector<BranchPoint*> way_to(const std::shared_ptr<BranchPoint>& point);

/// The unit of `Branch::share`: so many are the whole search.
inline constexpr std::uint64_t kWholeSearch = std::uint64_t{1} << 60;

/// How long branches are: the first is cut soon, so that others have something to do, and what comes of a branch is
/// twice as long, up to the most. At the end of a small search nobody then waits long for somebody else's branch.
inline constexpr std::uint64_t kFirstEvents = 100;
inline constexpr std::uint64_t kMostEvents = 20'000;

/// A part of a search: all traces that begin with the events to `from`, then this one with these answers.
struct Branch {
  std::shared_ptr<BranchPoint> from;  ///< null: all traces
  bool at_root = false;               ///< `answers` are those of the beginning, and no event is chosen yet
  sim::EventId chosen;
  std::vector<Answer> answers;  ///< the first of those that will be asked
  std::vector<Sleeping> sleep;
  std::vector<sim::EventId> then;       ///< what follows it, as long as it can
  std::uint64_t events = kFirstEvents;  ///< it is to be cut after so many, as `ExplorerCounts::events`
  std::uint64_t share = kWholeSearch;   ///< of the whole search, as far as anybody can tell

  std::uint64_t events_of_parts() const { return std::min(2 * events, kMostEvents); }
};

/// How much of a branch is explored; 0: no limit.
struct BranchLimits {
  std::uint64_t traces = 0;
  std::uint64_t events = 0;  ///< as `ExplorerCounts::events`; the run that reaches it is ended first
};

/// What became of a branch.
struct BranchOutcome {
  ExplorerCounts counts;  ///< `complete`: nothing of this branch was left out
  bool stopped = false;   ///< the visitor had enough
  bool too_long = false;  ///< a trace had more than `max_steps` events
  bool given_up = false;  ///< see `ExplorerOptions::gives_up`
  /// Reversals that begin before the branch, each with the position of the event that is to be replaced.
  std::vector<std::pair<std::uint32_t, Reversal>> reversals;
  /// What the branch's first event does, with each of its answers; empty if not all of these are the branch's own.
  std::vector<Sleeping> first;
  /// The branch was larger than its limit: the rest of it, what comes next last. `share` is not known yet.
  std::vector<std::shared_ptr<Branch>> rest;
};

}  // namespace lockstep::checker
