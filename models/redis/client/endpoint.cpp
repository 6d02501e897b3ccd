#include "models/redis/client/endpoint.hpp"

#include <utility>

namespace lockstep::models::redis {

void Endpoint::add_server(sim::ConnectionId connection, std::optional<sim::Duration> timeout) {
  servers_.emplace_back(client_, client_.session(), inboxes_, connection, timeout);
}

void Endpoint::add_subscriber(sim::ConnectionId connection, std::optional<sim::Duration> timeout) {
  client_.expect_unasked();
  subscribers_.emplace_back(client_, client_.session(), inboxes_, connection, timeout);
}

void Endpoint::follow_primary(const std::string& name, std::vector<PrimaryRoute::Sentinel> sentinels,
                              std::vector<PrimaryRoute::Server> servers, std::optional<sim::Duration> timeout) {
  client_.expect_unasked();
  route_.emplace(client_, inboxes_, name, std::move(sentinels), std::move(servers), timeout);
  servers_.emplace_back(client_, client_.session(), inboxes_, *route_, timeout);
}

void Endpoint::notified(sim::Message& message, sim::ConnectionId connection) {
  Reply& content = static_cast<Response&>(message).content;
  if (route_ && route_->notified(content, connection)) return;
  inboxes_.at(connection).put(std::move(content));
}

void Endpoint::forget() {
  inboxes_.clear();
  if (route_) route_->forget();
}

}  // namespace lockstep::models::redis
