#pragma once

// What can go wrong: the one table of faults, for the engine, the files, the explorer and the reports. Nobody else
// lists kinds or compares with one: they ask for a column. What is said of a fault stands in fault_words.hpp; how to
// add one, in docs/adding-a-fault.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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
enum class Victim : std::uint8_t { process, message, clock, connections };

/// Whom, or whose. A message is its client's; sentinels are servers.
enum class Whose : std::uint8_t { clients = 1, servers = 2, anybody = 3 };

/// Which length belongs to it: how long it lasts ("length" in files), by how much a clock moves ("by"), after how long
/// a process comes back ("restart_after").
enum class FaultLength : std::uint8_t { none, lasts, moves, comes_back };

/// Where an exploration lets it strike.
enum class Explored : std::uint8_t {
  from_the_start,  ///< whom is decided before the first event, and it has struck by then
  own_event,       ///< whom is decided before the first event; then it is an event of its victim, at any time
  between_sides,   ///< which sides is decided before the first event; messages ask whether it is in their way
  at_events,       ///< before or after each event of a victim
  on_messages      ///< each message that leaves
};

/// What [[may]] can limit it to by `during`.
enum class Limited : std::uint8_t { no, to_activities, to_messages };

enum class HowLong : std::uint8_t { never, meanwhile, for_good };

struct FaultKindEntry {
  std::string_view name;  ///< in files and reports
  Victim victim;
  Whose whose;         ///< who may be named
  Whose unless_named;  ///< who it is where [[may]] names nobody: any client, or any server
  FaultLength length;
  std::string_view parameter;  ///< of its length, in margins: "for every pause above 71ms"; empty: it has none
  bool can_be_planned;         ///< [[fault]] has it; [[may]], which is explored and drawn at random, has all of them
  Explored explored;
  Limited limited;
  std::string_view end;  ///< what its end is called where an activity has a beginning and an end; empty: it has none
  HowLong silence;       ///< for how long who waits for its victim hears nothing
  HowLong stops;         ///< for how long its victim does nothing
  unsigned draws;        ///< in how many of the random worlds that one fault is drawn for it is this one
};

/// A kind without a row does not compile: -Wswitch is an error here.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
constexpr FaultKindEntry row_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::pause:
      return {.name = "pause",
              .victim = Victim::process,
              .whose = Whose::anybody,
              .unless_named = Whose::clients,
              .length = FaultLength::lasts,
              .parameter = "pause",
              .can_be_planned = true,
              .explored = Explored::at_events,
              .limited = Limited::to_activities,
              .end = "resume",
              .silence = HowLong::meanwhile,
              .stops = HowLong::meanwhile,
              .draws = 2};
    case FaultKind::crash:
      return {.name = "crash",
              .victim = Victim::process,
              .whose = Whose::anybody,
              .unless_named = Whose::clients,
              .length = FaultLength::comes_back,
              .parameter = "restart_after",
              .can_be_planned = true,
              .explored = Explored::own_event,
              .limited = Limited::to_activities,
              .end = "restart",
              .silence = HowLong::for_good,
              .stops = HowLong::for_good,
              .draws = 2};
    case FaultKind::lose:
      return {.name = "lose",
              .victim = Victim::message,
              .whose = Whose::clients,
              .unless_named = Whose::clients,
              .length = FaultLength::none,
              .parameter = "",
              .can_be_planned = true,
              .explored = Explored::on_messages,
              .limited = Limited::to_messages,
              .end = "",
              .silence = HowLong::for_good,
              .stops = HowLong::never,
              .draws = 1};
    case FaultKind::jump:
      return {.name = "jump",
              .victim = Victim::clock,
              .whose = Whose::anybody,
              .unless_named = Whose::servers,
              .length = FaultLength::moves,
              .parameter = "jump",
              .can_be_planned = true,
              .explored = Explored::own_event,
              .limited = Limited::no,
              .end = "",
              .silence = HowLong::never,
              .stops = HowLong::never,
              .draws = 1};
    case FaultKind::skew:
      return {.name = "skew",
              .victim = Victim::clock,
              .whose = Whose::anybody,
              .unless_named = Whose::clients,
              .length = FaultLength::moves,
              .parameter = "skew",
              .can_be_planned = false,
              .explored = Explored::from_the_start,
              .limited = Limited::no,
              .end = "",
              .silence = HowLong::never,
              .stops = HowLong::never,
              .draws = 1};
    case FaultKind::delay:
      return {.name = "delay",
              .victim = Victim::message,
              .whose = Whose::clients,
              .unless_named = Whose::clients,
              .length = FaultLength::lasts,
              .parameter = "delay",
              .can_be_planned = true,
              .explored = Explored::on_messages,
              .limited = Limited::to_messages,
              .end = "",
              .silence = HowLong::meanwhile,
              .stops = HowLong::never,
              .draws = 1};
    case FaultKind::partition:
      return {.name = "partition",
              .victim = Victim::connections,
              .whose = Whose::anybody,
              .unless_named = Whose::servers,
              .length = FaultLength::lasts,
              .parameter = "partition",
              .can_be_planned = true,
              .explored = Explored::between_sides,
              .limited = Limited::no,
              .end = "",
              .silence = HowLong::meanwhile,
              .stops = HowLong::never,
              .draws = 1};
  }
  return {};  // no kind
}
#pragma GCC diagnostic pop

