#pragma once

// Script runs that need no interpreter, because they have been seen before.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/redis/script/script_engine.hpp"

namespace lockstep::models::redis {

/// A script's run is a function of its keys, its arguments and the replies to its calls (see `ScriptEngine`). So runs
/// of one script with the same keys and arguments form a tree: a node is what the script does next, a call or its end,
/// and the reply to the call says where it goes on. A run that stays within the tree makes the calls that the script
/// would make, and gives the result that it would give. One that leaves it is done by the interpreter, which is told
/// the replies that are known so far.
///
/// An exploration runs the same few releases a hundred thousand times.
class ScriptMemory {
 public:
  /// As `engine.run`.
  ScriptEngine::Result run(ScriptEngine& engine, ScriptId script, std::span<const Value> keys,
                           std::span<const Value> arguments, ScriptHost& host);

  std::uint64_t runs_of_interpreter() const { return runs_of_interpreter_; }

 private:
  using Position = std::uint32_t;
  static constexpr Position kNone = 0xffffffff;
  /// A script that is given new arguments each time is not worth remembering.
  static constexpr std::size_t kMostNodes = 20'000;

  struct Way {
    Reply reply;
    Position next = kNone;
  };
  struct Node {
    bool is_end = false;
    Reply result;  ///< if it is the end
    Command call;  ///< else
    bool may_write = true;
    std::vector<Way> ways;
    /// Of each way its reply's number, 0 if it is none: of a key's time to live there is one for each millisecond.
    std::vector<std::int64_t> numbers;
    /// Null: there is none.
    Way* way_of(const Reply& reply);
    Way& add_way(const Reply& reply);
  };
  struct Start {
    ScriptId script = 0;
    std::vector<Value> keys;
    std::vector<Value> arguments;
    Position first = kNone;
  };
  class Recorder;

  Position& start_of(ScriptId script, std::span<const Value> keys, std::span<const Value> arguments);

  std::map<std::uint64_t, std::vector<Start>> starts_;  ///< by a digest
  std::vector<Node> nodes_;
  std::vector<Reply> replies_;  ///< of the run that is going on
  std::uint64_t runs_of_interpreter_ = 0;
};

}  // namespace lockstep::models::redis
