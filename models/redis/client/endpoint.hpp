#pragma once

// A client's connections to Redis servers: `client.to<redis::Endpoint>()`, or shorter what stands at the end.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/redis/client/connection.hpp"
#include "models/redis/client/sentinel_route.hpp"

namespace lockstep::models::redis {

class Endpoint final : public models::Endpoint {
 public:
  /// Requires: `client` outlives it.
  explicit Endpoint(Client& client) : client_(client) {}

  // --- Building.

  void add_server(sim::ConnectionId connection, std::optional<sim::Duration> timeout);
  /// A second connection to the same server, for messages of channels.
  void add_subscriber(sim::ConnectionId connection, std::optional<sim::Duration> timeout);
  /// Instead: its only server is whoever is primary, which sentinels know.
  PrimaryRoute& follow_primary(const std::string& name, std::vector<PrimaryRoute::Sentinel> sentinels,
                               std::vector<PrimaryRoute::Server> servers, std::optional<sim::Duration> timeout,
                               PrimaryRoute::Begin begin);
  /// The same of the connection for messages of channels.
  PrimaryRoute& subscribe_at_primary(const std::string& name, std::vector<PrimaryRoute::Sentinel> sentinels,
                                     std::vector<PrimaryRoute::Server> servers, std::optional<sim::Duration> timeout,
                                     PrimaryRoute::Begin begin);

  // --- Using.

  /// All independent servers, in their order.
  std::span<Connection> servers() { return servers_; }
  /// The connection for messages of channels to the server of that index.
  Connection& subscriber(std::size_t server) { return subscribers_[server]; }

  void notified(sim::Message& message, sim::ConnectionId connection) override;
  void forget() override;

 private:
  Client& client_;
  Inboxes inboxes_;
  std::optional<PrimaryRoute> route_, subscriber_route_;
  std::vector<Connection> servers_;
  std::vector<Connection> subscribers_;
};

/// All independent servers of a client, in their order.
inline std::span<Connection> servers_of(Client& client) { return client.to<Endpoint>().servers(); }
/// The only server of a client, or the first of several.
inline Connection& server_of(Client& client) { return servers_of(client).front(); }
/// The connection of the client's process for messages of channels, to the server of that index. Requires: the
/// algorithm's entry asks for it.
inline Connection& subscriber_of(Client& client, std::size_t server = 0) {
  return client.process().to<Endpoint>().subscriber(server);
}

}  // namespace lockstep::models::redis
