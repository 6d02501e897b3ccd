#include "models/etcd/cluster/member.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::models::etcd {
namespace {

consensus::ReplicaSettings replica_settings(const ClusterSettings& settings) {
  consensus::ReplicaSettings replica;
  replica.nodes = settings.nodes;
  replica.saves_commit = true;
  replica.pre_vote = settings.pre_vote;
  return replica;
}

/// Each waits for anything between one election timeout and two, as etcd's Raft; but for each member before it in the
/// list it begins a tenth later.
consensus::MemberTimes member_times(const ClusterSettings& settings, consensus::NodeId self) {
  consensus::MemberTimes times;
  const sim::Duration timeout = settings.election_timeout;
  times.election = {timeout + timeout / 10 * static_cast<std::int64_t>(self), timeout * 2};
  times.slices_election = false;
  times.heartbeat = settings.heartbeat_interval;
  times.quorum.reset();
  if (settings.check_quorum) times.quorum = timeout;
  return times;
}

/// ReqTimeout.
sim::Duration request_timeout(const ClusterSettings& settings) {
  return sim::Duration::seconds(5) + settings.election_timeout * 2;
}

bool is_range(const Operation& operation) { return std::holds_alternative<Range>(operation); }
bool is_serializable(const Operation& operation) { return std::get<Range>(operation).serializable; }

/// Whether it asks for the same of all of its operations.
template <class Ask>
bool all_of(const Request& request, Ask ask) {
  if (const auto* operation = std::get_if<Operation>(&request.content)) return ask(*operation);
  const auto* txn = std::get_if<Txn>(&request.content);
  return txn != nullptr && std::all_of(txn->success.begin(), txn->success.end(), ask) &&
         std::all_of(txn->failure.begin(), txn->failure.end(), ask);
}

}  // namespace

ClusterMember::ClusterMember(consensus::NodeId self, const ClusterSettings& settings, const DiskStall& stall,
                             consensus::Ledger& history)
    : settings_(settings),
      stall_(stall),
      history_(history),
      member_(*this, *this, self, replica_settings(settings), member_times(settings, self)),
      peers_(settings.nodes) {
  stall_timer_.member = this;
}

ClusterMember::~ClusterMember() = default;

void ClusterMember::connect(consensus::NodeId peer, sim::ConnectionId connection) {
  member_.connect(peer, connection);
  peers_[peer] = connection;
}

void ClusterMember::start() {
  if (!member_.disk().log.empty()) return member_.start();
  // The cluster has been there for long: the first of them leads.
  member_.start_elected(0);
  if (stall_.length > sim::Duration::zero())
    world().set_background_timer(id(), sim::DurationRange::exactly(stall_.at), stall_timer_);
}

void ClusterMember::receive(sim::Message& message, sim::ConnectionId connection) {
  if (member_.receive(message)) {
    serve_reads();
  } else if (auto* peers = dynamic_cast<MemberMessage*>(&message)) {
    heard(*peers);
  } else {
    asked(static_cast<const Request&>(message), connection);
  }
}

// --- Requests.

void ClusterMember::asked(const Request& request, sim::ConnectionId connection) {
  if (std::holds_alternative<Watch>(request.content)) return watch(request, connection);
  const bool reads = all_of(request, is_range);
  if (reads && all_of(request, is_serializable)) {
    const auto* operation = std::get_if<Operation>(&request.content);
    Answer answer =
        operation != nullptr ? engine_.execute(*operation) : engine_.execute(std::get<Txn>(request.content));
    return reply(request, connection, {.answer = std::move(answer)});
  }
  const RequestId id = new_id();
  Waiting& waiting = waiting_.try_emplace(id, *this, id, connection, request).first->second;
  waiting.is_read = reads;
  const sim::Duration patience = monotonic().true_length(request_timeout(settings_));
  waiting.timer =
      world().set_timer(this->id(), sim::DurationRange::exactly(patience), sim::TimerKind::timeout, waiting);
  if (reads) {
    ask_index(id);
  } else if (const auto* kept = std::get_if<LeaseKeepAlive>(&request.content)) {
    keep_alive(id, kept->lease);
  } else {
    propose(request, id, connection);
  }
}

void ClusterMember::propose(const Request& request, RequestId id, sim::ConnectionId connection) {
  Command command{.id = id, .by = world().client_of(connection), .operation = request.operation};
  if (const auto* operation = std::get_if<Operation>(&request.content)) {
    command.content = *operation;
  } else if (const auto* txn = std::get_if<Txn>(&request.content)) {
    command.content = *txn;
  } else if (const auto* asked = std::get_if<LeaseGrant>(&request.content)) {
    const LeaseId lease = granted_++ * static_cast<LeaseId>(settings_.nodes) + member_.replica().self() + 1;
    command.content = GrantedLease{lease, std::max(asked->ttl, settings_.leases.least)};
  } else {
    command.content = std::get<LeaseRevoke>(request.content);
  }
  submit(std::move(command));
}

