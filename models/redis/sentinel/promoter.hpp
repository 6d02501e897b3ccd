#pragma once

// All sentinels of a deployment as one process that never fails: some time after the primary died it promotes a
// replica, and tells the clients. What is left out is how sentinels come to agree: pings, elections, epochs, and
// promotions while the primary still lives. What is left in is what a failover does to locks: the replica has what it
// has heard of, clients are told sooner or later, and until then they ask the dead one.

#include <cstdint>
#include <string>
#include <vector>

#include "models/redis/sentinel/sentinel.hpp"
#include "models/redis/server/node.hpp"
#include "sim/coroutines/task.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

class Promoter final : public sim::Process {
 public:
  explicit Promoter(std::string primary_name) : primary_name_(std::move(primary_name)) {}

  // --- Building. Requires: before the world starts; the first server is the primary.

  /// `requests`: from here to the server. `death`: from the server to here; as late as its end arrives, the promoter
  /// finds the server dead.
  void watch(std::string host, sim::ConnectionId requests, sim::ConnectionId death);
  /// A client hears on this connection of each promotion.
  void tell(sim::ConnectionId messages) { listeners_.push_back(messages); }
  /// Before running, each time.
  void begin();

  bool is_service() const override { return true; }
  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;

 private:
  struct Watched {
    std::string host;
    sim::ConnectionId requests;
    sim::ConnectionId death;
    bool is_dead = false;
  };
  struct Asker {
    sim::ConnectionId connection;
    SentinelRequest request;
  };

  sim::Task<void> promote();
  void answer(sim::ConnectionId connection, const SentinelRequest& request);

  std::string primary_name_;
  std::vector<Watched> servers_;
  std::vector<sim::ConnectionId> listeners_;
  std::size_t primary_ = 0;
  bool is_promoting_ = false;
  std::vector<Asker> askers_;  ///< while a replica is being promoted
};

}  // namespace lockstep::models::redis
