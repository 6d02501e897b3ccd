#pragma once

// What a Redis server holds, for people.

#include <string>
#include <vector>

#include "models/redis/database/database.hpp"
#include "models/servers/server_kind.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

/// Of all databases.
std::vector<HeldObject> held_keys(const Database& database, const sim::World& world);
/// Of the first database, in no order that means anything: "lock = A-1, with a lease".
std::vector<std::string> holdings_of(const Database& database);

}  // namespace lockstep::models::redis
