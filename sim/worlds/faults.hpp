#pragma once

// Faults that do happen, and the place where each strikes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/time/time.hpp"
#include "sim/worlds/fault_kinds.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::sim {

/// The activity of a process, where a fault depends on it.
enum class Activity : std::uint8_t {
  anything,
  work,     ///< it works in its critical section
  acquire,  ///< it tries to get a lock, or takes one again that it has
  release,  ///< it gives a lock back
  renewal   ///< it renews a lease
};

/// The activity of an operation with this name; `anything`: none. Work is no operation.
Activity activity_of(std::string_view function);

/// The moments of a process's step at which a fault can strike.
///
/// `after` and `before` differ from `sent` in what is frozen with the process: after a reply was handled, or before a
/// request leaves, what the process sends then stays behind until the pause ends; after `sent` it is on its way.
///
/// The steps of a process: for `before` and `sent`, its requests by name and what its program calls a step ("acquire").
/// For `after` also the answers to its requests, its timers ("work", "sleep", "timeout"), "start", and "reset" for a
/// connection that was lost. A server's steps, for `after` alone, are the requests it has carried out: "A.SET".
enum class Moment : std::uint8_t { before, sent, after };

struct PlannedFault {
  using Kind = FaultKind;
  /// One of those that can be planned, and no partition: see `Partition`.
  Kind kind = Kind::pause;
  ProcessId process;
  Duration length;  ///< pause: how long; jump: by how much; delay: on top of the latency
  std::optional<DurationRange> restart_after;
  bool keep = false;  ///< crash of a server: its data survive

  /// Strikes at this true time, or …
  std::optional<Duration> at;
  /// … at this moment of the `occurrence`-th (from 1) step of that name. lose, delay: the message of that step.
  std::string step;
  Moment moment = Moment::after;
  std::int64_t occurrence = 1;
  bool of_reply = false;  ///< lose, delay: the reply instead of the request

  /// crash: strikes only during this activity; else it does nothing.
  Activity during = Activity::anything;

  /// For the planner, to recognise it.
  std::uint32_t number = 0xffffffff;
};

/// Of the ranges that faults of several kinds have, the one that is the length of this kind; null: it has none.
template <class Range, class Optional>
Range* length_among(FaultKind kind, Range& lasts, Range& moves, Optional& restart_after) {
  switch (entry_of(kind).length) {
    case FaultLength::lasts: return &lasts;
    case FaultLength::moves: return &moves;
    case FaultLength::comes_back: return restart_after ? &*restart_after : nullptr;
    case FaultLength::none: break;
  }
  return nullptr;
}

/// The parameter that a fault of this kind has because its length is a range: nothing where that is exact or null.
std::string_view ranged_parameter(FaultKind kind, const DurationRange* length);

/// Which processes can be cut off from which.
struct Sides {
  std::vector<ProcessId> left;
  std::vector<ProcessId> right;
};

/// No message that is sent between the sides from `from` on gets through before `until`: it is repeated until then, as
/// TCP would. Without `until` it is lost. An explorer may know no numbers for these moments.
struct Partition {
  Sides sides;
  Instant from;
  std::optional<Instant> until;
};

}  // namespace lockstep::sim
