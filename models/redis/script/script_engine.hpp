#pragma once

// A Lua 5.1 interpreter that runs scripts as Redis 7.0 does, deterministically and within limits.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "models/redis/script/lua/script_host.hpp"
#include "models/redis/wire/reply.hpp"
#include "models/value.hpp"

namespace lockstep::models::redis {

/// What begins with this finds a global `_G['lockstep bind']`. Given a function and a table, that leaves the function
/// no global but `redis`, which is the table; and it returns a function, after which there are those of scripts,
/// without KEYS and ARGV, and what refuses unknown globals (`__index`) and assignments (`__newindex`).
inline constexpr std::string_view kLibraryMark = "--[[library]] ";

/// Names a compiled script of one engine.
using ScriptId = std::uint32_t;

/// Whether an error reply tells of a mistake in a script: it did not compile, Lua stopped it, or it calls what there is
/// not. What a script hands on (an error of `redis.call`) or returns is none.
bool is_mistake_of_script(std::string_view error);

/// Compiles each text once and keeps it. Costs nothing until the first script. Not for several threads.
///
/// Nothing of one run is visible to the next: globals and libraries are read-only, math.random starts from the same
/// seed, and `tostring` of a table numbers tables in the order in which the script prints them. The same script, keys,
/// arguments and replies of the host give the same result on every machine.
class ScriptEngine {
 public:
  explicit ScriptEngine(ScriptLimits limits = {});
  ~ScriptEngine();
  ScriptEngine(const ScriptEngine&) = delete;
  ScriptEngine& operator=(const ScriptEngine&) = delete;

  /// The script of this text, or the error that Redis replies to EVAL and SCRIPT LOAD.
  std::variant<ScriptId, Reply> compile(std::string_view text);
  /// 40 lower-case hexadecimal digits: what SCRIPT LOAD replies.
  std::string_view sha1(ScriptId script) const;

  struct Result {
    Reply reply;
    std::optional<std::string> limit_hit;  ///< why the script was stopped: "script ran for more than … instructions"
  };
  /// `may_write` is false for EVAL_RO. Requires: no script is running; `host` does not run one.
  Result run(ScriptId script, std::span<const Value> keys, std::span<const Value> arguments, ScriptHost& host,
             bool may_write = true);
  /// Its first line has flags, and no-writes is none of them.
  bool declares_writes(ScriptId script) const;

  /// A script that its author will want to mend: Lua refused it, or it ran into an error of its own, and nothing that a
  /// server in its place would have said no to either. What a script hands on of an error of redis.call is none.
  struct Mistake {
    std::string script;   ///< its text
    std::string message;  ///< "attempt to index field 'y' (a nil value)"
    std::size_t line = 0;
    auto operator<=>(const Mistake&) const = default;
  };
  /// Of each script the least, in the order of their texts: which was first, an exploration does not say.
  std::vector<Mistake> mistakes() const;

  /// Bytes that Lua holds now: 0 before the first script.
  std::size_t memory_bytes() const;

 private:
  class Interpreter;
  class IdleInterpreters;
  Interpreter& interpreter();

  ScriptLimits limits_;
  std::unique_ptr<Interpreter> interpreter_;
};

}  // namespace lockstep::models::redis
