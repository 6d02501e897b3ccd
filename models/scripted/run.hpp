#pragma once

// One call of a script's function, as a coroutine of the script that waits where a lock of C++ would.

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/client/latch.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/redis/subscriptions.hpp"
#include "models/redis/client/gather.hpp"
#include "models/scripted/machine.hpp"
#include "sim/coroutines/task.hpp"

namespace lockstep::models::scripted {

/// What a script has begun to wait for. One kind at a time; what does not belong to it means nothing.
struct Request {
  enum class Kind : std::uint8_t { none, command, transaction, sleep, subscribe, message, latch, ask, protect, server };
  Kind kind = Kind::none;
  std::optional<redis::Connection> connection;
  redis::Command command;
  std::vector<redis::Command> commands;
  sim::DurationRange length;
  sim::TimerKind timer = sim::TimerKind::sleep;
  PermitLimits limits;
  std::size_t number = 0;  ///< of a server, a channel, a latch
  Value name;
  std::uint64_t servers = 0;
  redis::Gather::Rule rule{};
  sim::Task<int> work;  ///< of a server's library: pushes what the script gets, and says how many values that are
  int values = 0;       ///< of `protect`: the function and its arguments, on the stack
};

class Run final : public sim::InterpretedText {
 public:
  Run(std::shared_ptr<Machine> machine, Client& client, const LockObject& lock, std::string_view where);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Machine& machine() { return *machine_; }
  Client& client() { return client_; }
  /// The script's thread that runs, or will: where arguments are pushed and results are found.
  lua_State* lua() const { return levels_.back().thread.lua; }
  std::size_t context() const { return context_; }
  const LockObject& lock() const { return lock_; }

  /// Pushes a function of the script, and then its first argument, `c`.
  void begin(const char* function);
  void begin(int reference);

  /// Goes on, with the top `arguments` values of the stack. True: it waits, for `request`; false: it has ended.
  bool resume(int arguments);
  /// It ended without an error: the results are on the stack.
  bool returned() const { return has_returned_; }
  Request request;

  /// A time limit that ends with this run.
  std::size_t make_patience(std::optional<sim::Duration> length);
  Patience* patience_at(std::size_t number);
  void end_patience(std::size_t number) { patiences_[number - 1].reset(); }

  /// Channels that it has joined. Null: it has left.
  std::vector<locks::Subscriptions::Channel*> channels;
  void leave(std::size_t number);

  /// Objects that calls of a server have given, with their numbers (server_library.hpp).
  std::vector<std::pair<std::size_t, std::shared_ptr<void>>> objects;

  /// The lines of the script that it stands in.
  void add_places(std::vector<sim::CodePlace>& places) const override;

  /// Something that nobody meant has happened: the log says so, and the world that its outcome says nothing.
  void note_mistake(const std::string& sentence);
  /// What a server answered. If that is an error of a script of theirs, the script has to ask for it by `error_of`, or
  /// to catch what comes of it, before this run ends: else it is a mistake.
  void note_answer(const redis::Reply& reply);
  void note_handled() { unhandled_.clear(); }
  void note_end();

  /// Whether one more pcall may stand inside of those that are going on.
  bool can_nest() const;

 private:
  struct Level {
    Interpreter::Thread thread;
    int left_sides = 0;
  };
  void fail(lua_State* thread);
  void end_level(bool is_usable);

  std::shared_ptr<Machine> machine_;
  Client& client_;
  LockObject lock_;
  std::string_view where_;
  std::size_t context_ = 0;
  std::vector<Level> levels_;
  std::vector<std::unique_ptr<Patience>> patiences_;
  std::uint64_t turns_ = 0;
  std::string unhandled_;  ///< an error of a script at a server that nobody has asked for yet
  bool has_returned_ = false;
};

/// Lets it run to its end, waiting where it waits. `arguments`: of them, with the function below them.
sim::Task<void> drive(Client& client, Run& run, int arguments);

/// What `c:every` and `c:spawn` start. The watch is nothing for the latter; then `function` is what is called once.
sim::Task<void> repeat(Client& background, std::shared_ptr<Machine> machine, LockObject lock,
                       std::shared_ptr<Watch> watch, sim::Duration period);
sim::Task<void> run_once(Client& background, std::shared_ptr<Machine> machine, LockObject lock, int function);

}  // namespace lockstep::models::scripted
