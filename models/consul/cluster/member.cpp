#include "models/consul/cluster/member.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::models::consul {
namespace {

/// checkLeaderLease looks no more often.
constexpr sim::Duration kLeastLeaseCheck = sim::Duration::milliseconds(10);

constexpr sim::Duration kLeastPause = sim::Duration::milliseconds(1);

/// A follower hears what is committed with the next message (CommitTimeout), and with each entry.
consensus::ReplicaSettings replica_settings(const ClusterSettings& settings) {
  consensus::ReplicaSettings replica;
  replica.nodes = settings.nodes;
  replica.announces_commit = false;
  return replica;
}

/// A follower looks after one to two heartbeat timeouts whether it has heard the leader within one of them, so that it
/// stands for election after one to three. For each server before it in the list it begins a tenth later.
consensus::MemberTimes member_times(const ClusterSettings& settings, consensus::NodeId self) {
  consensus::MemberTimes times;
  const sim::Duration timeout = settings.heartbeat_timeout;
  const sim::Duration least = timeout + timeout / 10 * static_cast<std::int64_t>(self);
  times.election = {least, timeout * 3};
  times.leaderless = sim::DurationRange{least, timeout * 2};
  times.slices_election = false;
  times.heartbeat = std::min(settings.commit_timeout, std::max(timeout / 10, sim::Duration::microseconds(1)));
  times.quorum.reset();  // by the leader's lease
  return times;
}

/// What may be sent once more. A renewal passes for one: its request is that of a query.
bool is_read(const Request& request) {
  return std::holds_alternative<Query>(request.content) || std::holds_alternative<SessionRenew>(request.content);
}

bool is(const Request& request, Consistency consistency) {
  const auto* query = std::get_if<Query>(&request.content);
  return query != nullptr && query->consistency == consistency;
}

}  // namespace

ClusterMember::ClusterMember(consensus::NodeId self, const ClusterSettings& settings, consensus::Ledger& history)
    : settings_(settings),
      history_(history),
      member_(*this, *this, self, replica_settings(settings), member_times(settings, self)),
      peers_(settings.nodes),
      contacts_(settings.nodes) {
  lease_.member = this;
}

ClusterMember::~ClusterMember() = default;

void ClusterMember::connect(consensus::NodeId peer, sim::ConnectionId connection) {
  member_.connect(peer, connection);
  peers_[peer] = connection;
}

void ClusterMember::start() {
  for (std::size_t peer = 0; peer < peers_.size(); ++peer)
    send(static_cast<consensus::NodeId>(peer), ServerMessage::Connect{});
  if (!member_.disk().log.empty()) return member_.start();
  // The cluster has been there for long: the first of them leads.
  heard_ = monotonic().now();
  member_.start_elected(0);
}

void ClusterMember::receive(sim::Message& message, sim::ConnectionId connection) {
  if (auto* raft = dynamic_cast<consensus::PeerMessage<Command>*>(&message)) {
    if (refuses(*raft)) return;
    note_contact(*raft);
    pass_over_commit(*raft);
    member_.receive(message);
    note_leader_contact(*raft);
  } else if (auto* peers = dynamic_cast<ServerMessage*>(&message)) {
    heard(*peers);
  } else {
    asked(static_cast<const Request&>(message), connection);
  }
}

// --- Requests of clients.

void ClusterMember::asked(const Request& request, sim::ConnectionId connection) {
  const RequestId id = new_id();
  Waiting& waiting =
      waiting_.try_emplace(id, *this, Command{id, request, world().client_of(connection)}, connection).first->second;
  if (!request.datacentre.empty() && request.datacentre != settings_.server.datacentre)
    return answer(id, {.answer = {.error = Error::no_path_to_datacenter}});
  sim::Duration patience = settings_.rpc_hold_timeout;
  if (is_blocking(request)) patience += wait_of(std::get<Query>(request.content)).lo;
  waiting.held_until = monotonic().now() + patience;
  dispatch(waiting);
}

