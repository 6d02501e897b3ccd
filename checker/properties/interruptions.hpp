#pragma once

// What stopped each process, so arranged that the first crash after a step and the pauses of a stretch are found
// without going through all of them.

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// The crashes of a history, of which only steps are looked at. Points into `interruptions`, which must outlive it.
class Crashes {
 public:
  explicit Crashes(std::span<const sim::Interruption> interruptions);
  /// The first of this process in this step or later; null: there is none.
  const sim::Interruption* first(sim::ProcessId process, sim::Step from) const;

 private:
  struct Crash {
    sim::ProcessId process;
    sim::Step step;
    std::size_t position;
    auto operator<=>(const Crash&) const = default;
  };
  std::span<const sim::Interruption> interruptions_;
  std::vector<Crash> crashes_;  ///< sorted
};

/// The pauses of a history, by process and by their beginning. Those that overlap or touch are one, whose step is that
/// of the pause that ends it; so between two of them the process runs. Requires: instants are true times.
class Pauses {
 public:
  explicit Pauses(const sim::History& history);
  std::span<const sim::Interruption> of(sim::ProcessId process) const;

 private:
  std::map<sim::ProcessId, std::vector<sim::Interruption>> lists_;
};

}  // namespace lockstep::checker
