#pragma once

// What an exploration allows to happen besides the world's own events.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/explorer/explored.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/faults.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::checker {

/// Faults that might happen, and how often.
struct FaultBudget {
  enum class Direction : std::uint8_t { either, request, reply };

  ExploredFault::Kind kind = ExploredFault::Kind::pause;
  /// Whom it might strike; lose, delay: clients whose requests and replies it strikes.
  std::vector<sim::ProcessId> who;
  /// pause, delay, partition: how long; jump, skew: by how much.
  sim::DurationRange range;
  /// crash: how long after it comes back; nothing: never.
  std::optional<sim::DurationRange> restart_after;
  /// What of `restart_after` is the victim's own and not the fault's: no margin counts it.
  sim::Duration restart_delay;
  /// crash of a server: its data survive.
  bool keep = false;
  /// pause, crash: it strikes only who is at that; a pause during work makes the work last longer. lose, delay: what
  /// belongs to that.
  sim::Activity during = sim::Activity::anything;
  /// lose, delay: only requests of this name, and answers to them; empty: any.
  std::string message;
  Direction direction = Direction::either;
  /// partition: of these, one.
  std::vector<sim::Sides> sides;
  std::uint32_t times = 1;  ///< 0: it is nothing, and nobody is among `who`
};

/// How long, by how much, or after how long: what a margin is about. Null: it has no length, or never comes back.
inline const sim::DurationRange* length_of(const FaultBudget& budget) {
  return sim::length_among(budget.kind, budget.range, budget.range, budget.restart_after);
}

}  // namespace lockstep::checker