/// Whoever was started and has heard nobody yet has nothing to answer a stale query from. It looks but once
/// (canServeReadRequest): later the leader answers.
void ClusterMember::dispatch(Waiting& waiting) {
  const auto leader = member_.replica().leader();
  const bool is_first = !std::exchange(waiting.was_looked_at, true);
  if (leads() || (is_first && is(waiting.command.request, Consistency::stale) && heard_)) {
    waiting.asked = self();
    execute(waiting.command);
  } else if (leader) {
    waiting.asked = leader;
    send(*leader, ServerMessage::Forward{waiting.command});
  } else {
    hold(waiting);
  }
}

/// There is no leader. For a while there may be one yet.
void ClusterMember::hold(Waiting& waiting) {
  waiting.asked.reset();
  waiting.is_to_be_sent = false;
  world().cancel_timer(std::exchange(waiting.timer, {}));
  const sim::Duration left = monotonic().true_time_of(waiting.held_until).offset() - world().now().offset();
  if (left < sim::Duration::zero()) return answer(waiting.command.id, {.answer = {.error = Error::no_leader}});
  waiting.timer = world().set_timer(id(), sim::DurationRange::exactly(left), sim::TimerKind::timeout, waiting);
}

/// Each server looks every now and then whether there is a leader (RandomStagger). Not at once, where time would not go
/// on: whoever is taken for the leader may say at once that it is none.
void ClusterMember::send_later(Waiting& waiting) {
  waiting.asked.reset();
  waiting.is_to_be_sent = true;
  world().cancel_timer(std::exchange(waiting.timer, {}));
  const sim::Duration most = monotonic().true_length(settings_.rpc_hold_timeout / kJitterFraction);
  waiting.timer = world().set_timer(id(), {kLeastPause, std::max(most, kLeastPause)}, sim::TimerKind::timeout, waiting);
}

void ClusterMember::Waiting::timer_fired() {
  timer = {};
  if (is_to_be_sent) {
    member.send_again(command.id);
  } else {
    member.answer(command.id, {.answer = {.error = Error::no_leader}});
  }
}

/// By an id of its own: what was sent before may still be there, at the same server, and its answer is nobody's.
void ClusterMember::send_again(RequestId id) {
  auto node = waiting_.extract(id);
  node.key() = node.mapped().command.id = new_id();
  dispatch(waiting_.insert(std::move(node)).position->second);
}

/// Its connection is gone, with all that was asked on it.
void ClusterMember::has_lost(consensus::NodeId peer) {
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const auto& [id, waiting] = *each++;
    if (waiting.asked == peer) lost(id);
  }
}

void ClusterMember::lost(RequestId id) {
  Waiting& waiting = waiting_.at(id);
  if (!is_read(waiting.command.request)) return answer(id, {.is_lost = true});
  if (monotonic().has_passed(waiting.held_until)) return answer(id, {.is_lost = true});
  send_later(waiting);
}

void ClusterMember::heard(ServerMessage& message) {
  if (auto* forwarded = std::get_if<ServerMessage::Forward>(&message.content)) {
    const RequestId id = forwarded->command.id;
    if (!leads()) return done(id, {.answer = {.error = Error::no_leader}});
    execute(std::move(forwarded->command));
  } else if (auto* answered = std::get_if<ServerMessage::Answered>(&message.content)) {
    const auto found = waiting_.find(answered->id);
    if (found == waiting_.end() || !found->second.asked) return;
    // Whoever was taken for the leader was not: that is no news for a client before its time is over.
    if (answered->told.answer.error == Error::no_leader && !monotonic().has_passed(found->second.held_until)) {
      send_later(found->second);
    } else {
      answer(answered->id, std::move(answered->told));
    }
  }
}

/// Nobody is there to hear it: nothing was done, whatever it was.
void ClusterMember::returned(sim::Message& message, sim::ConnectionId) {
  const auto* peers = dynamic_cast<const ServerMessage*>(&message);
  const auto* forwarded = peers == nullptr ? nullptr : std::get_if<ServerMessage::Forward>(&peers->content);
  if (forwarded == nullptr || !waiting_.contains(forwarded->command.id)) return;
  answer(forwarded->command.id, {.answer = {.error = Error::refused}});
}

