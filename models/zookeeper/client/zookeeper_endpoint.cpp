#include "models/zookeeper/client/zookeeper_endpoint.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/worlds/world.hpp"

namespace lockstep::models::zookeeper {
namespace {

bool may_change(const Content& content) {
  const auto* operation = std::get_if<Operation>(&content);
  return operation != nullptr && is_write(*operation);
}

bool asks_for_watch(const Content& content) {
  const auto* operation = std::get_if<Operation>(&content);
  return operation != nullptr && sets_watches(*operation);
}

}  // namespace

std::optional<Told> RequestCall::await_resume() {
  std::optional<Told> told = Call::await_resume();
  if (told && told->is_lost) told.reset();
  if (!told && changes_) session_.missed_reply = true;
  return told;
}

void Endpoint::add_server(sim::ConnectionId connection, std::optional<sim::Duration> timeout) {
  client_.expect_unasked();
  servers_.push_back(connection);
  timeout_ = timeout;
}

RequestCall Endpoint::send(ConnectionNumber on, Content content, std::optional<sim::Duration> patience,
                           std::size_t server) {
  auto request = client_.world().make<Request>();
  const bool changes = may_change(content);
  // A watch waits at the server, until its client has gone.
  request->opens_session = asks_for_watch(content);
  request->on = on;
  request->content = std::move(content);
  request->operation = client_.session().operation;
  std::optional<sim::Duration> timeout = timeout_;
  if (patience) timeout = std::min(*patience, timeout_.value_or(*patience));
  return {client_, servers_[server], std::move(request), timeout, changes};
}

void Endpoint::notified(sim::Message& message, sim::ConnectionId) {
  if (listener_ == nullptr) return;
  if (const auto* closed = dynamic_cast<const Closed*>(&message)) return listener_->closed(closed->on);
  listener_->notified(static_cast<const Notification&>(message));
}

void Endpoint::ended() {
  if (listener_ != nullptr) listener_->left_by(client_);
}

}  // namespace lockstep::models::zookeeper
