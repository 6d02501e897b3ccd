#include "models/redis/kind/redis_servers.hpp"

#include <algorithm>
#include <utility>

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/kind/held_keys.hpp"
#include "models/redis/kind/server_settings.hpp"
#include "models/redis/script/sha1.hpp"

namespace lockstep::models::redis {
namespace {

void configure(Node& server, const ServerSettings& settings) {
  const ServerSettings standard;
  server.set_snapshot_delay(settings.snapshot_delay);
  server.set_loading_time(settings.loading);
  Configuration file;
  if (settings.min_replicas != standard.min_replicas) {
    file.set("min-replicas-to-write", std::to_string(settings.min_replicas));
  }
  if (settings.min_replicas_max_lag != standard.min_replicas_max_lag) {
    file.set("min-replicas-max-lag", std::to_string(settings.min_replicas_max_lag.floor_ms() / 1000));
  }
  if (settings.priority != standard.priority) file.set("replica-priority", std::to_string(settings.priority));
  server.set_configuration(std::move(file));
  server.set_persistence(settings.persistence);
}

}  // namespace

RedisServers::RedisServers(const ServersSetup& setup)
    : setup_(setup), sentinels_spec_(static_cast<const SentinelsSpec*>(setup.company)) {
  for (const ServerSpec& spec : setup_.servers) {
    ids_.push_back(setup_.world.add(servers_.emplace_back(*scripts_), spec.name, clock_settings(spec.clock)));
    configure(servers_.back(), server_settings(spec.settings));
    servers_.back().set_version(version_of(spec.settings, setup_.version));
  }
  replicate();
  if (sentinels_spec_ != nullptr && sentinels_spec_->is_abstract)
    add_promoter();
  else if (sentinels_spec_ != nullptr)
    add_sentinels();
  if (!setup_.expects_anything) return;
  for (Node& server : servers_) server.expect_anything();
}

/// Servers know each other if any of them follows another. Whether a replica is silent matters only to who asks for a
/// number of them.
void RedisServers::replicate() {
  std::vector<ServerSettings> settings;
  for (const ServerSpec& spec : setup_.servers) settings.push_back(server_settings(spec.settings));
  const auto follows = [](const ServerSettings& each) { return !each.replica_of.empty(); };
  if (std::none_of(settings.begin(), settings.end(), follows)) return;
  const bool counts_replicas =
      std::any_of(settings.begin(), settings.end(), [](const ServerSettings& each) { return each.min_replicas > 0; });
  for (std::size_t i = 0; i < settings.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) Node::meet(servers_[j], servers_[i], setup_.latency);
    servers_[i].set_lag(setup_.replication);
    servers_[i].set_periodic_acks(counts_replicas);
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (follows(settings[i])) servers_[i].begin_as_replica_of(server_named(settings[i].replica_of));
  }
}

Node& RedisServers::server_named(const std::string& name) {
  std::size_t number = 0;
  while (setup_.servers[number].name != name) ++number;
  return servers_[number];
}

sim::DurationRange RedisServers::latency_to_sentinel(std::size_t sentinel) const {
  return sentinels_spec_->each[sentinel].latency.value_or(setup_.latency);
}

/// Each can reach the primary, its replicas and each other sentinel, and knows them from the beginning, as if it had
/// been started long ago.
void RedisServers::add_sentinels() {
  const SentinelsSpec& spec = *sentinels_spec_;
  sim::World& world = setup_.world;
  SentinelSettings settings;
  settings.quorum = static_cast<std::size_t>(spec.quorum);
  settings.down_after = spec.down_after;
  settings.failover_timeout = spec.failover_timeout;
  settings.parallel_syncs = spec.parallel_syncs;
  settings.rounds = spec.rounds;
  for (const SentinelSpec& each : spec.each) {
    sentinel_ids_.push_back(world.add(sentinels_.emplace_back(settings), each.name, clock_settings(each.clock)));
  }
  const auto latency = [&](std::size_t sentinel, const std::optional<sim::DurationRange>& other) {
    return spec.each[sentinel].latency.value_or(other.value_or(setup_.latency));
  };
  for (std::size_t i = 0; i < sentinels_.size(); ++i) {
    for (std::size_t s = 0; s < ids_.size(); ++s) {
      const ServerSpec& server = setup_.servers[s];
      if (server.name != spec.primary && replica_of(server.settings) != spec.primary) continue;
      const sim::DurationRange range = latency(i, server.latency);
      const sim::ConnectionId requests = world.connect(sentinel_ids_[i], ids_[s], range);
      sentinels_[i].connect_node(server.name, requests, world.connect(sentinel_ids_[i], ids_[s], range));
    }
    for (std::size_t other = 0; other < sentinels_.size(); ++other) {
      if (other == i) continue;
      sentinels_[i].connect_sentinel(spec.each[other].name, world.connect(sentinel_ids_[i], sentinel_ids_[other],
                                                                          latency(i, spec.each[other].latency)));
    }
    sentinels_[i].monitor(spec.primary);
    sentinels_[i].begin_acquainted();
  }
}

/// It is told of a death when sentinels can have agreed on it: they look once a second at least, and an election takes
/// up to one more.
void RedisServers::add_promoter() {
  constexpr sim::Duration kAgreement = sim::Duration::seconds(2);
  const SentinelsSpec& spec = *sentinels_spec_;
  sim::World& world = setup_.world;
  promoter_.emplace(SentinelSettings().primary_name);
  sentinel_ids_.push_back(world.add(*promoter_, spec.each.front().name, clock_settings(spec.each.front().clock)));
  const auto watch = [&](std::size_t s) {
    const sim::ConnectionId requests = world.connect(sentinel_ids_.front(), ids_[s], setup_.latency_to(s));
    promoter_->watch(setup_.servers[s].name, requests,
                     world.connect(ids_[s], sentinel_ids_.front(), {spec.down_after, spec.down_after + kAgreement}));
  };
  // The primary first.
  for (const bool is_primary : {true, false}) {
    for (std::size_t s = 0; s < ids_.size(); ++s) {
      const ServerSpec& server = setup_.servers[s];
      if ((server.name == spec.primary) != is_primary) continue;
      if (is_primary || replica_of(server.settings) == spec.primary) watch(s);
    }
  }
}

