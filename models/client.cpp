#include "models/client.hpp"

#include <fmt/format.h>

namespace lockstep::models {
namespace {

/// Whether a fault has just stopped the client at this step, for a while or for ever.
bool strikes(Client& client, std::string_view step, sim::Moment moment) {
  sim::World& world = client.world();
  world.reach(client.id(), step, moment);
  const sim::ProcessState& state = world.state(client.id());
  return state.doomed || (state.was_paused && !world.is_at_or_after(world.now(), state.frozen_until));
}

}  // namespace

redis::Value Client::unique_token() { return fmt::format("{}-{}", name(), ++tokens_); }

sim::Wait Client::sleep(sim::DurationRange length) {
  const sim::DurationRange true_length{clock().true_length(length.lo), clock().true_length(length.hi)};
  return sim::Wait(*this, true_length, sim::TimerKind::sleep);
}

bool Client::equal(const redis::Value& a, const redis::Value& b) const {
  const redis::Timestamp* left = a.timestamp();
  const redis::Timestamp* right = b.timestamp();
  if (left != nullptr && right != nullptr && left->instant.anchor() != right->instant.anchor()) {
    return world().is_at_or_after(left->instant, right->instant) &&
           world().is_at_or_after(right->instant, left->instant);
  }
  return a == b;
}

Client::Step Client::step(std::string_view name, sim::Moment moment) { return Step(*this, name, moment); }

void Client::notified(sim::Message& message, sim::ConnectionId connection) {
  redis::Reply& content = static_cast<redis::Response&>(message).content;
  if (route_ && route_->notified(content, connection)) return;
  session_.inbox(connection).put(std::move(content));
}

void Client::crashed(bool) {
  session_.inboxes.clear();
  if (route_) route_->forget();
}

void Client::reset() {
  session_ = {};
  if (route_) route_->forget();
  tokens_ = 0;
}

Client::Step::Step(Client& client, std::string_view name, sim::Moment moment)
    : struck_(strikes(client, name, moment)),
      pause_(client, sim::DurationRange::exactly(sim::Duration::zero()), sim::TimerKind::sleep) {}

}  // namespace lockstep::models
