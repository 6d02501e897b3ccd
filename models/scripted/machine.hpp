#pragma once

// The interpreter of one process: what its script remembers. It lies in the world, and goes back with it.

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/client.hpp"
#include "models/latch.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/parameters.hpp"
#include "models/redis/lua_session.hpp"
#include "models/scripted/program.hpp"
#include "sim/region.hpp"

namespace lockstep::models::scripted {

class Run;
class Machine;

/// What is told of a script's mistakes, over all executions of a world.
class Log {
 public:
  void note(const std::string& sentence);
  std::vector<std::string> sentences() const;
  /// The same text for as long as the log.
  const char* keep(const std::string& text);

 private:
  std::vector<std::string> sentences_;
  std::deque<std::string> kept_;
};

/// A lock as its script sees it: one for each key and set of parameters.
struct LockObject {
  const locks::LockAlgorithm* algorithm;
  const locks::Parameters* parameters;
  Log* log;
};

/// Something that is done again and again in the background.
struct Watch {
  int function = LUA_NOREF;
  sim::OperationId renews = 0;  ///< whose lease; 0: nobody's
  bool is_stopped = false;
  Latch is_over;
};

class Machine {
 public:
  explicit Machine(const Program& program);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Executes the main part, which declares what the script is. What is wrong with it, or nothing.
  std::optional<std::string> load(sim::World* world);

  const Program& program() const { return program_; }
  lua_State* lua() const { return lua_; }
  redis::LuaSession& session() { return session_; }
  static Machine& of(lua_State* lua);

  /// The run that is executing; null: the main part.
  Run* current = nullptr;

  // --- What scripts refer to by number, from 1.

  struct Context {
    Client* client;
    LockObject lock;
    int table;
    sim::OperationId operation = 0;  ///< of the latest run
  };
  /// Pushes the `c` of this client and lock.
  std::size_t context(Client& client, const LockObject& lock);
  Context& context_at(std::size_t number) { return contexts_[number - 1]; }
  std::size_t contexts() const { return contexts_.size(); }

  struct Holding {
    int table = LUA_NOREF;
    sim::OperationId acquire = 0;
    std::size_t context = 0;
  };
  /// Takes the table on top of the stack of `lua`.
  std::size_t keep_hold(lua_State* lua, sim::OperationId acquire, std::size_t context);
  Holding* hold_at(std::size_t number);
  void drop_hold(std::size_t number);

  std::vector<std::shared_ptr<Watch>> watches;
  std::deque<Latch> latches;

  void push_unknown(lua_State* lua) const { lua_rawgeti(lua, LUA_REGISTRYINDEX, unknown_); }
  bool is_unknown(lua_State* lua, int index) const;
  /// Pushes the function of this name that the script has defined, or nil.
  void push_defined(const char* name) const;
  /// The methods of `c`, of holds, watches, patiences, channels and latches.
  void push_metatable(lua_State* lua, const char* kind) const;

  /// A thread for a run, from the registry.
  struct Thread {
    lua_State* lua = nullptr;
    int reference = LUA_NOREF;
  };
  Thread take_thread();
  /// `is_usable`: it ended without an error.
  void give_back(Thread thread, bool is_usable);

  /// What `text` is as a value for servers: without a copy where the script's own text has it.
  bool is_loaded() const { return is_loaded_; }

 private:
  void open();

  const Program& program_;
  redis::LuaSession session_;
  lua_State* lua_;
  int environment_ = LUA_NOREF;
  int unknown_ = LUA_NOREF;
  int metatables_ = LUA_NOREF;
  bool is_loaded_ = false;
  std::deque<Context> contexts_;
  std::vector<Holding> holds_;
  std::vector<std::size_t> free_holds_;
  std::vector<Thread> threads_;
};

/// The machine of a process.
class MachineOfProcess final : public ProcessObject {
 public:
  std::shared_ptr<Machine> machine;
};

}  // namespace lockstep::models::scripted
