#pragma once

// For those who write what a kind of server offers to scripts: docs/adding-a-server.md.

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "models/client/latch.hpp"
#include "models/scripted/lua_values.hpp"
#include "models/scripted/machine.hpp"
#include "models/scripted/run.hpp"
#include "models/scripted/server_table.hpp"
#include "sim/coroutines/task.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::scripted {

// A call reads its arguments, and returns `wait_for_server(…)` with a task that asks the server, pushes what the script
// gets, and returns how many values that are.

/// Of the run that calls `c.zookeeper:…`. Fails if there is something else in front of the colon. `example`: the call.
Run& server_run(lua_State* lua, const char* example);
int wait_for_server(lua_State* lua, Run& run, sim::Task<int> work);

/// Pushes an object that a call gives, which lives until the attempt ends.
void push_object_of_run(Run& run, std::shared_ptr<void> object);
/// That in front of the colon. Fails if it is none, or another attempt's.
std::shared_ptr<void> object_of_run(lua_State* lua, const char* example);

/// Pushes what a server says is wrong: `error_of` tells it from everything else.
void push_error(lua_State* lua, const Interpreter& interpreter, std::string_view text);
void push_text(lua_State* lua, std::string_view text);
/// What a server keeps: a text, or a time that a script has sent.
void push_stored(lua_State* lua, const Value& value);
/// Of an integer that a number of Lua has room for.
void push_integer(lua_State* lua, std::int64_t number);
void set_integer(lua_State* lua, const char* field, std::int64_t number);

/// A text, or a number, which is sent as its digits.
std::string text_at(lua_State* lua, int index, const What& what);
std::int64_t integer_at(lua_State* lua, int index, const What& what);

/// { ephemeral = true, data = "x" } behind the arguments of a call.
class Options {
 public:
  /// Nothing at `index`: all of them are left out. `call`: as messages name it.
  Options(lua_State* lua, int index, std::string_view call);

  bool flag(const char* name);
  std::optional<std::string> text(const char* name);
  std::optional<std::int64_t> integer(const char* name);
  std::optional<sim::Duration> length(const char* name);
  /// What c:patience(length) has made. Null: it is left out.
  Patience* patience(const char* name);
  /// Fails if the script has named one that was not asked for.
  void end();

 private:
  /// Pushes it if it is there.
  bool find(const char* name);

  lua_State* lua_;
  int index_;
  std::string call_;
  std::string known_;
  int found_ = 0;
};

/// How long a script waits: a length of time, { patience = p }, { length = 50 }, or nothing.
struct HowLong {
  std::optional<sim::Duration> length;
  Patience* patience = nullptr;
};
HowLong how_long_at(lua_State* lua, int index, std::string_view call);

}  // namespace lockstep::models::scripted
