#include "models/zookeeper/server/zookeeper_server.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/value.hpp"

namespace lockstep::models::zookeeper {
namespace {

/// Parts of its state, for an explorer: the tree with what watches it, and each session. That transactions are numbered
/// is no part: whoever compares two numbers asks which of two changes of the tree came first.
constexpr std::uint64_t kTree = 0;
std::uint64_t part_of(SessionId session) { return static_cast<std::uint64_t>(session); }

/// False: it changes nothing in this tree.
bool may_change(const Operation& operation, const Engine& engine) {
  const auto is_there = [&](const std::string& path) { return engine.stat_of(path).has_value(); };
  if (const auto* create = std::get_if<Create>(&operation)) {
    return is_there(std::string(parent_of(create->path))) && (is_sequential(create->mode) || !is_there(create->path));
  }
  if (const auto* removal = std::get_if<Delete>(&operation)) return is_there(removal->path);
  if (const auto* set = std::get_if<SetData>(&operation)) return is_there(set->path);
  return std::holds_alternative<Multi>(operation);
}

}  // namespace

std::string_view object_of(std::string_view path) {
  constexpr std::string_view kLocks = "/locks/";
  if (path.starts_with(kLocks)) return path.substr(kLocks.size());
  return path.starts_with('/') ? path.substr(1) : path;
}

const std::string* path_of(const Operation& operation) {
  if (const auto* create = std::get_if<Create>(&operation)) return &create->path;
  if (const auto* removal = std::get_if<Delete>(&operation)) return &removal->path;
  if (const auto* exists = std::get_if<Exists>(&operation)) return &exists->path;
  const auto* get = std::get_if<GetData>(&operation);
  return get == nullptr ? nullptr : &get->path;
}

bool sets_watches(const Operation& operation) {
  if (const auto* exists = std::get_if<Exists>(&operation)) return exists->watches;
  if (const auto* get = std::get_if<GetData>(&operation)) return get->watches;
  if (const auto* list = std::get_if<GetChildren>(&operation)) return list->watches;
  return std::holds_alternative<SetWatches>(operation);
}

bool is_write(const Operation& operation) {
  return std::holds_alternative<Create>(operation) || std::holds_alternative<Delete>(operation) ||
         std::holds_alternative<SetData>(operation) || std::holds_alternative<Multi>(operation);
}

std::string_view Request::name() const {
  if (const auto* operation = std::get_if<Operation>(&content)) return name_of(*operation);
  if (std::holds_alternative<Connect>(content)) return "CONNECT";
  return std::holds_alternative<Ping>(content) ? "PING" : "CLOSE_SESSION";
}

std::string Request::describe() const {
  if (const auto* operation = std::get_if<Operation>(&content)) return zookeeper::describe(*operation);
  if (const auto* asked = std::get_if<Connect>(&content)) {
    const std::string seen = asked->seen == 0 ? "" : ", has seen " + describe_zxid(asked->seen);
    if (asked->session != 0) return fmt::format("CONNECT session {}{}", asked->session, seen);
    return fmt::format("CONNECT for {}", to_string(asked->timeout));
  }
  return std::string(name());
}

std::uint64_t Request::digest() const {
  return sim::combine64(digest_bytes(describe()), static_cast<std::uint64_t>(on.session) + on.number);
}

std::string Reply::describe() const {
  if (content.is_lost) return "connection closed";
  if (request == "CONNECT") {
    if (content.on.session == 0) return "session expired";
    return fmt::format("session {} for {}", content.on.session, to_string(content.timeout));
  }
  return zookeeper::describe(content.answer);
}

std::uint64_t Reply::digest() const { return digest_bytes(describe()); }

std::uint64_t Notification::digest() const { return digest_bytes(describe()); }

std::uint64_t Closed::digest() const {
  return sim::combine64(digest_bytes(describe()), static_cast<std::uint64_t>(on.session) + on.number);
}

void Server::fill() {
  if (nodes_.empty()) return;
  // Whoever created them has gone.
  engine_.open(-1);
  for (const std::string& path : nodes_) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
      engine_.execute(-1, -1, Create{path.substr(0, slash)});
    engine_.execute(-1, -1, Create{path});
  }
  engine_.close(-1);
  first_paths_ = engine_.paths();
}

void Server::start() {
  world().access_all();
  for (auto& [id, session] : sessions_) put_off(session);
}

void Server::receive(sim::Message& message, sim::ConnectionId connection) {
  const auto& request = static_cast<const Request&>(message);
  if (const auto* asked = std::get_if<Connect>(&request.content)) return connect(*asked, request, connection);
  world().access(part_of(request.on.session), true);
  const auto found = sessions_.find(request.on.session);
  const bool is_served =
      found != sessions_.end() && found->second.is_connected && found->second.number == request.on.number;
  if (!is_served) return reply(request, connection, {.is_lost = true});

  Session& session = found->second;
  put_off(session);
  if (const auto* operation = std::get_if<Operation>(&request.content)) return execute(*operation, request, connection);
  if (std::holds_alternative<CloseSession>(request.content))
    end(session, sim::Effect::Kind::remove, world().client_of(connection));
  reply(request, connection, {.answer = {.zxid = engine_.zxid()}});
}

