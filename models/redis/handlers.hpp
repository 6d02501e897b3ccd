#pragma once

// The functions behind the table of commands, by family, and what several of them share.

#include <optional>
#include <string>
#include <variant>

#include "models/redis/commands.hpp"

namespace lockstep::models::redis {

// strings.cpp
Reply set_command(Call& call);
Reply setnx_command(Call& call);
Reply setex_command(Call& call);
Reply psetex_command(Call& call);
Reply get_command(Call& call);
Reply getset_command(Call& call);
Reply getdel_command(Call& call);
Reply incr_command(Call& call);
Reply decr_command(Call& call);
Reply incrby_command(Call& call);
Reply decrby_command(Call& call);
Reply append_command(Call& call);
Reply strlen_command(Call& call);

// keys.cpp
Reply del_command(Call& call);
Reply exists_command(Call& call);
Reply type_command(Call& call);
Reply expire_command(Call& call);
Reply pexpire_command(Call& call);
Reply expireat_command(Call& call);
Reply pexpireat_command(Call& call);
Reply ttl_command(Call& call);
Reply pttl_command(Call& call);
Reply expiretime_command(Call& call);
Reply pexpiretime_command(Call& call);
Reply persist_command(Call& call);

// server.cpp
Reply ping_command(Call& call);
Reply echo_command(Call& call);
Reply time_command(Call& call);
Reply flushall_command(Call& call);

// scripting.cpp
Reply eval_command(Call& call);
Reply evalsha_command(Call& call);
Reply script_load_command(Call& call);
Reply script_exists_command(Call& call);
Reply script_flush_command(Call& call);

// --- Shared.

Reply wrong_type();
Reply not_an_integer();
Reply syntax_error();
Reply invalid_expire_time(const Call& call);

enum class TimeUnit : std::uint8_t { seconds, milliseconds };
enum class TimeBase : std::uint8_t { now, epoch };

/// An argument of EX, PEXPIREAT and the like.
struct ExpireTime {
  sim::Instant deadline;
  sim::Duration length;  ///< from now; zero for one that counts from the epoch
};

/// Reads it, or gives the error to reply with. `only_positive`: SET and its relatives refuse zero and less.
///
/// A timestamp sent to EXPIREAT, PEXPIREAT, EXAT or PXAT becomes the deadline as it is, unrounded. Lengths over 250 years
/// count as 250 years (an `Instant` holds no more); what Redis refuses as an overflow is refused.
std::variant<ExpireTime, Reply> read_expire_time(const Call& call, const Value& argument, TimeUnit unit, TimeBase base,
                                                 bool only_positive);

/// The string that an entry holds, or null if it holds something else.
inline Value* string_in(Entry& entry) { return std::get_if<Value>(&entry.object); }

/// Milliseconds of a reading since its origin, rounded down. Requires: not symbolic.
std::int64_t whole_milliseconds(sim::Instant reading);

}  // namespace lockstep::models::redis
