#pragma once

// One execution of one command, as its handler sees it.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "models/redis/data/keyspace.hpp"
#include "models/redis/database/session.hpp"
#include "models/value.hpp"
#include "sim/time/clock.hpp"

namespace lockstep::models::redis {

class Database;

/// What a handler may use. Requires of the caller: the arity fits.
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

}  // namespace lockstep::models::redis
