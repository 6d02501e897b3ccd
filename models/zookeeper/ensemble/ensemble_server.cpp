#include "models/zookeeper/ensemble/ensemble_server.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::models::zookeeper {
namespace {

/// Between two servers that stand for election. Of ZooKeeper's election: how long it waits for a better vote
/// (FastLeaderElection.finalizeWait).
constexpr sim::Duration kFinalizeWait = sim::Duration::milliseconds(200);

consensus::MemberTimes times_of(const EnsembleSettings& settings) {
  const sim::Duration limit = settings.times.tick * settings.sync_limit;
  const sim::Duration spread = kFinalizeWait * static_cast<std::int64_t>(settings.servers);
  return {.election = {limit, limit + spread},
          .leaderless = sim::DurationRange{kFinalizeWait, kFinalizeWait + spread},
          .heartbeat = std::max(settings.times.tick / 2, sim::Duration::microseconds(1)),
          .quorum = std::nullopt};  // counted in ticks here
}

}  // namespace

EnsembleServer::EnsembleServer(NodeId self, const EnsembleSettings& settings, consensus::Ledger& ledger)
    : self_(self),
      settings_(settings),
      ledger_(ledger),
      member_(*this, *this, self, {.nodes = settings.servers, .pre_vote = true}, times_of(settings)),
      peers_(settings.servers) {
  fill();
}

void EnsembleServer::connect(NodeId peer, sim::ConnectionId connection) {
  peers_[peer] = connection;
  member_.connect(peer, connection);
}

void EnsembleServer::fill() {
  if (settings_.nodes.empty()) return;
  // Whoever created them has gone.
  engine_.open(-1);
  for (const std::string& path : settings_.nodes) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
      engine_.execute(-1, -1, Create{path.substr(0, slash)});
    engine_.execute(-1, -1, Create{path});
  }
  engine_.close(-1);
  first_paths_ = engine_.paths();
}

void EnsembleServer::start() {
  member_.start();
  // So that it is known who leads at first. The others would wait for `kFinalizeWait` at least.
  if (!std::exchange(has_started_, true) && self_ == 0) member_.stand_for_election();
}

void EnsembleServer::receive(sim::Message& message, sim::ConnectionId connection) {
  if (member_.receive(message)) return;
  if (const auto* packet = dynamic_cast<const Packet*>(&message)) return receive(*packet);
  serve(static_cast<const Request&>(message), connection);
}

// --- Of clients.

void EnsembleServer::serve(const Request& request, sim::ConnectionId connection) {
  Pending asked = pending(request, connection);
  if (!serves_) return reply(asked, {.is_lost = true});
  if (const auto* connect = std::get_if<Connect>(&request.content)) return open_or_find(*connect, request, connection);
  const SessionId session = request.on.session;
  const auto found = connections_.find(session);
  if (found == connections_.end() || found->second.number != request.on.number) return reply(asked, {.is_lost = true});

  touch(session, std::holds_alternative<Ping>(request.content));
  const auto* operation = std::get_if<Operation>(&request.content);
  const bool closes = std::holds_alternative<CloseSession>(request.content);
  const bool is_sync = operation != nullptr && std::holds_alternative<Sync>(*operation);
  const bool writes = closes || (operation != nullptr && is_write(*operation));
  if (writes || is_sync) asked.serial = ++serials_;
  const std::uint64_t serial = asked.serial;
  found->second.queue.push_back(std::move(asked));
  if (writes) {
    Transaction transaction{.kind = closes ? Transaction::Kind::close_session : Transaction::Kind::operation,
                            .session = session,
                            .origin = self_,
                            .serial = serial,
                            .by = world().client_of(connection),
                            .operation_id = request.operation};
    if (!closes) transaction.operation = *operation;
    submit(std::move(transaction));
  } else if (is_sync) {
    ask_leader(Packet::Kind::sync, session, serial);
  }
  go_on(session);
}

