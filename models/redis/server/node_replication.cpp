// How a server follows another, and how it is followed.

#include <algorithm>
#include <cassert>

#include "models/redis/server/node.hpp"

namespace lockstep::models::redis {
namespace {

using LinkKind = LinkMessage::Kind;

// Among the keys that an exploration hears of. Whatever goes into the stream has its place in it; acknowledgements come
// one after the other, and only whoever asks for them minds where.
constexpr std::uint64_t kStream = 0x73747265616d2121;
constexpr std::uint64_t kAcknowledgements = 0x61636b7321212121;

constexpr sim::Duration kAckPeriod = sim::Duration::seconds(1);

}  // namespace

// --- Who knows whom.

void Node::meet(Node& a, Node& b, sim::DurationRange latency) {
  sim::World& world = a.world();
  const sim::ConnectionId a_follows = world.connect(a.id(), b.id(), latency);
  const sim::ConnectionId b_follows = world.connect(b.id(), a.id(), latency);
  a.peers_.push_back({b.name(), a_follows, b_follows});
  b.peers_.push_back({a.name(), b_follows, a_follows});
  a.database_.replication().set_name(a.name());
  b.database_.replication().set_name(b.name());
}

void Node::begin_as_replica_of(Node& primary) {
  first_primary_ = primary.name();
  primary.first_replicas_.push_back(name());
  primary.settle();
  settle();
}

/// As if everything had been said long ago.
void Node::settle() {
  Replication& replication = database_.replication();
  configured_primary_.reset();
  if (!first_primary_.empty()) configured_primary_ = Address{first_primary_};
  lives_ = link_number_ = 0;
  link_numbers_.clear();
  replication.restart(configured_primary_, lives_);
  if (configured_primary_) {
    replication.begin_in_sync_with(configured_primary_->host);
    link_host_ = configured_primary_->host;
    return;
  }
  link_host_.clear();
  for (const std::string& host : first_replicas_) {
    const Peer* peer = peer_named(host);
    replication.begin_in_sync_with(name());
    add_replica(*peer, 0, Replica::State::online).heard = clock().reading_at(sim::Instant::origin());
  }
}

const Node::Peer* Node::peer_named(std::string_view host) const {
  const auto found = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& p) { return p.host == host; });
  return found == peers_.end() ? nullptr : &*found;
}

const Node::Peer* Node::peer_served_on(sim::ConnectionId connection) const {
  const auto found =
      std::find_if(peers_.begin(), peers_.end(), [&](const Peer& p) { return p.from.index == connection.index; });
  return found == peers_.end() ? nullptr : &*found;
}

void Node::begin() { acknowledge_later(); }

// --- As a primary.

void Node::propagate(const Request& request, sim::ConnectionId connection) {
  Replication& replication = database_.replication();
  if (!replication.is_recording() || replication.is_replica()) return;
  // Also who writes nothing notes where the stream is: a WAIT of this connection will refer to it.
  world().access(kStream, !database_.effects().empty());
  if (!database_.effects().empty()) send_part(replication.append(effects_of(request, connection)));
  database_.note_write_offset(connection.index);
}

std::vector<Effect> Node::effects_of(const Request& request, sim::ConnectionId connection) const {
  std::vector<Effect> effects(database_.effects().begin(), database_.effects().end());
  for (Effect& effect : effects) {
    if (effect.is_expiry) continue;
    effect.by = world().client_of(connection);
    effect.operation = request.operation;
  }
  return effects;
}

void Node::send_part(const std::shared_ptr<const StreamPart>& part) {
  if (!lag_) return send_to_all(part);
  if (database_.replication().replicas().empty()) return;
  world().access(kStream, true);
  Lagging& lagging = *lagging_.emplace_back(std::make_unique<Lagging>(*this, part));
  lagging.timer = world().set_timer(id(), *lag_, sim::TimerKind::sleep, lagging);
}

/// What came before it in the stream has left, too.
void Node::send_until(const Lagging& last) {
  world().access(kStream, true);
  bool is_last = false;
  while (!is_last) {
    const std::unique_ptr<Lagging> first = std::move(lagging_.front());
    lagging_.erase(lagging_.begin());
    is_last = first.get() == &last;
    if (!is_last) world().cancel_timer(first->timer);
    send_to_all(first->part);
  }
}