/// Of what this server has executed.
void ClusterMember::done(RequestId id, Told told) {
  const auto origin = static_cast<consensus::NodeId>(id % settings_.nodes);
  if (origin == self()) {
    answer(id, std::move(told));
  } else {
    send(origin, ServerMessage::Answered{id, std::move(told)});
  }
}

void ClusterMember::answer(RequestId id, Told told) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  Waiting& waiting = found->second;
  world().cancel_timer(waiting.timer);
  auto reply = world().make<Reply>();
  reply->request = waiting.command.request.name();
  reply->content = std::move(told);
  world().send_reply(waiting.connection, waiting.command.request, std::move(reply));
  waiting_.erase(found);
}

void ClusterMember::send(consensus::NodeId to, decltype(ServerMessage::content) content) {
  if (const auto peer = peers_[to]) world().send_request(*peer, world().make<ServerMessage>(std::move(content)));
}

// --- Of the server that executes a request.

void ClusterMember::execute(Command command) {
  const RequestId id = command.id;
  if (std::holds_alternative<Query>(command.request.content)) return query(std::move(command));
  if (const auto* asked = std::get_if<SessionRenew>(&command.request.content)) return renew(id, asked->session);
  if (const auto* asked = std::get_if<Write>(&command.request.content)) {
    if (asked->key.empty()) return tell(id, {.error = Error::missing_key});
    // Before the log, by the clock of the leader: each server's may say something else.
    if (asked->how == Write::How::acquire && is_delayed(asked->key)) {
      tell_history_of_read(command);
      return tell(id, {});
    }
  } else if (const auto* removal = std::get_if<Delete>(&command.request.content)) {
    if (removal->key.empty() && removal->how != Delete::How::recurse) return tell(id, {.error = Error::missing_key});
  } else if (auto* session = std::get_if<Session>(&command.request.content)) {
    const bool is_valid = session->ttl == sim::Duration::zero() ||
                          (session->ttl >= settings_.server.session_ttl_min && session->ttl <= kLongestTtl);
    if (!is_valid) return tell(id, {.error = Error::invalid_ttl});
    session->id = static_cast<SessionId>(created_++ * settings_.nodes + self() + 1);
  }
  propose(std::move(command));
}

void ClusterMember::propose(Command command) {
  proposed_.insert(command.id);
  member_.propose(std::move(command));
}

void ClusterMember::tell(RequestId id, Answer answer) { done(id, {.answer = std::move(answer)}); }

/// setQueryMeta.
void ClusterMember::tell_query(RequestId id, Answer answer) {
  Contact contact;
  if (!leads()) {
    contact.knows_leader = member_.replica().leader().has_value();
    if (heard_) contact.last = monotonic().now().offset() - heard_->offset();
  }
  done(id, {.answer = std::move(answer), .contact = contact});
}

/// Is not in the log, and nobody is asked whether this server still leads.
void ClusterMember::renew(RequestId id, SessionId session) {
  if (engine_.find_session(session) == nullptr) return tell(id, {.error = Error::unknown_session});
  put_off(session);
  tell(id, {.ok = true});
}

void ClusterMember::query(Command command) {
  if (is(command.request, Consistency::consistent)) {
    verify(std::move(command), false);
  } else {
    run(std::move(command));
  }
}

void ClusterMember::run(Command command) {
  const auto& asked = std::get<Query>(command.request.content);
  if (asked.consistency != Consistency::stale) tell_history_of_read(command);
  const RequestId id = command.id;
  if (std::optional<Answer> answer = engine_.ask(static_cast<Engine::QueryId>(id), asked))
    return tell_query(id, std::move(*answer));
  const bool is_repeated = command.request.is_repeated;
  const sim::DurationRange wait = wait_of(asked);
  Blocking& blocking = queries_.try_emplace(id, *this, std::move(command)).first->second;
  if (is_repeated) return;
  blocking.timer = world().set_timer(this->id(), {monotonic().true_length(wait.lo), monotonic().true_length(wait.hi)},
                                     sim::TimerKind::deadline, blocking);
}

