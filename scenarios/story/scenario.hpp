#pragma once

// One story, as a scenario file has it: what is deployed, which clients do what, what may go wrong, what to expect.
// Plain data; `loader.hpp` reads it from TOML, `runner.hpp` builds a world from it and judges it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/properties/verdict.hpp"
#include "models/client/mode.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/parameters.hpp"
#include "models/redis/kind/sentinels_spec.hpp"
#include "models/redis/wire/command.hpp"
#include "models/servers/server_spec.hpp"
#include "models/workloads/guard.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/event_name.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/faults.hpp"

namespace lockstep::models::locks {
struct Entry;
}

namespace lockstep::scenarios {

/// Where in its file something was said; 1-based, 0 when it was not said in a file.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const Position&) const = default;
};

/// Text for people, in both languages. `zh` is empty where a file has English only.
struct Text {
  std::string en;
  std::string zh;
  bool operator==(const Text&) const = default;
};

enum class Cost : std::uint8_t { fast, slow, rare };

using models::ClockSpec;
using models::ServerSpec;
using models::redis::SentinelSpec;
using models::redis::SentinelsSpec;

/// Parameters of a lock algorithm, by name: only what the file sets.
using LockParameters = std::map<std::string, models::locks::ParameterValue, std::less<>>;

/// A lock that the file brings along.
struct OwnLock {
  std::shared_ptr<const models::locks::Entry> entry;  ///< null: there is none
  std::string path;                                   ///< of the script, absolute
  std::string text;
  /// The same lock, wherever its script lies.
  bool operator==(const OwnLock& other) const { return text == other.text; }
};

struct LockSpec {
  std::string algorithm;  ///< its id; of a script the name of its file
  Position algorithm_at;
  OwnLock own;
  std::string key = "lock";
  LockParameters parameters;
  bool operator==(const LockSpec&) const = default;
};

struct NetworkSpec {
  sim::DurationRange latency = {sim::Duration::milliseconds(1), sim::Duration::milliseconds(1)};  ///< one way
  /// How long a client waits for a reply before it gives up on it. Nothing: for ever.
  std::optional<sim::Duration> timeout;
  /// How far replicas lag: what a request has done leaves its server so much later than the reply. A crash takes along
  /// what has not left.
  std::optional<sim::DurationRange> replication;
  bool operator==(const NetworkSpec&) const = default;
};

/// What the lock protects.
struct ResourceSpec {
  enum class Kind : std::uint8_t {
    counter,  ///< every holder reads it, works, and writes one more than it read
    reg,      ///< "register": every holder works, then writes its name; `fenced` refuses tokens that go back
    row       ///< as counter, in the lock's own server and its holder's transaction; then without the two below
  };
  Kind kind = Kind::counter;
  bool fenced = false;
  std::optional<sim::DurationRange> latency;  ///< to and from the resource, instead of the network's
  bool operator==(const ResourceSpec&) const = default;
};

/// Sellers and buyers: then clients use the lock as the guard has it, and not for a critical section of their own.
struct MarketSpec {
  models::workloads::Guard guard = models::workloads::Guard::watch;
  std::int64_t price = 1;
  std::int64_t funds = 1'000'000;  ///< of each account that buys, at the beginning
  bool operator==(const MarketSpec&) const = default;
};

/// A client that is a program.
struct ProgramSpec {
  std::vector<std::string> command;  ///< the program and its arguments; empty: the client is none
  std::string folder;                ///< where it is started; absolute
  std::map<std::string, std::string, std::less<>> environment;  ///< besides what every program is told
  bool operator==(const ProgramSpec&) const = default;
};

