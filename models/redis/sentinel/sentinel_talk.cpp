// What a sentinel sends, what it makes of the answers, and the hello messages by which sentinels find each other and
// spread a new configuration.

#include <algorithm>
#include <string>
#include <vector>

#include "models/redis/sentinel/sentinel.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::redis {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

bool Sentinel::is_of_peer(const SentinelLink& link) const {
  return std::any_of(peers_.begin(), peers_.end(), [&](const PeerSentinel& peer) { return &peer.link == &link; });
}

sim::MessagePtr Sentinel::message_for(const SentinelLink& link, Command command) {
  if (is_of_peer(link)) return world().make<SentinelRequest>(std::move(command));
  return world().make<Request>(std::move(command));
}

/// A server that loads its keys, or a replica without its primary, is up.
sim::Task<void> Sentinel::send_ping(SentinelLink& link) {
  const std::optional<Reply> reply =
      co_await sim::Call<Response>(*this, link.requests, message_for(link, Command{"PING"}), std::nullopt);
  if (!reply) {
    link.is_connected = false;
    co_return;
  }
  const bool is_up =
      reply->is_status("PONG") ||
      (reply->is_error() && (reply->text().starts_with("LOADING") || reply->text().starts_with("MASTERDOWN")));
  link.answered = now();
  if (!is_up) co_return;
  link.available = now();
  link.unanswered.reset();
}

sim::Task<void> Sentinel::send_info(MonitoredNode& node) {
  // All sections, as the real one asks: its own reads from them what it needs.
  const std::optional<Reply> reply =
      co_await sim::Call<Response>(*this, node.link.requests, message_for(node.link, Command{"INFO"}), std::nullopt);
  if (!reply) node.link.is_connected = false;
  if (reply && reply->is_bulk()) learn(node, reply->value().text());
}

sim::Task<void> Sentinel::send_and_forget(SentinelLink& link, Command command) {
  const std::optional<Reply> reply =
      co_await sim::Call<Response>(*this, link.requests, message_for(link, std::move(command)), std::nullopt);
  if (!reply) link.is_connected = false;
}

sim::Task<void> Sentinel::subscribe(MonitoredNode& node) {
  node.heard = now();
  co_await sim::Call<Response>(*this, node.messages, world().make<Request>(Command{"SUBSCRIBE", kHelloChannel}),
                               std::nullopt);
}

sim::Task<void> Sentinel::ask(PeerSentinel& peer, std::string candidate) {
  Command command{"SENTINEL", "IS-MASTER-DOWN-BY-ADDR", nodes_[primary_].name, kServerPort, ballot_.epoch(), candidate};
  const std::optional<Reply> reply =
      co_await sim::Call<Response>(*this, peer.link.requests, message_for(peer.link, std::move(command)), std::nullopt);
  if (!reply) peer.link.is_connected = false;
  if (!reply || !reply->is_array() || reply->items().size() != 3) co_return;
  peer.asked_back = now();
  peer.says_down = reply->items()[0].is_integer(1);
  const std::string leader = reply->items()[1].value().text();
  if (leader != "*") peer.vote = Vote{leader, reply->items()[2].integer()};
}

/// One transaction: a server that changes its role remembers it for its next start, and whoever is connected to it is
/// to notice.
void Sentinel::command_replicaof(MonitoredNode& node, const std::string& host) { spawn(send_role(node, host)); }

sim::Task<void> Sentinel::send_role(MonitoredNode& node, std::string host) {
  auto request = world().make<Request>(Command{"EXEC"});
  request->in_front = {Command{"MULTI"},
                       host.empty() ? Command{"REPLICAOF", "NO", "ONE"} : Command{"REPLICAOF", host, kServerPort},
                       Command{"CONFIG", "REWRITE"}, Command{"CLIENT", "KILL", "TYPE", "normal"},
                       Command{"CLIENT", "KILL", "TYPE", "pubsub"}};
  const std::optional<Reply> reply =
      co_await sim::Call<Response>(*this, node.link.requests, std::move(request), std::nullopt);
  if (!reply) node.link.is_connected = false;
}

void Sentinel::notified(sim::Message& message, sim::ConnectionId connection) {
  const Reply& content = static_cast<Response&>(message).content;
  for (MonitoredNode& node : nodes_) {
    if (node.messages.index != connection.index && node.link.requests.index != connection.index) continue;
    if (!content.is_array()) {
      // The server has closed this connection.
      node.link.is_connected = false;
      node.heard.reset();
      return;
    }
    node.heard = now();
    if (content.items().size() == 3) hear_hello(content.items()[2].value().text());
    return;
  }
}

// --- Hello.

std::size_t Sentinel::known_peers() const {
  return static_cast<std::size_t>(
      std::count_if(peers_.begin(), peers_.end(), [](const PeerSentinel& peer) { return peer.is_known; }));
}

/// During a failover that has come to a new primary it is announced already, under the epoch of the failover: others
/// take it over as soon as they hear of it.
const MonitoredNode& Sentinel::announced_primary() const {
  const bool is_promoted = state_ == State::reconfigure || state_ == State::update_configuration;
  return nodes_[is_promoted ? promoted_ : primary_];
}

std::string Sentinel::hello() const {
  std::string out = name() + "," + std::string(kSentinelPort) + "," + name() + ",";
  out += std::to_string(ballot_.epoch()) + "," + settings_.primary_name + ",";
  out += announced_primary().name + "," + std::string(kServerPort) + "," + std::to_string(configuration_epoch_);
  return out;
}

void Sentinel::publish_hello(SentinelLink& link) {
  link.published = now();
  spawn(send_and_forget(link, Command{"PUBLISH", kHelloChannel, hello()}));
}

/// With the next look, to everybody.
void Sentinel::publish_hello_soon() {
  for (MonitoredNode& node : nodes_) node.link.published.reset();
  for (PeerSentinel& peer : peers_) peer.link.published.reset();
}

void Sentinel::hear_hello(const std::string& payload) {
  constexpr std::size_t kFields = 8;
  const std::vector<std::string> fields = split(payload, ',');
  if (fields.size() != kFields || fields[2] == name() || fields[4] != settings_.primary_name) return;
  const auto epoch = parse_integer(fields[3]);
  const auto configuration_epoch = parse_integer(fields[7]);
  const auto peer =
      std::find_if(peers_.begin(), peers_.end(), [&](const PeerSentinel& p) { return p.name == fields[2]; });
  if (peer == peers_.end() || !epoch || !configuration_epoch) return;
  if (!peer->is_known) {
    peer->is_known = true;
    peer->link.unanswered = peer->link.answered = peer->link.available = now();
    announce("+sentinel", instance(*peer));
  }
  peer->greeted = now();
  if (ballot_.hear_of(*epoch)) announce("+new-epoch", fields[3]);
  if (*configuration_epoch <= configuration_epoch_) return;

  // The configuration of the higher epoch wins: its sentinel was elected later.
  configuration_epoch_ = *configuration_epoch;
  const auto to =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const MonitoredNode& node) { return node.name == fields[5]; });
  if (to == nodes_.end() || may_be_primary(*to)) return;
  announce("+config-update-from", instance(*peer));
  switch_primary(static_cast<std::size_t>(to - nodes_.begin()));
}

}  // namespace lockstep::models::redis
