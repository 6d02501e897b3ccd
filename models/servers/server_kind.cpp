#include "models/servers/server_kind.hpp"

#include "models/client/client.hpp"

namespace lockstep::models {

std::string server_name(const ServerKind& kind, std::size_t index, std::size_t count) {
  std::string name(kind.name());
  if (count > 1) name += std::to_string(index + 1);
  return name;
}

sim::ConnectionId link(Client& client, sim::ProcessId server, sim::DurationRange latency) {
  const sim::ConnectionId connection = client.world().connect(client.id(), server, latency);
  if (client.self() != client.id()) client.world().assign(connection, client.self());
  return connection;
}

}  // namespace lockstep::models