struct ClientSpec {
  std::string name;
  Position at;
  /// When it starts its first attempt, in true time.
  sim::DurationRange acquire_at;
  /// Processor time inside the critical section: a pause lengthens it.
  sim::DurationRange hold;
  std::vector<std::string> locks;            ///< keys, taken one after the other; empty: the lock's own key
  std::int64_t rounds = 1;                   ///< acquire, hold, release: this often
  sim::DurationRange between;                ///< from a release (or giving up) to the next round
  std::optional<std::int64_t> attempts;      ///< instead of the algorithm's
  std::optional<sim::DurationRange> retry;   ///< instead of the algorithm's
  bool release = true;                       ///< false: forgets to release (the client goes on living)
  std::int64_t reenter = 0;                  ///< takes the lock again while it holds it, this often
  sim::DurationRange inner_hold;             ///< processor time inside after that
  bool in_finally = false;                   ///< releases as often as it tried to acquire, successful or not
  std::vector<models::locks::Call> finally;  ///< instead of releases: calls at the end, whether it got the lock or not
  std::optional<models::Mode> mode;          ///< instead of the algorithm's
  LockParameters parameters;                 ///< of the algorithm, where it has other values than [lock]
  std::string process_name;                  ///< what its lock library takes for unique; empty: its name
  std::int64_t thread_id = 1;                ///< of its first thread, within the process
  /// In a market: whether it lists or buys, and for whom; empty: itself.
  enum class Role : std::uint8_t { none, seller, buyer };
  Role role = Role::none;
  std::string account;
  ClockSpec clock;
  bool via_sentinel = false;  ///< its only server is the present primary, which it learns from sentinels
  /// Set: it has these threads, called "A/1", "A/2", …, each with settings of its own; `acquire_at` is from the start
  /// of the process.
  std::vector<ClientSpec> threads;
  /// Set: this client does not use the lock but sends these commands to one server, one after the other.
  struct Line {
    models::redis::Command command;
    Position at;
    bool operator==(const Line&) const = default;
  };
  std::vector<Line> commands;
  std::string server;   ///< to whom; empty: the first
  ProgramSpec program;  ///< set: this client is a program, which does what it does
  bool is_program() const { return !program.command.empty(); }
  bool operator==(const ClientSpec&) const;
};

/// When a fault strikes: at a true time, or at a step of a process.
struct Trigger {
  enum class Kind : std::uint8_t {
    at,      ///< at a true time
    before,  ///< the client is about to send `step`: it has not left yet
    sent,    ///< `step` has just left; the reply will find the client so
    after    ///< the client has handled the reply to `step` and run on to its next wait; nothing it sent then has left.
             ///< A server: it has carried out the request; the reply has not left
  };
  Kind kind = Kind::at;
  sim::Duration time;
  /// A command in capitals ("SETNX"), or "acquire", "release", "read", "write"; `after` also "start", "work", "sleep",
  /// "timeout", "reset". Of a server: "A.SETNX".
  std::string step;
  std::int64_t occurrence = 1;  ///< ordinal of the step at that client or server, from 1
  bool operator==(const Trigger&) const = default;
};

struct FaultSpec {
  /// pause: `who` freezes for `length`. crash: `who` dies; comes back `restart_after`, if set; a server keeps its keys
  /// if `keep`. jump: the wall clock of `who` moves by `by`. lose: one message is lost, the request (`direction`
  /// request) or the reply of `trigger.step` of client `who`. delay: the same message takes `length` longer than the
  /// network's latency. partition: no message passes between `between[0]` and `between[1]` from `trigger.time` for
  /// `length`. Never skew: a clock that is off is part of its process.
  using Kind = sim::FaultKind;
  enum class Direction : std::uint8_t { request, reply };
  Kind kind = Kind::pause;
  Position at;
  std::string who;
  Trigger trigger;
  sim::DurationRange length;  ///< pause, delay, partition; exact in [[fault]], may be a range in [[may]]
  std::optional<sim::DurationRange> restart_after;
  bool keep = false;
  sim::DurationRange by;  ///< jump
  Direction direction = Direction::request;
  std::vector<std::vector<std::string>> between;
  bool operator==(const FaultSpec&) const = default;
};

/// A fault that might happen, in `check` and `fuzz`: at any place, up to `times` times.
struct MaySpec {
  using Kind = sim::FaultKind;
  Kind kind = Kind::pause;
  Position at;
  std::vector<std::string> who;  ///< empty: any client (lose, delay: any connection; jump: any server)
  sim::DurationRange length;     ///< pause, delay, partition: how long; jump and skew: by how much
  std::optional<sim::DurationRange> restart_after;
  bool keep = false;
  /// pause, crash: it strikes a client only during this activity; lose, delay: messages that belong to it.
  sim::Activity during = sim::Activity::anything;
  std::string message;                            ///< lose, delay: in capitals, "read" or "write"; empty: any
  std::optional<FaultSpec::Direction> direction;  ///< lose, delay; nothing: either
  std::vector<std::vector<std::string>> between;  ///< partition: the sides; empty: each of `who` from all others
  std::int64_t times = 1;
  bool operator==(const MaySpec&) const = default;
};

/// How long, by how much, or after how long: in whichever of its fields its kind has it. Null: it has no length, or
/// never comes back.
inline sim::DurationRange* length_of(FaultSpec& fault) {
  return sim::length_among(fault.kind, fault.length, fault.by, fault.restart_after);
}
inline const sim::DurationRange* length_of(const FaultSpec& fault) {
  return sim::length_among(fault.kind, fault.length, fault.by, fault.restart_after);
}
inline sim::DurationRange* length_of(MaySpec& may) {
  return sim::length_among(may.kind, may.length, may.length, may.restart_after);
}
inline const sim::DurationRange* length_of(const MaySpec& may) {
  return sim::length_among(may.kind, may.length, may.length, may.restart_after);
}