void EnsembleServer::open_or_find(const Connect& asked, const Request& request, sim::ConnectionId connection) {
  Pending waiting = pending(request, connection);
  // Else the client would go back in time.
  if (asked.seen > engine_.zxid()) return reply(waiting, {.is_lost = true});
  waiting.serial = ++serials_;
  const std::uint64_t serial = waiting.serial;
  if (asked.session != 0) {
    // This is its connection now, whatever the leader says.
    hang_up(asked.session);
    connects_.emplace(serial, std::move(waiting));
    return ask_leader(Packet::Kind::revalidate, asked.session, serial);
  }
  sim::Duration timeout = std::max(asked.timeout, settings_.times.least);
  if (settings_.times.most > sim::Duration::zero()) timeout = std::min(timeout, settings_.times.most);
  const SessionId id = opened_.next(connection);
  connects_.emplace(serial, std::move(waiting));
  submit({.kind = Transaction::Kind::open_session,
          .session = id,
          .timeout = timeout,
          .origin = self_,
          .serial = serial,
          .by = world().client_of(connection),
          .operation_id = request.operation});
}

void EnsembleServer::go_on(SessionId session) {
  // Each answer may end the connection.
  for (auto found = connections_.find(session); found != connections_.end(); found = connections_.find(session)) {
    if (found->second.queue.empty() || !answer(session, found->second.queue.front())) return;
  }
}

bool EnsembleServer::answer(SessionId session, Pending& first) {
  const auto take = [&] {
    Pending taken = std::move(first);
    connections_.at(session).queue.pop_front();
    return taken;
  };
  if (std::holds_alternative<Ping>(first.request.content)) {
    reply(take(), {.answer = {.zxid = engine_.zxid()}});
    return true;
  }
  const auto* operation = std::get_if<Operation>(&first.request.content);
  if (operation == nullptr || is_write(*operation)) {
    if (!first.told) return false;
    const bool closes = operation == nullptr;
    const Pending taken = take();
    reply(taken, *taken.told);
    if (closes) {
      forget_watchers_of(session);
      const Connection gone = std::move(connections_.at(session));
      connections_.erase(session);
      for (const Pending& each : gone.queue) reply(each, {.is_lost = true});
    }
    return true;
  }
  if (first.serial != 0 && (!first.reaches || *first.reaches > member_.applied())) return false;

  const Pending taken = take();
  const Operation& asked = std::get<Operation>(taken.request.content);
  const std::uint32_t watcher = taken.connection.index;
  if (sets_watches(asked)) {
    const auto known = watchers_.find(watcher);
    if (known != watchers_.end() && known->second.on.session != session) engine_.drop_watches(watcher);
    watchers_.insert_or_assign(watcher, Watcher{taken.connection, taken.request.on});
  }
  const Answer answer = engine_.execute(session, watcher, asked);
  if (const std::string* path = path_of(asked)) {
    world().record_effect(sim::Effect::Kind::read, ledger_.teller, object_of(*path),
                          world().client_of(taken.connection), taken.request.operation);
  }
  notify();
  reply(taken, {.answer = answer});
  return true;
}

void EnsembleServer::revalidated(const Packet& told) {
  const auto found = connects_.find(told.serial);
  if (found == connects_.end()) return;
  if (told.timeout == sim::Duration::zero()) {
    reply(found->second, {});
    connects_.erase(found);
    return;
  }
  // It may not have heard yet that there is such a session.
  found->second.told = Told{.timeout = told.timeout};
  found->second.reaches = told.index;
  accept_revalidated();
}

void EnsembleServer::accept_revalidated() {
  for (auto each = connects_.begin(); each != connects_.end();) {
    const Pending& asked = each->second;
    if (!asked.reaches || *asked.reaches > member_.applied()) {
      ++each;
      continue;
    }
    const Pending taken = std::move(each->second);
    each = connects_.erase(each);
    const SessionId session = std::get<Connect>(taken.request.content).session;
    if (engine_.is_open(session)) {
      accept(taken, session, taken.told->timeout);
    } else {
      reply(taken, {});
    }
  }
}

