// A failover, step by step: objectively down, an election, the choice of a replica, its promotion, and the others'
// reconfiguration. Only the elected sentinel does more than to vote.

#include <algorithm>
#include <string>
#include <vector>

#include "models/redis/sentinel/sentinel.hpp"

namespace lockstep::models::redis {

// --- Is it down?

void Sentinel::check_objectively_down() {
  std::size_t agree = nodes_[primary_].suspicion.is_down ? 1 : 0;
  for (const PeerSentinel& peer : peers_) {
    if (agree > 0 && peer.is_known && peer.says_down) ++agree;
  }
  const bool is_down = agree >= settings_.quorum && agree > 0;
  if (is_down == is_objectively_down_) return;
  is_objectively_down_ = is_down;
  announce(is_down ? "+odown" : "-odown",
           describe_primary_instance() +
               (is_down ? " #quorum " + std::to_string(agree) + "/" + std::to_string(settings_.quorum) : ""));
}

/// Asks the others whether they agree; in a failover of its own it also asks for their votes.
void Sentinel::ask_others(bool at_once) {
  for (PeerSentinel& peer : peers_) {
    if (!peer.is_known) continue;
    if (is_long_ago(peer.asked_back, settings_.ask_period * 5)) {
      peer.says_down = false;
      peer.vote.reset();
    }
    if (!nodes_[primary_].suspicion.is_down || !peer.link.is_connected) continue;
    if (!at_once && !is_long_ago(peer.asked_back, settings_.ask_period)) continue;
    spawn(ask(peer, is_failing_over() ? name() : "*"));
  }
}

// --- Who leads?

/// Not again for a while after one that it has tried, or voted for: that one may still be going on.
bool Sentinel::start_failover_if_needed() {
  if (!is_objectively_down_ || is_failing_over()) return false;
  if (failover_started_ && !clock().has_reached(*failover_started_ + settings_.failover_timeout * 2)) return false;
  start_failover();
  return true;
}

void Sentinel::start_failover() {
  failover_epoch_ = ballot_.begin();
  announce("+new-epoch", std::to_string(failover_epoch_));
  announce("+try-failover", describe_primary_instance());
  failover_started_ = now() + desync();
  state_ = State::wait_start;
  state_since_ = now();
}

/// So that sentinels which failed together do not try again together. Nobody's chance but the world's; where all choose
/// the first option, sentinels still differ, as they do in the real world.
sim::Duration Sentinel::desync() {
  constexpr std::uint64_t kOptions = 1000;
  constexpr std::uint64_t kStride = 331;
  const std::uint64_t options = world().is_explored() ? 2 : kOptions;
  const std::uint64_t chosen = world().choose(sim::Choice::model, options) * (kOptions / options);
  const auto part = static_cast<std::int64_t>((chosen + kStride * id().index) % kOptions);
  return settings_.desync_max * part / static_cast<std::int64_t>(kOptions);
}

bool Sentinel::vote(Epoch epoch, const std::string& candidate) {
  if (ballot_.hear_of(epoch)) announce("+new-epoch", std::to_string(epoch));
  if (!ballot_.ask(epoch, candidate)) return false;
  announce("+vote-for-leader", candidate + " " + std::to_string(epoch));
  if (candidate != name()) failover_started_ = now() + desync();
  return true;
}

/// Its own vote goes to whoever leads among the others, and to itself while nobody does.
std::optional<std::string> Sentinel::leader() {
  std::vector<Vote> votes;
  for (const PeerSentinel& peer : peers_) {
    if (peer.is_known && peer.vote) votes.push_back(*peer.vote);
  }
  const Epoch epoch = failover_epoch_;
  std::size_t count = 0;
  const std::optional<Vote> leading = most_voted(votes, ballot_.epoch(), count);
  vote(epoch, leading ? leading->leader : name());
  if (ballot_.vote().epoch == epoch) votes.push_back(ballot_.vote());
  // Of this moment's epoch: whoever hears of a newer election has lost its own.
  return winner(votes, ballot_.epoch(), known_peers() + 1, settings_.quorum);
}

// --- The steps.

void Sentinel::advance_failover() {
  switch (state_) {
    case State::none:
    case State::update_configuration: return;
    case State::wait_start: return wait_for_election();
    case State::select_replica: return select_replica();
    case State::send_replicaof: return promote();
    case State::wait_promotion: return wait_for_promotion();
    case State::reconfigure: return reconfigure_others();
  }
}

void Sentinel::enter(State state, std::string_view name) {
  state_ = state;
  state_since_ = now();
  const MonitoredNode& about = promoted_ != kNobody ? nodes_[promoted_] : nodes_[primary_];
  if (!name.empty()) announce("+failover-state-" + std::string(name), instance(about));
}

void Sentinel::abort_failover(const std::string& why) {
  announce("-failover-abort-" + why, describe_primary_instance());
  state_ = State::none;
  state_since_ = now();
  is_forced_ = false;
  promoted_ = kNobody;
}

void Sentinel::wait_for_election() {
  if (leader() != name() && !is_forced_) {
    const sim::Duration patience = std::min(settings_.election_timeout, settings_.failover_timeout);
    if (is_long_ago(failover_started_, patience)) abort_failover("not-elected");
    return;
  }
  announce("+elected-leader", describe_primary_instance());
  enter(State::select_replica, "select-slave");
}

void Sentinel::select_replica() {
  const std::optional<std::size_t> best = fittest_replica();
  if (!best) return abort_failover("no-good-slave");
  promoted_ = *best;
  announce("+selected-slave", instance(nodes_[promoted_]));
  enter(State::send_replicaof, "send-slaveof-noone");
}

/// Fit is who is up, answers, has been asked lately, and has not been without its primary for much longer than the
/// primary has been down.
std::optional<std::size_t> Sentinel::fittest_replica() {
  const Suspicion& primary = nodes_[primary_].suspicion;
  const sim::Duration freshness = primary.is_down ? settings_.ping_period * 5 : settings_.info_period * 3;
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const MonitoredNode& node = nodes_[i];
    if (!node.is_known || i == primary_ || node.suspicion.is_down || !node.link.is_connected) continue;
    if (is_long_ago(node.link.available, settings_.ping_period * 5)) continue;
    if (is_long_ago(node.informed, freshness)) continue;
    const sim::Duration spare = node.unlinked_for - settings_.down_after * 10;
    const bool is_excused = primary.is_down && clock().has_reached(*primary.since + spare);
    if (spare > sim::Duration::zero() && !is_excused) continue;
    candidates.push_back({.index = i, .priority = node.priority, .offset = node.offset, .run_id = node.run_id});
  }
  return best_replica(candidates);
}

