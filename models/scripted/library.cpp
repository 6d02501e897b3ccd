#include "models/scripted/library.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/scripted/lua_values.hpp"
#include "models/scripted/run.hpp"
#include "models/scripted/server_table.hpp"

namespace lockstep::models::scripted {

bool is_error(lua_State* lua, int index) {
  if (!lua_istable(lua, index) || lua_getmetatable(lua, index) == 0) return false;
  Interpreter::of(lua).push_metatable(lua, Kind::error);
  const bool is_one = lua_rawequal(lua, -1, -2) != 0;
  lua_pop(lua, 2);
  return is_one;
}

Run& running(lua_State* lua) {
  Run* run = Interpreter::of(lua).current;
  if (run == nullptr) fail(lua, "this is for acquire and release; the main part of a script only declares");
  return *run;
}

Machine::Context& context_of(lua_State* lua) {
  const std::size_t number = object_number(lua, 1, Kind::context);
  if (number == 0) fail(lua, "expected c in front of a colon, as in c:now()");
  Run& run = running(lua);
  Machine::Context* context = run.machine().context_at(number);
  if (context == nullptr || context->client != &run.client())
    fail(lua, "this c belongs to another thread: use the one that the function was called with");
  return *context;
}

int wait_for(lua_State* lua, Run& run, Request::Kind kind) {
  run.request.kind = kind;
  return lua_yield(lua, 0);
}

std::size_t number_of(lua_State* lua, Kind kind, const char* example) {
  const std::size_t number = object_number(lua, 1, kind);
  if (number == 0) fail(lua, fmt::format("expected an object in front of a colon, as in {}", example));
  return number;
}

namespace {

// --- Time.

sim::Duration unit_at(lua_State* lua, int index) {
  if (lua_isnoneornil(lua, index)) return sim::Duration::milliseconds(1);
  const char* text = lua_tostring(lua, index);
  const std::string_view unit = text == nullptr ? "" : text;
  if (unit == "s") return sim::Duration::seconds(1);
  if (unit == "ms") return sim::Duration::milliseconds(1);
  if (unit == "us") return sim::Duration::microseconds(1);
  if (unit == "ns") return sim::Duration::nanoseconds(1);
  fail(lua, "a unit of time is \"s\", \"ms\", \"us\" or \"ns\"");
}

int now(lua_State* lua) {
  Client& client = *context_of(lua).client;
  push_moment(lua, client.clock().now(), unit_at(lua, 2));
  return 1;
}

int monotonic(lua_State* lua) {
  Client& client = *context_of(lua).client;
  push_moment(lua, client.monotonic().now(), unit_at(lua, 2));
  return 1;
}

int rest_for(lua_State* lua, sim::TimerKind kind) {
  context_of(lua);
  Run& run = running(lua);
  if (lua_type(lua, 2) == LUA_TUSERDATA)
    fail(lua, "c:sleep needs a length that is known beforehand; until a moment it is c:sleep_until(moment)");
  run.request.length = lengths_at(lua, 2, "how long to sleep");
  if (run.request.length.lo < sim::Duration::zero()) run.request.length.lo = sim::Duration::zero();
  if (run.request.length.hi < sim::Duration::zero()) run.request.length.hi = sim::Duration::zero();
  run.request.timer = kind;
  return wait_for(lua, run, Request::Kind::sleep);
}
int sleep(lua_State* lua) { return rest_for(lua, sim::TimerKind::sleep); }
int tick(lua_State* lua) { return rest_for(lua, sim::TimerKind::tick); }

/// A latch that nobody releases.
int rest_until(lua_State* lua) {
  Client& client = *context_of(lua).client;
  Run& run = running(lua);
  const sim::Instant moment = moment_at(lua, 2, "until when to sleep");
  if (client.clock().has_reached(moment)) return 0;
  Machine& machine = running(lua).machine();
  if (machine.latches.empty()) machine.latches.emplace_back();
  run.request.limits = {.after = PermitLimits::After{client.clock().true_time_of(moment),
                                                     sim::DurationRange::exactly(sim::Duration::zero())}};
  run.request.number = 1;
  return wait_for(lua, run, Request::Kind::latch);
}

// --- Who it is, and what it tells.

int token(lua_State* lua) {
  const std::string text = context_of(lua).client->unique_token().text();
  lua_pushlstring(lua, text.data(), text.size());
  return 1;
}

int attempt(lua_State* lua) {
  lua_pushnumber(lua, static_cast<lua_Number>(context_of(lua).operation));
  return 1;
}

int granted(lua_State* lua) {
  context_of(lua).client->granted(value_at(lua, 2, "a place"));
  return 0;
}

int freed(lua_State* lua) {
  context_of(lua).client->freed(value_at(lua, 2, "a place"));
  return 0;
}

sim::OperationId acquire_at(lua_State* lua, int index) {
  Machine& machine = running(lua).machine();
  if (lua_type(lua, index) == LUA_TNUMBER) {
    const lua_Number number = lua_tonumber(lua, index);
    const std::size_t known = running(lua).client().world().history().operations.size();
    if (number >= 0 && number <= static_cast<lua_Number>(known)) return static_cast<sim::OperationId>(number);
  }
  if (const Machine::Holding* hold = machine.hold_at(object_number(lua, index, Kind::hold))) return hold->acquire;
  fail(lua, "expected a hold that c:hold made, or what c:attempt() gave");
}

int lost(lua_State* lua) {
  Client& client = *context_of(lua).client;
  client.tell_lost(acquire_at(lua, 2));
  return 0;
}

int hold(lua_State* lua) {
  const std::size_t context = object_number(lua, 1, Kind::context);
  Machine::Context& known = context_of(lua);
  lua_settop(lua, 2);
  if (lua_isnil(lua, 2)) {
    lua_newtable(lua);
  } else if (lua_istable(lua, 2) && object_number(lua, 2, Kind::hold) == 0) {
    lua_pushvalue(lua, 2);
  } else {
    fail(lua, "expected what is to be remembered of the hold: c:hold({ token = token })");
  }
  lua_pushvalue(lua, -1);
  running(lua).machine().keep_hold(lua, known.operation, context);
  return 1;
}

/// hold:extend(until): until when the holder relies on it, from now on. False: its time was over.
int extend(lua_State* lua) {
  Machine& machine = running(lua).machine();
  Machine::Holding* hold = machine.hold_at(number_of(lua, Kind::hold, "hold:extend(c:now() + 1000)"));
  const sim::Instant until = moment_at(lua, 2, "until when");
  Client& client = running(lua).client();
  sim::World& world = client.world();
  if (hold != nullptr && hold->acquire != 0) {
    sim::Operation& acquire = world.operation(hold->acquire);
    if (acquire.valid_until) {
      if (world.is_at_or_after(world.now(), *acquire.valid_until)) {
        lua_pushboolean(lua, 0);
        return 1;
      }
      const sim::Clock& clock = acquire.valid_on_wall_clock ? client.clock() : client.monotonic();
      world.operation(hold->acquire).valid_until = clock.true_time_of(until);
    }
  }
  lua_pushvalue(lua, 2);
  lua_setfield(lua, 1, "valid_until");
  lua_pushboolean(lua, 1);
  return 1;
}

// --- In the background.

void require_background(lua_State* lua, const char* what) {
  if (running(lua).machine().program().has_background) return;
  fail(lua, fmt::format("{} runs in the background: write `background = true` at the top of the script", what));
}

int every(lua_State* lua) {
  Machine::Context& context = context_of(lua);
  require_background(lua, "c:every");
  const sim::Duration period = length_at(lua, 2, "the period");
  if (period < sim::Duration::microseconds(1)) fail(lua, "the period of c:every is to be 1us or more");
  if (!lua_isfunction(lua, 3)) fail(lua, "expected a function: c:every(period, function(c) … end)");
  Machine& machine = running(lua).machine();
  auto watch = std::make_shared<Watch>();
  lua_pushvalue(lua, 3);
  watch->function = luaL_ref(lua, LUA_REGISTRYINDEX);
  watch->renews = context.operation;
  watch->number = ++machine.watches_made;
  machine.watches.push_back(watch);
  Client& background = context.client->background();
  context.client->run_in_background(repeat(background,
                                           context.client->shared<MachineOfProcess>(machine.program().file).machine,
                                           context.lock, watch, period));
  lua_newtable(lua);
  push_object(lua, machine.interpreter(), Kind::watch, watch->number);
  return 1;
}

int spawn(lua_State* lua) {
  Machine::Context& context = context_of(lua);
  require_background(lua, "c:spawn");
  if (!lua_isfunction(lua, 2)) fail(lua, "expected a function: c:spawn(function(c) … end)");
  Machine& machine = running(lua).machine();
  lua_pushvalue(lua, 2);
  const int function = luaL_ref(lua, LUA_REGISTRYINDEX);
  Client& background = context.client->background();
  context.client->run_in_background(run_once(
      background, context.client->shared<MachineOfProcess>(machine.program().file).machine, context.lock, function));
  return 0;
}

/// Null: it has ended.
Watch* watch_of(lua_State* lua, const char* example) {
  const std::size_t number = number_of(lua, Kind::watch, example);
  Machine& machine = running(lua).machine();
  if (number > machine.watches_made) fail(lua, "there is no such watch");
  const auto found = std::find_if(machine.watches.begin(), machine.watches.end(),
                                  [&](const auto& watch) { return watch->number == number; });
  return found == machine.watches.end() ? nullptr : found->get();
}

int stop(lua_State* lua) {
  Watch* watch = watch_of(lua, "watch:stop()");
  if (watch != nullptr && !std::exchange(watch->is_stopped, true)) watch->is_over.release();
  return 0;
}

int renews(lua_State* lua) {
  const sim::OperationId acquire = acquire_at(lua, 2);
  if (Watch* watch = watch_of(lua, "watch:renews(attempt)")) watch->renews = acquire;
  return 0;
}

}  // namespace

namespace {

int print_error(lua_State* lua) {
  lua_getfield(lua, 1, "error");
  return 1;
}

/// c.redis in a script of another kind.
int find_server(lua_State* lua) {
  const std::string name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
  const std::string_view own = Interpreter::of(lua).program().server->name();
  for (const ServerLibrary* library : server_libraries()) {
    if (library->name() == name && name != own)
      fail(lua,
           fmt::format("there is no c.{}: this script runs on servers of kind \"{}\", c.{}; `server = \"{}\"` at the "
                       "top of the script says otherwise",
                       name, own, own, name));
  }
  lua_pushnil(lua);
  return 1;
}

/// Of the table of metatables on top of the stack.
void refuse_other_servers(lua_State* lua) {
  lua_rawgeti(lua, -1, static_cast<int>(Kind::context));
  lua_getfield(lua, -1, "__index");
  lua_newtable(lua);
  lua_pushcfunction(lua, find_server);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
  lua_pop(lua, 2);
}

}  // namespace

void add_metatable(lua_State* lua, Kind kind, const luaL_Reg* methods) {
  lua_newtable(lua);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_newtable(lua);
  luaL_register(lua, nullptr, methods);
  lua_setfield(lua, -2, "__index");
  lua_rawseti(lua, -2, static_cast<int>(kind));
}

void push_metatables(lua_State* lua) {
  constexpr luaL_Reg kContext[] = {
      {"now", now},     {"monotonic", monotonic}, {"sleep", sleep},     {"sleep_until", rest_until},
      {"tick", tick},   {"token", token},         {"attempt", attempt}, {"granted", granted},
      {"freed", freed}, {"lost", lost},           {"hold", hold},       {"every", every},
      {"spawn", spawn}, {nullptr, nullptr}};
  constexpr luaL_Reg kHold[] = {{"extend", extend}, {nullptr, nullptr}};
  constexpr luaL_Reg kWatch[] = {{"stop", stop}, {"renews", renews}, {nullptr, nullptr}};
  lua_newtable(lua);
  add_metatable(lua, Kind::context, kContext);
  add_metatable(lua, Kind::hold, kHold);
  add_metatable(lua, Kind::watch, kWatch);
  add_waiting(lua);
  if (const ServerLibrary* server = Interpreter::of(lua).program().server) {
    constexpr luaL_Reg kNone[] = {{nullptr, nullptr}};
    add_metatable(lua, Kind::server, server->calls != nullptr ? server->calls : kNone);
    add_metatable(lua, Kind::object, server->object_calls != nullptr ? server->object_calls : kNone);
    refuse_other_servers(lua);
  }
  lua_newtable(lua);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pushcfunction(lua, print_error);
  lua_setfield(lua, -2, "__tostring");
  lua_rawseti(lua, -2, static_cast<int>(Kind::error));
}

namespace {

struct PushParameter {
  lua_State* lua;
  void operator()(sim::Duration length) const { push_milliseconds(lua, length); }
  void operator()(sim::DurationRange range) const {
    lua_createtable(lua, 2, 0);
    push_milliseconds(lua, range.lo);
    lua_rawseti(lua, -2, 1);
    push_milliseconds(lua, range.hi);
    lua_rawseti(lua, -2, 2);
  }
  void operator()(std::int64_t number) const { lua_pushnumber(lua, static_cast<lua_Number>(number)); }
  void operator()(bool flag) const { lua_pushboolean(lua, flag); }
  void operator()(const std::string& text) const { lua_pushlstring(lua, text.data(), text.size()); }
};

void set_text(lua_State* lua, const char* field, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
  lua_setfield(lua, -2, field);
}

}  // namespace

void fill_context(lua_State* lua, Machine& machine, std::size_t number) {
  const Machine::Context& context = *machine.context_at(number);
  const Client& client = *context.client;
  set_text(lua, "key", context.lock.algorithm->key().text());
  set_text(lua, "name", client.name());
  set_text(lua, "process", client.process_name());
  set_text(lua, "mode", client.mode() == Mode::shared ? "shared" : "exclusive");
  lua_pushnumber(lua, static_cast<lua_Number>(client.thread_id()));
  lua_setfield(lua, -2, "thread");

  // What one lock object of a process has for all its threads.
  std::size_t other = 1;
  while (other < number && machine.context_at(other)->lock.algorithm != context.lock.algorithm) ++other;
  if (other < number) {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, machine.context_at(other)->table);
    for (const char* field : {"parameters", "lock"}) {
      lua_getfield(lua, -1, field);
      lua_setfield(lua, -3, field);
    }
    lua_pop(lua, 1);
  } else {
    lua_newtable(lua);
    for (const locks::ParameterSpec& spec : context.lock.parameters->specs()) {
      std::visit(PushParameter{lua}, context.lock.parameters->get(spec.name));
      lua_setfield(lua, -2, std::string(spec.name).c_str());
    }
    lua_setfield(lua, -2, "parameters");
    lua_newtable(lua);
    lua_setfield(lua, -2, "lock");
  }
  const ServerLibrary& server = *machine.program().server;
  if (server.push != nullptr) {
    server.push(lua, machine, number);
  } else {
    lua_newtable(lua);
    push_object(lua, machine.interpreter(), Kind::server, number);
  }
  lua_setfield(lua, -2, std::string(server.name()).c_str());
}

}  // namespace lockstep::models::scripted
