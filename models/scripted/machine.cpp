#include "models/scripted/machine.hpp"

#include <algorithm>
#include <cassert>

#include "models/redis/script/lua/lua_timestamps.hpp"
#include "models/redis/script/lua_sandbox.hpp"

namespace lockstep::models::scripted {
namespace {

// A turn of a lock between two waits is some dozen instructions; and what all processes remember goes back with their
// world (sim/coroutines/region.hpp).
constexpr redis::ScriptLimits kLimits{.instructions = 1'000'000, .memory_bytes = 6 << 20};
constexpr std::size_t kLogged = 100;
constexpr std::size_t kThreadsKept = 8;

/// In the registry: the interpreter.
const char kInterpreter = 0;
/// In an object: its number.
const char kNumber = 0;

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

Interpreter::Interpreter(const Program& program, const Library& library)
    : program_(program), library_(library), session_(kLimits, redis::LuaSession::OfWorld{}) {
  lua_ = lua_newstate(&redis::LuaSession::allocate, &session_);
  assert(lua_ != nullptr);
  open();
}

Interpreter::~Interpreter() { lua_close(lua_); }

Interpreter& Interpreter::of(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kInterpreter));
  lua_rawget(lua, LUA_REGISTRYINDEX);
  auto* interpreter = static_cast<Interpreter*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  return *interpreter;
}

void Interpreter::open() {
  lua_pushlightuserdata(lua_, const_cast<char*>(&kInterpreter));
  lua_pushlightuserdata(lua_, this);
  lua_rawset(lua_, LUA_REGISTRYINDEX);

  redis::open_plain_libraries(lua_);
  library_.install_globals(lua_);
  constexpr const char* kLibraries[] = {LUA_TABLIBNAME, LUA_STRLIBNAME, LUA_MATHLIBNAME};
  redis::protect_libraries(lua_, kLibraries);
  lua_getfield(lua_, -1, "unknown");
  unknown_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
  library_.push_metatable_of_globals(lua_);
  metatable_of_globals_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
  lua_settop(lua_, 0);
  library_.push_metatables(lua_);
  metatables_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
  // What stands there is where a thread keeps the left sides of its comparisons.
  lua_newtable(lua_);
  lua_replace(lua_, LUA_GLOBALSINDEX);

  const std::string& code = program_.bytecode;
  const int status = luaL_loadbuffer(lua_, code.data(), code.size(), program_.file.c_str());
  assert(status == 0 && "it has been compiled before");
  static_cast<void>(status);
  lua_pushcfunction(lua_, redis::answer_question);
  lua_call(lua_, 1, 1);
  maker_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
}

std::variant<int, std::string> Interpreter::execute_main(sim::World* world) {
  lua_newtable(lua_);
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, metatable_of_globals_);
  lua_setmetatable(lua_, -2);
  lua_pushvalue(lua_, -1);
  const int globals = luaL_ref(lua_, LUA_REGISTRYINDEX);
  // A function for each process, since its local variables are the process's.
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, maker_);
  lua_call(lua_, 0, 1);
  lua_insert(lua_, -2);
  lua_setfenv(lua_, -2);
  Run* const outer = std::exchange(current, nullptr);
  session_.forget_turns();
  session_.begin_turn(lua_, world, program_.text.size());
  session_.left_sides = 0;
  const int status = lua_pcall(lua_, 0, 0, 0);
  session_.end_turn();
  current = outer;
  std::optional<std::string> problem;
  if (status != 0) {
    const char* text = lua_tostring(lua_, -1);
    problem = session_.is_stopped() ? place_of_stop() + ": " + *session_.stopped()
              : text != nullptr     ? std::string(text)
                                    : program_.file + ": the main part ended with an error that is no text";
  }
  lua_settop(lua_, 0);
  if (!problem) return globals;
  luaL_unref(lua_, LUA_REGISTRYINDEX, globals);
  return *problem;
}

std::string Interpreter::place_of_stop() const {
  const int line = session_.stopped_line();
  return line == 0 ? program_.file : program_.file + ":" + std::to_string(line);
}

Machine::~Machine() {
  lua_State* const state = lua();
  luaL_unref(state, LUA_REGISTRYINDEX, globals_);
  for (const Context& context : contexts_) luaL_unref(state, LUA_REGISTRYINDEX, context.table);
  for (const Holding& hold : holds_) luaL_unref(state, LUA_REGISTRYINDEX, hold.table);
  for (const auto& watch : watches) luaL_unref(state, LUA_REGISTRYINDEX, watch->function);
}

