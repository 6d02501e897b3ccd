// [network], [resource], [market], and the clocks of servers and clients.

#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/value.hpp"

namespace lockstep::scenarios::schema {
namespace {

/// Half as fast to half as fast again: beyond, a clock is not drifting but broken, and jumps say that better.
constexpr std::int64_t kDriftMax = 500'000;

constexpr Key<ClockSpec> kClock[] = {
    {"offset", "duration, may be negative", "\"0ms\"", "how far the wall clock is ahead of true time",
     field<&ClockSpec::offset, signed_duration_of>},
    {"drift_ppm", "whole number, -500000 to 500000", "0", "how many parts per million both clocks run too fast",
     field<&ClockSpec::drift_ppm, whole<-kDriftMax, kDriftMax>>},
    {"uptime", "duration", "\"0ms\"", "what the monotonic clock shows when the story begins",
     field<&ClockSpec::uptime, duration_of>},
};

constexpr Key<NetworkSpec> kNetwork[] = {
    {"latency", "duration or range", "\"1ms\"", "one way, between any two processes",
     field<&NetworkSpec::latency, range_of>},
    {"timeout", "duration", "for ever", "how long a client waits for a reply",
     field<&NetworkSpec::timeout, duration_of>},
    {"replication", "duration or range", "none; members: the latency",
     "how far Redis replicas lag behind the replies, where a crash takes along what has not left; members of a "
     "cluster: "
     "one way",
     field<&NetworkSpec::replication, range_of>},
};

using models::workloads::Guard;
constexpr std::array<std::pair<std::string_view, Guard>, 4> kGuards{{{"watch", Guard::watch},
                                                                     {"market-lock", Guard::market_lock},
                                                                     {"item-lock", Guard::item_lock},
                                                                     {"item-and-funds", Guard::item_and_funds}}};

constexpr Key<MarketSpec> kMarket[] = {
    {"guard", "\"watch\", \"market-lock\", \"item-lock\" or \"item-and-funds\"", kRequired,
     "what keeps trades apart: WATCH, one lock for all, a lock for each item, or one more for the buyer's funds",
     choice<&MarketSpec::guard, kGuards>},
    {"price", "whole number, 1 to 1000000", "1", "of each item", field<&MarketSpec::price, whole<1, 1'000'000>>},
    {"funds", "whole number, 0 to 1000000000", "1000000", "what each buyer has at the beginning",
     field<&MarketSpec::funds, whole<0, 1'000'000'000>>},
};

constexpr std::array<std::pair<std::string_view, ResourceSpec::Kind>, 3> kResourceKinds{
    {{"counter", ResourceSpec::Kind::counter},
     {"register", ResourceSpec::Kind::reg},
     {"row", ResourceSpec::Kind::row}}};

constexpr Key<ResourceSpec> kResource[] = {
    {"kind", "\"counter\", \"register\" or \"row\"", kRequired,
     "a counter is read and then written one higher; a register is only written; a row is a counter that the lock's "
     "server keeps, in its holder's transaction",
     choice<&ResourceSpec::kind, kResourceKinds>},
    {"fenced", "true or false", "false", "whether it refuses fencing tokens that go back",
     field<&ResourceSpec::fenced, flag_of>},
    {"latency", "duration or range", "the network's", "one way, to and from the resource",
     field<&ResourceSpec::latency, range_of>},
};

}  // namespace

ClockSpec clock_of(const Node& node) {
  ClockSpec clock;
  read_table(node, {"clock"}, kClock, clock);
  return clock;
}

Value as_toml(const ClockSpec& clock) { return {inline_table(write_table(kClock, clock, {}))}; }

void read_network(const Node& node, Draft& draft) { read_table(node, {"[network]"}, kNetwork, draft.scenario.network); }

Value write_network(const Saved& saved) { return headed(write_table(kNetwork, saved.scenario.network, {})); }

void read_resource(const Node& node, Draft& draft) {
  read_table(node, {"[resource]"}, kResource, draft.scenario.resource.emplace());
}

void check_resource(const Node& root, const models::locks::Entry& entry, const Scenario& scenario) {
  if (!scenario.resource || scenario.resource->kind != ResourceSpec::Kind::row) return;
  const Node& table = *find(root, "resource");
  if (!entry.reaches_row)
    fail(*find(table, "kind"), "\"row\" is a row of the lock's server, to which " + std::string(entry.id) +
                                   " does not reach; write \"counter\"");
  for (const std::string_view key : {"fenced", "latency"}) {
    if (const Node* node = find(table, key))
      fail(*node, "a row of the lock's server has no such key of its own; leave it out");
  }
}

void read_market(const Node& node, Draft& draft) {
  MarketSpec market;
  read_table(node, {"[market]"}, kMarket, market);
  draft.scenario.market = market;
}

Value write_resource(const Saved& saved) {
  const std::optional<ResourceSpec>& resource = saved.scenario.resource;
  return resource ? headed(write_table(kResource, *resource, {})) : Value{};
}

Value write_market(const Saved& saved) {
  const std::optional<MarketSpec>& market = saved.scenario.market;
  return market ? headed(write_table(kMarket, *market, {})) : Value{};
}

void list_world(std::vector<TableRow>& tables) {
  tables.push_back({"[network]", rows_of(kNetwork)});
  tables.push_back({"clock", rows_of(kClock)});
  tables.push_back({"[resource]", rows_of(kResource)});
  tables.push_back({"[market]", rows_of(kMarket)});
}

}  // namespace lockstep::scenarios::schema
