// [network], [servers], [[server]], [resource], and the clocks of servers and clients.

#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

constexpr std::int64_t kServersMax = 64;
/// Half as fast to half as fast again: beyond, a clock is not drifting but broken, and jumps say that better.
constexpr std::int64_t kDriftMax = 500'000;

constexpr Key<ClockSpec> kClock[] = {
    {"offset", "duration, may be negative", "\"0ms\"", "how far the wall clock is ahead of true time",
     [](const Node& value, ClockSpec& clock) { clock.offset = signed_duration_of(value); }},
    {"drift_ppm", "whole number, -500000 to 500000", "0", "how many parts per million both clocks run too fast",
     [](const Node& value, ClockSpec& clock) { clock.drift_ppm = whole_of(value, -kDriftMax, kDriftMax); }},
    {"uptime", "duration", "\"0ms\"", "what the monotonic clock shows when the story begins",
     [](const Node& value, ClockSpec& clock) { clock.uptime = duration_of(value); }},
};

constexpr Key<NetworkSpec> kNetwork[] = {
    {"latency", "duration or range", "\"1ms\"", "one way, between any two processes",
     [](const Node& value, NetworkSpec& network) { network.latency = range_of(value); }},
    {"timeout", "duration", "for ever", "how long a client waits for a reply",
     [](const Node& value, NetworkSpec& network) { network.timeout = duration_of(value); }},
    {"replication", "duration or range", "the latency", "one way, between two servers of which one follows the other",
     [](const Node& value, NetworkSpec& network) { network.replication = range_of(value); }},
};

struct ServersDraft {
  Draft& draft;
  std::int64_t count = 1;
};

constexpr Key<ServersDraft> kServers[] = {
    {"count", "whole number, 1 to 64", kRequired, "that many servers, all alike, named redis1, redis2, …",
     [](const Node& value, ServersDraft& servers) { servers.count = whole_of(value, 1, kServersMax); }},
};

struct ServerDraft {
  Draft& draft;
  ServerSpec server;
  const Node* replica_of = nullptr;
};

using AppendOnly = models::redis::PersistenceSettings::AppendOnly;
using SavePoint = models::redis::PersistenceSettings::SavePoint;

constexpr std::array<std::pair<std::string_view, AppendOnly>, 4> kAppendOnly{{{"off", AppendOnly::off},
                                                                              {"always", AppendOnly::always},
                                                                              {"everysec", AppendOnly::everysec},
                                                                              {"no", AppendOnly::no}}};

constexpr std::int64_t kChangesMax = 1'000'000'000;
constexpr std::int64_t kPriorityMax = 1'000'000;

constexpr Key<SavePoint> kSave[] = {
    {"after", "duration", kRequired, "so long after the last snapshot",
     [](const Node& value, SavePoint& point) { point.after = duration_of(value); }},
    {"changes", "whole number, 1 or more", "1", "if so many keys have been changed since",
     [](const Node& value, SavePoint& point) { point.changes = whole_of(value, 1, kChangesMax); }},
};

