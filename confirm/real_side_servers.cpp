// The processes behind a story: how they start, die and come back, and what they hold.

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "confirm/real_side.hpp"
#include "models/redis/kind/server_settings.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::confirm {
namespace {

using models::redis::Command;
using models::redis::Entry;
using models::redis::Node;
using models::redis::replica_of;
using models::redis::Reply;
using models::redis::ServerSettings;
using sim::Duration;
using AppendOnly = models::redis::PersistenceSettings::AppendOnly;

/// Everything in a line, in an order that depends on nothing but the content.
std::string line_of_parts(std::vector<std::string> parts, bool is_ordered) {
  if (!is_ordered) std::sort(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, ", "));
}

struct Content {
  std::string operator()(const models::Value& value) const { return value.text(); }
  std::string operator()(const models::redis::Hash& hash) const {
    std::vector<std::string> parts;
    for (const auto& field : hash.items()) parts.push_back(field.key + "=" + field.value.text());
    return line_of_parts(std::move(parts), false);
  }
  std::string operator()(const models::redis::List& list) const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < list.size(); ++i) parts.push_back(list[i].text());
    return line_of_parts(std::move(parts), true);
  }
  std::string operator()(const models::redis::Set& set) const {
    std::vector<std::string> parts;
    for (const auto& member : set.items()) parts.push_back(member.key);
    return line_of_parts(std::move(parts), false);
  }
  std::string operator()(const models::redis::SortedSet& set) const {
    std::vector<std::string> parts;
    for (const auto& member : set.members()) parts.push_back(member.key + "=" + member.score.value().text());
    return line_of_parts(std::move(parts), false);
  }
};

Command question_for(const Entry& entry) {
  const std::string_view type = models::redis::type_name(entry.object);
  if (type == "hash") return Command{"HGETALL", entry.key};
  if (type == "list") return Command{"LRANGE", entry.key, 0, -1};
  if (type == "set") return Command{"SMEMBERS", entry.key};
  if (type == "zset") return Command{"ZRANGE", entry.key, 0, -1, "WITHSCORES"};
  return Command{"GET", entry.key};
}

std::string content_of(const Entry& entry, const Reply& reply) {
  if (!reply.is_array()) return reply.is_bulk() ? reply.value().text() : reply.describe();
  const std::string_view type = models::redis::type_name(entry.object);
  const bool is_paired = type == "hash" || type == "zset";
  std::vector<std::string> parts;
  for (const Reply& item : reply.items()) {
    if (is_paired && (&item - reply.items().data()) % 2 == 1)
      parts.back() += "=" + item.value().text();
    else
      parts.push_back(item.value().text());
  }
  return line_of_parts(std::move(parts), type == "list");
}

/// A script may keep a time that it has reckoned from how much was left of a lease: "A=1060, B=1090".
bool are_near(const std::string& model, const std::string& real, Duration tolerance) {
  constexpr std::int64_t kLeastTime = 20;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto number_at = [](const std::string& text, std::size_t& at) {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return models::parse_integer(std::string_view(text).substr(begin, at - begin));
  };
  while (i < model.size() && j < real.size()) {
    const auto a = number_at(model, i);
    const auto b = number_at(real, j);
    const bool is_time = a && b && *a >= kLeastTime && *b >= kLeastTime &&
                         Duration::milliseconds(std::max(*a, *b) - std::min(*a, *b)) <= tolerance;
    if (a != b && !is_time) return false;
    if (i < model.size() && j < real.size() && model[i++] != real[j++]) return false;
  }
  return i == model.size() && j == real.size();
}

}  // namespace

bool has_clock_of_its_own(const scenarios::Scenario& scenario, const scenarios::ServerSpec& server) {
  if (server.clock.drift_ppm != 0 || server.clock.offset != Duration::zero()) return true;
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [&](const scenarios::FaultSpec& fault) {
    return moves_clock(fault.kind) && fault.who == server.name;
  });
}