void EnsembleServer::accept(const Pending& asked, SessionId session, sim::Duration timeout) {
  // No two connections of a session have the same number, on whatever servers.
  const std::uint32_t number = ++numbers_ * static_cast<std::uint32_t>(settings_.servers) + self_;
  hang_up(session);
  connections_.insert_or_assign(session, Connection{number, asked.connection});
  touch(session, false);
  reply(asked, {.on = {session, number}, .timeout = timeout});
}

void EnsembleServer::touch(SessionId session, bool by_ping) {
  if (member_.replica().believes_to_lead()) {
    put_off(session);
  } else if (by_ping) {
    touched_.try_emplace(session, true);
  } else {
    touched_.insert_or_assign(session, false);
  }
}

void EnsembleServer::hang_up(SessionId session) {
  const auto found = connections_.find(session);
  if (found == connections_.end()) return;
  const Connection gone = std::move(found->second);
  connections_.erase(found);
  forget_watchers_of(session);
  for (const Pending& each : gone.queue) reply(each, {.is_lost = true});
  auto message = world().make<Closed>();
  message->on = {session, gone.number};
  world().send_push(gone.connection, std::move(message));
}

/// TCP would have sent again what was lost on its way to the leader or back, or broken that connection.
void EnsembleServer::hang_up_on_who_waits_too_long() {
  const auto waits_too_long = [&](const Pending& each) {
    return each.serial != 0 && monotonic().has_passed(each.asked + limit());
  };
  std::vector<SessionId> sessions;
  for (const auto& [session, connection] : connections_) {
    if (std::any_of(connection.queue.begin(), connection.queue.end(), waits_too_long)) sessions.push_back(session);
  }
  for (const SessionId session : sessions) hang_up(session);
  for (auto each = connects_.begin(); each != connects_.end();) {
    const bool is_gone = waits_too_long(each->second);
    if (is_gone) reply(each->second, {.is_lost = true});
    each = is_gone ? connects_.erase(each) : std::next(each);
  }
}

void EnsembleServer::forget_watchers_of(SessionId session) {
  for (auto each = watchers_.begin(); each != watchers_.end();) {
    const bool is_its = each->second.on.session == session;
    if (is_its) engine_.drop_watches(each->first);
    each = is_its ? watchers_.erase(each) : std::next(each);
  }
}

void EnsembleServer::notify() {
  for (Engine::Notice& notice : engine_.take_notices()) {
    const Watcher& watcher = watchers_.at(static_cast<std::uint32_t>(notice.watcher));
    auto message = world().make<Notification>();
    message->on = watcher.on;
    message->event = std::move(notice.event);
    world().send_push(watcher.connection, std::move(message));
  }
}

void EnsembleServer::reply(const Pending& pending, Told told) {
  auto reply = world().make<Reply>();
  reply->request = pending.request.name();
  reply->content = std::move(told);
  world().send_reply(pending.connection, pending.request, std::move(reply));
}

void EnsembleServer::closed(sim::ConnectionId connection) {
  const sim::ProcessId client = world().client_of(connection);
  const auto leader = member_.replica().leader();
  if (leader && peers_[*leader] && world().server_of(*peers_[*leader]) == client) {
    return member_.leader_is_gone();
  }
  engine_.drop_watches(connection.index);
  watchers_.erase(connection.index);
}

// --- To the leader.

sim::MessagePtrOf<Packet> EnsembleServer::packet(Packet::Kind kind) const {
  auto packet = world().make<Packet>();
  packet->kind = kind;
  packet->from = self_;
  packet->term = member_.replica().term();
  return packet;
}

void EnsembleServer::send(NodeId to, sim::MessagePtrOf<Packet> packet) {
  world().send_request(*peers_[to], std::move(packet));
}