std::size_t Machine::context(Client& client, const LockObject& lock) {
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    if (contexts_[i].client == &client && contexts_[i].lock.algorithm == lock.algorithm) return i + 1;
  }
  contexts_.push_back({&client, lock, LUA_NOREF});
  const std::size_t number = contexts_.size();
  lua_newtable(lua());
  push_object(lua(), *interpreter_, Kind::context, number);
  interpreter_->library().fill_context(lua(), *this, number);
  contexts_.back().table = luaL_ref(lua(), LUA_REGISTRYINDEX);
  return number;
}

std::size_t Machine::keep_hold(lua_State* state, sim::OperationId acquire, std::size_t context) {
  std::size_t number = 0;
  if (free_holds_.empty()) {
    holds_.emplace_back();
    number = holds_.size();
  } else {
    number = free_holds_.back();
    free_holds_.pop_back();
  }
  push_object(state, *interpreter_, Kind::hold, number);
  holds_[number - 1] = {luaL_ref(state, LUA_REGISTRYINDEX), acquire, context};
  return number;
}

Machine::Holding* Machine::hold_at(std::size_t number) {
  const bool is_known = number != 0 && number <= holds_.size() && holds_[number - 1].table != LUA_NOREF;
  return is_known ? &holds_[number - 1] : nullptr;
}

Machine::Holding* Machine::hold_of(sim::OperationId acquire) {
  const auto known =
      std::find_if(holds_.begin(), holds_.end(), [&](const Holding& hold) { return hold.acquire == acquire; });
  return acquire == 0 || known == holds_.end() ? nullptr : &*known;
}

void Machine::drop_hold(std::size_t number) {
  Holding* hold = hold_at(number);
  if (hold == nullptr) return;
  luaL_unref(lua(), LUA_REGISTRYINDEX, hold->table);
  *hold = {};
  free_holds_.push_back(number);
}

bool Interpreter::is_unknown(lua_State* lua, int index) const {
  if (!lua_istable(lua, index)) return false;
  lua_pushvalue(lua, index);
  push_unknown(lua);
  const bool same = lua_rawequal(lua, -1, -2) != 0;
  lua_pop(lua, 2);
  return same;
}

void Machine::push_defined(const char* name) const {
  lua_rawgeti(lua(), LUA_REGISTRYINDEX, globals_);
  lua_pushstring(lua(), name);
  lua_rawget(lua(), -2);
  lua_remove(lua(), -2);
}

void Interpreter::push_metatable(lua_State* lua, Kind kind) const {
  lua_rawgeti(lua, LUA_REGISTRYINDEX, metatables_);
  lua_rawgeti(lua, -1, static_cast<int>(kind));
  lua_remove(lua, -2);
}

Interpreter::Thread Interpreter::take_thread() {
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

void Interpreter::give_back(Thread thread, bool is_usable) {
  if (is_usable && threads_.size() < kThreadsKept) {
    lua_settop(thread.lua, 0);
    threads_.push_back(thread);
  } else {
    luaL_unref(lua_, LUA_REGISTRYINDEX, thread.reference);
  }
}

void push_object(lua_State* lua, const Interpreter& interpreter, Kind kind, std::size_t number) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kNumber));
  lua_pushnumber(lua, static_cast<lua_Number>(number));
  lua_rawset(lua, -3);
  interpreter.push_metatable(lua, kind);
  lua_setmetatable(lua, -2);
}

std::size_t object_number(lua_State* lua, int index, Kind kind) {
  if (!lua_istable(lua, index) || lua_getmetatable(lua, index) == 0) return 0;
  Interpreter::of(lua).push_metatable(lua, kind);
  const bool is_one = lua_rawequal(lua, -1, -2) != 0;
  lua_pop(lua, 2);
  if (!is_one) return 0;
  lua_pushvalue(lua, index);
  lua_pushlightuserdata(lua, const_cast<char*>(&kNumber));
  lua_rawget(lua, -2);
  const lua_Number number = lua_tonumber(lua, -1);
  lua_pop(lua, 2);
  return number >= 1 ? static_cast<std::size_t>(number) : 0;
}

}  // namespace lockstep::models::scripted