void Server::connect(const Connect& asked, const Request& request, sim::ConnectionId connection) {
  if (asked.session == 0) {
    const SessionId id = opened_.next(connection);
    world().access(part_of(id), true);
    sim::Duration timeout = std::max(asked.timeout, times_.least);
    if (times_.most > sim::Duration::zero()) timeout = std::min(timeout, times_.most);
    engine_.open(id);
    Session& session = sessions_.try_emplace(id, *this, id, timeout).first->second;
    put_off(session);
    return reply(request, connection, {.on = {id, session.number}, .timeout = timeout});
  }
  world().access(part_of(asked.session), true);
  if (has_watchers(asked.session)) world().access(kTree, false);
  const auto found = sessions_.find(asked.session);
  if (found == sessions_.end()) return reply(request, connection, {});
  Session& session = found->second;
  forget_watchers_of(session.id);
  ++session.number;
  session.is_connected = true;
  put_off(session);
  reply(request, connection, {.on = {session.id, session.number}, .timeout = session.timeout});
}

void Server::execute(const Operation& operation, const Request& request, sim::ConnectionId connection) {
  world().access(kTree, may_change(operation, engine_));
  if (sets_watches(operation)) keep_watcher(connection, request.on);
  Told told{.answer = engine_.execute(request.on.session, connection.index, operation)};
  const sim::ProcessId by = world().client_of(connection);
  record(sim::Effect::Kind::remove, by, request.operation);
  if (const std::string* path = path_of(operation); path != nullptr && engine_.changes().empty())
    world().record_effect(sim::Effect::Kind::read, id(), object_of(*path), by, request.operation);
  // A client hears of a change before it can read it.
  notify();
  reply(request, connection, std::move(told));
}

void Server::put_off(Session& session) {
  world().cancel_timer(std::exchange(session.timer, {}));
  session.end = clock().now() + session.timeout;
  const sim::DurationRange length{clock().true_length(session.timeout),
                                  clock().true_length(session.timeout + times_.tick)};
  session.timer = world().set_timer(id(), length, sim::TimerKind::deadline, session);
}

void Server::Session::timer_fired() {
  timer = {};
  server.end(*this, sim::Effect::Kind::expire, sim::ProcessId{});
}

void Server::end(Session& session, sim::Effect::Kind removal, sim::ProcessId by) {
  const SessionId id = session.id;
  world().access(part_of(id), true);
  // Without nodes and watches it is nothing to anybody else.
  const bool has_nodes = !engine_.ephemerals_of(id).empty();
  if (has_nodes || has_watchers(id)) world().access(kTree, has_nodes);
  world().cancel_timer(session.timer);
  // Who closes its session hears of its own nodes before the answer; if it expires its connection is closed first.
  if (removal == sim::Effect::Kind::expire) forget_watchers_of(id);
  engine_.close(id);
  record(removal, by, 0);
  notify();
  forget_watchers_of(id);
  sessions_.erase(id);
}

void Server::keep_watcher(sim::ConnectionId connection, ConnectionNumber on) {
  const auto known = watchers_.find(connection.index);
  // Those of a session that the client has left.
  if (known != watchers_.end() && known->second.on.session != on.session) engine_.drop_watches(connection.index);
  watchers_.insert_or_assign(connection.index, Watcher{connection, on});
}

bool Server::has_watchers(SessionId session) const {
  return std::any_of(watchers_.begin(), watchers_.end(),
                     [&](const auto& each) { return each.second.on.session == session; });
}

void Server::forget_watchers_of(SessionId session) {
  for (auto each = watchers_.begin(); each != watchers_.end();) {
    const bool is_its = each->second.on.session == session;
    if (is_its) engine_.drop_watches(each->first);
    each = is_its ? watchers_.erase(each) : std::next(each);
  }
}

void Server::record(sim::Effect::Kind removal, sim::ProcessId by, sim::OperationId operation) {
  for (const Engine::Change& change : engine_.changes()) {
    // What stands there for good is nobody's.
    if (change.owner == 0) continue;
    const bool is_removal = change.kind == Engine::Change::Kind::deleted;
    world().record_effect(is_removal ? removal : sim::Effect::Kind::write, id(), object_of(change.path), by, operation);
  }
}

void Server::notify() {
  for (Engine::Notice& notice : engine_.take_notices()) {
    const auto watcher = watchers_.find(static_cast<std::uint32_t>(notice.watcher));
    auto message = world().make<Notification>();
    message->on = watcher->second.on;
    message->event = std::move(notice.event);
    world().send_push(watcher->second.connection, std::move(message));
  }
}

void Server::reply(const Request& request, sim::ConnectionId connection, Told told) {
  auto reply = world().make<Reply>();
  reply->request = request.name();
  reply->content = std::move(told);
  world().send_reply(connection, request, std::move(reply));
}

void Server::closed(sim::ConnectionId connection) {
  world().access(kTree, false);
  engine_.drop_watches(connection.index);
  watchers_.erase(connection.index);
}

void Server::crashed(bool) {
  engine_.drop_all_watches();
  watchers_.clear();
  for (auto& [id, session] : sessions_) {
    session.timer = {};
    session.is_connected = false;
  }
}

void Server::reset() {
  engine_.reset();
  sessions_.clear();
  watchers_.clear();
  opened_.clear();
  fill();
}

std::optional<sim::Instant> Server::end_of(SessionId session) const {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return std::nullopt;
  return found->second.end;
}

}  // namespace lockstep::models::zookeeper
