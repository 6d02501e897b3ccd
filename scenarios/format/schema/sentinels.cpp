// [sentinels] and [[sentinel]]: who watches the primary, and when it is replaced.

#include "models/redis/kind/server_settings.hpp"
#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

constexpr std::int64_t kSentinelsMax = 16;
constexpr std::int64_t kSentinelRoundsMax = 1'000'000;

SentinelsSpec& sentinels_of(Draft& draft) {
  if (!draft.scenario.sentinels) draft.scenario.sentinels.emplace();
  return *draft.scenario.sentinels;
}

std::string default_name(std::size_t index) { return "sentinel" + std::to_string(index + 1); }

struct SentinelsDraft {
  using Spec = SentinelsSpec;
  Draft& draft;
  SentinelsSpec& sentinels;
  std::optional<std::int64_t> count;
  SentinelsSpec& spec() { return sentinels; }
};

/// Times in which a sentinel is patient: not less than one look at everything takes.
sim::Duration patience_of(const Node& node) {
  const sim::Duration length = duration_of(node);
  if (length < sim::Duration::milliseconds(1)) fail(node, "expected at least \"1ms\", as sentinels count milliseconds");
  return length;
}

bool are_alike(const SentinelsSpec& sentinels) {
  for (std::size_t i = 0; i < sentinels.each.size(); ++i) {
    if (sentinels.each[i] != SentinelSpec{default_name(i), {}, {}}) return false;
  }
  return true;
}

Value write_sentinel_count(const SentinelsSpec& sentinels) {
  return are_alike(sentinels) ? as_toml(static_cast<std::int64_t>(sentinels.each.size())) : Value{};
}

constexpr std::array<std::pair<std::string_view, bool>, 2> kPlayed{{{"processes", false}, {"one", true}}};

constexpr Key<SentinelsDraft> kSentinels[] = {
    {"count", "whole number, 1 to 16", "as many as [[sentinel]]",
     "that many sentinels, all alike, named sentinel1, sentinel2, …",
     both([](const Node& value, SentinelsDraft& d) { d.count = whole_of(value, 1, kSentinelsMax); },
          write_sentinel_count)},
    {"primary", "name", "the first server", "the server that they watch as the primary when the story begins",
     field<&SentinelsSpec::primary, mentioned_server>},
    {"quorum", "whole number, 1 to 16", "a majority", "how many sentinels must find the primary down",
     field<&SentinelsSpec::quorum, whole<1, kSentinelsMax>>},
    {"down_after", "duration, at least 1ms", "\"30s\"",
     "a server that owes an answer for longer than this, by the sentinel's clock, is down for it",
     field<&SentinelsSpec::down_after, patience_of>},
    {"failover_timeout", "duration, at least 1ms", "\"180s\"",
     "how long a step of a failover may take, and half of the time until the next attempt",
     field<&SentinelsSpec::failover_timeout, patience_of>},
    {"parallel_syncs", "whole number, 1 to 64", "1", "how many replicas are turned to the new primary at a time",
     field<&SentinelsSpec::parallel_syncs, whole<1, 64>>},
    {"played", "\"processes\" or \"one\"", "\"processes\"",
     "\"one\": one process that never fails stands for them, and promotes a replica down_after to two seconds more "
     "after "
     "the primary died",
     choice<&SentinelsSpec::is_abstract, kPlayed>},
    {"rounds", "whole number, 1 to 1000000", "for ever",
     "how often each looks at the others before it stops; `check` needs it, to come to an end",
     field<&SentinelsSpec::rounds, whole<1, kSentinelRoundsMax>>},
};

struct SentinelDraft {
  using Spec = SentinelSpec;
  Draft& draft;
  SentinelSpec sentinel;
  SentinelSpec& spec() { return sentinel; }
};

constexpr Key<SentinelDraft> kSentinel[] = {
    {"name", "name", "\"sentinel1\", …", "how faults and reports call it", field<&SentinelSpec::name, declared_server>},
    {"clock", "table", "true time", "its clocks", field<&SentinelSpec::clock, clock_of>},
    {"latency", "duration or range", "the network's", "one way, to and from this sentinel",
     field<&SentinelSpec::latency, range_of>},
};

}  // namespace

void read_sentinels(const Node& node, Draft& draft) {
  SentinelsSpec& sentinels = sentinels_of(draft);
  draft.scenario.sentinels_at = node.at;
  SentinelsDraft d{draft, sentinels, std::nullopt};
  read_table(node, {"[sentinels]"}, kSentinels, d);
  if (const Node* quorum = find(node, "quorum")) draft.scenario.quorum_at = quorum->at;
  if (!d.count) return;
  if (!sentinels.each.empty()) {
    throw Bad{find(node, "count")->at,
              "the sentinels are counted and listed; keep \"count\" if they are all alike, [[sentinel]] if not"};
  }
  for (std::int64_t i = 0; i < *d.count; ++i)
    sentinels.each.push_back({default_name(static_cast<std::size_t>(i)), {}, {}});
}