// --- All of them.

/// They are numbered from 0.
inline constexpr std::size_t kFaultKindCount = [] {
  std::size_t count = 0;
  while (!row_of(static_cast<FaultKind>(count)).name.empty()) ++count;
  return count;
}();

inline constexpr std::array<FaultKind, kFaultKindCount> kFaultKinds = [] {
  std::array<FaultKind, kFaultKindCount> kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = static_cast<FaultKind>(i);
  return kinds;
}();

inline constexpr std::array<FaultKindEntry, kFaultKindCount> kFaultRows = [] {
  std::array<FaultKindEntry, kFaultKindCount> rows{};
  for (const FaultKind kind : kFaultKinds) rows[static_cast<std::size_t>(kind)] = row_of(kind);
  return rows;
}();

constexpr const FaultKindEntry& entry_of(FaultKind kind) { return kFaultRows[static_cast<std::size_t>(kind)]; }

// --- Columns as questions.

constexpr std::string_view name_of(FaultKind kind) { return entry_of(kind).name; }
constexpr bool strikes_message(FaultKind kind) { return entry_of(kind).victim == Victim::message; }
/// Whether its victim is one process, or a clock of one.
constexpr bool strikes_process(FaultKind kind) {
  return entry_of(kind).victim == Victim::process || entry_of(kind).victim == Victim::clock;
}
/// Whether a file may say that it strikes one of these.
constexpr bool may_name(FaultKind kind, Whose whose) {
  return (static_cast<unsigned>(entry_of(kind).whose) & static_cast<unsigned>(whose)) != 0;
}
/// Whether it lasts for a time: pause, delay, partition.
constexpr bool lasts(FaultKind kind) { return entry_of(kind).length == FaultLength::lasts; }
/// Whether it is about a wall clock: jump, skew.
constexpr bool moves_clock(FaultKind kind) { return entry_of(kind).victim == Victim::clock; }
/// Whether its victim may come back: crash.
constexpr bool may_come_back(FaultKind kind) { return entry_of(kind).length == FaultLength::comes_back; }
/// Whether it is over before the first event: skew.
constexpr bool is_from_the_start(FaultKind kind) { return entry_of(kind).explored == Explored::from_the_start; }
/// Whether it is an event of its victim wherever it strikes: crash, jump.
constexpr bool is_own_event(FaultKind kind) { return entry_of(kind).explored == Explored::own_event; }
/// Whether it keeps groups of processes apart: partition.
constexpr bool cuts_off(FaultKind kind) { return entry_of(kind).victim == Victim::connections; }
/// Whether its victim stops for a while, and goes on as if nothing had been: pause.
constexpr bool freezes(FaultKind kind) { return entry_of(kind).stops == HowLong::meanwhile; }
/// Whether its victim stops, and has lost what it was at: crash.
constexpr bool kills(FaultKind kind) { return entry_of(kind).stops == HowLong::for_good; }
/// Whether a fault of this length is none: a pause, a delay or a partition that is over when it begins, a clock that is
/// off by nothing. `length`: null where it has none.
template <class Range>
constexpr bool is_nothing(FaultKind kind, const Range* length) {
  if (length == nullptr || may_come_back(kind)) return false;
  return length->is_exact() && length->lo == decltype(length->lo)();
}
/// Whether a message that it strikes never arrives: lose.
constexpr bool loses_message(FaultKind kind) {
  return strikes_message(kind) && entry_of(kind).silence == HowLong::for_good;
}
/// Whether a message that it strikes arrives later: delay.
constexpr bool delays_message(FaultKind kind) { return strikes_message(kind) && !loses_message(kind); }
/// Whether who waits for its victim may wait in vain: crash, lose.
constexpr bool silences(FaultKind kind) { return entry_of(kind).silence == HowLong::for_good; }

