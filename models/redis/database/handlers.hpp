#pragma once

// The functions behind the table of commands, by family.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "models/redis/data/ids.hpp"
#include "models/redis/data/objects.hpp"
#include "models/redis/database/call.hpp"
#include "models/redis/database/session.hpp"
#include "models/redis/wire/command.hpp"
#include "models/redis/wire/reply.hpp"
#include "models/value.hpp"

namespace lockstep::models::redis {

// Those of the table.
#define LOCKSTEP_COMMAND(name, arity, first_key, last_key, key_step, flags, function) Reply function(Call& call);
#define LOCKSTEP_CONTAINER(name, arity)
#include "models/redis/database/command_rows.def"

/// GET with a text, for scripts: see `key_holds_spec`.
Reply key_holds_command(Call& call);

// --- What several families need of one.

// databases.cpp
void append_keyspace_info(std::string& out, Call& call);
/// A database's number, or the error.
std::variant<DatabaseId, Reply> read_database(const Value& argument);

// blocking.cpp
/// Whether a command that waits for a key can do with what is there now; then what it does, and its reply.
bool can_serve(const Waiting& waiting, const Object& object);
Reply serve_blocked(Call& call, const Waiting& waiting, const std::string& key);
/// The command without waiting that does the same, but for how many it takes.
Command plain_of(const Waiting& waiting, const std::string& key);

// pubsub.cpp
/// A message to whoever has subscribed to its channel; how many that are.
std::int64_t send_to_subscribers(Database& database, const std::string& channel, const Value& payload);

// clients.cpp
void append_clients_info(std::string& out, Call& call);

// replication_commands.cpp
void append_replication_info(std::string& out, Call& call);

// --- Replies that several of them give.

Reply wrong_type();
Reply not_an_integer();
Reply syntax_error();
Reply not_positive();
Reply wrong_number_of_arguments(const Call& call);
/// Redis shows about so many bytes of what it did not understand.
inline constexpr std::size_t kShownBytes = 128;
/// As C prints it, which is how Redis puts it into errors: up to the first zero byte, and at most so many.
std::string up_to_zero(const Value& argument, std::size_t most = std::string::npos);
Reply unknown_subcommand_or_arity(const Call& call, std::string_view container);
Reply invalid_expire_time(const Call& call);

}  // namespace lockstep::models::redis
