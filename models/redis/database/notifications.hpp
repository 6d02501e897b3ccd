#pragma once

// Keyspace notifications: the events that a command makes.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/data/ids.hpp"
#include "models/redis/database/call.hpp"
#include "models/redis/database/notified_events.hpp"
#include "models/redis/database/session.hpp"
#include "models/redis/wire/command_spec.hpp"
#include "models/redis/wire/reply.hpp"

namespace lockstep::models::redis {

/// One event of one key, for the subscribers of its channels.
struct Notification {
  std::string_view event;  ///< "del". Static text
  std::string key;
  DatabaseId database = 0;
  std::size_t written = 0;  ///< as `Delivery::written`: when the command tells of it
};

/// What there is to tell of a command that is done, in the order in which a real server tells it. `events`: which of it
/// anybody may hear.
std::vector<Notification> notifications_of(Call& call, const CommandSpec& spec, NotifiedEvents events);
/// Of keys that the current command found expired.
std::vector<Notification> expiries_of(Call& call, const CommandSpec& spec, NotifiedEvents events);

/// A reply, and in it, before it or behind it the messages that the command sent to its own connection: each where the
/// real server writes it, also in the middle of an array. Requires: `messages` are in the order in which they were
/// sent.
Reply with_messages(Reply reply, std::vector<Delivery> messages, Protocol protocol);

}  // namespace lockstep::models::redis
