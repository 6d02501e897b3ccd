// What a sentinel answers to clients and to other sentinels, and what it announces. Source: sentinelCommand and
// sentinelEvent of sentinel.c, Redis 7.0.

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "models/redis/data/glob.hpp"
#include "models/redis/database/commands.hpp"
#include "models/redis/sentinel/sentinel.hpp"

namespace lockstep::models::redis {
namespace {

using namespace std::string_view_literals;

/// Sorted. A subcommand with its container.
constexpr std::array kSentinelCommands{"INFO"sv,
                                       "PING"sv,
                                       "PSUBSCRIBE"sv,
                                       "PUBLISH"sv,
                                       "PUNSUBSCRIBE"sv,
                                       "ROLE"sv,
                                       "SENTINEL CKQUORUM"sv,
                                       "SENTINEL FAILOVER"sv,
                                       "SENTINEL GET-MASTER-ADDR-BY-NAME"sv,
                                       "SENTINEL IS-MASTER-DOWN-BY-ADDR"sv,
                                       "SENTINEL MASTER"sv,
                                       "SENTINEL MASTERS"sv,
                                       "SENTINEL MYID"sv,
                                       "SENTINEL REPLICAS"sv,
                                       "SENTINEL SENTINELS"sv,
                                       "SENTINEL SLAVES"sv,
                                       "SUBSCRIBE"sv,
                                       "UNSUBSCRIBE"sv};

/// Null: it has no such command.
const std::string_view* find_command_of_sentinel(const Command& command) {
  const bool has_subcommand = command.size() > 1 && command[0].is_word("SENTINEL");
  constexpr std::string_view kContainer = "SENTINEL ";
  const auto found = std::find_if(kSentinelCommands.begin(), kSentinelCommands.end(), [&](std::string_view name) {
    if (!has_subcommand) return command[0].is_word(name);
    return name.starts_with(kContainer) && command[1].is_word(name.substr(kContainer.size()));
  });
  return found != kSentinelCommands.end() ? &*found : nullptr;
}

/// How many words each takes, with its name; 0: any number.
std::size_t words_of(std::string_view name) {
  if (name == "SENTINEL MASTERS" || name == "SENTINEL MYID") return 2;
  if (name == "SENTINEL IS-MASTER-DOWN-BY-ADDR") return 6;
  if (name.starts_with("SENTINEL ")) return 3;
  return name == "PUBLISH" ? 3 : name == "ROLE" ? 1 : 0;
}

Reply no_such_primary() { return Reply::error("ERR No such master with that name"); }

class Fields {
 public:
  Fields& add(std::string_view name, std::string value) {
    items_.push_back(Reply::bulk(name));
    items_.push_back(Reply::bulk(std::move(value)));
    return *this;
  }
  Fields& add(std::string_view name, std::int64_t value) { return add(name, std::to_string(value)); }
  Reply done() { return Reply::array(std::move(items_)); }

