#pragma once

// What a run leaves behind for the checkers: which operations the clients invoked and how they ended, what the
// servers did to their objects, and which processes were interrupted. It names no lock and no server: functions
// ("acquire") and objects ("lock") are plain names that the models and the checkers agree on.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/time/time.hpp"
#include "sim/worlds/fault_kinds.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::sim {

/// How an operation stands. `info` is an unknown outcome: it may have taken effect, may still take effect, or never.
enum class Phase : std::uint8_t { invoke, ok, fail, info };

/// One operation of a client, from its invocation to its end. A process, or a part of one, has at most one open.
struct Operation {
  OperationId id = 0;
  ProcessId process;
  /// "acquire", "release", "read", "write"; "reenter" and "leave": a further acquire of whoever holds it already, and
  /// its release; "renew": of its lease; "lost": the holder learns that it is not. Static text.
  std::string_view function;
  std::string object;  ///< which lock, counter, register
  Instant invoked;     ///< true time
  Step invoked_in = no_step;
  Phase phase = Phase::invoke;  ///< `invoke` while it is open: also when its process crashed
  Instant completed;            ///< true time; meaningless while open
  Step completed_in = no_step;
  /// read ok: what was read; write: what was to be written; acquire ok: the fencing token, if one was issued.
  std::optional<std::int64_t> value;
  /// acquire ok: from this true time on the client knows by its own clock that its hold is over. Absent: it never
  /// looks. A paused client cannot look, so it goes on believing until it runs again.
  std::optional<Instant> valid_until;
  /// acquire ok, renew: the end of the lease that the client announced to the others, in true time by its own clock.
  std::optional<Instant> lease_until;
  /// Which of its clocks `valid_until` was read on: a jump moves what the wall clock shows.
  bool valid_on_wall_clock = true;
  /// acquire: others who share may hold it at the same time.
  bool is_shared = false;
  /// acquire ok: something renews its lease for as long as it is held.
  bool is_renewed = false;
  /// release, leave: the acquire whose hold it gives back; reenter: which it enters again; renew, lost: whose lease.
  /// read and write: the acquire under which they happen. Else 0.
  OperationId of = 0;
  /// acquire, release: the algorithm's name of the place that was granted or freed, where the server keeps none (a unit
  /// of a counter, an element of a list). Empty: not told.
  std::string place;
};

/// What happened to one part of an object that has parts with names: a field of a hash, a member of a set. Or to one
/// that has none: an element of a list, a unit of a counter.
struct MemberChange {
  enum class Kind : std::uint8_t { written, removed, nameless };
  std::string member;
  Kind kind = Kind::written;
};

/// What a server did to one of its objects.
struct Effect {
  enum class Kind : std::uint8_t {
    read,    ///< served the object's value to `by`
    touch,   ///< changed only how long it lives
    write,   ///< created it or changed it
    remove,  ///< deleted it on command
    expire,  ///< deleted it because its time to live had passed, noticed while it handled a command
    /// had it no longer, or something else in its place: it crashed and forgot, or took over another server's objects
    lose,
    reject  ///< refused a write, e.g. because its fencing token was too old
  };
  Kind kind = Kind::write;
  ProcessId server;
  std::string object;
  ProcessId by;                       ///< whose command did it; invalid for an expiry or a loss
  OperationId operation = 0;          ///< during which of that client's operations; 0: outside any
  std::optional<std::int64_t> token;  ///< fencing token that came with a write
  Instant at;                         ///< true time
  Step step = no_step;
  /// Of `History::members`: what happened to the object's parts. None: to the object as a whole.
  std::uint32_t first_member = 0;
  std::uint32_t members = 0;
  /// write, touch: when the object, or the lease in it, is over by the server's clock, in true time. Nothing: it does
  /// not end by itself, or the server tells when it does.
  std::optional<Instant> lives_until = {};
};

/// A process that was stopped for a while, or for ever.
struct Interruption {
  using Kind = FaultKind;
  Kind kind = Kind::pause;  ///< one that stops its victim
  ProcessId process;        ///< or a part of one; what strikes a process is noted for each of its parts as well
  Instant from;
  Step step = no_step;
  std::optional<Instant> until;  ///< end of the pause, or the restart; nothing: never came back
};

/// A client sleeps during one of its operations, until its own clock wakes it: nothing else can.
struct Doze {
  OperationId operation = 0;
  Instant from;
  std::optional<Instant> until;  ///< nothing: it never went on
};

/// A thread, or another part of a process that acts under its own name: it shares its process's events, clocks and
/// fate.
struct Part {
  ProcessId part;
  ProcessId host;
};

struct History {
  std::vector<Operation> operations;  ///< by id: operation n is operations[n - 1]
  std::vector<Effect> effects;        ///< in the order in which the servers did them
  std::vector<Interruption> interruptions;
  std::vector<MemberChange> members;  ///< in the order of their effects
  std::vector<Doze> dozes;            ///< in the order of their beginnings
  std::vector<Part> parts;            ///< of the world, so `clear` leaves them

  /// The process that `process` is, or is a part of.
  ProcessId host_of(ProcessId process) const {
    for (const Part& part : parts) {
      if (part.part == process) return part.host;
    }
    return process;
  }

  /// Whether a pause is over since its victim crashes, not since it lasted as long as it was to.
  bool ends_in_crash(const Interruption& pause) const {
    for (const Interruption& crash : interruptions) {
      if (kills(crash.kind) && crash.process == pause.process && pause.until && pause.until->identical(crash.from))
        return true;
    }
    return false;
  }

  std::span<const MemberChange> members_of(const Effect& effect) const {
    return std::span(members).subspan(effect.first_member, effect.members);
  }

  void clear() {
    operations.clear();
    effects.clear();
    members.clear();
    interruptions.clear();
    dozes.clear();
  }
};

}  // namespace lockstep::sim
