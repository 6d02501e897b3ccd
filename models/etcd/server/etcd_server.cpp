#include "models/etcd/server/etcd_server.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/value.hpp"

namespace lockstep::models::etcd {
namespace {

/// Parts of its state, for an explorer: the store with what watches it, and each lease with its end and its keys.
constexpr std::uint64_t kStore = 0;
std::uint64_t part_of(LeaseId lease) { return static_cast<std::uint64_t>(lease); }

const std::string* key_read_by(const Operation& operation) {
  const auto* range = std::get_if<Range>(&operation);
  return range == nullptr ? nullptr : &range->span.key;
}

}  // namespace

std::string_view Request::name() const {
  if (const auto* operation = std::get_if<Operation>(&content)) return name_of(*operation);
  if (std::holds_alternative<Txn>(content)) return "TXN";
  if (std::holds_alternative<LeaseGrant>(content)) return "LEASE_GRANT";
  if (std::holds_alternative<LeaseRevoke>(content)) return "LEASE_REVOKE";
  return std::holds_alternative<LeaseKeepAlive>(content) ? "LEASE_KEEP_ALIVE" : "WATCH";
}

std::string Request::describe() const {
  if (const auto* operation = std::get_if<Operation>(&content)) return etcd::describe(*operation);
  if (const auto* txn = std::get_if<Txn>(&content)) return etcd::describe(*txn);
  if (const auto* grant = std::get_if<LeaseGrant>(&content)) return fmt::format("{} {}", name(), to_string(grant->ttl));
  if (const auto* revoke = std::get_if<LeaseRevoke>(&content)) return fmt::format("{} {}", name(), revoke->lease);
  if (const auto* kept = std::get_if<LeaseKeepAlive>(&content)) return fmt::format("{} {}", name(), kept->lease);
  const auto& watch = std::get<Watch>(content);
  return fmt::format("WATCH {} from {}", etcd::describe(watch.span), watch.start_revision);
}

std::uint64_t Request::digest() const { return digest_bytes(describe()); }

std::string Reply::describe() const {
  if (content.is_lost) return "connection reset";
  if (request == "LEASE_GRANT") return fmt::format("lease {}", content.lease);
  if (request == "LEASE_REVOKE") return content.answer.error == Error::none ? "revoked" : "no such lease";
  if (request == "LEASE_KEEP_ALIVE") return content.lease_lives ? "kept alive" : "no such lease";
  if (request != "WATCH") return etcd::describe(content.answer);
  std::string text = content.events.empty() ? "cancelled: " + std::string(to_string(content.answer.error)) : "";
  for (const Event& event : content.events) text += (text.empty() ? "" : "; ") + etcd::describe(event);
  return text;
}

std::uint64_t Reply::digest() const { return digest_bytes(describe()); }

bool Server::answers_at_once(const sim::Message& request) const {
  return !std::holds_alternative<Watch>(static_cast<const Request&>(request).content);
}

void Server::start() {
  world().access_all();
  for (auto& [id, lease] : leases_) put_off(lease);
}

void Server::receive(sim::Message& message, sim::ConnectionId connection) {
  const auto& request = static_cast<const Request&>(message);
  if (std::holds_alternative<Watch>(request.content)) return watch(request, connection);
  if (const auto* kept = std::get_if<LeaseKeepAlive>(&request.content)) return keep_alive(*kept, request, connection);
  Told told = execute(request, connection);
  record(sim::Effect::Kind::remove, world().client_of(connection), request.operation);
  record_reads(request, world().client_of(connection));
  reply(request, connection, std::move(told));
  answer_watches();
}

Told Server::execute(const Request& request, sim::ConnectionId connection) {
  if (const auto* operation = std::get_if<Operation>(&request.content)) {
    access_for(*operation);
    return {.answer = engine_.execute(*operation)};
  }
  if (const auto* txn = std::get_if<Txn>(&request.content)) {
    for (const Operation& each : txn->success) access_for(each);
    for (const Operation& each : txn->failure) access_for(each);
    return {.answer = engine_.execute(*txn)};
  }
  if (const auto* asked = std::get_if<LeaseGrant>(&request.content)) return grant(asked->ttl, connection);
  return {.answer = {.error = revoke(std::get<LeaseRevoke>(request.content).lease)}};
}

void Server::access_for(const Operation& operation) {
  world().access(kStore, !std::holds_alternative<Range>(operation));
  if (std::holds_alternative<Range>(operation) || !world().is_explored()) return;
  const auto* put = std::get_if<Put>(&operation);
  if (put != nullptr) world().access(part_of(put->lease), true);
  const Span span = put != nullptr ? Span{put->key} : std::get<DeleteRange>(operation).span;
  for (const KeyValue& kv : engine_.present()) {
    if (span.contains(kv.key)) world().access(part_of(kv.lease), true);
  }
}

void Server::keep_alive(const LeaseKeepAlive& asked, const Request& request, sim::ConnectionId connection) {
  world().access(part_of(asked.lease), true);
  const auto lease = leases_.find(asked.lease);
  if (lease != leases_.end()) put_off(lease->second);
  reply(request, connection, {.lease_lives = lease != leases_.end()});
}

void Server::watch(const Request& request, sim::ConnectionId connection) {
  // That it waits from now on matters to nobody but to who changes the store.
  world().access(kStore, false);
  const auto& asked = std::get<Watch>(request.content);
  const Engine::WatchId id = static_cast<Engine::WatchId>(connection.index) << 32 | ++asked_for_[connection.index];
  watches_.emplace(id, Waiting{connection, request});
  engine_.watch(id, asked.span, asked.start_revision);
  answer_watches();
}

Told Server::grant(sim::Duration ttl, sim::ConnectionId connection) {
  const LeaseId id = grants_.next(connection);
  world().access(part_of(id), true);
  engine_.grant(id);
  put_off(leases_.try_emplace(id, *this, id, std::max(ttl, times_.least)).first->second);
  return {.lease = id};
}

Error Server::revoke(LeaseId id) {
  world().access(part_of(id), true);
  // Without keys it is nothing to anybody else.
  if (engine_.has_lease(id) && !engine_.keys_of(id).empty()) world().access(kStore, true);
  if (const auto lease = leases_.find(id); lease != leases_.end()) {
    world().cancel_timer(lease->second.timer);
    leases_.erase(lease);
  }
  return engine_.revoke(id);
}

void Server::put_off(Lease& lease) {
  world().cancel_timer(std::exchange(lease.timer, {}));
  lease.end = clock().now() + lease.ttl;
  const sim::DurationRange length{clock().true_length(lease.ttl),
                                  clock().true_length(lease.ttl + times_.check_interval)};
  lease.timer = world().set_timer(id(), length, sim::TimerKind::deadline, lease);
}

void Server::Lease::timer_fired() { server.expire(id); }

void Server::expire(LeaseId lease) {
  revoke(lease);
  record(sim::Effect::Kind::expire, sim::ProcessId{}, 0);
  answer_watches();
}

void Server::record(sim::Effect::Kind removal, sim::ProcessId by, sim::OperationId operation) {
  for (const Event& event : engine_.changes()) {
    const sim::Effect::Kind kind = event.is_delete ? removal : sim::Effect::Kind::write;
    world().record_effect(kind, id(), event.kv.key, by, operation);
  }
}

void Server::record_reads(const Request& request, sim::ProcessId by) {
  if (!engine_.changes().empty()) return;
  const auto* operation = std::get_if<Operation>(&request.content);
  const std::string* key = operation == nullptr ? nullptr : key_read_by(*operation);
  if (key != nullptr) world().record_effect(sim::Effect::Kind::read, id(), *key, by, request.operation);
}

void Server::answer_watches() {
  for (Engine::Notice& notice : engine_.take_notices()) {
    const auto waiting = watches_.find(notice.watch);
    Told told{.events = std::move(notice.events)};
    if (notice.compact_revision != 0) told.answer.error = Error::compacted;
    engine_.cancel_watch(notice.watch);
    reply(waiting->second.request, waiting->second.connection, std::move(told));
    watches_.erase(waiting);
  }
}

void Server::reply(const Request& request, sim::ConnectionId connection, Told told) {
  auto reply = world().make<Reply>();
  reply->request = request.name();
  reply->content = std::move(told);
  world().send_reply(connection, request, std::move(reply));
}

void Server::closed(sim::ConnectionId connection) {
  world().access(kStore, false);
  for (auto each = watches_.begin(); each != watches_.end();) {
    const bool is_its = each->second.connection.index == connection.index;
    if (is_its) engine_.cancel_watch(each->first);
    each = is_its ? watches_.erase(each) : std::next(each);
  }
}

void Server::crashed(bool) {
  for (const auto& [id, waiting] : watches_) reply(waiting.request, waiting.connection, {.is_lost = true});
  engine_.cancel_watches();
  watches_.clear();
  for (auto& [id, lease] : leases_) lease.timer = {};
}

void Server::reset() {
  engine_.reset();
  leases_.clear();
  watches_.clear();
  grants_.clear();
  asked_for_.clear();
}

std::optional<sim::Instant> Server::end_of(LeaseId lease) const {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return std::nullopt;
  return found->second.end;
}

}  // namespace lockstep::models::etcd
