#pragma once

// The Redis servers of a world, and the sentinels that watch them.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/redis/client/sentinel_route.hpp"
#include "models/redis/kind/sentinels_spec.hpp"
#include "models/redis/script/script_engine.hpp"
#include "models/redis/script/script_memory.hpp"
#include "models/redis/sentinel/promoter.hpp"
#include "models/redis/sentinel/sentinel.hpp"
#include "models/redis/server/node.hpp"
#include "models/servers/server_kind.hpp"
#include "sim/coroutines/region.hpp"

namespace lockstep::models::redis {

class RedisServers final : public Servers {
 public:
  explicit RedisServers(const ServersSetup& setup);

  /// What servers answer is what `relay` says. Requires: it outlives the last event.
  void relay_through(Relay& relay);
  /// For real clients: INFO has its section on them.
  void tell_of_clients();

  void connect(Client& client, const ClientLink& link) override;
  void connect_subscriber(Client& process, const ClientLink& link) override;
  void expect_exploration() override;
  void begin_first() override;
  void begin() override;
  bool is_as_at_first() const override;
  std::uint64_t digest(std::size_t server) const override;
  std::vector<HeldObject> held(std::size_t server) const override;
  std::vector<std::string> holdings(std::size_t server) const override;
  std::optional<Trouble> trouble() const override;
  std::vector<Mistake> mistakes() const override;

 private:
  void replicate();
  Node& server_named(const std::string& name);
  void add_sentinels();
  void add_promoter();
  /// One for each client, and one for its subscriptions.
  struct Ways {
    std::vector<PrimaryRoute::Sentinel> sentinels;
    std::vector<PrimaryRoute::Server> servers;
    PrimaryRoute::Begin begin;
  };
  Ways ways_of(Client& client);
  std::vector<PrimaryRoute*>& company_of(Client& client);
  sim::DurationRange latency_to_sentinel(std::size_t sentinel) const;
  void follow_primary(Client& client);

  ServersSetup setup_;
  const SentinelsSpec* sentinels_spec_;
  sim::Outlasting<ScriptEngine> scripts_;
  sim::Outlasting<ScriptMemory> script_memory_;  ///< of an exploration, which runs the same scripts again and again
  std::deque<Node> servers_;
  std::deque<Sentinel> sentinels_;
  std::optional<Promoter> promoter_;                                             ///< instead of them
  std::deque<std::pair<sim::ProcessId, std::vector<PrimaryRoute*>>> companies_;  ///< with it, by process
  std::vector<sim::ProcessId> sentinel_ids_;
};

}  // namespace lockstep::models::redis
