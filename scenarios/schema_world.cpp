// [network], [servers], [[server]], [resource], and the clocks of servers and clients.

#include "scenarios/schema_parts.hpp"
#include "scenarios/schema_value.hpp"

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
};

constexpr Key<ServerDraft> kServer[] = {
    {"name", "name", "\"redis\", or \"redis1\", …", "how faults, pins and reports call it",
     [](const Node& value, ServerDraft& d) { d.server.name = d.draft.names.declare_server(value); }},
    {"clock", "table", "true time", "its clocks",
     [](const Node& value, ServerDraft& d) { read_clock(value, d.server.clock); }},
    {"latency", "duration or range", "the network's", "one way, to and from this server",
     [](const Node& value, ServerDraft& d) { d.server.latency = range_of(value); }},
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
  for (std::size_t i = 0; i < count; ++i) draft.scenario.servers.push_back({default_name(i, count), {}, {}});
}

void read_servers(const Node& node, Draft& draft) {
  refuse_second_list(node, draft);
  const Array& tables = tables_of(node, "[[server]]");
  if (tables.size() > static_cast<std::size_t>(kServersMax)) throw Bad{tables[kServersMax].at, "more than 64 servers"};
  for (const Node& table : tables) {
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
  }
}

void read_resource(const Node& node, Draft& draft) {
  read_table(node, {"[resource]"}, kResource, draft.scenario.resource.emplace());
}

void list_world(std::vector<TableRow>& tables) {
  tables.push_back({"[network]", rows_of(std::span<const Key<NetworkSpec>>(kNetwork))});
  tables.push_back({"[servers]", rows_of(std::span<const Key<ServersDraft>>(kServers))});
  tables.push_back({"[[server]]", rows_of(std::span<const Key<ServerDraft>>(kServer))});
  tables.push_back({"clock", rows_of(std::span<const Key<ClockSpec>>(kClock))});
  tables.push_back({"[resource]", rows_of(std::span<const Key<ResourceSpec>>(kResource))});
}

}  // namespace lockstep::scenarios::schema