/// VerifyLeader.
void ClusterMember::verify(Command command, bool is_woken) {
  const RequestId id = command.id;
  verified_.insert_or_assign(id, Verified{std::move(command), is_woken, leads()});
  member_.read(id);
}

void ClusterMember::answer_queries() {
  for (Engine::Reply& answered : engine_.take_replies()) {
    const auto found = queries_.find(static_cast<RequestId>(answered.query));
    world().cancel_timer(found->second.timer);
    Command command = std::move(found->second.command);
    queries_.erase(found);
    if (is(command.request, Consistency::consistent)) {
      verify(std::move(command), true);
    } else {
      tell_query(command.id, std::move(answered.answer));
    }
  }
}

void ClusterMember::wait_is_over(RequestId id) {
  queries_.erase(id);
  tell_query(id, engine_.give_up(static_cast<Engine::QueryId>(id)));
}

// --- The log.

void ClusterMember::applied(consensus::Index index, const consensus::Entry<Command>& entry) {
  if (!entry.command) {
    // What earlier leaders have created is known from here on (establishLeadership).
    if (leads() && entry.term == member_.replica().term()) begin_session_timers();
    return;
  }
  Told told = apply(*entry.command);
  if (history_.takes(index)) tell_history(*entry.command);
  if (proposed_.erase(entry.command->id) > 0) done(entry.command->id, std::move(told));
  answer_queries();
}

/// The log is never questioned: what may be acquired its leader has said.
Told ClusterMember::apply(const Command& command) {
  if (const auto* asked = std::get_if<Write>(&command.request.content)) return {.answer = engine_.write(*asked)};
  if (const auto* asked = std::get_if<Delete>(&command.request.content)) return {.answer = engine_.remove(*asked)};
  if (const auto* asked = std::get_if<Session>(&command.request.content)) {
    Told told{.answer = engine_.create_session(*asked), .session = asked->id};
    if (told.answer.error != Error::none) return {.answer = told.answer};
    if (leads()) put_off(asked->id);
    return told;
  }
  Told told;
  if (const auto* asked = std::get_if<SessionDestroy>(&command.request.content)) {
    told.answer = engine_.destroy_session(asked->session);
  } else {
    told.answer = engine_.update_check(std::get<CheckUpdate>(command.request.content));
  }
  begin_lock_delays();
  for (auto each = ttls_.begin(); each != ttls_.end();) {
    const bool is_over = engine_.find_session(each->first) == nullptr;
    if (is_over) world().cancel_timer(each->second.timer);
    each = is_over ? ttls_.erase(each) : std::next(each);
  }
  return told;
}

/// As a single server tells it.
void ClusterMember::tell_history(const Command& command) {
  if (engine_.changes().empty()) return tell_history_of_read(command);
  for (const Engine::Change& change : engine_.changes()) {
    if (change.kind == Engine::Change::Kind::written) continue;
    const bool is_free = change.kind == Engine::Change::Kind::released || change.kind == Engine::Change::Kind::deleted;
    const auto removal = command.by.is_valid() ? sim::Effect::Kind::remove : sim::Effect::Kind::expire;
    world().record_effect(is_free ? removal : sim::Effect::Kind::write, history_.teller, change.key, command.by,
                          command.request.operation);
  }
}

void ClusterMember::tell_history_of_read(const Command& command) {
  const auto* write = std::get_if<Write>(&command.request.content);
  const auto* query = std::get_if<Query>(&command.request.content);
  const bool reads_key = query != nullptr && query->what == Query::What::key;
  if (write == nullptr && !reads_key) return;
  world().record_effect(sim::Effect::Kind::read, history_.teller, write != nullptr ? write->key : query->key,
                        command.by, command.request.operation);
}

