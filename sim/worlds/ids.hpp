#pragma once

// The names that everything in a world is known by. All of them are small, dense and stable numbers: nothing in
// Lockstep is identified by an address.

#include <compare>
#include <cstdint>

namespace lockstep::sim {

/// A process of a world: dense from 0, in the order in which they were added.
struct ProcessId {
  std::uint16_t index = 0xffff;
  constexpr bool is_valid() const { return index != 0xffff; }
  constexpr auto operator<=>(const ProcessId&) const = default;
};

/// A connection between a client and a server: each direction is first in, first out, as TCP is.
struct ConnectionId {
  std::uint32_t index = 0xffffffff;
};

/// Identity of an event: a mix of the identity of its cause and its ordinal among what the cause emitted. It stays the
/// same when unrelated events are reordered; replay, exploration and shrinking rely on it.
struct EventId {
  std::uint64_t value = 0;
  constexpr auto operator<=>(const EventId&) const = default;
};

/// Ordinal of an event in the execution: 0 is the beginning of the world. It depends on the order of execution, so it
/// names events within one run only.
using Step = std::uint32_t;
inline constexpr Step no_step = 0xffffffff;

/// One operation (an acquire, a release, a read, …) of one client: dense from 1 in order of invocation, 0 is none.
using OperationId = std::uint32_t;

}  // namespace lockstep::sim
