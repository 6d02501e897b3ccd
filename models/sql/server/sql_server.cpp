#include "models/sql/server/sql_server.hpp"

#include <utility>

namespace lockstep::models::sql {
namespace {

/// Parts of its state, for an explorer: everything that sessions share, and what each has of its own.
constexpr std::uint64_t kShared = 1;
std::uint64_t part_of(sim::ConnectionId connection) { return std::uint64_t{connection.index} + 2; }

}  // namespace

bool Server::answers_at_once(const sim::Message& request) const {
  return static_cast<const Request&>(request).statement.is_answered_at_once();
}

void Server::receive(sim::Message& message, sim::ConnectionId connection) {
  const auto& request = static_cast<const Request&>(message);
  const Statement& statement = request.statement;
  auto current = current_.find(connection.index);
  const bool is_own = statement.kind == Statement::Kind::begin && current == current_.end();
  // A snapshot keeps InnoDB from forgetting.
  const bool takes_snapshot = is_mariadb() && current != current_.end() && engine_.is_in_transaction(current->second);
  const bool only_reads =
      statement.kind == Statement::Kind::now ||
      (statement.kind == Statement::Kind::select && statement.locking == Locking::none && !takes_snapshot);
  world().access(is_own ? part_of(connection) : kShared, !only_reads || request.connects);
  if (request.connects) {
    if (current != current_.end()) disconnect(current->second);
    const SessionId id = ++last_session_;
    current = current_.emplace(connection.index, id).first;
    sessions_.emplace(id, std::make_unique<Session>(*this, id, connection));
  }
  if (current == current_.end()) {
    auto reply = world().make<Reply>();
    reply->request = statement.name();
    reply->content.error = Error::connection_failure;
    world().send_reply(connection, request, std::move(reply));
    return;
  }
  Session& session = *sessions_.at(current->second);
  stop(session.idle);
  session.operation = request.operation;
  session.request.emplace(request);
  engine_.execute(current->second, statement, clock(), request.operation);
  settle();
}

void Server::closed(sim::ConnectionId connection) {
  world().access(kShared, true);
  const auto current = current_.find(connection.index);
  if (current == current_.end()) return;
  disconnect(current->second);
  settle();
}

void Server::disconnect(SessionId id) {
  Session& session = *sessions_.at(id);
  current_.erase(session.connection.index);
  session.is_connected = false;
  stop(session.idle);
  engine_.close(id, clock());
}

void Server::check_deadlock(SessionId session) {
  world().access(kShared, true);
  engine_.check_deadlock(session, clock());
  settle();
}

void Server::give_up_waiting(SessionId session) {
  world().access(kShared, true);
  engine_.give_up_waiting(session, clock());
  settle();
}

void Server::end_idle(SessionId session) {
  world().access(kShared, true);
  disconnect(session);
  settle();
}

void Server::set(Timer& timer, sim::Duration length, sim::TimerKind kind) {
  stop(timer);
  if (length == sim::Duration::zero()) return;
  timer.timer = world().set_timer(id(), sim::DurationRange::exactly(clock().true_length(length)), kind, timer);
}

void Server::stop(Timer& timer) { world().cancel_timer(std::exchange(timer.timer, {})); }

sim::Duration Server::patience_of(const Session& session) const {
  const bool is_get_lock = is_mariadb() && session.request->statement.kind == Statement::Kind::lock_advisory;
  return is_get_lock ? session.request->statement.timeout : timeouts_.lock;
}

void Server::settle() {
  while (is_mariadb() && engine_.break_circle(clock())) {
  }
  for (const Engine::Change& change : engine_.take_changes()) {
    const bool is_lost = change.kind == sim::Effect::Kind::lose;
    const Session& session = *sessions_.at(change.session);
    const sim::OperationId operation = change.operation != 0 ? change.operation : session.operation;
    world().record_effect(change.kind, change.is_of_resource ? resource_ : id(), change.object,
                          is_lost ? sim::ProcessId{} : world().client_of(session.connection), is_lost ? 0 : operation);
    if (change.lives_until) world().record_end(clock().true_time_of(*change.lives_until));
  }
  for (Engine::Answer& answer : engine_.take_answers()) {
    Session& session = *sessions_.at(answer.session);
    const Request request = std::move(*std::exchange(session.request, std::nullopt));
    if (!session.is_connected) continue;
    auto reply = world().make<Reply>();
    reply->request = request.statement.name();
    reply->content = std::move(answer.result);
    world().send_reply(session.connection, request, std::move(reply));
    if (engine_.is_in_transaction(answer.session))
      set(session.idle, timeouts_.idle_in_transaction, sim::TimerKind::deadline);
  }
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    const auto& [id, session] = *at;
    if (!engine_.waits(id)) {
      stop(session->deadlock);
      stop(session->lock);
    } else if (session->wait != engine_.waits_so_far(id)) {
      session->wait = engine_.waits_so_far(id);
      if (!is_mariadb() && engine_.is_in_circle(id))
        set(session->deadlock, timeouts_.deadlock, sim::TimerKind::deadline);
      set(session->lock, patience_of(*session), sim::TimerKind::deadline);
    }
    const bool is_over = !session->is_connected && !engine_.waits(id);
    at = is_over ? sessions_.erase(at) : std::next(at);
  }
}

void Server::crashed(bool) {
  for (auto& [id, session] : sessions_) {
    stop(session->deadlock);
    stop(session->lock);
    stop(session->idle);
  }
  engine_.crash();
  for (const Engine::Change& change : engine_.take_changes())
    world().record_effect(change.kind, id(), change.object, sim::ProcessId{}, 0);
  sessions_.clear();
  current_.clear();
}

void Server::reset() {
  engine_.reset();
  sessions_.clear();
  current_.clear();
  last_session_ = 0;
}

std::optional<sim::ProcessId> Server::client_of(SessionId session) const {
  const Session& one = *sessions_.at(session);
  if (!one.is_connected) return std::nullopt;
  return world().client_of(one.connection);
}

}  // namespace lockstep::models::sql