constexpr Key<ServerDraft> kServer[] = {
    {"name", "name", "\"redis\", or \"redis1\", …", "how faults, pins and reports call it",
     [](const Node& value, ServerDraft& d) { d.server.name = d.draft.names.declare_server(value); }},
    {"clock", "table", "true time", "its clocks",
     [](const Node& value, ServerDraft& d) { read_clock(value, d.server.clock); }},
    {"latency", "duration or range", "the network's", "one way, to and from this server",
     [](const Node& value, ServerDraft& d) { d.server.latency = range_of(value); }},
    {"replica_of", "name of a server", "none", "it begins, and starts again, as a replica of that server",
     [](const Node& value, ServerDraft& d) {
       d.server.replica_of = text_of(value, "the name of a server");
       d.replica_of = &value;
       d.draft.names.mention(Who::server, value);
     }},
    {"append_only", "\"off\", \"always\", \"everysec\" or \"no\"", "\"off\"",
     "its append-only file, and how often that is written to the disk",
     [](const Node& value, ServerDraft& d) { d.server.persistence.append_only = choice_of(value, kAppendOnly); }},
    {"save", "table", "never", "when it makes a snapshot of its keys",
     [](const Node& value, ServerDraft& d) {
       read_table(value, {"save"}, kSave, d.server.persistence.save.emplace_back());
     }},
    {"loading", "duration", "\"0ms\"", "how long a restart reads the disk; until then it answers LOADING",
     [](const Node& value, ServerDraft& d) { d.server.loading = duration_of(value); }},
    {"restart_delay", "duration", "\"0ms\"", "how much longer than a fault says it stays away after a crash",
     [](const Node& value, ServerDraft& d) { d.server.restart_delay = duration_of(value); }},
    {"snapshot_delay", "duration", "\"0ms\"", "how long it takes a primary to send a replica all of its keys",
     [](const Node& value, ServerDraft& d) { d.server.snapshot_delay = duration_of(value); }},
    {"min_replicas", "whole number, 0 to 64", "0",
     "a primary refuses to write with fewer replicas (min-replicas-to-write)",
     [](const Node& value, ServerDraft& d) { d.server.min_replicas = whole_of(value, 0, kServersMax); }},
    {"min_replicas_max_lag", "duration", "\"10s\"", "a replica that has been silent for longer does not count",
     [](const Node& value, ServerDraft& d) { d.server.min_replicas_max_lag = duration_of(value); }},
    {"priority", "whole number, 0 to 1000000", "100", "replica-priority: the smallest is promoted first, 0 never",
     [](const Node& value, ServerDraft& d) { d.server.priority = whole_of(value, 0, kPriorityMax); }},
};

using models::workloads::Guard;
constexpr std::array<std::pair<std::string_view, Guard>, 4> kGuards{{{"watch", Guard::watch},
                                                                     {"market-lock", Guard::market_lock},
                                                                     {"item-lock", Guard::item_lock},
                                                                     {"item-and-funds", Guard::item_and_funds}}};

