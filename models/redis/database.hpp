#pragma once

// A Redis server without its connections: keys, script cache, and the execution of one command after the other.
// Start here.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/command.hpp"
#include "models/redis/commands.hpp"
#include "models/redis/keyspace.hpp"
#include "models/redis/reply.hpp"
#include "models/redis/script_engine.hpp"
#include "sim/clock.hpp"

namespace lockstep::models::redis {

/// Behaves as a single redis-server 7.0.15 with one database does, command by command. Differences that are known and
/// meant: docs/decisions/redis-single-node.md.
class Database final : private ScriptHost {
 public:
  /// Requires: `scripts` outlives the database. It may serve many databases, one at a time.
  explicit Database(ScriptEngine& scripts) : scripts_(&scripts) {}

  /// Executes one request at the present moment of `server_clock`. Requires: the command is not empty.
  Reply execute(const Command& command, const sim::Clock& server_clock);

  /// What the last `execute` did to which keys, in that order. Calls of a script are listed one after the other.
  /// Valid until the next `execute`.
  std::span<const KeyChange> changes() const { return keys_.changes(); }
  /// Whether the last `execute` may have depended on, or changed, something besides the keys in `changes()`: all keys
  /// (FLUSHALL) or the script cache. Such a command is ordered with every other command of its server.
  bool touched_more_than_keys() const { return touched_more_than_keys_; }

  /// Why a script was stopped, for the user: "script ran for more than 1,000,000 instructions". Stays until `reset`.
  const std::optional<std::string>& limit_hit() const { return limit_hit_; }

  /// As newly started and empty. Memory and compiled scripts are kept.
  void reset();
  /// A restart of the server process that finds its keys again: the script cache is gone.
  void restart_with_keys() { cached_.clear(); }
  /// A restart that lost everything, in the same run: unlike `reset` it keeps `limit_hit`.
  void restart_empty();

  const Keyspace& keys() const { return keys_; }
  std::uint64_t digest() const { return keys_.digest(); }

  // --- For command handlers.

  /// The script of this text, compiled and in the script cache; or the error.
  std::variant<ScriptId, Reply> load_script(const Value& text);
  /// A script in this server's cache. Upper and lower case are the same.
  std::optional<ScriptId> cached_script(const Value& sha1) const;
  void forget_scripts();
  std::string_view sha1_of(ScriptId script) const { return scripts_->sha1(script); }
  Reply run_script(ScriptId script, std::span<const Value> keys, std::span<const Value> arguments);

 private:
  Reply call_from_script(const Command& command, bool may_write) override;
  bool knows_command(const Command& command) const override { return command.spec() != nullptr; }
  Reply run(const CommandSpec& spec, const Command& command);

  Keyspace keys_;
  ScriptEngine* scripts_;
  std::vector<ScriptId> cached_;       ///< the script cache, in order of arrival
  const sim::Clock* clock_ = nullptr;  ///< during `execute`
  bool touched_more_than_keys_ = false;
  std::optional<std::string> limit_hit_;
};

}  // namespace lockstep::models::redis