void EnsembleServer::submit(Transaction transaction) {
  if (leads()) return propose(std::move(transaction), self_);
  auto message = packet(Packet::Kind::request);
  message->transaction = std::move(transaction);
  send(*member_.replica().leader(), std::move(message));
}

void EnsembleServer::ask_leader(Packet::Kind kind, SessionId session, std::uint64_t serial) {
  auto message = packet(kind);
  message->sessions = {session};
  message->serial = serial;
  if (leads()) return receive(*message);
  send(*member_.replica().leader(), std::move(message));
}

void EnsembleServer::receive(const Packet& received) {
  // What comes from another reign was said on a connection that is gone.
  if (received.term != member_.replica().term()) return;
  if (!serves_) return rejoin(received);
  const auto answer = [&](sim::MessagePtrOf<Packet> message) {
    message->serial = received.serial;
    if (received.from == self_) return receive(*message);
    send(received.from, std::move(message));
  };
  switch (received.kind) {
    case Packet::Kind::request: return propose(received.transaction, received.from);
    case Packet::Kind::ping: {
      auto touches = packet(Packet::Kind::touches);
      for (const auto& [session, by_ping] : touched_)
        (by_ping ? touches->pinged : touches->sessions).push_back(session);
      touched_.clear();
      send(received.from, std::move(touches));
      return hang_up_on_who_waits_too_long();
    }
    case Packet::Kind::touches:
      heard_[received.from] = half_ticks_;
      for (const SessionId session : received.sessions) put_off(session);
      for (const SessionId session : received.pinged) put_off(session, true);
      return;
    case Packet::Kind::revalidate: {
      auto told = packet(Packet::Kind::revalidated);
      told->timeout = revalidate(received.sessions.front(), received.from);
      told->index = member_.replica().durable().log.size();
      return answer(std::move(told));
    }
    case Packet::Kind::revalidated: return revalidated(received);
    case Packet::Kind::sync: {
      auto told = packet(Packet::Kind::synced);
      told->sessions = received.sessions;
      told->index = member_.replica().durable().log.size();
      return answer(std::move(told));
    }
    case Packet::Kind::synced: {
      if (received.sessions.empty()) return;  // it serves already
      const SessionId session = received.sessions.front();
      const auto found = connections_.find(session);
      if (found == connections_.end()) return;
      for (Pending& each : found->second.queue) {
        if (each.serial == received.serial) each.reaches = received.index;
      }
      return go_on(session);
    }
  }
}

/// A follower that had given up its leader, and hears it again: it serves when it has what the leader has.
void EnsembleServer::rejoin(const Packet& received) {
  const consensus::Replica<Transaction>& replica = member_.replica();
  const bool knows_reign = member_.applied() > 0 && replica.entry(member_.applied()).term == replica.term();
  if (!knows_reign || replica.leader() != received.from) return;
  if (received.kind == Packet::Kind::ping) {
    send(received.from, packet(Packet::Kind::sync));
  } else if (received.kind == Packet::Kind::synced && received.sessions.empty()) {
    rejoins_at_ = received.index;
    serve_if_rejoined();
  }
}

// --- As the leader.

void EnsembleServer::begin_leading() {
  half_ticks_ = 0;
  heard_.assign(settings_.servers, 0);
  // Whoever kept them before may have heard of them since: each has its whole timeout again.
  for (const auto& [session, timeout] : timeouts_) track(session);
  ping();
}

void EnsembleServer::propose(Transaction transaction, NodeId from) {
  if (!leads()) return;
  if (transaction.kind != Transaction::Kind::open_session) {
    const auto session = tracked_.find(transaction.session);
    bool is_good = session != tracked_.end() && !session->second.is_closing;
    if (is_good) {
      std::optional<NodeId>& owner = session->second.owner;
      if (!owner) owner = from;
      is_good = owner == from;
    }
    if (!is_good) {
      transaction.kind = Transaction::Kind::refused;
    } else if (transaction.kind == Transaction::Kind::close_session) {
      session->second.is_closing = true;
    }
  }
  member_.propose(std::move(transaction));
}

