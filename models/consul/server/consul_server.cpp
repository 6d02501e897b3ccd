#include "models/consul/server/consul_server.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/value.hpp"

namespace lockstep::models::consul {
namespace {

/// Parts of its state, for an explorer: the keys with what waits for them, and each session with its end. That each
/// entry of the log advances the index is no part of them: whatever the indices are, they compare alike.
constexpr std::uint64_t kStore = 0;
std::uint64_t part_of(SessionId session) { return static_cast<std::uint64_t>(session); }

struct NameOf {
  std::string_view operator()(const Write& write) const { return name_of(write); }
  std::string_view operator()(const Delete& asked) const { return name_of(asked); }
  std::string_view operator()(const Query& query) const { return name_of(query); }
  std::string_view operator()(const Session&) const { return "SESSION_CREATE"; }
  std::string_view operator()(const SessionDestroy&) const { return "SESSION_DESTROY"; }
  std::string_view operator()(const SessionRenew&) const { return "SESSION_RENEW"; }
  std::string_view operator()(const CheckUpdate&) const { return "CHECK"; }
};

struct Describe {
  std::string operator()(const Write& write) const { return describe(write); }
  std::string operator()(const Delete& asked) const { return describe(asked); }
  std::string operator()(const Query& query) const { return describe(query); }
  std::string operator()(const CheckUpdate& update) const { return describe(update); }
  std::string operator()(const Session& session) const {
    return fmt::format("SESSION_CREATE ttl={} lock-delay={} behavior={}", to_string(session.ttl),
                       to_string(session.lock_delay), session.behavior == Behavior::deletes ? "delete" : "release");
  }
  std::string operator()(const SessionDestroy& asked) const { return fmt::format("SESSION_DESTROY {}", asked.session); }
  std::string operator()(const SessionRenew& asked) const { return fmt::format("SESSION_RENEW {}", asked.session); }
};

}  // namespace

std::string_view Request::name() const { return std::visit(NameOf{}, content); }
std::string Request::describe() const {
  std::string text = std::visit(Describe{}, content);
  return datacentre.empty() || datacentre == "dc1" ? text : text + " dc=" + datacentre;
}
std::uint64_t Request::digest() const { return digest_bytes(describe()); }

std::string describe(const Told& told) {
  if (told.is_lost) return "connection reset";
  if (told.session != 0) return fmt::format("session {}", told.session);
  std::string text = describe(told.answer);
  if (told.contact && told.contact->last > sim::Duration::zero())
    text += fmt::format("; last contact {}", to_string(told.contact->last));
  if (told.contact && !told.contact->knows_leader) text += "; no known leader";
  return text;
}

std::string Reply::describe() const { return consul::describe(content); }
std::uint64_t Reply::digest() const { return digest_bytes(describe()); }

bool is_blocking(const Request& request) {
  const auto* query = std::get_if<Query>(&request.content);
  return query != nullptr && query->index > 0;
}

bool Server::answers_at_once(const sim::Message& request) const {
  return !is_blocking(static_cast<const Request&>(request));
}

void Server::start() {
  world().access_all();
  for (auto& [id, ttl] : ttls_) put_off(ttl);
}

void Server::receive(sim::Message& message, sim::ConnectionId connection) {
  const auto& request = static_cast<const Request&>(message);
  if (!request.datacentre.empty() && request.datacentre != settings_.datacentre)
    return reply(request, connection, {.answer = {.error = Error::no_path_to_datacenter}});
  if (std::holds_alternative<Query>(request.content)) return query(request, connection);
  Told told = execute(request, connection);
  const bool is_renewal = std::holds_alternative<SessionRenew>(request.content);
  if (!is_renewal) record(sim::Effect::Kind::remove, world().client_of(connection), request.operation);
  if (!is_renewal && engine_.changes().empty()) record_read(request, world().client_of(connection));
  reply(request, connection, std::move(told));
  answer_queries();
}

Told Server::execute(const Request& request, sim::ConnectionId connection) {
  if (const auto* asked = std::get_if<Write>(&request.content)) return {.answer = write(*asked)};
  if (const auto* asked = std::get_if<Session>(&request.content)) return create(*asked, connection);
  if (const auto* asked = std::get_if<SessionDestroy>(&request.content)) return {.answer = destroy(asked->session)};
  if (const auto* asked = std::get_if<SessionRenew>(&request.content)) return {.answer = renew(asked->session)};
  if (const auto* asked = std::get_if<Delete>(&request.content)) {
    world().access(kStore, true);
    for (const auto& [key, kv] : engine_.kvs()) {
      const bool is_its = asked->how == Delete::How::recurse ? key.starts_with(asked->key) : key == asked->key;
      if (is_its && kv.session != 0) world().access(part_of(kv.session), true);
    }
    return {.answer = engine_.remove(*asked)};
  }
  world().access_all();
  Told told{.answer = engine_.update_check(std::get<CheckUpdate>(request.content))};
  begin_lock_delays();
  forget_sessions();
  return told;
}

Answer Server::write(const Write& asked) {
  // Whether a session has keys is a part of it: what its end does depends on that.
  if (asked.how == Write::How::acquire || asked.how == Write::How::release)
    world().access(part_of(asked.session), true);
  world().access(kStore, true);
  if (asked.how == Write::How::acquire && engine_.is_delayed(asked.key) &&
      monotonic().has_reached(lock_delays_.at(asked.key))) {
    engine_.end_lock_delay(asked.key);
    lock_delays_.erase(asked.key);
  }
  return engine_.write(asked);
}

// --- Sessions.

Told Server::create(Session session, sim::ConnectionId connection) {
  const bool is_valid =
      session.ttl == sim::Duration::zero() || (session.ttl >= settings_.session_ttl_min && session.ttl <= kLongestTtl);
  if (!is_valid) return {.answer = {.error = Error::invalid_ttl}};
  const SessionId id = created_.next(connection);
  world().access(part_of(id), true);
  session.id = id;
  const sim::Duration ttl = session.ttl;
  Told told{.answer = engine_.create_session(std::move(session)), .session = id};
  if (told.answer.error != Error::none) return {.answer = told.answer};
  put_off(ttls_.try_emplace(id, *this, id, ttl * kTtlMultiplier).first->second);
  return told;
}

Answer Server::destroy(SessionId id) {
  world().access(part_of(id), true);
  // Without keys it is nothing to anybody else.
  if (engine_.holds_keys(id)) world().access(kStore, true);
  Answer answer = engine_.destroy_session(id);
  begin_lock_delays();
  forget_sessions();
  return answer;
}

/// Is not in the log: the leader alone counts the time.
Answer Server::renew(SessionId id) {
  world().access(part_of(id), true);
  const auto ttl = ttls_.find(id);
  if (ttl == ttls_.end()) return {.error = Error::unknown_session};
  put_off(ttl->second);
  return {.ok = true};
}

void Server::put_off(Ttl& ttl) {
  world().cancel_timer(std::exchange(ttl.timer, {}));
  if (ttl.length == sim::Duration::zero()) return;
  ttl.end = clock().now() + ttl.length;
  const sim::DurationRange length = sim::DurationRange::exactly(clock().true_length(ttl.length));
  ttl.timer = world().set_timer(id(), length, sim::TimerKind::deadline, ttl);
}

void Server::Ttl::timer_fired() {
  timer = {};
  server.expire(id);
}

void Server::expire(SessionId id) {
  destroy(id);
  record(sim::Effect::Kind::expire, sim::ProcessId{}, 0);
  answer_queries();
}

void Server::forget_sessions() {
  for (auto each = ttls_.begin(); each != ttls_.end();) {
    const bool is_over = engine_.find_session(each->first) == nullptr;
    if (is_over) world().cancel_timer(each->second.timer);
    each = is_over ? ttls_.erase(each) : std::next(each);
  }
}

void Server::begin_lock_delays() {
  for (const Engine::LockDelay& delay : engine_.take_lock_delays())
    lock_delays_.insert_or_assign(delay.key, monotonic().now() + delay.length);
}

// --- Queries.

void Server::Waiting::timer_fired() {
  timer = {};
  server.wait_is_over(id);
}

/// That it waits, or waits no longer, matters to nobody but to who changes what it asks for.
void Server::access_for(const Query& asked) {
  if (asked.what == Query::What::session_info) {
    world().access(part_of(asked.session), false);
  } else if (asked.what == Query::What::session_list) {
    world().access_all();
  } else {
    world().access(kStore, false);
  }
}

void Server::query(const Request& request, sim::ConnectionId connection) {
  const auto& asked = std::get<Query>(request.content);
  access_for(asked);
  record_read(request, world().client_of(connection));
  const Engine::QueryId id = static_cast<Engine::QueryId>(connection.index) << 32 | ++asked_for_[connection.index];
  if (std::optional<Answer> answer = engine_.ask(id, asked)) return reply(request, connection, {.answer = *answer});
  Waiting& waiting = queries_.try_emplace(id, *this, id, connection, request).first->second;
  if (request.is_repeated) return;
  const sim::DurationRange wait = wait_of(asked);
  waiting.timer = world().set_timer(this->id(), {clock().true_length(wait.lo), clock().true_length(wait.hi)},
                                    sim::TimerKind::deadline, waiting);
}

void Server::answer_queries() {
  for (Engine::Reply& answered : engine_.take_replies()) {
    Waiting& waiting = queries_.at(answered.query);
    world().cancel_timer(waiting.timer);
    reply(waiting.request, waiting.connection, {.answer = std::move(answered.answer)});
    queries_.erase(answered.query);
  }
}

void Server::wait_is_over(Engine::QueryId id) {
  const Waiting& waiting = queries_.at(id);
  access_for(std::get<Query>(waiting.request.content));
  reply(waiting.request, waiting.connection, {.answer = engine_.give_up(id)});
  queries_.erase(id);
}

void Server::closed(sim::ConnectionId connection) {
  world().access(kStore, false);
  for (auto each = queries_.begin(); each != queries_.end();) {
    const bool is_its = each->second.connection.index == connection.index;
    if (is_its) engine_.cancel(each->first);
    if (is_its) world().cancel_timer(each->second.timer);
    each = is_its ? queries_.erase(each) : std::next(each);
  }
}

void Server::crashed(bool) {
  for (auto& [id, waiting] : queries_) reply(waiting.request, waiting.connection, {.is_lost = true});
  engine_.cancel_queries();
  queries_.clear();
  engine_.forget_lock_delays();
  lock_delays_.clear();
  for (auto& [id, ttl] : ttls_) ttl.timer = {};
}

void Server::reset() {
  engine_.reset();
  ttls_.clear();
  lock_delays_.clear();
  queries_.clear();
  created_.clear();
  asked_for_.clear();
}

// --- What it tells.

/// A key that nobody has acquired is a lock that is free: to release it is to remove what was granted. What is written
/// without acquiring it is data.
void Server::record(sim::Effect::Kind removal, sim::ProcessId by, sim::OperationId operation) {
  for (const Engine::Change& change : engine_.changes()) {
    if (change.kind == Engine::Change::Kind::written) continue;
    const bool is_free = change.kind == Engine::Change::Kind::released || change.kind == Engine::Change::Kind::deleted;
    world().record_effect(is_free ? removal : sim::Effect::Kind::write, id(), change.key, by, operation);
  }
}

void Server::record_read(const Request& request, sim::ProcessId by) {
  const auto* write = std::get_if<Write>(&request.content);
  const auto* query = std::get_if<Query>(&request.content);
  const bool reads_key = query != nullptr && query->what == Query::What::key;
  if (write == nullptr && !reads_key) return;
  world().record_effect(sim::Effect::Kind::read, id(), write != nullptr ? write->key : query->key, by,
                        request.operation);
}

void Server::reply(const Request& request, sim::ConnectionId connection, Told told) {
  auto reply = world().make<Reply>();
  reply->request = request.name();
  reply->content = std::move(told);
  world().send_reply(connection, request, std::move(reply));
}

std::optional<sim::Instant> Server::end_of(SessionId session) const {
  const auto found = ttls_.find(session);
  if (found == ttls_.end() || found->second.length == sim::Duration::zero()) return std::nullopt;
  return found->second.end;
}

}  // namespace lockstep::models::consul
