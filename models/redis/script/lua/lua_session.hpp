#pragma once

// What one Lua state of the engine may use up, and on whose behalf it runs.

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "models/redis/script/lua/lua_memory.hpp"
#include "models/redis/script/lua/script_host.hpp"
#include "models/redis/wire/command.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::models::redis {

/// Counts instructions and memory, and stops a script that exceeds its limits in such a way that the script's own pcall
/// cannot go on: from then on every instruction fails.
///
/// A count hook alone does not bound the time of a script, since one instruction may copy, compare or convert a string
/// of megabytes, or walk over an emptied table. So an instruction costs 1 + (largest block of memory so far) / 1 KiB,
/// and library functions that loop charge their steps.
class LuaSession {
 public:
  LuaSession(const ScriptLimits& limits, LuaMemory& memory) : limits_(limits), memory_(&memory) {}
  /// For an interpreter that is a part of a world: all that it has goes back with the world, and it keeps times as
  /// times, also where they have digits (`keeps_times`).
  struct OfWorld {};
  LuaSession(const ScriptLimits& limits, OfWorld) : keeps_times(true), limits_(limits) {}

  /// For lua_newstate, with the session as its `ud`.
  static void* allocate(void* session, void* block, std::size_t old_size, std::size_t new_size);
  static LuaSession& of(lua_State* lua) {
    void* session = nullptr;
    lua_getallocf(lua, &session);
    return *static_cast<LuaSession*>(session);
  }

  /// From here to `end` the limits hold. `largest` is the longest of the script's own text and arguments.
  void begin(lua_State* lua, ScriptHost& host, bool may_write, std::size_t largest);
  void end();
  /// Of a world: from here to `end_turn` one of its threads runs. What it has used before counts, too, and so do the
  /// instructions of other turns in the same step of the world: however a script waits for what comes at once, or
  /// protects calls, it has to let go.
  void begin_turn(lua_State* thread, sim::World* world, std::size_t largest);
  /// The world begins, or one of its processes: nothing has been executed.
  void forget_turns();
  void end_turn();
  /// Frees what scripts left behind. Between scripts only, so that nothing within a script depends on when it happens.
  void collect_if_worthwhile(lua_State* lua);

  /// Counts steps of a library function. Throws, as all of Lua's errors do, if that was too much.
  void charge(std::uint64_t steps);
  /// Whether `bytes` more are within the memory limit; if not, throws.
  void require_memory(std::uint64_t bytes);
  /// Stops the script for a reason that its author must hear of.
  [[noreturn]] void stop(std::string reason);
  /// The same without throwing: its next instruction fails.
  void mark_stopped(std::string_view reason);
  bool is_stopped() const { return stopped_.has_value(); }
  /// Of a world that begins again.
  void forget_stop() { stopped_.reset(); }
  const std::optional<std::string>& stopped() const { return stopped_; }
  /// The line that it stood at then; 0: in no function with lines.
  int stopped_line() const { return stopped_line_; }

  std::size_t memory_bytes() const { return used_; }

  // Of the script that is running.
  ScriptHost* host = nullptr;
  bool may_write = true;
  bool speaks_resp3 = false;         ///< of redis.setresp
  Command command;                   ///< of the redis.call that is going on; kept for its memory until the end
  std::exception_ptr host_failure;   ///< what the host threw: passes through Lua and goes on at its other side
  std::uint64_t random_state = 0;    ///< of math.random
  int printed_objects = 0;           ///< tables and functions that tostring has numbered
  bool has_met_symbols = false;      ///< it was given a symbolic timestamp
  sim::World* host_world = nullptr;  ///< of the script that ran last, too
  int left_sides = 0;                ///< what is kept of comparisons that are going on (lua_timestamps.cpp)
  bool keeps_times = false;          ///< a time is no number and no text, whatever it is known of it
  bool explores = false;             ///< its instants are symbolic
  bool has_blind_part = false;       ///< a part of it cannot ask how symbols compare: none may be met then

 private:
  static void count_hook(lua_State* lua, lua_Debug* at);
  void count_hook();
  void arm();
  std::optional<std::string> over_budget() const;
  std::uint64_t price() const { return 1 + largest_ / 1024; }
  void* reallocate(void* block, std::size_t old_size, std::size_t new_size);
  bool is_of_world() const { return memory_ == nullptr; }

  ScriptLimits limits_;
  LuaMemory* memory_ = nullptr;  ///< null: it is of a world, and all lies where `new` puts it
  lua_State* lua_ = nullptr;     ///< while limits hold
  std::size_t used_ = 0;
  std::size_t used_at_begin_ = 0;
  std::size_t used_after_collection_ = 0;
  std::size_t collect_above_ = 0;
  std::size_t largest_ = 0;
  std::uint64_t executed_ = 0;           ///< by the script; of a world: in this step
  std::uint64_t executed_in_world_ = 0;  ///< in the steps before
  sim::Step step_ = sim::no_step;        ///< of a world: of the last turn
  int period_ = 0;                       ///< instructions between two hooks
  std::optional<std::string> stopped_;
  int stopped_line_ = 0;
};

}  // namespace lockstep::models::redis