// --- Names in files, and what they mean.

/// Names and kinds, as a file may have them: those for which `has` is true.
template <class Has>
constexpr auto named_kinds(Has) {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const FaultKind kind : kFaultKinds) n += Has{}(kind) ? 1 : 0;
    return n;
  }();
  std::array<std::pair<std::string_view, FaultKind>, count> named{};
  std::size_t i = 0;
  for (const FaultKind kind : kFaultKinds) {
    if (Has{}(kind)) named[i++] = {name_of(kind), kind};
  }
  return named;
}

constexpr auto named_fault_kinds() {
  return named_kinds([](FaultKind) { return true; });
}

constexpr auto planned_fault_kinds() {
  return named_kinds([](FaultKind kind) { return entry_of(kind).can_be_planned; });
}

inline constexpr std::size_t kPlannedFaultKinds = planned_fault_kinds().size();

/// Names of the lengths that margins are about, in the order of the table.
inline constexpr auto kFaultParameters = [] {
  constexpr auto has_length = [](FaultKind kind) { return entry_of(kind).length != FaultLength::none; };
  constexpr auto kinds = named_kinds(has_length);
  std::array<std::string_view, kinds.size()> names{};
  for (std::size_t i = 0; i < kinds.size(); ++i) names[i] = entry_of(kinds[i].second).parameter;
  return names;
}();

/// The kind whose length this is; nothing: no fault's.
constexpr std::optional<FaultKind> kind_of_parameter(std::string_view parameter) {
  for (const FaultKind kind : kFaultKinds) {
    if (!parameter.empty() && entry_of(kind).parameter == parameter) return kind;
  }
  return std::nullopt;
}

constexpr std::optional<FaultKind> kind_named(std::string_view name) {
  for (const FaultKind kind : kFaultKinds) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

/// What columns say of each other.
static_assert([] {
  for (const FaultKind kind : kFaultKinds) {
    const FaultKindEntry entry = entry_of(kind);
    if (entry.parameter.empty() != (entry.length == FaultLength::none)) return false;
    if (kind_named(entry.name) != kind) return false;
    if (!entry.parameter.empty() && kind_of_parameter(entry.parameter) != kind) return false;
    if (moves_clock(kind) != (entry.length == FaultLength::moves)) return false;
    if (strikes_message(kind) != (entry.explored == Explored::on_messages)) return false;
    if (cuts_off(kind) != (entry.explored == Explored::between_sides)) return false;
    // What an exploration decides between events of a process, a run has as a fault of that process, or as its clock.
    if (freezes(kind) != (entry.explored == Explored::at_events)) return false;
    if (kills(kind) != (entry.length == FaultLength::comes_back)) return false;
    if ((entry.stops == HowLong::never) != entry.end.empty()) return false;
    if (is_from_the_start(kind) == entry.can_be_planned) return false;
    if ((entry.limited == Limited::to_messages) != strikes_message(kind)) return false;
    if (entry.unless_named == Whose::anybody || entry.draws == 0) return false;
  }
  return true;
}());

}  // namespace lockstep::sim
