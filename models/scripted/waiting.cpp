// What a script waits for besides commands and time: messages, other threads, several servers at once; and how long.

#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "models/redis/client/endpoint.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/lua_values.hpp"
#include "models/scripted/run.hpp"
#include "models/scripted/server_table.hpp"

namespace lockstep::models::scripted {
namespace {

// --- Limits of time, and what wakes.

int make_patience(lua_State* lua) {
  context_of(lua);
  std::optional<sim::Duration> length;
  if (!lua_isnoneornil(lua, 2)) length = length_at(lua, 2, "the patience");
  const std::size_t number = running(lua).make_patience(length);
  lua_newtable(lua);
  push_object(lua, Interpreter::of(lua), Kind::patience, number);
  return 1;
}

Patience& patience_at(lua_State* lua, int index) {
  Patience* patience = running(lua).patience_at(object_number(lua, index, Kind::patience));
  if (patience == nullptr)
    fail(lua, "expected what c:patience(length) has made in this attempt, and has not been cancelled");
  return *patience;
}

int is_over(lua_State* lua) {
  lua_pushboolean(lua, patience_at(lua, 1).is_over());
  return 1;
}

int cancel(lua_State* lua) {
  patience_at(lua, 1);
  running(lua).end_patience(object_number(lua, 1, Kind::patience));
  return 0;
}

/// What stands behind a wait: nothing, a length, or { length = 50, patience = p, lease = reply }.
void read_limits(lua_State* lua, int index, PermitLimits& limits) {
  limits = {};
  if (lua_isnoneornil(lua, index)) return;
  if (!lua_istable(lua, index)) {
    limits.timeout = length_at(lua, index, "how long to wait");
    return;
  }
  int known = 0;
  lua_getfield(lua, index, "patience");
  if (!lua_isnil(lua, -1)) {
    ++known;
    limits.patience = &patience_at(lua, lua_gettop(lua));
  }
  lua_pop(lua, 1);
  lua_getfield(lua, index, "lease");
  if (!lua_isnil(lua, -1)) {
    ++known;
    require_first_library(lua, "a wait as long as a lease");
    const std::optional<redis::Reply> left = time_left_at(lua, lua_gettop(lua));
    if (!left) fail(lua, "lease is what is left of another's: what PTTL replied");
    if (limits.patience == nullptr)
      fail(lua, "a wait as long as a lease needs a patience, too: { lease = reply, patience = p }");
    limits = locks::while_leased(*left, running(lua).client(), std::nullopt, *limits.patience);
  }
  lua_pop(lua, 1);
  lua_getfield(lua, index, "length");
  if (!lua_isnil(lua, -1)) {
    ++known;
    limits.timeout = length_at(lua, lua_gettop(lua), "how long to wait");
  }
  lua_pop(lua, 1);
  int all = 0;
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1)) ++all;
  if (all != known) fail(lua, "a wait has \"length\", \"lease\" and \"patience\"");
}

std::size_t server_at(lua_State* lua, int index) {
  if (lua_isnil(lua, index)) return 0;
  const lua_Number number = lua_tonumber(lua, index);
  const auto servers = static_cast<lua_Number>(redis::servers_of(running(lua).client()).size());
  if (!(number >= 1 && number <= servers))
    fail(lua, fmt::format("there is no such server: there are 1 to {}", servers));
  return static_cast<std::size_t>(number) - 1;
}

int subscribe(lua_State* lua) {
  context_of(lua);
  require_first_library(lua, "c:subscribe");
  Run& run = running(lua);
  if (!running(lua).machine().program().subscribes)
    fail(lua, "c:subscribe needs a connection for messages: write `subscribes = true` at the top of the script");
  lua_settop(lua, 3);
  run.request.name = value_at(lua, 2, "a channel");
  run.request.limits = {};
  run.request.number = 0;
  if (!lua_isnil(lua, 3)) {
    if (!lua_istable(lua, 3)) fail(lua, "behind a channel's name: { patience = p, server = 1 }");
    lua_getfield(lua, 3, "patience");
    if (!lua_isnil(lua, -1)) run.request.limits.patience = &patience_at(lua, lua_gettop(lua));
    lua_getfield(lua, 3, "server");
    run.request.number = server_at(lua, lua_gettop(lua));
  }
  return wait_for(lua, run, Request::Kind::subscribe);
}

locks::Subscriptions::Channel& channel_at(lua_State* lua, std::size_t& number) {
  number = number_of(lua, Kind::channel, "channel:wait({ patience = p })");
  Run& run = running(lua);
  if (number > run.channels.size() || run.channels[number - 1] == nullptr)
    fail(lua, "this channel has been left: it is one attempt's");
  return *run.channels[number - 1];
}

int wait_for_message(lua_State* lua) {
  std::size_t number = 0;
  channel_at(lua, number);
  Run& run = running(lua);
  read_limits(lua, 2, run.request.limits);
  run.request.number = number;
  return wait_for(lua, run, Request::Kind::message);
}

/// Wakes the next waiter of the same process.
int pass_on(lua_State* lua) {
  std::size_t number = 0;
  channel_at(lua, number).message.release();
  return 0;
}

