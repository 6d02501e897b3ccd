#include "models/scripted/machine.hpp"

#include <algorithm>
#include <cassert>

#include "models/redis/lua_sandbox.hpp"
#include "models/redis/lua_timestamps.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/run.hpp"

namespace lockstep::models::scripted {
namespace {

// A turn of a lock between two waits is some dozen instructions; and what a process remembers goes back with its world.
constexpr redis::ScriptLimits kLimits{.instructions = 1'000'000, .memory_bytes = 2 << 20};
constexpr std::size_t kLogged = 100;
constexpr std::size_t kThreadsKept = 8;

/// In the registry: the machine.
const char kMachine = 0;

}  // namespace

void Log::note(const std::string& sentence) {
  const sim::Region::Outside outside;
  if (sentences_.size() == kLogged || std::find(sentences_.begin(), sentences_.end(), sentence) != sentences_.end())
    return;
  sentences_.push_back(std::string(sentence.c_str(), sentence.size()));
}

std::vector<std::string> Log::sentences() const {
  // Which came first depends on the order in which an exploration goes.
  std::vector<std::string> sorted = sentences_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

const char* Log::keep(const std::string& text) {
  const sim::Region::Outside outside;
  const auto known = std::find(kept_.begin(), kept_.end(), text);
  if (known != kept_.end()) return known->c_str();
  return kept_.emplace_back(text.c_str(), text.size()).c_str();
}

Machine::Machine(const Program& program) : program_(program), session_(kLimits, redis::LuaSession::OfWorld{}) {
  lua_ = lua_newstate(&redis::LuaSession::allocate, &session_);
  assert(lua_ != nullptr);
  open();
}

Machine::~Machine() { lua_close(lua_); }

Machine& Machine::of(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kMachine));
  lua_rawget(lua, LUA_REGISTRYINDEX);
  auto* machine = static_cast<Machine*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  return *machine;
}

void Machine::open() {
  lua_pushlightuserdata(lua_, const_cast<char*>(&kMachine));
  lua_pushlightuserdata(lua_, this);
  lua_rawset(lua_, LUA_REGISTRYINDEX);

  redis::open_plain_libraries(lua_);
  install_globals(lua_);
  constexpr const char* kLibraries[] = {LUA_TABLIBNAME, LUA_STRLIBNAME, LUA_MATHLIBNAME};
  redis::protect_libraries(lua_, kLibraries);
  lua_getfield(lua_, -1, "unknown");
  unknown_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
  environment_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
  push_metatables(lua_);
  metatables_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
  // What stands there is where a thread keeps the left sides of its comparisons.
  lua_newtable(lua_);
  lua_replace(lua_, LUA_GLOBALSINDEX);
}

std::optional<std::string> Machine::load(sim::World* world) {
  std::optional<std::string> problem;
  const std::string& code = program_.bytecode;
  if (luaL_loadbuffer(lua_, code.data(), code.size(), program_.file.c_str()) != 0) {
    problem = lua_tostring(lua_, -1);
    lua_settop(lua_, 0);
    return problem;
  }
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, environment_);
  lua_setfenv(lua_, -2);
  lua_pushcfunction(lua_, redis::answer_question);
  session_.begin_turn(lua_, world, program_.text.size());
  const int status = lua_pcall(lua_, 1, 0, 0);
  session_.end_turn();
  if (status != 0) {
    const char* text = lua_tostring(lua_, -1);
    problem = session_.is_stopped() ? program_.file + ": " + *session_.stopped()
              : text != nullptr     ? std::string(text)
                                    : program_.file + ": the main part ended with an error that is no text";
  }
  lua_settop(lua_, 0);
  is_loaded_ = true;
  return problem;
}

std::size_t Machine::context(Client& client, const LockObject& lock) {
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    if (contexts_[i].client == &client && contexts_[i].lock.algorithm == lock.algorithm) return i + 1;
  }
  contexts_.push_back({&client, lock, LUA_NOREF});
  const std::size_t number = contexts_.size();
  lua_newtable(lua_);
  push_object(lua_, *this, "c", number);
  fill_context(lua_, *this, number);
  contexts_.back().table = luaL_ref(lua_, LUA_REGISTRYINDEX);
  return number;
}

std::size_t Machine::keep_hold(lua_State* lua, sim::OperationId acquire, std::size_t context) {
  std::size_t number = 0;
  if (free_holds_.empty()) {
    holds_.emplace_back();
    number = holds_.size();
  } else {
    number = free_holds_.back();
    free_holds_.pop_back();
  }
  push_object(lua, *this, "hold", number);
  holds_[number - 1] = {luaL_ref(lua, LUA_REGISTRYINDEX), acquire, context};
  return number;
}

Machine::Holding* Machine::hold_at(std::size_t number) {
  const bool is_known = number != 0 && number <= holds_.size() && holds_[number - 1].table != LUA_NOREF;
  return is_known ? &holds_[number - 1] : nullptr;
}

void Machine::drop_hold(std::size_t number) {
  Holding* hold = hold_at(number);
  if (hold == nullptr) return;
  luaL_unref(lua_, LUA_REGISTRYINDEX, hold->table);
  *hold = {};
  free_holds_.push_back(number);
}

bool Machine::is_unknown(lua_State* lua, int index) const {
  if (!lua_istable(lua, index)) return false;
  lua_pushvalue(lua, index);
  push_unknown(lua);
  const bool same = lua_rawequal(lua, -1, -2) != 0;
  lua_pop(lua, 2);
  return same;
}

void Machine::push_defined(const char* name) const {
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, environment_);
  lua_pushstring(lua_, name);
  lua_rawget(lua_, -2);
  lua_remove(lua_, -2);
}

void Machine::push_metatable(lua_State* lua, const char* kind) const {
  lua_rawgeti(lua, LUA_REGISTRYINDEX, metatables_);
  lua_getfield(lua, -1, kind);
  lua_remove(lua, -2);
}

Machine::Thread Machine::take_thread() {
  if (!threads_.empty()) {
    const Thread thread = threads_.back();
    threads_.pop_back();
    return thread;
  }
  Thread thread;
  thread.lua = lua_newthread(lua_);
  thread.reference = luaL_ref(lua_, LUA_REGISTRYINDEX);
  lua_newtable(thread.lua);
  lua_replace(thread.lua, LUA_GLOBALSINDEX);
  return thread;
}

void Machine::give_back(Thread thread, bool is_usable) {
  if (is_usable && threads_.size() < kThreadsKept) {
    lua_settop(thread.lua, 0);
    threads_.push_back(thread);
  } else {
    luaL_unref(lua_, LUA_REGISTRYINDEX, thread.reference);
  }
}

}  // namespace lockstep::models::scripted