void EnsembleServer::track(SessionId session) {
  tracked_.try_emplace(session, *this, session);
  put_off(session);
}

/// A follower's word comes with what is sent for ever, so the world cannot tell that a session is kept alive by no more
/// than that.
void EnsembleServer::put_off(SessionId id, bool is_upkeep_of_follower) {
  const auto found = tracked_.find(id);
  if (found == tracked_.end() || found->second.is_closing) return;
  Tracked& session = found->second;
  const sim::Duration timeout = timeouts_.at(id);
  world().cancel_timer(std::exchange(session.timer, {}));
  session.end = clock().now() + timeout;
  const sim::DurationRange length{clock().true_length(timeout), clock().true_length(timeout + settings_.times.tick)};
  session.timer = is_upkeep_of_follower ? world().set_background_timer(this->id(), length, session)
                                        : world().set_timer(this->id(), length, sim::TimerKind::deadline, session);
}

void EnsembleServer::Tracked::timer_fired() {
  timer = {};
  is_closing = true;
  server.member_.propose({.kind = Transaction::Kind::close_session, .session = id, .expires = true});
}

sim::Duration EnsembleServer::revalidate(SessionId id, NodeId owner) {
  const auto session = tracked_.find(id);
  if (session == tracked_.end() || session->second.is_closing) return {};
  session->second.owner = owner;
  put_off(id);
  return timeouts_.at(id);
}

void EnsembleServer::ping() {
  half_tick_.timer = {};
  // Leader.lead(): at each whole tick it counts who was heard within syncLimit ticks.
  if (half_ticks_ % 2 == 0) {
    const auto limit = 2 * static_cast<std::uint64_t>(settings_.sync_limit);
    std::size_t heard = 1;
    for (NodeId node = 0; node < settings_.servers; ++node)
      heard += node != self_ && half_ticks_ <= heard_[node] + limit ? 1 : 0;
    if (heard <= settings_.servers / 2) return member_.resign();
  }
  ++half_ticks_;
  for (NodeId node = 0; node < settings_.servers; ++node) {
    if (node == self_) continue;
    auto message = packet(Packet::Kind::ping);
    // A follower notices that its leader has died by their connection.
    message->opens_session = true;
    send(node, std::move(message));
  }
  const sim::Duration half = std::max(settings_.times.tick / 2, sim::Duration::microseconds(1));
  const sim::Duration length = monotonic().true_length(half);
  half_tick_.timer = world().set_background_timer(id(), sim::DurationRange::exactly(length), half_tick_);
}

// --- Of the log.

void EnsembleServer::applied(consensus::Index index, const consensus::Entry<Transaction>& entry) {
  const bool is_new = ledger_.takes(index);
  if (entry.command) {
    apply(*entry.command, is_new);
  } else {
    engine_.begin_epoch(static_cast<std::int64_t>(entry.term));
    const consensus::Replica<Transaction>& replica = member_.replica();
    if (entry.term == replica.term() && replica.leader()) {
      serves_ = true;
      if (replica.believes_to_lead()) begin_leading();
    }
  }
  serve_if_rejoined();
  accept_revalidated();
  // Who waits for a sync waits for this.
  std::vector<SessionId> sessions;
  for (const auto& [session, connection] : connections_) sessions.push_back(session);
  for (const SessionId session : sessions) go_on(session);
}