void Node::send_to_all(const std::shared_ptr<const StreamPart>& part) {
  for (const Replica& replica : database_.replication().replicas()) {
    if (replica.state == Replica::State::online) send_part(replica, part);
  }
}

void Node::send_part(const Replica& replica, const std::shared_ptr<const StreamPart>& part) {
  auto message = world().make<LinkMessage>(LinkKind::stream, link_numbers_[replica.session]);
  message->part = part;
  world().send_push({replica.session}, std::move(message));
}

void Node::receive_from_replica(const LinkMessage& message, const Peer& peer) {
  Replication& replication = database_.replication();
  const SessionId session = peer.from.index;
  Replica* replica = replication.replica(session);
  const bool is_present = replica != nullptr && link_numbers_[session] == message.number;
  switch (message.kind) {
    case LinkKind::psync:
      world().access_all();
      serve_replica(message, peer);
      return;
    case LinkKind::acknowledges:
      if (!is_present) {
        say(peer.from, LinkKind::closed, message.number);
        return;
      }
      if (blocked_.empty() && replication.failover() == Replication::Failover::none) {
        world().access(kAcknowledgements, true);
      } else {
        world().access_all();
      }
      replica->acknowledged = std::max(replica->acknowledged, message.offset);
      replica->heard = clock().now();
      if (!blocked_.empty()) {
        database_.acknowledged();
        send_deliveries();
      }
      look_for_synced_replica();
      return;
    case LinkKind::closed:
      world().access_all();
      if (is_present) replication.forget_replica(session);
      return;
    default: assert(false && "a primary's word");
  }
}

Replica& Node::add_replica(const Peer& peer, std::uint64_t number, Replica::State state) {
  const SessionId session = peer.from.index;
  if (link_numbers_.size() <= session) link_numbers_.resize(session + 1, 0);
  link_numbers_[session] = number;
  Replica& replica = database_.replication().replicas().emplace_back();
  replica.session = session;
  replica.address = Address{peer.host};
  replica.state = state;
  return replica;
}

void Node::serve_replica(const LinkMessage& psync, const Peer& peer) {
  Replication& replication = database_.replication();
  replication.forget_replica(peer.from.index);
  if (psync.takes_over && replication.is_replica() && psync.id == replication.id()) {
    replication.lead();
    carry_out(Database::Intent::lead);
  }
  const bool has_no_keys = database_.is_loading();
  if (has_no_keys) {
    refuse(peer, psync);
    return;
  }
  if (replication.is_replica() && replication.link() != LinkState::connected) {
    refuse(peer, psync);
    return;
  }
  if (replication.can_continue(psync.id, psync.offset)) {
    Replica& replica = add_replica(peer, psync.number, Replica::State::online);
    replica.acknowledged = psync.offset;
    replica.heard = clock().now();
    auto go_on = world().make<LinkMessage>(LinkKind::partial_resync, psync.number);
    go_on->id = replication.id();
    world().send_push(peer.from, std::move(go_on));
    for (const auto& part : replication.since(psync.offset)) send_part(replica, part);
    return;
  }
  replication.begin_recording();
  add_replica(peer, psync.number, Replica::State::waits);
  snapshots_.push_back(std::make_unique<Snapshot>(*this, peer.from.index, psync.number));
  if (snapshot_delay_ == sim::Duration::zero()) {
    send_snapshot(*snapshots_.back());
  } else {
    world().set_timer(id(), sim::DurationRange::exactly(snapshot_delay_), sim::TimerKind::sleep, *snapshots_.back());
  }
}

/// What Redis takes at the beginning and completes with all that happens meanwhile is here taken at the end: the same.
void Node::send_snapshot(const Snapshot& snapshot) {
  Replication& replication = database_.replication();
  world().access_all();
  Replica* replica = replication.replica(snapshot.session);
  if (replica != nullptr && link_numbers_[snapshot.session] == snapshot.number) {
    auto keys = std::make_shared<Keyspace>();
    keys->load(database_.keys());
    auto message = world().make<LinkMessage>(LinkKind::full_resync, snapshot.number);
    message->id = replication.id();
    message->offset = replication.offset();
    message->keys = std::move(keys);
    world().send_push({snapshot.session}, std::move(message));
    replica->state = Replica::State::online;
    replica->heard = clock().now();
    replication.forget_selected_database();
  }
  std::erase_if(snapshots_, [&](const auto& other) { return other.get() == &snapshot; });
}

