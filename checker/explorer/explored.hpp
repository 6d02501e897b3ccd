#pragma once

// One explored trace: what was executed, with a time variable for each moment, and which faults struck. It stands for
// all delays that satisfy the constraints.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/trace.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker {

/// What is known of one executed event. The order of events is that of execution: true for the events of one process,
/// and for causes; two others may well happen the other way round.
struct ExploredEvent {
  static constexpr std::uint32_t no_cause = 0xffffffff;

  sim::EventId id;
  sim::EventKind kind = sim::EventKind::start;
  sim::TimerKind timer_kind = sim::TimerKind::sleep;  ///< of a timer
  bool is_reply = false;                              ///< of a message: also one that bounced
  bool bounced = false;
  sim::ProcessId process;
  sim::ProcessId from;                             ///< of a message: its sender
  std::uint32_t channel = sim::Event::kNoChannel;  ///< of a message: connection * 2, and 1 more for replies
  std::string_view name;           ///< of a message: its step, "SETNX"; else empty. Lives as long as the world
  std::uint32_t cause = no_cause;  ///< position of its cause in the trace; `no_cause` for beginnings
  sim::Instant base;               ///< when it left
  sim::DurationRange delay;        ///< how long after `base` it may arrive
  sim::Instant arrived;            ///< when it could have been handled, had its process not been frozen
  sim::Instant at;                 ///< when it was handled
};

/// A fault of the present trace.
struct ExploredFault {
  using Kind = sim::FaultKind;
  /// Where it strikes.
  enum class Place : std::uint8_t {
    before,  ///< pause: it began at `from`, before `event` was handled, and `event` waited for its end
    after,   ///< pause: it began when `event` had been handled; what the process sent then left only at the end
    within,  ///< pause: it lengthened the work whose end is `event`, at `work_from` or later; `from` is when the work
             ///< would have ended, or the pause of it before this one
    itself   ///< crash, jump: it is `event`. lose, delay: the message that `event` emitted as its `emission`-th thing.
             ///< skew, partition: of no event
  };
  Kind kind = Kind::pause;
  Place place = Place::itself;
  sim::ProcessId process;  ///< whom it strikes; lose, delay: the sender; partition: the first of its left side
  std::uint32_t event = ExploredEvent::no_cause;
  std::uint32_t emission = 0;  ///< lose, delay: from 1
  bool is_further =
      false;  ///< pause: not the first at its place, but one that begins before the one before it is over, or just then
  std::size_t budget = 0;  ///< which of the allowed faults it is one of
  std::size_t side = 0;    ///< partition: which of its budget's
  sim::Instant
      from;  ///< pause, partition: its beginning. crash, jump: when it strikes. delay: when the message would have left
  sim::Instant work_from;  ///< pause within work: when its process had handled the event before
  sim::Instant until;  ///< pause, partition: its end. crash: the restart, if `restarts`. delay: when the message leaves
  std::optional<sim::Instant> cut_short;   ///< pause: its process crashes in it, at this moment; after an event: so
                                           ///< nothing of what the process sent then leaves
  bool restarts = false;                   ///< crash
  std::optional<std::uint32_t> parameter;  ///< jump and skew by a range: which parameter says by how much
  sim::Duration by;                        ///< jump and skew by an exact amount
};

/// One parameter of the present trace: a skew or a jump by a length that is not known, or how long a pause takes that
/// prolongs work and is over before that.
struct ExploredParameter {
  std::size_t budget = 0;
  sim::ProcessId process;
  sim::DurationRange range;
};

}  // namespace lockstep::checker