void EnsembleServer::apply(const Transaction& transaction, bool is_new) {
  const SessionId session = transaction.session;
  const bool is_own = transaction.serial != 0 && transaction.origin == self_;
  const auto connect = is_own ? connects_.find(transaction.serial) : connects_.end();
  Told told;
  // A session that is over is refused by its leader; this is for a leader of a log that it has not written.
  const bool is_over = transaction.kind != Transaction::Kind::open_session && !engine_.is_open(session);
  switch (is_over ? Transaction::Kind::refused : transaction.kind) {
    case Transaction::Kind::open_session:
      engine_.open(session);
      timeouts_[session] = transaction.timeout;
      if (leads()) {
        track(session);
        tracked_.at(session).owner = transaction.origin;
      }
      if (connect != connects_.end()) {
        const Pending asked = std::move(connect->second);
        connects_.erase(connect);
        accept(asked, session, transaction.timeout);
      }
      return;
    case Transaction::Kind::refused:
      engine_.skip();
      if (is_own) {
        const auto found = connections_.find(session);
        // Not one that the session has got since.
        const bool is_its = found != connections_.end() &&
                            std::any_of(found->second.queue.begin(), found->second.queue.end(),
                                        [&](const Pending& each) { return each.serial == transaction.serial; });
        if (is_its) hang_up(session);
      }
      return;
    case Transaction::Kind::close_session: {
      // Who closes its session hears of its own nodes before the answer; if it expires its connection is closed first.
      if (transaction.expires || !is_own) hang_up(session);
      engine_.close(session);
      timeouts_.erase(session);
      const auto tracked = tracked_.find(session);
      if (tracked != tracked_.end()) {
        world().cancel_timer(tracked->second.timer);
        tracked_.erase(tracked);
      }
      told.answer.zxid = engine_.zxid();
      break;
    }
    case Transaction::Kind::operation: told.answer = engine_.execute(session, 0, transaction.operation); break;
  }
  if (is_new) record(transaction);
  notify();
  const auto found = connections_.find(session);
  if (!is_own || found == connections_.end()) return;
  for (Pending& each : found->second.queue) {
    if (each.serial == transaction.serial) each.told = std::move(told);
  }
}

void EnsembleServer::record(const Transaction& transaction) {
  const sim::Effect::Kind removal = transaction.expires ? sim::Effect::Kind::expire : sim::Effect::Kind::remove;
  for (const Engine::Change& change : engine_.changes()) {
    // What stands there for good is nobody's.
    if (change.owner == 0) continue;
    const bool is_removal = change.kind == Engine::Change::Kind::deleted;
    world().record_effect(is_removal ? removal : sim::Effect::Kind::write, ledger_.teller, object_of(change.path),
                          transaction.by, transaction.operation_id);
  }
  if (!engine_.changes().empty() || transaction.kind != Transaction::Kind::operation) return;
  if (const std::string* path = path_of(transaction.operation)) {
    world().record_effect(sim::Effect::Kind::read, ledger_.teller, object_of(*path), transaction.by,
                          transaction.operation_id);
  }
}

void EnsembleServer::stop_serving() {
  rejoins_at_.reset();
  if (!std::exchange(serves_, false)) return;
  std::vector<SessionId> sessions;
  for (const auto& [session, connection] : connections_) sessions.push_back(session);
  for (const SessionId session : sessions) hang_up(session);
  for (const auto& [serial, asked] : std::exchange(connects_, {})) reply(asked, {.is_lost = true});
  touched_.clear();
  for (auto& [session, tracked] : tracked_) world().cancel_timer(tracked.timer);
  tracked_.clear();
  world().cancel_timer(std::exchange(half_tick_.timer, {}));
}

void EnsembleServer::crashed(bool) {
  member_.crashed();
  engine_.reset();
  fill();
  timeouts_.clear();
  serves_ = false;
  rejoins_at_.reset();
  connections_.clear();
  connects_.clear();
  watchers_.clear();
  touched_.clear();
  tracked_.clear();
  half_tick_.timer = {};
}

void EnsembleServer::reset() {
  crashed(false);
  member_.reset();
  ledger_.told = 0;
  opened_.clear();
  serials_ = 0;
  numbers_ = 0;
  has_started_ = false;
}

}  // namespace lockstep::models::zookeeper