void Node::refuse(const Peer& peer, const LinkMessage& psync) {
  say(peer.from, LinkKind::refused, psync.number);
  has_refused_ = true;
}

void Node::close_replicas() {
  Replication& replication = database_.replication();
  for (const Replica& replica : replication.replicas()) {
    say({replica.session}, LinkKind::closed, link_numbers_[replica.session]);
  }
  replication.replicas().clear();
}

void Node::say(sim::ConnectionId replica, LinkKind kind, std::uint64_t number) {
  world().send_push(replica, world().make<LinkMessage>(kind, number));
}

// --- As a replica.

void Node::carry_out(Database::Intent intent) {
  switch (intent) {
    case Database::Intent::follow:
      leave_primary();
      database_.unblock_all();
      connect_to_primary();
      return;
    case Database::Intent::lead:
      leave_primary();
      close_replicas();
      if (has_refused_) say_reachable();
      return;
    case Database::Intent::ask_acks:
      if (database_.replication().replicas().empty()) return;
      send_part(database_.replication().append_ack_request());
      return;
    case Database::Intent::fail_over: begin_failover(); return;
    case Database::Intent::abort_failover: abort_failover(); return;
    case Database::Intent::close_replicas: close_replicas(); return;
    case Database::Intent::close_primary:
      leave_primary();
      lose_link();
      connect_to_primary();
      return;
    case Database::Intent::rewrite:
      configured_primary_ = database_.replication().primary();
      database_.set_configuration(database_.configuration());
      return;
    case Database::Intent::save:
      is_persistent_ = true;
      persistence_.save(world().now(), database_.keys(), database_.replication());
      return;
  }
}

/// Whether the primary is told or not, what still comes on the old link is none of this server's any more.
void Node::leave_primary() {
  if (const Peer* old = peer_named(link_host_)) {
    world().send_request(old->to, world().make<LinkMessage>(LinkKind::closed, link_number_));
  }
  ++link_number_;
  link_host_.clear();
}

void Node::connect_to_primary() {
  Replication& replication = database_.replication();
  replication.set_link(LinkState::connect);
  ++link_number_;
  link_host_.clear();
  const Peer* peer = peer_named(replication.primary()->host);
  if (peer == nullptr) return;  // nobody of that name: it goes on trying for ever
  link_host_ = peer->host;
  replication.set_link(LinkState::connecting);
  auto psync = world().make<LinkMessage>(LinkKind::psync, link_number_);
  psync->id = replication.id();
  psync->offset = replication.offset();
  psync->takes_over = replication.failover() == Replication::Failover::in_progress;
  world().send_request(peer->to, std::move(psync));
}

void Node::lose_link() {
  Replication& replication = database_.replication();
  if (replication.link() == LinkState::connected) replication.set_down_since(clock().now());
  replication.set_link(LinkState::connect);
  link_host_.clear();
  world().cancel_timer(ack_timer_.timer);
  if (replication.failover() == Replication::Failover::in_progress) abort_failover();
}

void Node::notified(sim::Message& pushed, sim::ConnectionId connection) {
  const auto& message = static_cast<LinkMessage&>(pushed);
  Replication& replication = database_.replication();
  database_.set_watcher(world().is_explored() ? this : nullptr);
  if (message.kind == LinkKind::reachable) {
    world().access_all();
    const Peer* peer = replication.is_replica() ? peer_named(replication.primary()->host) : nullptr;
    if (peer == nullptr || peer->to.index != connection.index) return;
    lose_link();
    if (replication.is_replica()) connect_to_primary();
    return;
  }
  const Peer* present = peer_named(link_host_);
  if (!replication.is_replica() || present == nullptr || present->to.index != connection.index ||
      message.number != link_number_) {
    return;
  }
  replication.set_heard_of_primary(clock().now());
  switch (message.kind) {
    case LinkKind::stream: apply(message.part); return;
    case LinkKind::full_resync:
      world().access_all();
      close_replicas();
      keys_before_.load(database_.keys());
      database_.load(*message.keys);
      record_losses();
      replication.adopt(message.id, message.offset);
      if (is_persistent_) persistence_.rewrite(world().now(), database_.keys(), replication);
      become_connected();
      return;
    case LinkKind::partial_resync:
      world().access_all();
      if (message.id != replication.id()) close_replicas();
      replication.continue_as(message.id);
      become_connected();
      return;
    case LinkKind::closed:
      world().access_all();
      lose_link();
      if (replication.is_replica()) connect_to_primary();
      return;
    case LinkKind::refused:
      world().access_all();
      lose_link();
      return;
    default: assert(false && "a replica's word");
  }
}

