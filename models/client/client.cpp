#include "models/client/client.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace lockstep::models {
namespace {

bool is_stopped(const sim::World& world, sim::ProcessId who) {
  const sim::ProcessState& state = world.state(who);
  return state.doomed || !state.alive || (state.was_paused && !world.is_at_or_after(world.now(), state.frozen_until));
}

/// Whether a fault has just stopped the client at this step, for a while or for ever.
bool strikes(Client& client, std::string_view step, sim::Moment moment) {
  sim::World& world = client.world();
  world.reach(client.id(), step, moment);
  if (client.self() != client.id()) world.reach(client.self(), step, moment);
  return is_stopped(world, client.id()) || is_stopped(world, client.self());
}

/// How long a thread that was stopped by itself goes on standing still. (A pause of the whole process holds back what
/// is set in it anyhow.)
sim::DurationRange stop_of_thread(const Client& client) {
  const sim::ProcessState& state = client.world().state(client.self());
  const bool is_alone = client.self() != client.id() && state.alive && is_stopped(client.world(), client.self());
  if (!is_alone || is_stopped(client.world(), client.id())) return sim::DurationRange::exactly(sim::Duration::zero());
  return sim::DurationRange::exactly(state.frozen_until.offset() - client.world().now().offset());
}

}  // namespace

Value Client::unique_token() {
  // "A-1"
  std::string token = name();
  token += '-';
  Value(++tokens_).append_to(token);
  return token;
}

sim::Wait Client::sleep(sim::DurationRange length, sim::TimerKind kind) {
  const sim::DurationRange true_length{clock().true_length(length.lo), clock().true_length(length.hi)};
  return sim::Wait(*this, true_length, kind);
}

sim::Task<void> Client::doze(sim::DurationRange length, sim::TimerKind kind) {
  std::vector<sim::Doze>& dozes = world().history().dozes;
  const std::size_t number = dozes.size();
  dozes.push_back({.operation = session().operation, .from = world().now(), .until = {}});
  co_await sleep(length, kind);
  world().history().dozes[number].until = world().now();
}

sim::Wait Client::work(sim::DurationRange length) {
  const bool is_alone = process_ == nullptr && background_ == nullptr;
  return is_alone ? sim::Wait(*this, length, sim::TimerKind::work) : sleep(length);
}

bool Client::equal(const Value& a, const Value& b) const {
  const Timestamp* left = a.timestamp();
  const Timestamp* right = b.timestamp();
  if (left != nullptr && right != nullptr && left->instant.anchor() != right->instant.anchor()) {
    return left->unit == right->unit && world().prints_alike(left->instant, right->instant, left->unit);
  }
  return a == b;
}

Client::Step Client::step(std::string_view name, sim::Moment moment) { return Step(*this, name, moment); }

void Client::tell_lost(sim::OperationId acquire) {
  if (acquire == 0 || knows_lost(acquire)) return;
  process().lost_.push_back(acquire);
  const std::string object = world().operation(acquire).object;
  const sim::OperationId id = world().invoke(world().operation(acquire).process, "lost", object);
  world().operation(id).of = acquire;
  world().complete(id, sim::Phase::ok);
}

void Client::name_place(const Value& place) {
  if (session_.operation != 0) world().operation(session_.operation).place = place.text();
}

bool Client::knows_lost(sim::OperationId acquire) const {
  const std::vector<sim::OperationId>& lost = process_ == nullptr ? lost_ : process_->lost_;
  return std::find(lost.begin(), lost.end(), acquire) != lost.end();
}

void Client::start() {
  if (endpoint_ != nullptr) endpoint_->started();
  if (program_) spawn(program_(*this));
}

void Client::notified(sim::Message& message, sim::ConnectionId connection) { endpoint_->notified(message, connection); }

void Client::forget() {
  objects_.clear();
  lost_.clear();
}

void Client::crashed(bool) {
  if (endpoint_ != nullptr) endpoint_->forget();
  // A thread that dies by itself takes nothing of its process with it.
  if (process_ != nullptr) return;
  forget();
  ++lives_;
  if (!has_configured_name_) process_name_ = fmt::format("{}.{}", first_process_name_, lives_);
}

void Client::reset() {
  forget();
  session_ = {};
  if (endpoint_ != nullptr) endpoint_->forget();
  tokens_ = 0;
  lives_ = 1;
  process_name_ = first_process_name_;
}

Client::Step::Step(Client& client, std::string_view name, sim::Moment moment)
    : struck_(strikes(client, name, moment)), pause_(client, stop_of_thread(client), sim::TimerKind::sleep) {}

}  // namespace lockstep::models