void ClusterMember::submit(Command command) {
  const auto leader = member_.replica().leader();
  if (member_.is_stalled() || !leader) {
    unsent_.push_back(std::move(command));
  } else if (member_.replica().believes_to_lead()) {
    member_.propose(std::move(command));
  } else {
    send(*leader, MemberMessage::Propose{std::move(command)});
  }
}

/// Without a leader the question is dropped: when there is one the client is told to ask again.
void ClusterMember::ask_index(RequestId id) {
  const auto leader = member_.replica().leader();
  if (member_.is_stalled()) {
    unasked_.push_back(id);
  } else if (member_.replica().believes_to_lead()) {
    member_.read(id);
  } else if (leader) {
    send(*leader, MemberMessage::AskIndex{id});
  }
}

void ClusterMember::heard(MemberMessage& message) {
  if (auto* proposed = std::get_if<MemberMessage::Propose>(&message.content)) {
    // Whoever does not lead any more sends it on; where nobody leads it is dropped.
    if (member_.is_stalled() || member_.replica().leader()) submit(std::move(proposed->command));
  } else if (const auto* question = std::get_if<MemberMessage::AskIndex>(&message.content)) {
    if (member_.is_stalled() || member_.replica().believes_to_lead()) ask_index(question->id);
  } else if (const auto* told = std::get_if<MemberMessage::TellIndex>(&message.content)) {
    const auto read = waiting_.find(told->id);
    if (read != waiting_.end()) read->second.index = told->index;
    serve_reads();
  } else if (const auto* asked = std::get_if<MemberMessage::Renew>(&message.content)) {
    renew({asked->id, asked->lease});
  } else {
    const auto& renewed = std::get<MemberMessage::Renewed>(message.content);
    answer(renewed.id, {.lease_lives = renewed.lives});
  }
}

void ClusterMember::watch(const Request& request, sim::ConnectionId connection) {
  const auto& asked = std::get<Watch>(request.content);
  const Engine::WatchId id = static_cast<Engine::WatchId>(connection.index) << 32 | ++asked_for_[connection.index];
  watches_.emplace(id, Watcher{connection, request});
  engine_.watch(id, asked.span, asked.start_revision);
  answer_watches();
}

void ClusterMember::answer_watches() {
  for (Engine::Notice& notice : engine_.take_notices()) {
    const auto watcher = watches_.find(notice.watch);
    Told told{.events = std::move(notice.events)};
    if (notice.compact_revision != 0) told.answer.error = Error::compacted;
    engine_.cancel_watch(notice.watch);
    reply(watcher->second.request, watcher->second.connection, std::move(told));
    watches_.erase(watcher);
  }
}

/// Does nothing if it was answered already, or has timed out.
void ClusterMember::answer(RequestId id, Told told) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  world().cancel_timer(found->second.timer);
  reply(found->second.request, found->second.connection, std::move(told));
  waiting_.erase(found);
}

void ClusterMember::reply(const Request& request, sim::ConnectionId connection, Told told) {
  auto reply = world().make<Reply>();
  reply->request = request.name();
  reply->content = std::move(told);
  world().send_reply(connection, request, std::move(reply));
}

void ClusterMember::Waiting::timer_fired() {
  timer = {};
  member.timed_out(id);
}

void ClusterMember::timed_out(RequestId id) {
  // What was not proposed yet never will be.
  std::erase_if(unsent_, [&](const Command& command) { return command.id == id; });
  answer(id, {.answer = {.error = Error::timed_out}});
}

void ClusterMember::send(consensus::NodeId to, decltype(MemberMessage::content) content) {
  if (const auto peer = peers_[to]) world().send_request(*peer, world().make<MemberMessage>(std::move(content)));
}

// --- The log.

void ClusterMember::applied(consensus::Index index, const consensus::Entry<Command>& entry) {
  if (entry.command) {
    Told told = execute(*entry.command);
    if (history_.takes(index)) tell_history(*entry.command);
    if (is_own(entry.command->id)) answer(entry.command->id, std::move(told));
    answer_watches();
  } else if (member_.replica().believes_to_lead() && entry.term == member_.replica().term()) {
    // What earlier leaders have granted is known from here on.
    promote();
  }
}

