#pragma once

// What can go wrong: one table for the engine, the files, the explorer and the reports. Adding a kind is one line here,
// what the engine does when it strikes (world_faults.cpp) and, where it can be explored, how the explorer tries it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace lockstep::sim {

enum class FaultKind : std::uint8_t {
  pause,     ///< a process freezes: its timers, its clocks' readers, what it is about to send
  crash,     ///< a process dies with all that was not durable; it may come back
  lose,      ///< one message of a client, or one reply to it, never arrives
  jump,      ///< a process's wall clock moves
  skew,      ///< a process's wall clock is off from the beginning
  delay,     ///< one message arrives later than the network alone would make it
  partition  ///< no message passes between two groups of processes
};

/// What a fault strikes.
enum class Victim : std::uint8_t { process, message, connections };

/// Which length belongs to it: how long it lasts, by how much a clock moves, after how long a process comes back.
enum class FaultLength : std::uint8_t { none, lasts, moves, comes_back };

struct FaultKindEntry {
  FaultKind kind;
  std::string_view name;  ///< in files and reports
  Victim victim;
  FaultLength length;
  std::string_view parameter;  ///< its name in margins: "for every pause above 71ms"; empty: it has no length
  bool can_be_planned;         ///< [[fault]] has it; [[may]], which is explored and drawn at random, has all of them
  std::string_view meaning;    ///< one line
};

inline constexpr std::array<FaultKindEntry, 7> kFaultKinds{{
    {FaultKind::pause, "pause", Victim::process, FaultLength::lasts, "pause", true,
     "A process freezes, with its timers and all that it is about to send; what arrives meanwhile waits."},
    {FaultKind::crash, "crash", Victim::process, FaultLength::comes_back, "restart_after", true,
     "A process dies and loses what is not durable; it may come back later."},
    {FaultKind::lose, "lose", Victim::message, FaultLength::none, "", true,
     "One request or one reply never arrives: its sender does not know what became of it."},
    {FaultKind::jump, "jump", Victim::process, FaultLength::moves, "jump", true,
     "A process's wall clock moves, forward or back; its monotonic clock does not."},
    {FaultKind::skew, "skew", Victim::process, FaultLength::moves, "skew", false,
     "A process's wall clock is off from the beginning."},
    {FaultKind::delay, "delay", Victim::message, FaultLength::lasts, "delay", true,
     "One request or one reply takes longer than the network by itself would make it."},
    {FaultKind::partition, "partition", Victim::connections, FaultLength::lasts, "partition", true,
     "For a while no message passes between two groups of processes."},
}};

constexpr const FaultKindEntry& entry_of(FaultKind kind) { return kFaultKinds[static_cast<std::size_t>(kind)]; }

constexpr std::string_view name_of(FaultKind kind) { return entry_of(kind).name; }
constexpr bool strikes_message(FaultKind kind) { return entry_of(kind).victim == Victim::message; }
/// Whether it lasts for a time: pause, delay, partition.
constexpr bool lasts(FaultKind kind) { return entry_of(kind).length == FaultLength::lasts; }
/// Whether it is about a wall clock: jump, skew.
constexpr bool moves_clock(FaultKind kind) { return entry_of(kind).length == FaultLength::moves; }

/// Its entry is found by its number.
static_assert([] {
  for (std::size_t i = 0; i < kFaultKinds.size(); ++i) {
    if (kFaultKinds[i].kind != static_cast<FaultKind>(i)) return false;
  }
  return true;
}());

/// Names and kinds, as a file may have them: all, or only what can be planned.
constexpr std::array<std::pair<std::string_view, FaultKind>, kFaultKinds.size()> named_fault_kinds() {
  std::array<std::pair<std::string_view, FaultKind>, kFaultKinds.size()> named{};
  for (std::size_t i = 0; i < kFaultKinds.size(); ++i) named[i] = {kFaultKinds[i].name, kFaultKinds[i].kind};
  return named;
}

inline constexpr std::size_t kPlannedFaultKinds = [] {
  std::size_t count = 0;
  for (const FaultKindEntry& entry : kFaultKinds) count += entry.can_be_planned ? 1 : 0;
  return count;
}();

constexpr std::array<std::pair<std::string_view, FaultKind>, kPlannedFaultKinds> planned_fault_kinds() {
  std::array<std::pair<std::string_view, FaultKind>, kPlannedFaultKinds> named{};
  std::size_t i = 0;
  for (const FaultKindEntry& entry : kFaultKinds) {
    if (entry.can_be_planned) named[i++] = {entry.name, entry.kind};
  }
  return named;
}

}  // namespace lockstep::sim
