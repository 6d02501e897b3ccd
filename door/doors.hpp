#pragma once

// Which kinds of servers real clients can talk to, and how.

#include <memory>
#include <string_view>

#include "door/door.hpp"
#include "models/servers/server_kind.hpp"

namespace lockstep::door {

struct DoorKind {
  std::string_view servers;      ///< `models::ServerKind::name`
  std::string_view protocol;     ///< for people: "Redis' protocol"
  std::string_view why_no_step;  ///< why time cannot be stepped, in a sentence. Empty: it can
  std::string_view step;         ///< what moves it, for people
  std::unique_ptr<Door> (*make)(Door::Time time);
  /// What servers are told before the first client can come.
  void (*prepare)(models::Servers& servers);
};

/// Null: nobody outside can talk to servers of this kind.
const DoorKind* door_for(const models::ServerKind& kind);
/// "redis, zookeeper"
std::string kinds_with_doors();

}  // namespace lockstep::door