void RedisServers::relay_through(Relay& relay) {
  for (Node& server : servers_) server.set_relay(relay);
}

void RedisServers::tell_of_clients() {
  for (Node& server : servers_) server.tell_of_clients();
}

void RedisServers::connect(Client& client, const ClientLink& how) {
  if (how.follows_primary) return follow_primary(client);
  Endpoint& endpoint = client.connect<Endpoint>();
  for (std::size_t i = 0; i < ids_.size(); ++i)
    endpoint.add_server(link(client, ids_[i], setup_.latency_to(i)), how.timeout);
}

RedisServers::Ways RedisServers::ways_of(Client& client) {
  Ways ways{.begin = promoter_ ? PrimaryRoute::Begin::first_server : PrimaryRoute::Begin::nobody};
  for (std::size_t i = 0; i < sentinel_ids_.size(); ++i) {
    const sim::DurationRange latency = latency_to_sentinel(i);
    const sim::ConnectionId requests = link(client, sentinel_ids_[i], latency);
    ways.sentinels.push_back({requests, link(client, sentinel_ids_[i], latency)});
    // A process hears of a promotion once.
    if (promoter_ && company_of(client).empty()) promoter_->tell(ways.sentinels.back().messages);
  }
  for (std::size_t i = 0; i < ids_.size(); ++i)
    ways.servers.push_back({setup_.servers[i].name, link(client, ids_[i], setup_.latency_to(i))});
  // Whom a client has worked with for long is the primary.
  const auto first = std::find_if(ways.servers.begin(), ways.servers.end(),
                                  [&](const PrimaryRoute::Server& s) { return s.host == sentinels_spec_->primary; });
  if (promoter_ && first != ways.servers.end()) std::iter_swap(ways.servers.begin(), first);
  return ways;
}

std::vector<PrimaryRoute*>& RedisServers::company_of(Client& client) {
  for (auto& [process, company] : companies_) {
    if (process == client.process().id()) return company;
  }
  return companies_.emplace_back(client.process().id(), std::vector<PrimaryRoute*>()).second;
}

void RedisServers::follow_primary(Client& client) {
  Ways ways = ways_of(client);
  PrimaryRoute& route = client.connect<Endpoint>().follow_primary(
      SentinelSettings().primary_name, std::move(ways.sentinels), std::move(ways.servers), setup_.timeout, ways.begin);
  if (promoter_) route.share_news(company_of(client));
}

void RedisServers::connect_subscriber(Client& process, const ClientLink& how) {
  if (how.follows_primary) {
    Ways ways = ways_of(process);
    PrimaryRoute& route =
        process.connect<Endpoint>().subscribe_at_primary(SentinelSettings().primary_name, std::move(ways.sentinels),
                                                         std::move(ways.servers), setup_.timeout, ways.begin);
    if (promoter_) route.share_news(company_of(process));
    return;
  }
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    process.connect<Endpoint>().add_subscriber(setup_.world.connect(process.id(), ids_[i], setup_.latency_to(i)),
                                               setup_.timeout);
  }
}

void RedisServers::expect_exploration() {
  for (Node& server : servers_) server.set_script_memory(&*script_memory_);
}

void RedisServers::begin_first() {
  if (promoter_) return promoter_->begin();
  // Sentinels that look at the same moment would all stand for election at the same moment.
  for (std::size_t i = 0; i < sentinel_ids_.size(); ++i) {
    constexpr sim::Duration kApart = sim::Duration::milliseconds(17), kSpread = sim::Duration::milliseconds(300);
    setup_.world.start(sentinel_ids_[i], {kApart * static_cast<std::int64_t>(i), kSpread});
  }
}

void RedisServers::begin() {
  for (Node& server : servers_) server.begin();
}

bool RedisServers::is_as_at_first() const {
  return std::all_of(servers_.begin(), servers_.end(),
                     [](const Node& server) { return server.database().keys().empty(); });
}

std::uint64_t RedisServers::digest(std::size_t server) const { return servers_[server].database().digest(); }

std::vector<HeldObject> RedisServers::held(std::size_t server) const {
  return held_keys(servers_[server].database(), setup_.world);
}

std::vector<std::string> RedisServers::holdings(std::size_t server) const {
  return holdings_of(servers_[server].database());
}

std::optional<Servers::Trouble> RedisServers::trouble() const {
  for (const Node& server : servers_) {
    const std::optional<std::string>& message = server.database().limit_hit();
    if (message) return Trouble{*message, std::string(server.database().stopped_script())};
  }
  return std::nullopt;
}

std::vector<Servers::Mistake> RedisServers::mistakes() const {
  std::vector<Mistake> mistakes;
  for (const ScriptEngine::Mistake& mistake : scripts_->mistakes()) {
    std::string_view rest = mistake.script;
    for (std::size_t line = 1; line < mistake.line && rest.find('\n') != rest.npos; ++line)
      rest.remove_prefix(rest.find('\n') + 1);
    mistakes.push_back({.script = sha1_hex(mistake.script),
                        .line = mistake.line,
                        .code = std::string(rest.substr(0, rest.find('\n'))),
                        .message = mistake.message});
  }
  return mistakes;
}

}  // namespace lockstep::models::redis
