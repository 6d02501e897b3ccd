#pragma once

// What executes a script: Lua, and what each process remembers. Both lie in the world, and go back with it.

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/parameters.hpp"
#include "models/redis/script/lua/lua_session.hpp"
#include "models/scripted/program.hpp"
#include "sim/coroutines/region.hpp"

namespace lockstep::models::scripted {

class Run;
class Machine;

/// What scripts can have of ours.
enum class Kind : std::uint8_t { context = 1, hold, watch, patience, channel, latch, error, server, object };

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
  std::size_t number = 0;  ///< never given twice in a process
  int function = LUA_NOREF;
  sim::OperationId renews = 0;  ///< whose lease; 0: nobody's
  bool is_stopped = false;
  Latch is_over;
};

/// What scripts can call: library.hpp.
struct Library {
  /// Adds pcall, error_of and what stands in the place of forbidden functions to the table of globals on top of the
  /// stack.
  void (*install_globals)(lua_State* lua);
  /// The metatable of each process's own globals, which shows the table on top of the stack.
  void (*push_metatable_of_globals)(lua_State* lua);
  /// A table of metatables, by the names of kinds.
  void (*push_metatables)(lua_State* lua);
  /// Fills the table on top of the stack, a new `c`.
  void (*fill_context)(lua_State* lua, Machine& machine, std::size_t number);
};

/// Lua itself, with all that never changes: one for all processes of a world, since to make one takes longer than an
/// execution.
class Interpreter {
 public:
  Interpreter(const Program& program, const Library& library);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  static Interpreter& of(lua_State* lua);
  const Program& program() const { return program_; }
  const Library& library() const { return library_; }
  lua_State* lua() const { return lua_; }
  redis::LuaSession& session() { return session_; }

  /// The run that is executing; null: a main part.
  Run* current = nullptr;

  /// Executes the main part for a process, which declares what the script is; a reference to its globals. Or what is
  /// wrong with it.
  std::variant<int, std::string> execute_main(sim::World* world);

  /// "my-lock.lua:3". Requires: its session is stopped.
  std::string place_of_stop() const;

  void push_unknown(lua_State* lua) const { lua_rawgeti(lua, LUA_REGISTRYINDEX, unknown_); }
  bool is_unknown(lua_State* lua, int index) const;
  /// Of `c`, of holds, watches, patiences, channels and latches.
  void push_metatable(lua_State* lua, Kind kind) const;

  /// A thread for a run, from the registry.
  struct Thread {
    lua_State* lua = nullptr;
    int reference = LUA_NOREF;
  };
  Thread take_thread();
  /// `is_usable`: it ended without an error.
  void give_back(Thread thread, bool is_usable);

 private:
  void open();

  const Program& program_;
  const Library& library_;
  redis::LuaSession session_;
  lua_State* lua_;
  int metatable_of_globals_ = LUA_NOREF;
  int unknown_ = LUA_NOREF;
  int metatables_ = LUA_NOREF;
  int maker_ = LUA_NOREF;
  std::vector<Thread> threads_;
};

/// What one process remembers.
class Machine {
 public:
  /// `globals`: what the main part has left.
  Machine(std::shared_ptr<Interpreter> interpreter, int globals)
      : interpreter_(std::move(interpreter)), globals_(globals) {}
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Interpreter& interpreter() { return *interpreter_; }
  const Program& program() const { return interpreter_->program(); }
  lua_State* lua() const { return interpreter_->lua(); }

  // --- What scripts refer to by number, from 1.

  struct Context {
    Client* client;
    LockObject lock;
    int table;
    sim::OperationId operation = 0;  ///< of the latest run
  };
  /// The `c` of this client and lock.
  std::size_t context(Client& client, const LockObject& lock);
  /// Null: there is none.
  Context* context_at(std::size_t number) {
    return number == 0 || number > contexts_.size() ? nullptr : &contexts_[number - 1];
  }

  struct Holding {
    int table = LUA_NOREF;
    sim::OperationId acquire = 0;
    std::size_t context = 0;
  };
  /// Takes the table on top of the stack of `lua`.
  std::size_t keep_hold(lua_State* lua, sim::OperationId acquire, std::size_t context);
  Holding* hold_at(std::size_t number);
  /// What this acquire got, if it has not been given back.
  Holding* hold_of(sim::OperationId acquire);
  void drop_hold(std::size_t number);

  /// Only those that go on.
  std::vector<std::shared_ptr<Watch>> watches;
  std::size_t watches_made = 0;
  std::size_t objects_made = 0;  ///< of a server's library (server_library.hpp)
  std::deque<Latch> latches;     ///< the first is for those who only wait for time to pass

  /// Pushes the function of this name that the script has defined, or nil.
  void push_defined(const char* name) const;

 private:
  std::shared_ptr<Interpreter> interpreter_;
  int globals_;
  std::deque<Context> contexts_;
  std::vector<Holding> holds_;
  std::vector<std::size_t> free_holds_;
};

/// The machine of a process.
class MachineOfProcess final : public ProcessObject {
 public:
  std::shared_ptr<Machine> machine;
};

/// Gives the table on top of the stack, in which the key `number` has been set, its methods.
void push_object(lua_State* lua, const Interpreter& interpreter, Kind kind, std::size_t number);
/// The number of such an object; 0: it is none.
std::size_t object_number(lua_State* lua, int index, Kind kind);

}  // namespace lockstep::models::scripted
