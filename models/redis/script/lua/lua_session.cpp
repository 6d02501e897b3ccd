#include "models/redis/script/lua/lua_session.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "sim/coroutines/region.hpp"
#include "sim/stop.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {
namespace {

constexpr std::uint64_t kInstructionsBetweenHooks = 1000;
constexpr std::size_t kGarbageBetweenCollections = 1 << 20;

constexpr std::uint64_t kInstructionsPerEvent = 32;            // of the same price, roughly
constexpr std::uint64_t kInstructionsOfWorld = 1'000'000'000;  // some seconds

int line_stood_at(lua_State* lua) {
  lua_Debug place;
  for (int depth = 0; lua != nullptr && lua_getstack(lua, depth, &place) == 1; ++depth) {
    if (lua_getinfo(lua, "l", &place) != 0 && place.currentline > 0) return place.currentline;
  }
  return 0;
}

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace

void* LuaSession::allocate(void* ud, void* block, std::size_t old_size, std::size_t new_size) {
  auto& session = *static_cast<LuaSession*>(ud);
  if (new_size == 0) {
    session.reallocate(block, old_size, 0);
    session.used_ -= old_size;
    return nullptr;
  }
  if (session.lua_ != nullptr && new_size > old_size) {
    if (session.used_ - old_size + new_size > session.used_at_begin_ + session.limits_.memory_bytes) {
      session.mark_stopped("script used more than " + with_commas(session.limits_.memory_bytes) + " bytes of memory");
      return nullptr;
    }
    if (new_size > session.largest_) {
      const std::uint64_t before = session.price();
      session.largest_ = new_size;
      if (session.price() != before && !session.is_stopped()) session.arm();
    }
  }
  void* const moved = session.reallocate(block, old_size, new_size);
  session.used_ = session.used_ - old_size + new_size;
  return moved;
}

void* LuaSession::reallocate(void* block, std::size_t old_size, std::size_t new_size) {
  const auto release = [&] { is_of_world() ? operator delete(block) : memory_->release(block, old_size); };
  if (new_size == 0) {
    release();
    return nullptr;
  }
  void* const moved = is_of_world() ? operator new(new_size) : memory_->allocate(new_size);
  if (block != nullptr) {
    std::memcpy(moved, block, std::min(old_size, new_size));
    release();
  }
  return moved;
}

void LuaSession::begin_turn(lua_State* thread, sim::World* world, std::size_t largest) {
  host_world = world;
  explores = world != nullptr && world->is_explored();
  if (const sim::Step step = world != nullptr ? world->step() : sim::no_step; step != step_) {
    executed_in_world_ += std::exchange(executed_, 0);
    step_ = step;
  }
  // A turn costs as much as that; and the fewer than 1000 instructions that it may have gone by then.
  constexpr std::uint64_t kTurn = 100;
  executed_ += kTurn;
  largest_ = largest;
  used_at_begin_ = 0;
  collect_above_ = std::numeric_limits<std::size_t>::max();
  lua_ = thread;
  arm();
  if (const std::optional<std::string> why = over_budget()) mark_stopped(*why);
}

void LuaSession::forget_turns() {
  executed_ = executed_in_world_ = 0;
  step_ = sim::no_step;
}

void LuaSession::end_turn() {
  lua_sethook(lua_, nullptr, 0, 0);
  lua_ = nullptr;
}

void LuaSession::begin(lua_State* lua, ScriptHost& script_host, bool script_may_write, std::size_t largest) {
  host = &script_host;
  may_write = script_may_write;
  speaks_resp3 = false;
  host_failure = nullptr;
  host_world = host->world();
  left_sides = 0;
  has_blind_part = false;
  random_state = 0x330e;  // what Redis' generator makes of the seed 0
  if (stopped_) {
    const sim::Region::Outside outside;
    stopped_.reset();
  }
  executed_ = 0;
  largest_ = largest;
  used_at_begin_ = used_;
  collect_above_ = used_ + limits_.memory_bytes / 2;
  lua_ = lua;
  arm();
}

void LuaSession::end() {
  lua_sethook(lua_, nullptr, 0, 0);
  lua_ = nullptr;
  host = nullptr;
  // Assigning would keep its strings' memory, which a world that goes back takes with it.
  std::destroy_at(&command);
  std::construct_at(&command);
}

void LuaSession::collect_if_worthwhile(lua_State* lua) {
  if (used_ < used_after_collection_ + kGarbageBetweenCollections) return;
  lua_gc(lua, LUA_GCCOLLECT, 0);
  lua_gc(lua, LUA_GCSTOP, 0);
  used_after_collection_ = used_;
}

void LuaSession::arm() {
  period_ = static_cast<int>(std::max<std::uint64_t>(1, kInstructionsBetweenHooks / price()));
  lua_sethook(lua_, &LuaSession::count_hook, LUA_MASKCOUNT, period_);
}

void LuaSession::count_hook(lua_State* lua, lua_Debug*) { of(lua).count_hook(); }

void LuaSession::count_hook() {
  if (is_stopped()) luaL_error(lua_, "%s", stopped_->c_str());
  // Reclaiming happens here and not when an allocation fails: Lua 5.1 cannot collect in the middle of one. It costs its
  // share of the budget, or a script close to the memory limit would spend all its time in it.
  if (used_ > collect_above_) {
    const std::size_t walked = used_;
    lua_gc(lua_, LUA_GCCOLLECT, 0);
    lua_gc(lua_, LUA_GCSTOP, 0);
    collect_above_ = std::max(used_at_begin_ + limits_.memory_bytes / 2, used_ + limits_.memory_bytes / 8);
    charge(walked / 1024);
  }
  charge(static_cast<std::uint64_t>(period_) * price());
}

void LuaSession::charge(std::uint64_t steps) {
  executed_ += steps;
  sim::Stop::count(steps / kInstructionsPerEvent);
  if (std::optional<std::string> why = over_budget()) stop(*std::move(why));
}

std::optional<std::string> LuaSession::over_budget() const {
  if (executed_ > limits_.instructions)
    return "script ran for more than " + with_commas(limits_.instructions) + " instructions";
  if (executed_in_world_ > kInstructionsOfWorld)
    return "script ran for more than " + with_commas(kInstructionsOfWorld) + " instructions in all";
  return std::nullopt;
}

void LuaSession::require_memory(std::uint64_t bytes) {
  if (bytes > limits_.memory_bytes) {
    stop("script used more than " + with_commas(limits_.memory_bytes) + " bytes of memory");
  }
}

void LuaSession::mark_stopped(std::string_view reason) {
  if (!stopped_) {
    std::optional<sim::Region::Outside> outside;
    if (!is_of_world()) outside.emplace();
    stopped_ = std::string(reason);
    stopped_line_ = line_stood_at(lua_);
  }
  // A pcall of the script may catch the error, but its next instruction fails again.
  lua_sethook(lua_, &LuaSession::count_hook, LUA_MASKCOUNT, 1);
}

void LuaSession::stop(std::string reason) {
  mark_stopped(reason);
  luaL_error(lua_, "%s", stopped_->c_str());
  std::abort();  // luaL_error does not return
}

}  // namespace lockstep::models::redis
