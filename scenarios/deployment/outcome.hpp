#pragma once

// What one execution of a story showed: the judged properties, and all that the reports need to explain it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/properties/verdict.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/worlds/history.hpp"
#include "sim/worlds/trace.hpp"

namespace lockstep::scenarios {

/// A process as the reports show it.
struct Lane {
  enum class Role : std::uint8_t { client, server, sentinel, resource, probe };
  std::string name;
  Role role = Role::client;
  ClockSpec clock;
  sim::ProcessId host = {};  ///< of a part of a process (a thread, its background tasks): that process
};

/// Whether the algorithm claims a property. What it claims is expected of a file that expects nothing itself.
enum class Claim : std::uint8_t { none, stated, expected };

/// One property: what the checker found, beside what the file expects.
struct Judgement {
  checker::Finding finding;
  std::optional<Expectation> expected;
  Claim claim = Claim::none;
  bool as_expected = true;  ///< true when nothing was expected
};

/// What a server holds under one key from a step on.
struct KeyState {
  sim::Step step = sim::no_step;  ///< after it
  sim::Instant at;                ///< true time of that step
  sim::ProcessId server;
  std::string key;                                   ///< as histories name it
  std::string type;                                  ///< as TYPE names it; empty: the key is not there any more
  std::string text;                                  ///< for people: "A-1", "{A:1: 2}", cut where it is long
  std::optional<sim::Instant> expires_by_own_clock;  ///< nothing: it has no time to live
  std::optional<sim::Instant> expires;  ///< the same in true time, with the server's clock as it is set in that step
};

/// A system call of a client that is a program. `name`: lives for ever.
struct ProgramCall {
  sim::Instant at;
  sim::ProcessId process;
  std::uint32_t thread = 0;  ///< the first of a program is 1
  std::string_view name;
};

struct Outcome {
  std::vector<Judgement> properties;  ///< in the order of `checker/properties/properties.hpp`
  bool as_expected = true;
  std::uint64_t digest = 0;
  std::vector<Lane> lanes;  ///< by process index
  sim::History history;
  sim::Trace trace;                  ///< empty unless it was asked for
  std::vector<KeyState> key_states;  ///< every change, by step; empty unless it was asked for
  sim::Instant quiescent;            ///< true time at which every client was done or dead; the probe starts here
  std::uint64_t events = 0;
  std::optional<std::int64_t> places;      ///< of a semaphore: how many may hold it at once
  std::vector<ProgramCall> program_calls;  ///< client after client, of each in its order
  /// What a reader of the result should know besides, e.g. a fault of the file whose moment never came.
  std::vector<std::string> notes;
  std::vector<std::string> script_mistakes;  ///< one sentence for each Lua script that ran into an error of its own
  /// One of these, that nobody handled: then nothing is known, and it is not as expected. Empty: there was none.
  std::string mistake;
};

}  // namespace lockstep::scenarios