Told ClusterMember::execute(const Command& command) {
  if (const auto* operation = std::get_if<Operation>(&command.content)) return {.answer = engine_.execute(*operation)};
  if (const auto* txn = std::get_if<Txn>(&command.content)) return {.answer = engine_.execute(*txn)};
  if (const auto* granted = std::get_if<GrantedLease>(&command.content)) {
    engine_.grant(granted->id);
    Lease& lease = leases_.try_emplace(granted->id, *this, granted->id, granted->ttl).first->second;
    if (is_primary_) put_off(lease, {});
    return {.lease = granted->id};
  }
  const LeaseId id = std::get<LeaseRevoke>(command.content).lease;
  const auto lease = leases_.find(id);
  if (lease != leases_.end()) {
    world().cancel_timer(lease->second.timer);
    for (const Renewal& renewal : lease->second.renewals) renewed(renewal, false);
    leases_.erase(lease);
  }
  return {.answer = {.error = engine_.revoke(id)}};
}

void ClusterMember::tell_history(const Command& command) {
  const bool is_expiry = !command.by.is_valid();
  for (const Event& event : engine_.changes()) {
    const auto removal = is_expiry ? sim::Effect::Kind::expire : sim::Effect::Kind::remove;
    world().record_effect(event.is_delete ? removal : sim::Effect::Kind::write, history_.teller, event.kv.key,
                          command.by, command.operation);
  }
}

void ClusterMember::read_answered(const consensus::ReadAnswer& answer) {
  const auto check = checks_.find(answer.id);
  if (check != checks_.end()) {
    const Checked what = check->second;
    checks_.erase(check);
    const auto* renewal = std::get_if<Renewal>(&what);
    if (renewal == nullptr) {
      if (answer.index) revoke_expired(std::get<LeaseId>(what));
    } else if (answer.index) {
      renew_as_leader(*renewal);
    }
  } else if (!answer.index) {
    // Whoever asked is told when there is another leader, or that time is over.
  } else if (!is_own(answer.id)) {
    send(origin_of(answer.id), MemberMessage::TellIndex{answer.id, *answer.index});
  } else if (const auto read = waiting_.find(answer.id); read != waiting_.end()) {
    read->second.index = answer.index;
    if (*answer.index <= member_.applied()) serve(read->second);
  }
}

void ClusterMember::serve(Waiting& read) {
  const auto* operation = std::get_if<Operation>(&read.request.content);
  Answer told =
      operation != nullptr ? engine_.execute(*operation) : engine_.execute(std::get<Txn>(read.request.content));
  if (operation != nullptr) {
    world().record_effect(sim::Effect::Kind::read, history_.teller, std::get<Range>(*operation).span.key,
                          world().client_of(read.connection), read.request.operation);
  }
  answer(read.id, {.answer = std::move(told)});
}

void ClusterMember::serve_reads() {
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    Waiting& waiting = (each++)->second;
    if (waiting.is_read && waiting.index && *waiting.index <= member_.applied()) serve(waiting);
  }
}

/// Another one leads, or the same one again: what was asked of the one before may be lost.
void ClusterMember::leader_changed() {
  if (!member_.replica().believes_to_lead()) demote();
  if (!member_.replica().leader()) return;
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const auto& [id, waiting] = *each++;
    if (waiting.is_read && !waiting.index) {
      answer(id, {.answer = {.error = Error::leader_changed}});
    } else if (waiting.is_keep_alive()) {
      keep_alive(id, std::get<LeaseKeepAlive>(waiting.request.content).lease);
    }
  }
  for (Command& command : std::exchange(unsent_, {})) submit(std::move(command));
}

void ClusterMember::stall_fired() {
  if (!member_.is_stalled()) {
    member_.stall();
    world().set_background_timer(id(), sim::DurationRange::exactly(stall_.length), stall_timer_);
    return;
  }
  // Of what peers have said and what is to be proposed either can come first; here it is what peers have said.
  member_.resume();
  for (const RequestId id : std::exchange(unasked_, {})) {
    if (checks_.contains(id)) {
      member_.read(id);
    } else if (is_own(id) || member_.replica().believes_to_lead()) {
      ask_index(id);
    }
  }
  for (Command& command : std::exchange(unsent_, {})) submit(std::move(command));
  serve_reads();
}

// --- The lessor.

/// It may have been put off only yesterday, or a moment ago: the new leader does not know.
void ClusterMember::promote() {
  is_primary_ = true;
  for (auto& [id, lease] : leases_) put_off(lease, settings_.election_timeout);
  for (const Renewal& renewal : std::exchange(unrenewed_, {})) renew(renewal);
}