RealSide::RealSide(const scenarios::Scenario& scenario, Settings settings)
    : scenario_(scenario), settings_(std::move(settings)) {
  start_servers();
  connect_links();
  start_sentinels();
}

RealSide::~RealSide() {
  if (!settings_.server) return;
  try {
    Wire wire(*settings_.server);
    for (const auto& [database, key] : keys_) {
      wire.ask(Command{"SELECT", static_cast<std::int64_t>(database)});
      wire.ask(Command{"DEL", key});
    }
  } catch (const ServerTrouble&) {
    // It has gone, and what it held is no longer ours to tidy.
  }
}

std::vector<std::string> RealSide::arguments_of(const scenarios::ServerSpec& spec) const {
  const bool is_kept = std::any_of(scenario_.faults.begin(), scenario_.faults.end(), [&](const auto& fault) {
    return kills(fault.kind) && fault.who == spec.name && fault.keep;
  });
  const ServerSettings settings = models::redis::server_settings(spec.settings);
  std::vector<std::string> words{
      "--min-replicas-to-write", std::to_string(settings.min_replicas),
      "--min-replicas-max-lag",  std::to_string(settings.min_replicas_max_lag.floor_ms() / 1000),
      "--replica-priority",      std::to_string(settings.priority),
      "--enable-debug-command",  "yes"};
  const AppendOnly policy = settings.persistence.append_only;
  if (policy == AppendOnly::off && !is_kept) {
    for (const auto& point : settings.persistence.save) {
      words.insert(words.end(),
                   {"--save", std::to_string(point.after.floor_ms() / 1000), std::to_string(point.changes)});
    }
    return words;
  }
  // A crash that keeps everything is one after which everything was on the disk.
  const std::string when = policy == AppendOnly::everysec ? "everysec" : policy == AppendOnly::no ? "no" : "always";
  words.insert(words.end(), {"--appendonly", "yes", "--appendfsync", when});
  return words;
}

void RealSide::launch(Server& server, const scenarios::ServerSpec& spec) {
  const auto clock = server.has_own_clock ? RealServer::Clock::shifted : RealServer::Clock::of_machine;
  server.process = std::make_unique<RealServer>(folder_.path() + "/" + spec.name, arguments_of(spec), clock);
  if (server.has_own_clock) server.process->shift_clock(spec.clock.offset.count_ns());
}

/// Between looking for a free port and listening there, somebody else may have taken it.
void RealSide::await_ready(Server& server, const scenarios::ServerSpec& spec) {
  constexpr int kLaunches = 3;
  for (int i = 1;; ++i) {
    try {
      return server.process->await_ready();
    } catch (const ServerTrouble&) {
      if (i == kLaunches) throw;
      launch(server, spec);
    }
  }
}

void RealSide::start_servers() {
  for (const scenarios::ServerSpec& spec : scenario_.servers) {
    Server& server = servers_.emplace_back();
    server.name = spec.name;
    server.has_own_clock = has_clock_of_its_own(scenario_, spec);
    if (!settings_.server) launch(server, spec);
  }
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    if (server.process) await_ready(server, scenario_.servers[i]);
    server.inspector.emplace(endpoint_of(server));
    if (server.process) server.log.emplace_back(-Duration::forever(), server.process->log_size());
  }
  const std::string info = ask(servers_.front(), Command{"INFO", "server"}).value().text();
  const std::size_t begin = info.find("redis_version:");
  if (begin != std::string::npos) version_ = info.substr(begin + 14, info.find('\r', begin) - begin - 14);
}