/// Names of clients without one: A, B, … Z, C27, C28, …
std::string client_name(std::size_t i);

/// One entry of a pinned order: a command of a client, at a server.
struct PinEntry {
  std::string client;
  std::string command;                     ///< in capitals
  std::optional<std::int64_t> occurrence;  ///< "#2": the client's second such command; else its next one in order
  std::string server;                      ///< "@redis2"; empty: any
  Position at;
  bool operator==(const PinEntry&) const = default;
};

/// One entry of a schedule: the event is handled at exactly this true time.
struct ScheduleEntry {
  sim::Duration time;  ///< or `sim::ScheduledEvent::never`
  sim::EventName::What what = sim::EventName::What::request;
  std::string process;          ///< of a request, a reply and the like: the client
  std::string step;             ///< the request: a command in capitals, "read" or "write"; else empty
  std::int64_t occurrence = 1;  ///< "#2": the second that `process` set out to do; with a server: among those to it
  std::string server;           ///< "@redis2"; empty: any
  std::vector<sim::PlannedChoice> choices;  ///< "choosing 2 of 3": what is left open while it is handled
  Position at;
  bool operator==(const ScheduleEntry&) const = default;
};

/// What the file expects of one property in one mode.
struct Expectation {
  std::string property;
  checker::Verdict verdict = checker::Verdict::holds;
  std::vector<std::string> violated_by;                   ///< empty: by anyone
  std::optional<sim::Duration> at;                        ///< when it is first broken (run)
  std::map<std::string, std::string, std::less<>> from;   ///< parameter of a fault → exact threshold (check)
  std::map<std::string, std::string, std::less<>> up_to;  ///< restart_after → the largest value that breaks it (check)
  std::string frontier;                                   ///< of several parameters together (check); empty: any
  Position position;
  bool operator==(const Expectation&) const = default;
};

inline bool ClientSpec::operator==(const ClientSpec&) const = default;

class ProgramMaker;

/// Who makes the clients that are programs. Nobody: the story can be read and written, but not run.
struct ProgramHost {
  const ProgramMaker* maker = nullptr;
  /// It is the same story, with or without one.
  bool operator==(const ProgramHost&) const { return true; }
};

/// Names of a client's threads: none if it has no threads of its own.
std::vector<std::string> thread_names(const ClientSpec& client);

struct Scenario {
  std::string file;  ///< as it was named on the command line
  std::string id;    ///< the file's name without its ending
  Text title, story, lesson;
  std::string source;
  std::vector<std::string> reproduces;
  Cost cost = Cost::fast;
  LockSpec lock;
  NetworkSpec network;
  std::vector<ServerSpec> servers;
  models::Settings shared_settings;        ///< of all servers, as their kind has them
  std::optional<SentinelsSpec> sentinels;  ///< of Redis servers
  Position sentinels_at, quorum_at;
  std::optional<ResourceSpec> resource;
  std::optional<MarketSpec> market;
  std::vector<ClientSpec> clients;
  std::vector<FaultSpec> faults;
  std::vector<MaySpec> may;
  std::vector<PinEntry> pin;
  std::vector<ScheduleEntry> schedule;  ///< in the order of their times
  /// `recoverable`: a fresh client must have the lock this long after all others are done or dead. Nothing: the lock's
  /// longest lease, plus a few round trips.
  std::optional<sim::Duration> recover_within;
  /// `no-deadlock`: a circle must last so long. Nothing: a little longer than the lock's longest lease, or at all if it
  /// has none.
  std::optional<sim::Duration> deadlock_lasting;
  /// `no-lost-wakeup`: the longest wait for a lock that is free. Nothing: a few round trips.
  std::optional<sim::Duration> wake_within;
  /// `progress`: the longest time of trying while the lock is not held. Nothing: the longest lease, retry and work, and
  /// a few round trips.
  std::optional<sim::Duration> progress_within;
  /// `fair`: how often a client may be overtaken. Nothing: never, where it is judged at all.
  std::optional<std::int64_t> fair_overtakings;
  std::vector<Expectation> expect_run, expect_check;
  std::optional<std::int64_t> expect_traces;  ///< how many traces `check` explores
  ProgramHost programs;
  bool operator==(const Scenario&) const = default;
};

/// Null: no client is a program.
const ClientSpec* first_program(const Scenario& scenario);

/// The keys of all locks that the story's clients use, in the order in which the file names them; if there are none,
/// the lock's own.
std::vector<std::string> lock_keys(const Scenario& scenario);

/// The server `from` is called `to`, in each place where the story names it.
void rename_server(Scenario& story, std::string from, std::string_view to);

}  // namespace lockstep::scenarios
