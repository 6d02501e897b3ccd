#pragma once

// What the table of commands says of one, and how a request finds it. The table itself, with the handlers, is that of
// the database (models/redis/database/command_rows.def): whoever only sends or reads commands needs none of them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/redis/wire/reply.hpp"
#include "models/value.hpp"

namespace lockstep::models::redis {

struct Call;

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
  kContainer = 1024,      ///< has subcommands: each has an entry of its own
  kSinceRedis84 = 4096,   ///< no other server knows it
  kSinceValkey90 = 8192   ///< no other server knows it
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

/// The entry for a request, also if its arity is wrong: the subcommand's if there is one of that name, else the
/// container's. Null for an unknown command. Requires: at least the name.
const CommandSpec* find_command(std::span<const Value> arguments);

/// GET with a text: whether the key holds it, 1 or 0. For scripts (lua_comparisons.hpp) alone; no request names it.
const CommandSpec& key_holds_spec();

}  // namespace lockstep::models::redis