void RealSide::connect_links() {
  if (std::all_of(scenario_.servers.begin(), scenario_.servers.end(),
                  [](const auto& spec) { return replica_of(spec.settings).empty(); }))
    return;
  std::vector<std::uint16_t> ports;
  for (const Server& server : servers_) ports.push_back(server.process->port());
  const auto number = [&](const std::string& name) {
    const auto found = std::find_if(servers_.begin(), servers_.end(), [&](const Server& s) { return s.name == name; });
    return static_cast<std::size_t>(found - servers_.begin());
  };
  std::vector<SlowLinks::Gap> gaps;
  for (const scenarios::FaultSpec& fault : scenario_.faults) {
    if (!cuts_off(fault.kind)) continue;
    for (const std::string& one : fault.between[0]) {
      for (const std::string& other : fault.between[1]) {
        if (number(one) == servers_.size() || number(other) == servers_.size()) continue;
        gaps.push_back({number(one), number(other), fault.trigger.time, fault.trigger.time + fault.length.lo});
      }
    }
  }
  const Duration latency = scenario_.network.replication.value_or(scenario_.network.latency).lo;
  links_ = std::make_unique<SlowLinks>(ports, latency, std::move(gaps), [this] { return elapsed(); });
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const std::string primary = replica_of(scenario_.servers[i].settings);
    if (!primary.empty()) follow(i, number(primary));
  }
}

void RealSide::start_sentinels() {
  if (settings_.server || !RealSentinels::can_watch(scenario_)) return;
  const std::string& primary = scenario_.sentinels->primary;
  std::size_t replicas = 0;
  for (const scenarios::ServerSpec& spec : scenario_.servers) replicas += replica_of(spec.settings) == primary ? 1 : 0;
  for (const Server& server : servers_) {
    if (server.name == primary)
      sentinels_ = std::make_unique<RealSentinels>(scenario_, folder_.path(), server.process->port(), replicas);
  }
}

/// On a connection of our own, which somebody may have ended.
Reply RealSide::ask(Server& server, const Command& command) {
  server.inspector->receive_within(0);
  if (server.inspector->is_over()) server.inspector.emplace(endpoint_of(server));
  return server.inspector->ask(command);
}

bool RealSide::leads(Server& server) {
  const Reply role = ask(server, Command{"ROLE"});
  return role.is_array() && role.items().front().value() == "master";
}

/// Real sentinels, and what they order, take a little longer or shorter than the model's.
void RealSide::finish() {
  if (!links_) return;
  const int tries = sentinels_ ? 300 : 50;
  for (Server& server : servers_) {
    const auto node = nodes_.find(server.name);
    if (node == nodes_.end() || !server.inspector) continue;
    server.process->go_on();
    const bool model_leads = !node->second->database().replication().is_replica();
    bool is_same = leads(server) == model_leads;
    for (int i = 0; i < tries && !is_same; ++i) {
      server.inspector->receive_within(10);
      is_same = leads(server) == model_leads;
    }
    if (!is_same)
      remark(fmt::format("in the end {} is a {} in the model, and a {} in reality", server.name,
                         model_leads ? "primary" : "replica", model_leads ? "replica" : "primary"));
    if (!sentinels_ || !model_leads) continue;
    for (int i = 0; i < tries && sentinels_->primary() != server.process->port(); ++i)
      server.inspector->receive_within(10);
    if (sentinels_->primary() != server.process->port())
      remark(fmt::format("in the end the real sentinels do not call {} the primary, as those of the model do",
                         server.name));
  }
}

/// And waits until it has what its primary has: in the story it always had.
void RealSide::follow(std::size_t follower, std::size_t primary) {
  Wire& wire = *servers_[follower].inspector;
  wire.ask(Command{"REPLICAOF", "127.0.0.1", static_cast<std::int64_t>(links_->port(follower, primary))});
  constexpr int kTries = 1'000;
  for (int i = 0; i < kTries; ++i) {
    const std::string info = wire.ask(Command{"INFO", "replication"}).value().text();
    if (info.find("master_link_status:up") != std::string::npos) return;
    wire.receive_within(10);
  }
  throw ServerTrouble(servers_[follower].name + " does not become a replica of " + servers_[primary].name);
}