constexpr Key<MarketSpec> kMarket[] = {
    {"guard", "\"watch\", \"market-lock\", \"item-lock\" or \"item-and-funds\"", kRequired,
     "what keeps trades apart: WATCH, one lock for all, a lock for each item, or one more for the buyer's funds",
     [](const Node& value, MarketSpec& market) { market.guard = choice_of(value, kGuards); }},
    {"price", "whole number, 1 to 1000000", "1", "of each item",
     [](const Node& value, MarketSpec& market) { market.price = whole_of(value, 1, 1'000'000); }},
    {"funds", "whole number, 0 to 1000000000", "1000000", "what each buyer has at the beginning",
     [](const Node& value, MarketSpec& market) { market.funds = whole_of(value, 0, 1'000'000'000); }},
};

constexpr std::array<std::pair<std::string_view, ResourceSpec::Kind>, 2> kResourceKinds{
    {{"counter", ResourceSpec::Kind::counter}, {"register", ResourceSpec::Kind::reg}}};

constexpr Key<ResourceSpec> kResource[] = {
    {"kind", "\"counter\" or \"register\"", kRequired,
     "a counter is read and then written one higher; a register is only written",
     [](const Node& value, ResourceSpec& resource) { resource.kind = choice_of(value, kResourceKinds); }},
    {"fenced", "true or false", "false", "whether it refuses fencing tokens that go back",
     [](const Node& value, ResourceSpec& resource) { resource.fenced = flag_of(value); }},
    {"latency", "duration or range", "the network's", "one way, to and from the resource",
     [](const Node& value, ResourceSpec& resource) { resource.latency = range_of(value); }},
};

void refuse_second_list(const Node& node, const Draft& draft) {
  if (draft.scenario.servers.empty()) return;
  throw Bad{node.at, "the servers are given twice; keep [servers] if they are all alike, [[server]] if not"};
}

/// A primary is nobody's replica itself: who follows whom is one level deep when a story begins.
void check_primary(const Node& node, const ServerSpec& replica, const std::vector<ServerSpec>& servers) {
  if (replica.replica_of == replica.name) {
    fail(node, in_quotes(replica.name) + " cannot be its own replica; name another server");
  }
  for (const ServerSpec& primary : servers) {
    if (primary.name != replica.replica_of || primary.replica_of.empty()) continue;
    fail(node,
         in_quotes(primary.name) + " is a replica itself, of " + in_quotes(primary.replica_of) + "; name that one");
  }
}

std::string default_name(std::size_t index, std::size_t count) {
  return count == 1 ? "redis" : "redis" + std::to_string(index + 1);
}

}  // namespace

void read_clock(const Node& node, ClockSpec& clock) { read_table(node, {"clock"}, kClock, clock); }

void read_network(const Node& node, Draft& draft) { read_table(node, {"[network]"}, kNetwork, draft.scenario.network); }

void read_server_count(const Node& node, Draft& draft) {
  refuse_second_list(node, draft);
  ServersDraft servers{draft};
  read_table(node, {"[servers]"}, kServers, servers);
  const auto count = static_cast<std::size_t>(servers.count);
  for (std::size_t i = 0; i < count; ++i) draft.scenario.servers.emplace_back().name = default_name(i, count);
}

void read_servers(const Node& node, Draft& draft) {
  refuse_second_list(node, draft);
  const Array& tables = tables_of(node, "[[server]]");
  if (tables.size() > static_cast<std::size_t>(kServersMax)) throw Bad{tables[kServersMax].at, "more than 64 servers"};
  std::vector<const Node*> primaries;
  read_each(tables, [&](const Node& table) {
    ServerDraft server{draft, {}};
    read_table(table, {"a [[server]]"}, kServer, server);
    // Declared by no key, and so by `Names` neither: a client of this name is found when names are resolved.
    if (server.server.name.empty()) server.server.name = default_name(draft.scenario.servers.size(), tables.size());
    for (const ServerSpec& other : draft.scenario.servers) {
      if (other.name == server.server.name) {
        throw Bad{table.at, "two servers are called \"" + other.name + "\"; every server needs its own name"};
      }
    }
    draft.scenario.servers.push_back(std::move(server.server));
    primaries.push_back(server.replica_of);
  });
  for (std::size_t i = 0; i < primaries.size(); ++i) {
    if (primaries[i] != nullptr) check_primary(*primaries[i], draft.scenario.servers[i], draft.scenario.servers);
  }
}

void read_resource(const Node& node, Draft& draft) {
  read_table(node, {"[resource]"}, kResource, draft.scenario.resource.emplace());
}

void read_market(const Node& node, Draft& draft) {
  MarketSpec market;
  read_table(node, {"[market]"}, kMarket, market);
  draft.scenario.market = market;
}

void list_world(std::vector<TableRow>& tables) {
  tables.push_back({"[network]", rows_of(std::span<const Key<NetworkSpec>>(kNetwork))});
  tables.push_back({"[servers]", rows_of(std::span<const Key<ServersDraft>>(kServers))});
  tables.push_back({"[[server]]", rows_of(std::span<const Key<ServerDraft>>(kServer))});
  tables.push_back({"save", rows_of(std::span<const Key<SavePoint>>(kSave))});
  tables.push_back({"clock", rows_of(std::span<const Key<ClockSpec>>(kClock))});
  tables.push_back({"[resource]", rows_of(std::span<const Key<ResourceSpec>>(kResource))});
  tables.push_back({"[market]", rows_of(std::span<const Key<MarketSpec>>(kMarket))});
}

}  // namespace lockstep::scenarios::schema