void ClusterMember::read_answered(const consensus::ReadAnswer& answer) {
  const auto found = verified_.find(answer.id);
  if (found == verified_.end()) return;
  Verified verified = std::move(found->second);
  verified_.erase(found);
  const RequestId id = verified.command.id;
  if (!answer.index) {
    tell(id, {.error = verified.led ? Error::leadership_lost : Error::not_leader});
  } else if (verified.is_woken) {
    tell_query(id, engine_.read(std::get<Query>(verified.command.request.content)));
  } else {
    run(std::move(verified.command));
  }
}

void ClusterMember::elected() {
  contacts_.assign(settings_.nodes, monotonic().now());
  check_lease();
}

/// Blocking queries go on: this server answers them from what it hears as a follower. What it knows is as new as that
/// (runLeader).
void ClusterMember::deposed() {
  heard_ = monotonic().now();
  world().cancel_timer(std::exchange(lease_.timer, {}));
  stop_session_timers();
  for (const RequestId id : std::exchange(proposed_, {})) tell(id, {.error = Error::leadership_lost});
}

/// What was asked of another leader before is taken for lost. (In Consul a connection that nobody answers on is given
/// up in half a minute.)
void ClusterMember::leader_changed() {
  const auto leader = member_.replica().leader();
  if (!leader) return;
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    auto& [id, waiting] = *each++;
    if (!waiting.asked) {
      send_later(waiting);
    } else if (*waiting.asked != self() && *waiting.asked != *leader) {
      lost(id);
    }
  }
}

void ClusterMember::note_contact(const consensus::PeerMessage<Command>& message) {
  if (message.mail.term < member_.replica().term()) return;
  if (message.mail.kind == consensus::MessageKind::appended) contacts_[message.mail.from] = monotonic().now();
}

/// setLastContact, as appendEntries and requestVote have it: of a leader whose log goes on from one's own, and of a
/// candidate that has one's vote. Requires: the message was received.
void ClusterMember::note_leader_contact(const consensus::PeerMessage<Command>& message) {
  const consensus::Message<Command>& mail = message.mail;
  const consensus::Durable<Command>& disk = member_.disk();
  if (mail.term < disk.term) return;
  const consensus::Position last = mail.last;
  const bool goes_on = mail.kind == consensus::MessageKind::append_entries && last.index <= disk.log.size() &&
                       (last.index == 0 || disk.log[last.index - 1].term == last.term);
  const bool votes = mail.kind == consensus::MessageKind::request_vote && disk.voted_for == mail.from;
  if (goes_on || votes) heard_ = monotonic().now();
}

/// A heartbeat that asks whether the leader leads does not say what is committed.
void ClusterMember::pass_over_commit(consensus::PeerMessage<Command>& message) {
  if (message.mail.kind != consensus::MessageKind::append_entries) return;
  const bool asks = std::exchange(round_, message.mail.round) != message.mail.round;
  if (asks && message.mail.entries.empty()) message.mail.commit = 0;
}

/// Who knows a leader votes for nobody else, and does not even hear of a later term. Whoever is in an earlier term it
/// tells of its own.
bool ClusterMember::refuses(const consensus::PeerMessage<Command>& message) const {
  const auto leader = member_.replica().leader();
  return message.mail.kind == consensus::MessageKind::request_vote && leader && *leader != message.mail.from &&
         message.mail.term >= member_.replica().term();
}

/// checkLeaderLease.
void ClusterMember::check_lease() {
  lease_.timer = {};
  std::size_t contacted = 1;
  sim::Duration next = settings_.leader_lease_timeout;
  for (std::size_t node = 0; node < contacts_.size(); ++node) {
    if (node == self()) continue;
    const sim::Instant until = contacts_[node] + settings_.leader_lease_timeout;
    if (monotonic().has_passed(until)) continue;
    ++contacted;
    next = std::min(next, until.offset() - monotonic().now().offset());
  }
  if (contacted < consensus::quorum(settings_.nodes)) return member_.resign();
  const sim::Duration length = monotonic().true_length(std::max(next, kLeastLeaseCheck));
  lease_.timer = world().set_background_timer(id(), sim::DurationRange::exactly(length), lease_);
}

