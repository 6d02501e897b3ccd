#pragma once

// A scenario's servers, ready to be visited: what stands in its world, and at which ports.

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "door/doors.hpp"
#include "door/poll_loop.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::door {

struct ServeOptions {
  std::uint16_t port = 0;  ///< of the first server; those after it have the next ones. 0: all have free ones
  std::uint64_t seed = 1;  ///< of what servers take at random: SPOP
  /// How much real time has passed; null: time is stepped.
  PollLoop::Elapsed elapsed;
  /// What servers' clocks show at the beginning, besides what the scenario says of them.
  sim::Duration epoch;
};

struct OpenPort {
  std::string server;
  std::uint16_t port = 0;
};

/// Serves until `is_stopped`; `opened` hears of the ports before the first client can come.
///
/// Of the scenario its servers take part, with their clocks and with the faults that befall them at given times. Its
/// clients do not run, and its latency is left out: real clients bring their own. Requires: `kind` is `door_for` its
/// servers, and time is stepped only if it can be. Trouble is about ports alone.
std::variant<std::monostate, Trouble> serve(scenarios::Scenario scenario, const models::locks::Catalogue& catalogue,
                                            const DoorKind& kind, const ServeOptions& options,
                                            const std::function<void(const std::vector<OpenPort>&)>& opened,
                                            const std::function<bool()>& is_stopped);

}  // namespace lockstep::door
