#include "door/doors.hpp"

#include <array>

#include "door/redis/redis_door.hpp"
#include "door/zookeeper/zookeeper_door.hpp"
#include "models/redis/kind/redis_servers.hpp"

namespace lockstep::door {
namespace {

std::unique_ptr<Door> make_redis_door(Door::Time time) { return std::make_unique<RedisDoor>(time); }
void tell_redis_of_clients(models::Servers& servers) {
  dynamic_cast<models::redis::RedisServers&>(servers).tell_of_clients();
}

std::unique_ptr<Door> make_zookeeper_door(Door::Time) { return std::make_unique<ZooKeeperDoor>(); }
void tell_nothing(models::Servers&) {}

constexpr std::array kDoors{DoorKind{.servers = "redis",
                                     .protocol = "Redis' protocol",
                                     .why_no_step = "",
                                     .step = "DEBUG STEP seconds",
                                     .make = make_redis_door,
                                     .prepare = tell_redis_of_clients},
                            DoorKind{.servers = "zookeeper",
                                     .protocol = "ZooKeeper's protocol",
                                     .why_no_step = "ZooKeeper's protocol has no request that could move time",
                                     .step = "",
                                     .make = make_zookeeper_door,
                                     .prepare = tell_nothing}};

}  // namespace

const DoorKind* door_for(const models::ServerKind& kind) {
  for (const DoorKind& door : kDoors) {
    if (door.servers == kind.name()) return &door;
  }
  return nullptr;
}

std::string kinds_with_doors() {
  std::string names;
  for (const DoorKind& door : kDoors) names += (names.empty() ? "" : ", ") + std::string(door.servers);
  return names;
}

}  // namespace lockstep::door
