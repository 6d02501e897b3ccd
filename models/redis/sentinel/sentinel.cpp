// How a sentinel looks around: its rounds, pings, and whom it suspects.

#include "models/redis/sentinel/sentinel.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::models::redis {

void Sentinel::connect_node(std::string host, sim::ConnectionId requests, sim::ConnectionId messages) {
  MonitoredNode& node = nodes_.emplace_back();
  node.name = std::move(host);
  node.link.requests = requests;
  node.messages = messages;
}

void Sentinel::connect_sentinel(std::string host, sim::ConnectionId requests) {
  PeerSentinel& peer = peers_.emplace_back();
  peer.name = std::move(host);
  peer.link.requests = requests;
}

void Sentinel::monitor(std::string_view primary) {
  const auto found =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const MonitoredNode& node) { return node.name == primary; });
  assert(found != nodes_.end() && "a sentinel monitors a server that it can reach");
  configured_primary_ = primary_ = static_cast<std::size_t>(found - nodes_.begin());
  found->is_known = true;
}

// --- Rounds.

void Sentinel::start() {
  forget_nodes();
  forget_peers();
  looked_ = now();
  timer_fired();
}

/// As newly connected. Nobody has failed to answer for longer than from now.
void Sentinel::forget_link(SentinelLink& link) const {
  const sim::ConnectionId requests = link.requests;
  link = {};
  link.requests = requests;
  link.unanswered = link.answered = link.available = link.published = now();
}

void Sentinel::forget_nodes() {
  for (MonitoredNode& node : nodes_) {
    forget_link(node.link);
    node.suspicion = {};
    node.informed.reset();
    node.info_asked.reset();
    node.role = may_be_primary(node) ? Role::primary : Role::replica;
    node.role_since = node.follows_since = now();
    node.run_id.clear();
    node.priority = 100;
    node.offset = 0;
    node.follows.clear();
    node.is_linked = false;
    node.unlinked_for = {};
    node.reconfiguration = Reconfiguration::none;
  }
}

void Sentinel::forget_peers() {
  for (PeerSentinel& peer : peers_) {
    forget_link(peer.link);
    peer.suspicion = {};
    peer.greeted = now();
    peer.asked_back.reset();
    peer.says_down = false;
    peer.vote.reset();
  }
}

void Sentinel::timer_fired() {
  if (settings_.rounds && looks_ >= *settings_.rounds) return;
  ++looks_;
  look();
  wait_for_next_look();
}

void Sentinel::wait_for_next_look() {
  const sim::DurationRange tick{clock().true_length(settings_.tick.lo), clock().true_length(settings_.tick.hi)};
  if (settings_.rounds) {
    world().set_timer(id(), tick, sim::TimerKind::sleep, *this);
  } else {
    world().set_background_timer(id(), tick, *this);
  }
}

void Sentinel::look() {
  check_tilt();
  look_after(nodes_[primary_]);
  for (MonitoredNode& node : nodes_) {
    if (node.is_known && !may_be_primary(node)) look_after(node);
  }
  for (PeerSentinel& peer : peers_) {
    if (peer.is_known) look_after(peer);
  }
  if (state_ == State::update_configuration) switch_primary(promoted_);
}

/// A clock that jumps, or a process that did not run: what it has observed says nothing about the others. Until it has
/// run smoothly for a while it goes on watching, and acts on nothing.
void Sentinel::check_tilt() {
  const sim::Instant present = now();
  const bool went_back = looked_ && !world().is_at_or_after(present, *looked_);
  if (went_back || (looked_ && clock().has_passed(*looked_ + settings_.tilt_trigger))) {
    tilted_ = present;
    announce("+tilt", "#tilt mode entered");
  }
  looked_ = present;
}

bool Sentinel::is_still_tilted() {
  if (!tilted_) return false;
  if (!clock().has_reached(*tilted_ + settings_.tilt_period)) return true;
  tilted_.reset();
  announce("-tilt", "#tilt mode exited");
  return false;
}