void RealSide::crashed(Node& node, bool keep) {
  const std::size_t number = number_of(node);
  Server& server = servers_[number];
  for (auto line = lines_.begin(); line != lines_.end();) {
    if (line->second.node != &node) {
      ++line;
      continue;
    }
    early_.erase(line->first);
    line = lines_.erase(line);
  }
  ends_.forget(node);
  server.inspector.reset();
  server.is_paused = false;
  if (links_) links_->cut(number);
  server.process->kill();
  const AppendOnly policy = models::redis::persistence_of(scenario_.servers[number].settings).append_only;
  if (!keep && policy == AppendOnly::off)
    std::filesystem::remove_all(folder_.path() + "/" + server.name + "/appendonlydir");
  if (!keep && (policy == AppendOnly::everysec || policy == AppendOnly::no)) {
    const Duration unwritten = policy == AppendOnly::everysec ? Duration::seconds(1) : Duration::seconds(30);
    const Duration written = world().now().offset() - unwritten;
    std::uint64_t size = 0;
    for (const auto& [at, bytes] : server.log) size = at <= written ? bytes : size;
    server.process->cut_log(size);
  }
  // It takes some milliseconds to come up, which the story need not wait for; but nobody may see it before its time.
  if (!links_) server.process->launch();
}

void RealSide::restarted(Node& node) {
  Server& server = server_of(node);
  if (!server.process->is_up()) server.process->launch();
  server.process->await_ready();
  server.inspector.emplace(endpoint_of(server));
  const std::string primary = replica_of(scenario_.servers[number_of(node)].settings);
  if (links_ && !primary.empty()) {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (servers_[i].name == primary)
        ask(server, Command{"REPLICAOF", "127.0.0.1", static_cast<std::int64_t>(links_->port(number_of(node), i))});
    }
  }
}

// --- What they hold.

/// A replica has what has reached it, and when that was only its primary's network knows.
void RealSide::compare_keys(const Node& node) {
  if (node.database().replication().is_replica()) return;
  Server& server = server_of(node);
  const Duration now = world().now().offset();
  for (models::redis::DatabaseId database = 0; database < models::redis::kDatabases; ++database) {
    const auto entries = node.database().keys().entries(database);
    if (entries.empty() && database > 0) continue;
    ask(server, Command{"SELECT", static_cast<std::int64_t>(database)});
    std::set<std::string> expected;
    for (const Entry& entry : entries) {
      expected.insert(entry.key);
      keys_.emplace(database, entry.key);
      const Duration left = entry.expires ? node.clock().true_time_of(entry.at).offset() - now : Duration::forever();
      if (left <= tolerance()) continue;
      const std::string model = std::visit(Content(), entry.object);
      const std::string real = content_of(entry, ask(server, question_for(entry)));
      const Duration asked = elapsed();
      const std::int64_t time = ask(server, Command{"PTTL", entry.key}).integer();
      const Duration told = elapsed();
      const std::string where = fmt::format("{} at {}: {}", node.name(), sim::to_string(now), entry.key);
      if (model != real && !are_near(model, real, tolerance()))
        remark(fmt::format("{} is {} in the model and {} in reality", where, model, real));
      if ((time >= 0) != entry.expires)
        remark(fmt::format("{} {} in the model, and {} in reality", where,
                           entry.expires ? "has a lease" : "has no lease", time >= 0 ? "it has one" : "it has none"));
      if (time < 0 || !entry.expires) continue;
      // It was asked a little after the command, and the lease began as late as a command may have come.
      const Duration end = now + left;
      const Duration slack = Duration::milliseconds(2);
      const Duration real_left = Duration::milliseconds(time);
      if (real_left < end - told - slack || real_left > end - asked + lateness_ + slack)
        remark(fmt::format("{} lives {} longer in the model, and {} in reality", where, sim::to_string(left),
                           sim::to_string(real_left)));
    }
    const Reply keys = ask(server, Command{"KEYS", "*"});
    if (!keys.is_array()) continue;
    for (const Reply& key : keys.items()) {
      if (!expected.contains(key.value().text()))
        remark(fmt::format("{} at {}: {} is there in reality, and not in the model", node.name(), sim::to_string(now),
                           key.value().text()));
    }
  }
}

}  // namespace lockstep::confirm
