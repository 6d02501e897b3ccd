#pragma once

// Stretches of true time, and what is left of one in which a process is not paused. What never ends lasts until
// Duration::forever().

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sim/time/time.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// [from, to).
struct TimeSpan {
  sim::Duration from;
  sim::Duration to;
  sim::Duration length() const { return to - from; }
};

/// What is left of a span without the pauses of a process: in which it runs. Requires: `whole` has a length, `pauses`
/// are those of the process, as `Pauses` has them.
std::vector<TimeSpan> running(std::span<const sim::Interruption> pauses, TimeSpan whole);

/// The lengths of a row of spans, in their order: the longest of some that follow each other, and the first that is
/// longer than a bound, without a look at each.
class RowOfLengths {
 public:
  RowOfLengths() = default;
  RowOfLengths(std::vector<sim::Duration> lengths, sim::Duration bound);
  /// Of `[first, end)`; zero, if they are none, or none has a length.
  sim::Duration longest(std::size_t first, std::size_t end) const;
  /// Of `[first, end)`; `end`: none is.
  std::size_t first_beyond(std::size_t first, std::size_t end) const;
  /// Each of `[first, end)` that is longer than this, in their order; takes time in proportion to these.
  template <class Do>
  void each_longer(std::size_t first, std::size_t end, sim::Duration length, const Do& action) const {
    if (first >= end || longest(first, end) <= length) return;
    if (end - first == 1) {
      action(first);
      return;
    }
    const std::size_t middle = first + (end - first) / 2;
    each_longer(first, middle, length, action);
    each_longer(middle, end, length, action);
  }

 private:
  std::vector<std::vector<sim::Duration>> longest_;  ///< by k: of 2^k from each on
  std::vector<std::size_t> beyond_;                  ///< by position: the first from it on that is beyond the bound
};

/// When something ended in a story that was over at `story_end` (nothing: all of it is the story). What has not
/// happened by then never does: the probe that comes after the story may end it, but did not have to come.
sim::Duration end_or_never(const std::optional<sim::Instant>& at, const std::optional<sim::Instant>& story_end);

}  // namespace lockstep::checker
