#pragma once

// Which of two traces makes the better witness, before any times are computed.

#include <compare>
#include <cstdint>
#include <span>

#include "checker/explorer/explored.hpp"

namespace lockstep::checker {

/// How much a reader has to follow; smaller is better, from the first member to the last.
struct WitnessSize {
  std::uint32_t faults = 0;
  std::uint32_t events = 0;
  /// How often the process changes from one event to the next, in an order of the events that respects causes and
  /// processes and stays with one process as long as it can. The order of execution of independent events does not
  /// count.
  std::uint32_t switches = 0;
  std::uint64_t tie = 0;  ///< of the events' identities and the faults: the same for the same trace, wherever it is met

  auto operator<=>(const WitnessSize&) const = default;
};

/// Of the events of the story, in their order of execution. Takes time in proportion to events times processes.
WitnessSize witness_size(std::span<const ExploredEvent> events, std::span<const ExploredFault> faults);

}  // namespace lockstep::checker
