// What a sentinel learns from INFO, and what it does about a server that is not what it should be.

#include <algorithm>
#include <string>
#include <string_view>

#include "models/redis/sentinel/sentinel.hpp"

namespace lockstep::models::redis {
namespace {

/// The value of `key:value` if the line is that.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') return std::nullopt;
  return line.substr(key.size() + 1);
}

/// The host of "slave0:ip=redis2,port=6379,state=online,…".
std::optional<std::string> replica_in(std::string_view line) {
  constexpr std::string_view kWord = "slave", kHost = "ip=";
  if (!line.starts_with(kWord) || line.size() <= kWord.size() || line[kWord.size()] < '0' || line[kWord.size()] > '9') {
    return std::nullopt;
  }
  const std::size_t begin = line.find(kHost);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = line.find(',', begin);
  return std::string(line.substr(begin + kHost.size(), end - begin - kHost.size()));
}

/// How the role of a server has changed since its last INFO, for the announcement.
std::string_view word_for(MonitoredNode::Role role) {
  return role == MonitoredNode::Role::primary ? "master" : "slave";
}

}  // namespace

void Sentinel::learn(MonitoredNode& node, const std::string& info) {
  Role role = node.role;
  std::string follows;
  node.unlinked_for = {};
  std::vector<std::string> replicas;
  for (std::size_t begin = 0; begin < info.size();) {
    const std::size_t end = std::min(info.find("\r\n", begin), info.size());
    const std::string_view line = std::string_view(info).substr(begin, end - begin);
    begin = end + 2;
    if (const auto id = value_of(line, "run_id")) {
      if (!node.run_id.empty() && node.run_id != *id) announce("+reboot", instance(node));
      node.run_id = *id;
    }
    if (const auto word = value_of(line, "role")) role = *word == "master" ? Role::primary : Role::replica;
    if (const auto replica = replica_in(line)) replicas.push_back(*replica);
    if (const auto host = value_of(line, "master_host")) follows = *host;
    if (const auto status = value_of(line, "master_link_status")) node.is_linked = *status == "up";
    if (const auto text = value_of(line, "master_link_down_since_seconds")) {
      node.unlinked_for = sim::Duration::seconds(std::max<std::int64_t>(0, parse_integer(*text).value_or(0)));
    }
    if (const auto text = value_of(line, "slave_priority")) node.priority = parse_integer(*text).value_or(100);
    if (const auto text = value_of(line, "slave_repl_offset")) node.offset = parse_integer(*text).value_or(0);
  }
  node.informed = now();
  if (may_be_primary(node) && role == Role::primary) {
    for (const std::string& host : replicas) learn_replica(host);
  }
  learn_role(node, role, std::move(follows));
  // Whoever is not sure of its own clock changes nothing.
  if (!tilted_) react_to_role(node);
}

void Sentinel::learn_replica(const std::string& host) {
  const auto node = std::find_if(nodes_.begin(), nodes_.end(), [&](const MonitoredNode& n) { return n.name == host; });
  if (node == nodes_.end() || node->is_known) return;
  node->is_known = true;
  node->role = Role::replica;
  node->role_since = node->follows_since = now();
  node->link.unanswered = node->link.answered = node->link.available = node->link.published = now();
  announce("+slave", instance(*node));
}

void Sentinel::learn_role(MonitoredNode& node, Role role, std::string follows) {
  if (role != node.role) {
    node.role = role;
    node.role_since = now();
    if (role == Role::replica) node.follows_since = now();
    const bool is_expected = (role == Role::primary) == may_be_primary(node);
    announce(is_expected ? "+role-change" : "-role-change",
             instance(node) + " new reported role is " + std::string(word_for(role)));
  }
  if (role != Role::replica) return;
  if (follows != node.follows) node.follows_since = now();
  node.follows = std::move(follows);
}

bool Sentinel::is_primary_sane() const {
  const MonitoredNode& primary = nodes_[primary_];
  return primary.role == Role::primary && !primary.suspicion.is_down && !is_objectively_down_ &&
         !is_long_ago(primary.informed, settings_.info_period * 2);
}

bool Sentinel::has_been_up_for(const Suspicion& suspicion, sim::Duration length) const {
  return !suspicion.since || is_long_ago(suspicion.since, length);
}

/// A primary that says it is a replica is left alone: it will be found down. Of the others: the promoted one is what it
/// should be; whoever else leads, e.g. an old primary that has returned, must follow, and so must whoever follows a
/// wrong primary. Not at once: this sentinel may be the one that has not heard the news yet.
void Sentinel::react_to_role(MonitoredNode& node) {
  if (may_be_primary(node)) return;
  const std::string& primary = nodes_[primary_].name;
  if (node.role == Role::primary) {
    if (promoted_ != kNobody && &node == &nodes_[promoted_]) {
      if (state_ == State::wait_promotion) promoted();
      return;
    }
    const sim::Duration patience = settings_.publish_period * 4;
    if (is_primary_sane() && has_been_up_for(node.suspicion, patience) && is_long_ago(node.role_since, patience)) {
      command_replicaof(node, primary);
      announce("+convert-to-slave", instance(node));
    }
    return;
  }
  if (node.follows != primary && !is_failing_over() && is_primary_sane() &&
      has_been_up_for(node.suspicion, settings_.failover_timeout) &&
      is_long_ago(node.follows_since, settings_.failover_timeout)) {
    command_replicaof(node, primary);
    announce("+fix-slave-config", instance(node));
  }
  follow_reconfiguration(node);
}

void Sentinel::follow_reconfiguration(MonitoredNode& node) {
  if (promoted_ == kNobody) return;
  if (node.reconfiguration == Reconfiguration::sent && node.follows == nodes_[promoted_].name) {
    node.reconfiguration = Reconfiguration::in_progress;
    announce("+slave-reconf-inprog", instance(node));
  }
  if (node.reconfiguration == Reconfiguration::in_progress && node.is_linked) {
    node.reconfiguration = Reconfiguration::done;
    announce("+slave-reconf-done", instance(node));
  }
}

}  // namespace lockstep::models::redis