 private:
  std::vector<Reply> items_;
};

/// "s_down,slave,disconnected".
std::string flags(std::initializer_list<std::pair<bool, std::string_view>> all) {
  std::string out;
  for (const auto& [is_set, name] : all) {
    if (!is_set) continue;
    if (!out.empty()) out += ',';
    out += name;
  }
  return out;
}

}  // namespace

SentinelRequest::SentinelRequest(Command c) : command(std::move(c)) {
  const std::string_view* found = find_command_of_sentinel(command);
  name_ = found != nullptr ? *found : "UNKNOWN"sv;
}

std::span<const std::string_view> sentinel_commands() { return kSentinelCommands; }

void Sentinel::receive(sim::Message& message, sim::ConnectionId connection) {
  const auto& request = static_cast<SentinelRequest&>(message);
  // The announcements that a request causes come before its reply, as they do from the real one.
  Reply reply = execute(request.command, connection);
  world().send_reply(connection, request, world().make<Response>(request.name(), std::move(reply)));
}

Reply Sentinel::execute(const Command& command, sim::ConnectionId connection) {
  const std::string_view* name = find_command_of_sentinel(command);
  if (name == nullptr && command[0].is_word("SENTINEL") && command.size() > 1) {
    return Reply::error("ERR unknown subcommand '" + command[1].text() + "'. Try SENTINEL HELP.");
  }
  if (name == nullptr) {
    std::string shown;
    for (std::size_t i = 1; i < command.size(); ++i) shown += "'" + command[i].text() + "' ";
    return Reply::error("ERR unknown command '" + command[0].text() + "', with args beginning with: " + shown);
  }
  const std::size_t words = words_of(*name);
  if (words != 0 && command.size() != words) {
    return Reply::error("ERR wrong number of arguments for '" + error_name(*name) + "' command");
  }
  if (*name == "PING") return Reply::pong();
  if (*name == "ROLE") {
    return Reply::array({Reply::bulk("sentinel"), Reply::array({Reply::bulk(settings_.primary_name)})});
  }
  if (*name == "INFO") {
    const bool is_down = nodes_[primary_].suspicion.is_down;
    return Reply::bulk("# Sentinel\r\nsentinel_masters:1\r\nsentinel_tilt:" + std::to_string(is_tilted() ? 1 : 0) +
                       "\r\nmaster0:name=" + settings_.primary_name + ",status=" +
                       (is_objectively_down_ ? "odown"
                        : is_down            ? "sdown"
                                             : "ok") +
                       ",address=" + announced_primary().name + ":" + std::string(kServerPort) + ",slaves=" +
                       std::to_string(known_replicas()) + ",sentinels=" + std::to_string(known_peers() + 1) + "\r\n");
  }
  if (*name == "PUBLISH") {
    if (command[1].text() != kHelloChannel) {
      return Reply::error("ERR Only HELLO messages are accepted by Sentinel instances.");
    }
    hear_hello(command[2].text());
    return Reply::integer(1);
  }
  if (name->ends_with("SUBSCRIBE")) return subscribe(*name, command, connection);
  return execute_sentinel(*name, command);
}

Reply Sentinel::execute_sentinel(std::string_view name, const Command& command) {
  if (name == "SENTINEL MYID") return Reply::bulk(this->name());
  if (name == "SENTINEL MASTERS") return Reply::array({describe_primary()});
  if (name == "SENTINEL IS-MASTER-DOWN-BY-ADDR") return is_primary_down(command);
  if (command[2].text() != settings_.primary_name) {
    return name == "SENTINEL GET-MASTER-ADDR-BY-NAME" ? Reply::null_array() : no_such_primary();
  }
  if (name == "SENTINEL GET-MASTER-ADDR-BY-NAME") {
    return Reply::array({Reply::bulk(announced_primary().name), Reply::bulk(kServerPort)});
  }
  if (name == "SENTINEL MASTER") return describe_primary();
  if (name == "SENTINEL CKQUORUM") return check_quorum();
  if (name == "SENTINEL FAILOVER") return force_failover();
  std::vector<Reply> all;
  if (name == "SENTINEL SENTINELS") {
    for (const PeerSentinel& peer : peers_) {
      if (peer.is_known) all.push_back(describe(peer));
    }
  } else {
    for (const MonitoredNode& node : nodes_) {
      if (node.is_known && !may_be_primary(node)) all.push_back(describe(node));
    }
  }
  return Reply::array(std::move(all));
}

/// It tells what it finds itself, and votes if that is asked for. Of a server that it does not watch as a primary it
/// knows nothing: a sentinel that has not heard of a new primary yet has no say about it.
Reply Sentinel::is_primary_down(const Command& command) {
  const std::optional<std::int64_t> port = command[3].integer();
  const std::optional<std::int64_t> epoch = command[4].integer();
  if (!port || !epoch) return Reply::error("ERR value is not an integer or out of range");
  const bool is_watched = command[2].text() == nodes_[primary_].name && command[3].text() == kServerPort;
  const bool is_down = is_watched && !is_tilted() && nodes_[primary_].suspicion.is_down;
  const std::string candidate = command[5].text();
  Vote answer{"*", 0};
  if (is_watched && candidate != "*") {
    vote(*epoch, candidate);
    if (!ballot_.vote().leader.empty()) answer = ballot_.vote();
  }
  return Reply::array({Reply::integer(is_down ? 1 : 0), Reply::bulk(answer.leader), Reply::integer(answer.epoch)});
}

Reply Sentinel::check_quorum() const {
  const std::size_t voters = known_peers() + 1;
  std::size_t usable = 1;
  for (const PeerSentinel& peer : peers_) {
    if (peer.is_known && !peer.suspicion.is_down) ++usable;
  }
  const std::string count = std::to_string(usable) + " usable Sentinels. ";
  const bool has_quorum = usable >= settings_.quorum;
  const bool has_majority = usable >= voters / 2 + 1;
  if (has_quorum && has_majority)
    return Reply::status("OK " + count + "Quorum and failover authorization can be reached");
  std::string error = "NOQUORUM " + count;
  if (!has_quorum) error += "Not enough available Sentinels to reach the specified quorum for this master";
  if (!has_majority) {
    if (!has_quorum) error += ". ";
    error += "Not enough available Sentinels to reach the majority and authorize a failover";
  }
  return Reply::error(error);
}

Reply Sentinel::force_failover() {
  if (is_failing_over()) return Reply::error("INPROG Failover already in progress");
  if (!fittest_replica()) return Reply::error("NOGOODSLAVE No suitable replica to promote");
  start_failover();
  is_forced_ = true;
  return Reply::ok();
}

// --- Descriptions. Of the real one's fields those that say something here; none of the ages, which an exploration has
// no number for.

std::size_t Sentinel::known_replicas() const {
  return static_cast<std::size_t>(std::count_if(
      nodes_.begin(), nodes_.end(), [&](const MonitoredNode& node) { return node.is_known && !may_be_primary(node); }));
}

Reply Sentinel::describe_primary() const {
  const MonitoredNode& node = nodes_[primary_];
  return Fields()
      .add("name", settings_.primary_name)
      .add("ip", node.name)
      .add("port", std::string(kServerPort))
      .add("runid", node.run_id)
      .add("flags", flags({{node.suspicion.is_down, "s_down"},
                           {is_objectively_down_, "o_down"},
                           {true, "master"},
                           {!node.link.is_connected, "disconnected"},
                           {is_failing_over(), "failover_in_progress"},
                           {is_forced_, "force_failover"}}))
      .add("down-after-milliseconds", settings_.down_after.floor_ms())
      .add("role-reported", node.role == Role::primary ? "master" : "slave")
      .add("config-epoch", configuration_epoch_)
      .add("num-slaves", static_cast<std::int64_t>(known_replicas()))
      .add("num-other-sentinels", static_cast<std::int64_t>(known_peers()))
      .add("quorum", static_cast<std::int64_t>(settings_.quorum))
      .add("failover-timeout", settings_.failover_timeout.floor_ms())
      .add("parallel-syncs", settings_.parallel_syncs)
      .done();
}

Reply Sentinel::describe(const MonitoredNode& node) const {
  const bool is_promoted = promoted_ != kNobody && &node == &nodes_[promoted_];
  return Fields()
      .add("name", node.name + ":" + std::string(kServerPort))
      .add("ip", node.name)
      .add("port", std::string(kServerPort))
      .add("runid", node.run_id)
      .add("flags", flags({{node.suspicion.is_down, "s_down"},
                           {true, "slave"},
                           {!node.link.is_connected, "disconnected"},
                           {is_promoted, "promoted"},
                           {node.reconfiguration == Reconfiguration::sent, "reconf_sent"},
                           {node.reconfiguration == Reconfiguration::in_progress, "reconf_inprog"},
                           {node.reconfiguration == Reconfiguration::done, "reconf_done"}}))
      .add("role-reported", node.role == Role::primary ? "master" : "slave")
      .add("master-link-status", node.is_linked ? "ok" : "err")
      .add("master-host", node.follows.empty() ? "?" : node.follows)
      .add("master-port", node.follows.empty() ? "0" : std::string(kServerPort))
      .add("slave-priority", node.priority)
      .add("slave-repl-offset", node.offset)
      .done();
}

Reply Sentinel::describe(const PeerSentinel& peer) const {
  return Fields()
      .add("name", peer.name)
      .add("ip", peer.name)
      .add("port", std::string(kSentinelPort))
      .add("runid", peer.name)
      .add("flags", flags({{peer.suspicion.is_down, "s_down"},
                           {true, "sentinel"},
                           {!peer.link.is_connected, "disconnected"},
                           {peer.says_down, "master_down"}}))
      .add("voted-leader", peer.vote ? peer.vote->leader : "?")
      .add("voted-leader-epoch", peer.vote ? peer.vote->epoch : 0)
      .done();
}

std::string Sentinel::describe_primary_instance() const { return instance(nodes_[primary_]); }

std::string Sentinel::instance(const MonitoredNode& node) const {
  const std::string port(kServerPort);
  const std::string primary = settings_.primary_name + " " + nodes_[primary_].name + " " + port;
  if (may_be_primary(node)) return "master " + primary;
  return "slave " + node.name + ":" + port + " " + node.name + " " + port + " @ " + primary;
}

std::string Sentinel::instance(const PeerSentinel& peer) const {
  return "sentinel " + peer.name + " " + peer.name + " " + std::string(kSentinelPort) + " @ " + settings_.primary_name +
         " " + nodes_[primary_].name + " " + std::string(kServerPort);
}

// --- Channels.

Sentinel::Subscriber& Sentinel::subscriber(sim::ConnectionId connection) {
  for (Subscriber& subscriber : subscribers_) {
    if (subscriber.connection == connection.index) return subscriber;
  }
  return subscribers_.emplace_back(Subscriber{connection.index, {}, {}});
}

void Sentinel::closed(sim::ConnectionId connection) {
  std::erase_if(subscribers_, [&](const Subscriber& each) { return each.connection == connection.index; });
}

Reply Sentinel::subscribe(std::string_view name, const Command& command, sim::ConnectionId connection) {
  Subscriber& subscriber = this->subscriber(connection);
  std::vector<std::string>& list = name.starts_with("P") ? subscriber.patterns : subscriber.channels;
  const bool begins = !name.ends_with("UNSUBSCRIBE");
  std::string kind;
  for (const char c : name) kind += static_cast<char>(c - 'A' + 'a');
  std::vector<Reply> replies;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string channel = command[i].text();
    std::erase(list, channel);
    if (begins) list.push_back(channel);
    const auto count = static_cast<std::int64_t>(subscriber.channels.size() + subscriber.patterns.size());
    replies.push_back(Reply::array({Reply::bulk(kind), Reply::bulk(channel), Reply::integer(count)}));
  }
  if (replies.empty()) return Reply::error("ERR wrong number of arguments for '" + kind + "' command");
  return replies.size() == 1 ? std::move(replies.front()) : Reply::several(std::move(replies));
}

/// Nobody is told in `start` what nobody could have subscribed to.
void Sentinel::announce(const std::string& event, const std::string& payload) {
  announced_.push_back(event + " " + payload);
  for (const Subscriber& subscriber : subscribers_) {
    const sim::ConnectionId connection{subscriber.connection};
    const auto send = [&](std::vector<Reply> items) {
      items.push_back(Reply::bulk(event));
      items.push_back(Reply::bulk(payload));
      world().send_push(connection, world().make<Response>("MESSAGE", Reply::array(std::move(items))));
    };
    if (std::find(subscriber.channels.begin(), subscriber.channels.end(), event) != subscriber.channels.end()) {
      send({Reply::bulk("message")});
    }
    for (const std::string& pattern : subscriber.patterns) {
      if (glob_matches(pattern, event)) send({Reply::bulk("pmessage"), Reply::bulk(pattern)});
    }
  }
}

}  // namespace lockstep::models::redis