void Node::become_connected() {
  database_.replication().set_link(LinkState::connected);
  acknowledge(database_.replication().offset());
  acknowledge_later();
  if (database_.replication().failover() != Replication::Failover::none) end_failover();
  if (has_refused_) say_reachable();
}

/// It came back: its receiver is dead, or was when this left. Whoever comes up says so.
void Node::returned(sim::Message& sent, sim::ConnectionId) {
  const auto& message = static_cast<LinkMessage&>(sent);
  world().access_all();
  if (message.number == link_number_ && database_.replication().is_replica()) lose_link();
}

void Node::apply(const std::shared_ptr<const StreamPart>& part) {
  Replication& replication = database_.replication();
  world().access(kStream, true);
  if (part->begin != replication.offset()) {
    // Something was lost on the way, which no TCP connection survives.
    world().access_all();
    lose_link();
    if (replication.is_replica()) connect_to_primary();
    return;
  }
  const std::int64_t before = replication.offset();
  const SessionId session = peer_named(link_host_)->to.index;
  database_.record_effects(false);
  if (is_persistent_) look_at_save_points();
  for (const Effect& effect : part->effects) {
    database_.apply(session, effect, clock());
    if (database_.touched_every_key()) world().access_all();
    auto changed = database_.parts().begin();
    std::size_t position = 0;
    for (const KeyChange& change : database_.changes()) {
      const sim::Effect::Kind kind = effect.is_expiry ? sim::Effect::Kind::expire : change.kind;
      world().record_effect(kind, id(), name_in_history(change.key, change.database), effect.by, effect.operation);
      for (; changed != database_.parts().end() && changed->change <= position; ++changed) {
        world().record_member(changed->member, changed->kind);
      }
      ++position;
    }
    if (is_persistent_) {
      persistence_.changed(world().now(), 1);
      if (persistence_.has_log()) persistence_.append(world().now(), {&effect, 1});
    }
    if (!database_.deliveries().empty()) send_deliveries();
  }
  replication.append_received(part);
  send_part(part);
  if (part->asks_for_ack) acknowledge(before);
}

void Node::acknowledge(std::int64_t offset) {
  const Peer* peer = peer_named(link_host_);
  if (peer == nullptr) return;
  auto message = world().make<LinkMessage>(LinkKind::acknowledges, link_number_);
  message->offset = offset;
  world().send_request(peer->to, std::move(message));
}

void Node::acknowledge_later() {
  const Replication& replication = database_.replication();
  if (!replication.has_periodic_acks() || world().is_explored()) return;
  if (!replication.is_replica() || replication.link() != LinkState::connected) return;
  world().cancel_timer(ack_timer_.timer);
  ack_timer_.timer =
      world().set_background_timer(id(), sim::DurationRange::exactly(clock().true_length(kAckPeriod)), ack_timer_);
}

void Node::acknowledge_periodically() {
  ack_timer_.timer = {};
  acknowledge(database_.replication().offset());
  acknowledge_later();
}

// --- Coming and going.

/// After a start, and whenever it can serve replicas again.
void Node::say_reachable() {
  has_refused_ = false;
  for (const Peer& peer : peers_) say(peer.from, LinkKind::reachable, 0);
}

void Node::start() {
  world().access_all();
  if (relay_ != nullptr) [[unlikely]]
    relay_->restarted(*this);
  if (loading_time_ == sim::Duration::zero()) {
    serve_others();
    return;
  }
  database_.set_loading(true);
  world().set_timer(id(), sim::DurationRange::exactly(loading_time_), sim::TimerKind::sleep, load_end_);
}

void Node::finish_loading() {
  world().access_all();
  database_.set_loading(false);
  serve_others();
}

void Node::serve_others() {
  say_reachable();
  if (database_.replication().is_replica()) connect_to_primary();
}

/// Its machine closes its connections.
void Node::take_leave() {
  close_replicas();
  if (database_.replication().is_replica()) leave_primary();
}

}  // namespace lockstep::models::redis