void ClusterMember::demote() {
  is_primary_ = false;
  for (auto& [id, lease] : leases_) {
    world().cancel_timer(std::exchange(lease.timer, {}));
    // Whoever waits for its end hears of the next leader.
    lease.renewals.clear();
  }
  unrenewed_.clear();
}

void ClusterMember::put_off(Lease& lease, sim::Duration extend) {
  world().cancel_timer(std::exchange(lease.timer, {}));
  const sim::Duration ttl = lease.ttl + extend;
  lease.end = monotonic().now() + ttl;
  const sim::DurationRange length{monotonic().true_length(ttl),
                                  monotonic().true_length(ttl + settings_.leases.check_interval)};
  lease.timer = world().set_timer(id(), length, sim::TimerKind::deadline, lease);
}

void ClusterMember::expired(LeaseId id) {
  leases_.at(id).timer = {};
  if (settings_.ensures_leadership) {
    check(id);
  } else {
    revoke_expired(id);
  }
}

/// A lease that was put off while a quorum was asked is not over.
void ClusterMember::revoke_expired(LeaseId id) {
  const auto lease = leases_.find(id);
  if (!is_primary_ || lease == leases_.end() || !monotonic().has_reached(lease->second.end)) return;
  submit({.id = new_id(), .content = LeaseRevoke{id}, .by = {}, .operation = 0});
}

void ClusterMember::keep_alive(RequestId id, LeaseId lease) {
  const auto leader = member_.replica().leader();
  if (is_primary_ || member_.replica().believes_to_lead()) {
    renew({id, lease});
  } else if (leader) {
    send(*leader, MemberMessage::Renew{id, lease});
  }
}

void ClusterMember::renew(Renewal renewal) {
  if (!is_primary_) {
    if (member_.replica().believes_to_lead()) unrenewed_.push_back(renewal);
  } else if (settings_.ensures_leadership) {
    check(renewal);
  } else {
    renew_as_leader(renewal);
  }
}

/// Where it does not lead any more whoever asked hears nothing, and asks again when it knows who does.
void ClusterMember::renew_as_leader(Renewal renewal) {
  if (!is_primary_) return;
  const auto lease = leases_.find(renewal.lease);
  if (lease == leases_.end()) {
    renewed(renewal, false);
  } else if (monotonic().has_reached(lease->second.end)) {
    // It is to be revoked; until then nobody can say.
    lease->second.renewals.push_back(renewal);
  } else {
    put_off(lease->second, {});
    renewed(renewal, true);
  }
}

void ClusterMember::renewed(const Renewal& renewal, bool lives) {
  if (is_own(renewal.id)) {
    answer(renewal.id, {.lease_lives = lives});
  } else {
    send(origin_of(renewal.id), MemberMessage::Renewed{renewal.id, lives});
  }
}

void ClusterMember::check(Checked what) {
  const RequestId id = new_id();
  checks_.emplace(id, std::move(what));
  if (member_.is_stalled()) {
    unasked_.push_back(id);
  } else {
    member_.read(id);
  }
}

std::optional<sim::Instant> ClusterMember::end_of(LeaseId lease) const {
  const auto found = leases_.find(lease);
  if (!is_primary_ || found == leases_.end()) return std::nullopt;
  return clock().reading_at(monotonic().true_time_of(found->second.end));
}

// --- The end of clients, and its own.

void ClusterMember::closed(sim::ConnectionId connection) {
  for (auto each = watches_.begin(); each != watches_.end();) {
    const bool is_its = each->second.connection.index == connection.index;
    if (is_its) engine_.cancel_watch(each->first);
    each = is_its ? watches_.erase(each) : std::next(each);
  }
}

/// What is on its disk is the log.
void ClusterMember::crashed(bool) {
  for (const auto& [id, waiting] : waiting_) reply(waiting.request, waiting.connection, {.is_lost = true});
  for (const auto& [id, watcher] : watches_) reply(watcher.request, watcher.connection, {.is_lost = true});
  member_.crashed();
  engine_.reset();
  leases_.clear();
  is_primary_ = false;
  waiting_.clear();
  watches_.clear();
  unsent_.clear();
  unasked_.clear();
  unrenewed_.clear();
  checks_.clear();
}

void ClusterMember::reset() {
  member_.reset();
  engine_.reset();
  leases_.clear();
  is_primary_ = false;
  waiting_.clear();
  watches_.clear();
  asked_for_.clear();
  unsent_.clear();
  unasked_.clear();
  unrenewed_.clear();
  checks_.clear();
  requests_ = 1;
  granted_ = 0;
  history_.told = 0;
}

}  // namespace lockstep::models::etcd