void read_each_sentinel(const Node& node, Draft& draft) {
  SentinelsSpec& sentinels = sentinels_of(draft);
  const Array& tables = tables_of(node, "[[sentinel]]");
  if (draft.scenario.sentinels_at.line == 0 && !tables.empty()) draft.scenario.sentinels_at = tables.front().at;
  if (!sentinels.each.empty() && !tables.empty()) {
    throw Bad{tables.front().at,
              "the sentinels are counted and listed; keep \"count\" if they are all alike, [[sentinel]] if not"};
  }
  if (tables.size() > static_cast<std::size_t>(kSentinelsMax)) {
    throw Bad{tables[kSentinelsMax].at, "more than 16 sentinels"};
  }
  read_each(tables, [&](const Node& table) {
    SentinelDraft d{draft, {}};
    read_table(table, {"a [[sentinel]]"}, kSentinel, d);
    if (d.sentinel.name.empty()) d.sentinel.name = default_name(sentinels.each.size());
    for (const SentinelSpec& other : sentinels.each) {
      if (other.name == d.sentinel.name) {
        throw Bad{table.at, "two sentinels are called " + in_quotes(other.name) + "; every one needs its own name"};
      }
    }
    sentinels.each.push_back(std::move(d.sentinel));
  });
}

Value write_sentinels(const Saved& saved) {
  if (!saved.scenario.sentinels) return {};
  const SentinelsSpec& sentinels = *saved.scenario.sentinels;
  SentinelsSpec standard;
  standard.primary = saved.scenario.servers.front().name;
  standard.quorum = static_cast<std::int64_t>(sentinels.each.size() / 2 + 1);
  return headed(write_table(kSentinels, sentinels, standard));
}

Value write_each_sentinel(const Saved& saved) {
  const SentinelsSpec sentinels = saved.scenario.sentinels.value_or(SentinelsSpec());
  Value written{.is_array = true};
  for (std::size_t i = 0; i < sentinels.each.size() && !are_alike(sentinels); ++i)
    written.tables.push_back(write_table(kSentinel, sentinels.each[i], {default_name(i), {}, {}}));
  return written;
}

namespace {

/// One stands for all: then all clients follow it, as they would their sentinels.
void complete_abstract(const models::locks::Entry& entry, Scenario& scenario) {
  if (!scenario.sentinels || !scenario.sentinels->is_abstract) return;
  // However many there are.
  std::vector<SentinelSpec>& each = scenario.sentinels->each;
  if (each.empty()) each.push_back({"sentinel", {}, {}});
  each.resize(1);
  scenario.sentinels->quorum = 1;
  if (entry.many_nodes) {
    throw Bad{scenario.sentinels_at, std::string(entry.id) +
                                         " wants several independent servers, which are no "
                                         "primary and its replicas; leave out replicas and failover"};
  }
  for (ClientSpec& client : scenario.clients)
    client.via_sentinel = client.via_sentinel || (client.commands.empty() && !client.is_program());
  constexpr sim::Duration kUsual = sim::Duration::seconds(3);
  if (!scenario.network.timeout) scenario.network.timeout = kUsual;
  // A replica that never lags would have all that its primary has promised.
  constexpr sim::DurationRange kLag = {sim::Duration::zero(), sim::Duration::seconds(1)};
  if (!scenario.network.replication) scenario.network.replication = kLag;
}

}  // namespace

void check_sentinels(const models::locks::Entry& entry, Scenario& scenario) {
  complete_abstract(entry, scenario);
  for (const ClientSpec& client : scenario.clients) {
    if (!client.via_sentinel) continue;
    if (!client.server.empty()) {
      throw Bad{client.at, in_quotes(client.name) + " goes via sentinels, which name its server; leave out \"server\""};
    }
    if (!scenario.sentinels) {
      throw Bad{client.at, in_quotes(client.name) +
                               " finds its server via sentinels, and there are none: add [sentinels] with a count"};
    }
    if (!scenario.network.timeout) {
      throw Bad{client.at,
                "a client via sentinels looks for the primary until its patience is over: add timeout = "
                "\"200ms\" to [network]"};
    }
  }
  if (!scenario.sentinels) return;
  SentinelsSpec& sentinels = *scenario.sentinels;
  const auto count = static_cast<std::int64_t>(sentinels.each.size());
  if (count == 0) throw Bad{scenario.sentinels_at, "[sentinels] needs \"count\", or a [[sentinel]] for each"};
  for (const SentinelSpec& sentinel : sentinels.each) {
    for (const ServerSpec& server : scenario.servers) {
      if (server.name != sentinel.name) continue;
      throw Bad{scenario.sentinels_at,
                in_quotes(server.name) + " is a server and a sentinel; every process needs its own name"};
    }
  }
  if (sentinels.quorum == 0) sentinels.quorum = count / 2 + 1;
  if (sentinels.quorum > count) {
    throw Bad{scenario.quorum_at, "quorum: " + std::to_string(sentinels.quorum) + " of " + std::to_string(count) +
                                      " sentinels; expected at most " + std::to_string(count)};
  }
  if (sentinels.primary.empty()) sentinels.primary = scenario.servers.front().name;
  for (const ServerSpec& server : scenario.servers) {
    if (server.name == sentinels.primary && !models::redis::replica_of(server.settings).empty()) {
      throw Bad{scenario.sentinels_at,
                "primary: " + in_quotes(server.name) + " is a replica; expected the name of a primary"};
    }
  }
}

void list_sentinels(std::vector<TableRow>& tables) {
  tables.push_back({"[sentinels]", rows_of(kSentinels)});
  tables.push_back({"[[sentinel]]", rows_of(kSentinel)});
}

}  // namespace lockstep::scenarios::schema