void Sentinel::promote() {
  MonitoredNode& node = nodes_[promoted_];
  if (!node.link.is_connected) {
    if (is_long_ago(state_since_, settings_.failover_timeout)) abort_failover("slave-timeout");
    return;
  }
  command_replicaof(node, {});
  enter(State::wait_promotion, "wait-promotion");
}

/// That it leads, INFO will say.
void Sentinel::wait_for_promotion() {
  if (is_long_ago(state_since_, settings_.failover_timeout)) abort_failover("slave-timeout");
}

void Sentinel::promoted() {
  configuration_epoch_ = failover_epoch_;
  announce("+promoted-slave", instance(nodes_[promoted_]));
  enter(State::reconfigure, "reconf-slaves");
  publish_hello_soon();
}

void Sentinel::reconfigure_others() {
  std::int64_t in_progress = 0;
  for (const MonitoredNode& node : nodes_) {
    if (node.reconfiguration == Reconfiguration::sent || node.reconfiguration == Reconfiguration::in_progress) {
      ++in_progress;
    }
  }
  for (std::size_t i = 0; i < nodes_.size() && in_progress < settings_.parallel_syncs; ++i) {
    MonitoredNode& node = nodes_[i];
    if (!node.is_known || i == primary_ || i == promoted_) continue;
    if (node.reconfiguration == Reconfiguration::sent &&
        is_long_ago(node.reconfiguration_sent, settings_.reconfiguration_timeout)) {
      announce("-slave-reconf-sent-timeout", instance(node));
      node.reconfiguration = Reconfiguration::done;
    }
    if (node.reconfiguration != Reconfiguration::none || !node.link.is_connected) continue;
    command_replicaof(node, nodes_[promoted_].name);
    node.reconfiguration = Reconfiguration::sent;
    node.reconfiguration_sent = now();
    announce("+slave-reconf-sent", instance(node));
    ++in_progress;
  }
  detect_end();
}

void Sentinel::detect_end() {
  // A new primary that is down, too, is no end: there is a timeout for that.
  if (nodes_[promoted_].suspicion.is_down) return;
  const bool is_too_late = is_long_ago(state_since_, settings_.failover_timeout);
  std::vector<MonitoredNode*> missing;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    MonitoredNode& node = nodes_[i];
    if (!node.is_known || i == primary_ || i == promoted_ || node.suspicion.is_down) continue;
    if (node.reconfiguration != Reconfiguration::done) missing.push_back(&node);
  }
  if (!missing.empty() && !is_too_late) return;
  if (is_too_late) announce("+failover-end-for-timeout", describe_primary_instance());
  announce("+failover-end", describe_primary_instance());
  for (MonitoredNode* node : missing) {
    if (node->reconfiguration != Reconfiguration::none || !node->link.is_connected) continue;
    command_replicaof(*node, nodes_[promoted_].name);
    node->reconfiguration = Reconfiguration::sent;
    announce("+slave-reconf-sent-be", instance(*node));
  }
  enter(State::update_configuration, "");
}

/// Forgets what it has observed; the old primary is a replica from now on, wherever it is.
void Sentinel::switch_primary(std::size_t to) {
  announce("+switch-master", settings_.primary_name + " " + nodes_[primary_].name + " " + std::string(kServerPort) +
                                 " " + nodes_[to].name + " " + std::string(kServerPort));
  primary_ = to;
  nodes_[to].is_known = true;
  is_objectively_down_ = is_forced_ = false;
  state_ = State::none;
  failover_started_.reset();
  promoted_ = kNobody;
  forget_nodes();
  for (const MonitoredNode& node : nodes_) {
    if (node.is_known && !may_be_primary(node)) announce("+slave", instance(node));
  }
}

}  // namespace lockstep::models::redis