void Sentinel::look_after(MonitoredNode& node) {
  if (reconnect(node.link)) spawn(subscribe(node));
  // Its server may have forgotten the subscription: the hello messages that it sends itself come back this way.
  if (node.link.is_connected && is_long_ago(node.heard, settings_.publish_period * 3)) spawn(subscribe(node));
  if (node.link.is_connected) {
    const bool is_watched_closely = !may_be_primary(node) && (is_objectively_down_ || is_failing_over() ||
                                                              node.unlinked_for > sim::Duration::zero());
    const sim::Duration period = is_watched_closely ? settings_.fast_info_period : settings_.info_period;
    const sim::Duration patience = std::min(period, settings_.ping_period) / 2;
    if (is_long_ago(node.informed, period) && is_long_ago(node.info_asked, patience)) {
      node.info_asked = now();
      spawn(send_info(node));
    }
    send_pings(node.link);
  }
  if (is_still_tilted()) return;

  const bool is_demoted = may_be_primary(node) && node.role == Role::replica &&
                          is_long_ago(node.role_since, settings_.down_after + settings_.info_period * 2);
  suspect(node, is_unreachable(node.link) || is_demoted);
  if (!may_be_primary(node)) return;
  check_objectively_down();
  if (start_failover_if_needed()) ask_others(true);
  advance_failover();
  ask_others(false);
}

void Sentinel::look_after(PeerSentinel& peer) {
  reconnect(peer.link);
  if (peer.link.is_connected) send_pings(peer.link);
  if (is_still_tilted()) return;
  suspect(peer, is_unreachable(peer.link));
}

// --- Links.

/// Whether it has just tried.
bool Sentinel::reconnect(SentinelLink& link) {
  if (link.is_connected || (link.reconnected && !clock().has_reached(*link.reconnected + settings_.ping_period))) {
    return false;
  }
  link.reconnected = now();
  link.is_connected = true;
  ping(link);
  return true;
}

void Sentinel::send_pings(SentinelLink& link) {
  const sim::Duration period = std::min(settings_.down_after, settings_.ping_period);
  if (is_long_ago(link.answered, period) && is_long_ago(link.pinged, period / 2)) ping(link);
  if (is_long_ago(link.published, settings_.publish_period)) publish_hello(link);
}

void Sentinel::ping(SentinelLink& link) {
  if (!link.unanswered) link.unanswered = now();
  link.pinged = now();
  spawn(send_ping(link));
}

/// By its own clock, and for longer than it was told to be patient.
bool Sentinel::is_unreachable(const SentinelLink& link) const {
  if (link.unanswered) return is_long_ago(link.unanswered, settings_.down_after);
  return !link.is_connected && is_long_ago(link.available, settings_.down_after);
}

/// A server, or another sentinel.
template <class Watched>
void Sentinel::suspect(Watched& watched, bool is_down) {
  Suspicion& suspicion = watched.suspicion;
  if (is_down == suspicion.is_down) return;
  suspicion.is_down = is_down;
  if (is_down) suspicion.since = now();
  announce(is_down ? "+sdown" : "-sdown", instance(watched));
}

// --- Restarts.

void Sentinel::crashed(bool) {
  looked_.reset();
  tilted_.reset();
  is_objectively_down_ = is_forced_ = false;
  state_ = State::none;
  failover_epoch_ = 0;
  failover_started_.reset();
  promoted_ = kNobody;
  subscribers_.clear();
}

void Sentinel::reset() {
  crashed(false);
  primary_ = configured_primary_;
  ballot_ = {};
  configuration_epoch_ = 0;
  looks_ = 0;
  announced_.clear();
  for (MonitoredNode& node : nodes_) node.heard.reset();
  begin_knowing();
}

void Sentinel::begin_knowing() {
  for (MonitoredNode& node : nodes_) node.is_known = begins_acquainted_ || may_be_primary(node);
  for (PeerSentinel& peer : peers_) peer.is_known = begins_acquainted_;
}

}  // namespace lockstep::models::redis