// --- The leader's timers.

/// initializeSessionTimers. When each was renewed last only the leader before knew.
void ClusterMember::begin_session_timers() {
  for (const auto& [id, session] : engine_.sessions()) put_off(id);
}

void ClusterMember::stop_session_timers() {
  for (auto& [id, ttl] : ttls_) world().cancel_timer(ttl.timer);
  ttls_.clear();
}

void ClusterMember::put_off(SessionId session) {
  const sim::Duration length = engine_.find_session(session)->ttl * kTtlMultiplier;
  if (length == sim::Duration::zero()) return;
  Ttl& ttl = ttls_.try_emplace(session, *this, session, length).first->second;
  world().cancel_timer(std::exchange(ttl.timer, {}));
  ttl.end = monotonic().now() + length;
  ttl.timer = world().set_timer(id(), sim::DurationRange::exactly(monotonic().true_length(length)),
                                sim::TimerKind::deadline, ttl);
}

void ClusterMember::Ttl::timer_fired() {
  timer = {};
  member.expired(id);
}

void ClusterMember::expired(SessionId session) {
  Command command{.id = new_id(), .request = {}, .by = {}};
  command.request.content = SessionDestroy{session};
  ttls_.erase(session);
  member_.propose(std::move(command));
}

void ClusterMember::begin_lock_delays() {
  for (const Engine::LockDelay& delay : engine_.take_lock_delays()) {
    lock_delays_.insert_or_assign(delay.key, monotonic().now() + delay.length);
    engine_.end_lock_delay(delay.key);
  }
}

bool ClusterMember::is_delayed(const std::string& key) const {
  const auto found = lock_delays_.find(key);
  return found != lock_delays_.end() && !monotonic().has_reached(found->second);
}

bool ClusterMember::has_lock_delays() const {
  return std::any_of(lock_delays_.begin(), lock_delays_.end(),
                     [this](const auto& each) { return is_delayed(each.first); });
}

std::optional<sim::Instant> ClusterMember::end_of(SessionId session) const {
  const auto found = ttls_.find(session);
  if (found == ttls_.end()) return std::nullopt;
  return clock().reading_at(monotonic().true_time_of(found->second.end));
}

// --- The end of clients and other servers, and its own.

void ClusterMember::closed(sim::ConnectionId connection) {
  const sim::ProcessId gone = world().client_of(connection);
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    if (peers_[peer] && world().server_of(*peers_[peer]) == gone) has_lost(static_cast<consensus::NodeId>(peer));
  }
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const auto found = each++;
    if (found->second.connection.index != connection.index) continue;
    if (const auto query = queries_.find(found->first); query != queries_.end()) {
      engine_.cancel(static_cast<Engine::QueryId>(query->first));
      world().cancel_timer(query->second.timer);
      queries_.erase(query);
    }
    world().cancel_timer(found->second.timer);
    waiting_.erase(found);
  }
}

/// What is on its disk is the log.
void ClusterMember::crashed(bool) {
  for (const auto& [id, waiting] : waiting_) {
    auto reply = world().make<Reply>();
    reply->request = waiting.command.request.name();
    reply->content.is_lost = true;
    world().send_reply(waiting.connection, waiting.command.request, std::move(reply));
  }
  forget();
  member_.crashed();
}

void ClusterMember::reset() {
  forget();
  member_.reset();
  requests_ = 1;
  created_ = 0;
  history_.told = 0;
}

void ClusterMember::forget() {
  engine_.reset();
  lock_delays_.clear();
  ttls_.clear();
  waiting_.clear();
  proposed_.clear();
  verified_.clear();
  queries_.clear();
  heard_.reset();
  round_ = 0;
  lease_.timer = {};
}

}  // namespace lockstep::models::consul