int leave(lua_State* lua) {
  std::size_t number = 0;
  channel_at(lua, number);
  running(lua).leave(number);
  return 0;
}

int make_latch(lua_State* lua) {
  context_of(lua);
  Machine& machine = running(lua).machine();
  // The first is for those who only wait for time to pass.
  if (machine.latches.empty()) machine.latches.emplace_back();
  machine.latches.emplace_back();
  lua_newtable(lua);
  push_object(lua, machine.interpreter(), Kind::latch, machine.latches.size());
  return 1;
}

std::size_t latch_at(lua_State* lua, const char* example) {
  const std::size_t number = number_of(lua, Kind::latch, example);
  if (number > running(lua).machine().latches.size()) fail(lua, "there is no such latch");
  return number;
}

int wait_at_latch(lua_State* lua) {
  const std::size_t number = latch_at(lua, "latch:wait(50)");
  Run& run = running(lua);
  read_limits(lua, 2, run.request.limits);
  run.request.number = number;
  return wait_for(lua, run, Request::Kind::latch);
}

int release_latch(lua_State* lua) {
  running(lua).machine().latches[latch_at(lua, "latch:release()") - 1].release();
  return 0;
}

// --- Several servers at once.

using IsYes = bool (*)(const redis::Reply&);

IsYes yes_at(lua_State* lua, int index) {
  if (lua_isnil(lua, index)) return [](const redis::Reply& reply) { return reply.is_ok(); };
  if (lua_type(lua, index) == LUA_TNUMBER && lua_tonumber(lua, index) == 1)
    return [](const redis::Reply& reply) { return reply.is_integer(1); };
  const char* text = lua_tostring(lua, index);
  const std::string_view word = text == nullptr ? "" : text;
  if (word == "OK") return [](const redis::Reply& reply) { return reply.is_ok(); };
  if (word == "nil") return [](const redis::Reply& reply) { return reply.is_nil(); };
  if (word == "integer") return [](const redis::Reply& reply) { return reply.is_integer(); };
  if (word == "text") return [](const redis::Reply& reply) { return reply.is_bulk(); };
  fail(lua, "yes is the reply that counts: \"OK\", 1, \"nil\", \"integer\" or \"text\"");
}

int ask(lua_State* lua) {
  context_of(lua);
  require_first_library(lua, "c:ask");
  Run& run = running(lua);
  lua_settop(lua, 3);
  Request& request = run.request;
  request.command = command_at(lua, 2);
  request.servers = redis::kEveryServer;
  request.rule = {.is_yes = [](const redis::Reply& reply) { return reply.is_ok(); }};
  if (!lua_isnil(lua, 3)) {
    if (!lua_istable(lua, 3))
      fail(lua, "behind the command: { yes = \"OK\", within = 50, enough = 2, servers = { 1, 2 } }");
    lua_getfield(lua, 3, "yes");
    request.rule.is_yes = yes_at(lua, lua_gettop(lua));
    lua_getfield(lua, 3, "within");
    if (!lua_isnil(lua, -1)) request.rule.timeout = length_at(lua, lua_gettop(lua), "within");
    lua_getfield(lua, 3, "enough");
    if (!lua_isnil(lua, -1)) request.rule.enough = static_cast<std::size_t>(luaL_checkinteger(lua, -1));
    lua_getfield(lua, 3, "servers");
    if (!lua_isnil(lua, -1)) {
      if (!lua_istable(lua, -1)) fail(lua, "servers is a list of numbers from 1: { 1, 3 }");
      request.servers = 0;
      const int table = lua_gettop(lua);
      const auto count = static_cast<int>(lua_objlen(lua, table));
      for (int i = 1; i <= count; ++i) {
        lua_rawgeti(lua, table, i);
        request.servers |= std::uint64_t{1} << server_at(lua, lua_gettop(lua));
        lua_pop(lua, 1);
      }
    }
  }
  return wait_for(lua, run, Request::Kind::ask);
}

}  // namespace

void add_waiting(lua_State* lua) {
  constexpr luaL_Reg kPatience[] = {{"over", is_over}, {"cancel", cancel}, {nullptr, nullptr}};
  constexpr luaL_Reg kChannel[] = {
      {"wait", wait_for_message}, {"pass_on", pass_on}, {"leave", leave}, {nullptr, nullptr}};
  constexpr luaL_Reg kLatch[] = {{"wait", wait_at_latch}, {"release", release_latch}, {nullptr, nullptr}};
  add_metatable(lua, Kind::patience, kPatience);
  add_metatable(lua, Kind::channel, kChannel);
  add_metatable(lua, Kind::latch, kLatch);
  constexpr luaL_Reg kContext[] = {
      {"patience", make_patience}, {"subscribe", subscribe}, {"latch", make_latch}, {"ask", ask}, {nullptr, nullptr}};
  lua_rawgeti(lua, -1, static_cast<int>(Kind::context));
  lua_getfield(lua, -1, "__index");
  luaL_register(lua, nullptr, kContext);
  lua_pop(lua, 2);
}

}  // namespace lockstep::models::scripted
