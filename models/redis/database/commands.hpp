#pragma once

// The commands of the simulated Redis, as an explicit table. Adding one is adding an entry here, in commands.cpp, and a
// function in the file of its family.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/redis/data/keyspace.hpp"
#include "models/redis/data/value.hpp"
#include "models/redis/database/session.hpp"
#include "models/redis/wire/reply.hpp"
#include "sim/time/clock.hpp"

namespace lockstep::models::redis {

class Database;

/// One execution of one command, with what a handler may use. Requires of the caller: the arity fits.
struct Call {
  Database& database;
  Keyspace& keys;
  Session& session;                  ///< whose command it is
  std::span<const Value> arguments;  ///< name first, as sent
  const sim::Clock& clock;           ///< the server's own
  std::string_view command;          ///< as the table spells it
  bool may_block = false;            ///< neither in a script nor in a transaction

  std::string scratch = {};  ///< for a key that was sent as a number

  /// An argument as the bytes of a key. Valid until the next call of `key`.
  std::string_view key(std::size_t i = 1) { return arguments[i].view(scratch); }
  std::size_t size() const { return arguments.size(); }
  /// Whom to ask what is open: a member to take, the order of symbolic instants.
  sim::World& world() const { return clock.world(); }
  /// Whether two strings are the same. Timestamps may be symbolic, so this may fork an exploration.
  bool equal(const Value& a, const Value& b) const;
};

using Handler = Reply (*)(Call& call);

/// What matters of Redis' command flags.
enum CommandFlags : std::uint16_t {
  kReadOnly = 1,          ///< never changes a key, apart from expiring it
  kWrite = 2,             ///< may change keys
  kNoScript = 4,          ///< refused inside a script
  kEveryKey = 8,          ///< touches keys that it does not name: ordered with every command of its server
  kScriptReader = 16,     ///< its reply depends on the server's script cache
  kScriptWriter = 32,     ///< may change the server's script cache
  kAtOnce = 64,           ///< executed also while a transaction queues
  kRunsCommands = 256,    ///< consists of commands that it runs: scripts, EXEC
  kSubscriber = 128,      ///< allowed to a connection that has subscribed to something
  kWhileLoading = 512,    ///< answered also while the server reads its keys from the disk
  kNoTransaction = 2048,  ///< refused while a transaction queues
  kContainer = 1024       ///< has subcommands: each has an entry of its own
};

struct CommandSpec {
  std::string_view name;      ///< in capitals; a subcommand with its container: "SCRIPT LOAD"
  int arity = 0;              ///< arguments with the name; -n: at least n. As COMMAND INFO prints it
  std::int8_t first_key = 0;  ///< 0: no keys, or (EVAL) a number of them that an argument tells
  std::int8_t last_key = 0;   ///< -1: up to the last argument
  std::int8_t key_step = 0;
  std::uint16_t flags = 0;
  Handler handler = nullptr;  ///< null: a container of subcommands
  /// What the digest of a command begins with that spells the name like this, in one word.
  std::uint64_t digest = digest_number(digest_bytes(name), digest_bytes("command"));

  bool is(CommandFlags flag) const { return (flags & flag) != 0; }
  bool accepts(std::size_t arguments) const {
    return arity >= 0 ? arguments == static_cast<std::size_t>(arity) : arguments >= static_cast<std::size_t>(-arity);
  }
};

/// All commands, sorted by name.
std::span<const CommandSpec> command_table();

/// The entry for a request, also if its arity is wrong: the subcommand's if there is one of that name, else the
/// container's. Null for an unknown command. Requires: at least the name.
const CommandSpec* find_command(std::span<const Value> arguments);

/// GET with a text: whether the key holds it, 1 or 0. For scripts (lua_comparisons.hpp) alone; no request names it.
const CommandSpec& key_holds_spec();

/// How Redis writes the name in errors: "set", "script|load".
std::string error_name(std::string_view name);

}  // namespace lockstep::models::redis
