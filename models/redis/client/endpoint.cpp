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

PrimaryRoute& Endpoint::follow_primary(const std::string& name, std::vector<PrimaryRoute::Sentinel> sentinels,
                                       std::vector<PrimaryRoute::Server> servers, std::optional<sim::Duration> timeout,
                                       PrimaryRoute::Begin begin) {
  client_.expect_unasked();
  route_.emplace(client_, inboxes_, name, std::move(sentinels), std::move(servers), timeout, begin);
  servers_.emplace_back(client_, client_.session(), inboxes_, *route_, timeout);
  return *route_;
}

PrimaryRoute& Endpoint::subscribe_at_primary(const std::string& name, std::vector<PrimaryRoute::Sentinel> sentinels,
                                             std::vector<PrimaryRoute::Server> servers,
                                             std::optional<sim::Duration> timeout, PrimaryRoute::Begin begin) {
  client_.expect_unasked();
  subscriber_route_.emplace(client_, inboxes_, name, std::move(sentinels), std::move(servers), timeout, begin);
  subscribers_.emplace_back(client_, client_.session(), inboxes_, *subscriber_route_, timeout);
  return *subscriber_route_;
}

void Endpoint::notified(sim::Message& message, sim::ConnectionId connection) {
  Reply& content = static_cast<Response&>(message).content;
  for (std::optional<PrimaryRoute>* route : {&route_, &subscriber_route_}) {
    if (*route && (*route)->notified(content, connection)) return;
  }
  inboxes_.at(connection).put(std::move(content));
}

void Endpoint::forget() {
  inboxes_.clear();
  if (route_) route_->forget();
  if (subscriber_route_) subscriber_route_->forget();
}

}  // namespace lockstep::models::redis
