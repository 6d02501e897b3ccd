// [servers] and [[server]]: what all kinds of servers have, and what the table of the kind says.

#include <algorithm>
#include <utility>
#include <variant>

#include "models/servers/server_kind.hpp"
#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

using models::ServerKind;
using models::Settings;
using models::SettingSpec;
using models::SettingValue;

constexpr std::int64_t kServersMax = 64;

struct ServersDraft {
  using Spec = Saved;
  std::int64_t count = 0;  ///< 0: not said
};

ServerSpec standard_server(const std::vector<ServerSpec>& servers, std::size_t i) {
  ServerSpec standard;
  standard.kind = servers[i].kind;
  standard.name = server_name(*standard.kind, i, servers.size());
  return standard;
}

bool are_alike(const std::vector<ServerSpec>& servers) {
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (servers[i] != standard_server(servers, i)) return false;
  }
  return true;
}

/// One server need not be counted.
Value write_server_count(const Saved& saved) {
  const std::vector<ServerSpec>& servers = saved.scenario.servers;
  return servers.size() > 1 && are_alike(servers) ? as_toml(static_cast<std::int64_t>(servers.size())) : Value{};
}

constexpr Key<ServersDraft> kServers[] = {
    {"count", "whole number, 1 to 64", kRequired, "that many servers, all alike, named redis1, redis2, …",
     both([](const Node& value, ServersDraft& servers) { servers.count = whole_of(value, 1, kServersMax); },
          write_server_count)},
};

/// Where there is something else to say of all servers, they need not be counted.
constexpr Key<ServersDraft> kServersThatShare[] = {
    {kServers[0].name, kServers[0].type, "one, or as many as [[server]]", kServers[0].meaning, kServers[0].way},
};

struct ServerDraft {
  using Spec = ServerSpec;
  Draft& draft;
  ServerSpec server;
  ServerSpec& spec() { return server; }
};

/// A lock and its servers are of one kind, which the algorithm knows.
void check_named_kind(const Node& node, const Draft& draft) {
  const std::string& said = text_of(node, "a kind of server such as \"redis\"");
  if (said == draft.server_kind.name()) return;
  std::vector<std::string_view> known;
  for (const ServerKind* kind : draft.catalogue.server_kinds()) known.push_back(kind->name());
  if (!contains(known, said))
    fail(node, "there is no kind of server " + in_quotes(said) + ": " + suggestion(said, known));
  const bool is_script = draft.scenario.lock.own.entry != nullptr;
  fail(node, "the " + std::string(is_script ? "script" : "algorithm") + " of [lock] runs on servers of kind " +
                 in_quotes(draft.server_kind.name()) + ", not on " + in_quotes(said) +
                 (is_script ? "; a script says `server = " + in_quotes(said) + "` at its top if it is for those" : ""));
}

constexpr Key<ServerDraft> kServer[] = {
    {"name", "name", "\"redis\", or \"redis1\", …", "how faults, pins and reports call it",
     field<&ServerSpec::name, declared_server>},
    {"kind", "name of a kind", "that of the algorithm",
     "which product it is; the keys below the common ones are its own",
     both([](const Node& value, ServerDraft& d) { check_named_kind(value, d.draft); },
          [](const ServerSpec&) { return Value{}; })},
    {"clock", "table", "true time", "its clocks", field<&ServerSpec::clock, clock_of>},
    {"latency", "duration or range", "the network's", "one way, to and from this server",
     field<&ServerSpec::latency, range_of>},
    {"restart_delay", "duration", "\"0ms\"", "how much longer than a fault says it stays away after a crash",
     field<&ServerSpec::restart_delay, duration_of>},
};

KeyRow row_of(const SettingSpec& spec, Kinds kinds = kEveryKind) {
  return {spec.name, spec.type, spec.told, spec.meaning, kinds};
}

struct ReadSetting {
  const Node& node;
  const SettingSpec& spec;
  Names& names;

  SettingValue operator()(sim::Duration) const { return duration_of(node); }
  SettingValue operator()(sim::DurationRange) const { return range_of(node); }
  SettingValue operator()(std::int64_t) const { return whole_of(node, spec.min, spec.max); }
  SettingValue operator()(bool) const { return flag_of(node); }
  SettingValue operator()(const std::string&) const {
    if (spec.choices.empty()) {
      const std::string& text = text_of(node, spec.names_server ? "the name of a server" : spec.type);
      if (spec.names_server) names.mention(Who::server, node);
      return text;
    }
    const auto* text = std::get_if<std::string>(&node.value);
    if (text == nullptr || !contains({spec.choices.begin(), spec.choices.end()}, *text))
      fail_choice(node, spec.choices);
    return *text;
  }
  SettingValue operator()(const std::vector<Settings>&) const {
    std::vector<Settings> tables(1);
    std::vector<KeyRow> rows;
    for (const SettingSpec& key : spec.inside) rows.push_back(row_of(key));
    visit_table(node, {spec.name}, rows,
                [&](std::size_t i, const Node& value) { read(value, spec.inside[i], names, tables.front()); });
    return tables;
  }

  /// What is as the table has it anyhow is not kept, so that stories that say the same are the same.
  static void read(const Node& node, const SettingSpec& spec, Names& names, Settings& settings) {
    SettingValue value = std::visit(ReadSetting{node, spec, names}, spec.fallback);
    if (value != spec.fallback) settings.set(spec.name, std::move(value));
  }
};

/// The keys that all kinds have, then those of the kind.
template <class Target, std::size_t N>
void read_both(const Node& table, std::string_view heading, const Key<Target> (&common)[N], Target& target,
               std::span<const SettingSpec> specs, Names& names, Settings& settings) {
  std::vector<KeyRow> rows = rows_of(common);
  for (const SettingSpec& spec : specs) rows.push_back(row_of(spec));
  visit_table(table, {heading}, rows, [&](std::size_t i, const Node& value) {
    if (i < N) return common[i].way.read(value, target);
    ReadSetting::read(value, specs[i - N], names, settings);
  });
}

/// Of a table of a kind. Settings are written if they are set.
struct WriteSetting {
  std::span<const SettingSpec> inside;

  Value operator()(const std::vector<Settings>& tables) const {
    Keys keys;
    for (const SettingSpec& spec : inside) {
      const SettingValue* value = tables.front().find(spec.name);
      keys.push_back(std::visit(WriteSetting{{}}, value != nullptr ? *value : spec.fallback).of(spec.name));
    }
    return {inline_table(keys)};
  }
  Value operator()(const auto& value) const { return as_toml(value); }
};

void add_keys(Keys& keys, const Settings& settings, std::span<const SettingSpec> specs) {
  for (const SettingSpec& spec : specs) {
    if (const SettingValue* value = settings.find(spec.name))
      keys.push_back(std::visit(WriteSetting{spec.inside}, *value).of(spec.name));
  }
}

/// The keys of kinds below the common ones, and the tables inside of them.
void add_settings(TableRow& table, std::vector<TableRow>& inside,
                  std::span<const SettingSpec> (ServerKind::*specs)() const) {
  const std::span<const ServerKind* const> kinds = models::server_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    // Of one kind alone everything is; more have to be told apart.
    if (kinds.size() > 1) table.kinds.push_back(kinds[i]->name());
    const Kinds own = kinds.size() > 1 ? static_cast<Kinds>(1U << i) : kEveryKind;
    for (const SettingSpec& spec : (kinds[i]->*specs)()) {
      table.keys.push_back(row_of(spec, own));
      if (spec.inside.empty()) continue;
      TableRow& part = inside.emplace_back(TableRow{spec.name, {}});
      for (const SettingSpec& key : spec.inside) part.keys.push_back(row_of(key));
    }
  }
}

void refuse_second_list(const Node& node, const Draft& draft) {
  if (draft.scenario.servers.empty()) return;
  throw Bad{node.at, "the servers are given twice; keep [servers] if they are all alike, [[server]] if not"};
}

}  // namespace

std::string declared_server(const Node& node, Draft& draft) { return draft.names.declare_server(node); }

std::string mentioned_server(const Node& node, Draft& draft) {
  const std::string& name = text_of(node, "the name of a server");
  draft.names.mention(Who::server, node);
  return name;
}

void add_servers(Draft& draft, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    ServerSpec& server = draft.scenario.servers.emplace_back();
    server.name = server_name(draft.server_kind, i, count);
    server.kind = &draft.server_kind;
  }
}

namespace {

/// What Redis has of all servers is short for more of them, and for who watches them.
void add_replicas(const Node& node, const ServersDraft& servers, Draft& draft) {
  const Settings short_form = std::exchange(draft.scenario.shared_settings, {});
  const std::int64_t replicas = short_form.get<std::int64_t>("replicas", 0);
  const bool has_failover = short_form.get<std::string>("failover", "none") != "none";
  if (replicas > 0 && servers.count > 0)
    fail(*find(node, "count"), "these are several independent servers, and replicas are of one; leave one of them out");
  if (has_failover && replicas == 0)
    fail(*find(node, "failover"), "nobody can take the primary's place: add replicas = 1");
  if (replicas == 0) return;
  add_servers(draft, static_cast<std::size_t>(1 + replicas));
  std::vector<ServerSpec>& all = draft.scenario.servers;
  for (std::size_t i = 1; i < all.size(); ++i) all[i].settings.set("replica_of", all.front().name);
  if (!has_failover) return;
  SentinelsSpec& sentinels = draft.scenario.sentinels.emplace();
  sentinels.is_abstract = true;
  sentinels.primary = all.front().name;
}

}  // namespace

void read_all_servers(const Node& node, Draft& draft) {
  const std::span<const SettingSpec> shared = draft.server_kind.shared_settings();
  const bool is_list = find(node, "count") != nullptr || find(node, "replicas") != nullptr;
  if (is_list || shared.empty()) refuse_second_list(node, draft);
  ServersDraft servers;
  if (shared.empty()) {
    read_table(node, {"[servers]"}, kServers, servers);
  } else {
    read_both(node, "[servers]", kServersThatShare, servers, shared, draft.names, draft.scenario.shared_settings);
  }
  add_servers(draft, static_cast<std::size_t>(servers.count));
  if (draft.server_kind.is_redis()) add_replicas(node, servers, draft);
  if (const auto found = draft.server_kind.contradiction(draft.scenario.servers)) throw Bad{node.at, found->message};
}

Value write_all_servers(const Saved& saved) {
  Keys keys = write_table(kServers, saved, saved);
  if (!saved.scenario.servers.empty())
    add_keys(keys, saved.scenario.shared_settings, saved.scenario.servers.front().kind->shared_settings());
  return keys.empty() ? Value{} : headed(std::move(keys));
}

Value write_servers(const Saved& saved) {
  const std::vector<ServerSpec>& servers = saved.scenario.servers;
  Value written{.is_array = true};
  for (std::size_t i = 0; i < servers.size() && !are_alike(servers); ++i) {
    Keys& keys = written.tables.emplace_back(write_table(kServer, servers[i], standard_server(servers, i)));
    add_keys(keys, servers[i].settings, servers[i].kind->settings());
  }
  return written;
}

void read_servers(const Node& node, Draft& draft) {
  refuse_second_list(node, draft);
  const Array& tables = tables_of(node, "[[server]]");
  if (tables.size() > static_cast<std::size_t>(kServersMax)) throw Bad{tables[kServersMax].at, "more than 64 servers"};
  std::vector<ServerSpec>& servers = draft.scenario.servers;
  read_each(tables, [&](const Node& table) {
    ServerDraft server{draft, {}};
    server.server.kind = &draft.server_kind;
    read_both(table, "a [[server]]", kServer, server, draft.server_kind.settings(), draft.names,
              server.server.settings);
    // Declared by no key, and so by `Names` neither: a client of this name is found when names are resolved.
    if (server.server.name.empty()) server.server.name = server_name(draft.server_kind, servers.size(), tables.size());
    for (const ServerSpec& other : servers) {
      if (other.name == server.server.name) {
        throw Bad{table.at, "two servers are called \"" + other.name + "\"; every server needs its own name"};
      }
    }
    servers.push_back(std::move(server.server));
  });
  if (const auto found = draft.server_kind.contradiction(servers)) {
    if (const Node* setting = find(tables[found->server], found->setting)) fail(*setting, found->message);
    throw Bad{tables[found->server].at, found->message};
  }
}

namespace {

/// A server that does not say which it is can do what the lock needs.
void check_server_versions(const Node& root, const Draft& draft) {
  const models::locks::Entry* entry = find_entry(draft.scenario.lock, draft.catalogue);
  const Node* tables = find(root, "server");
  if (entry == nullptr || entry->server_version.empty() || tables == nullptr) return;
  const std::vector<ServerSpec>& servers = draft.scenario.servers;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (draft.server_kind.has_version(servers[i].settings, entry->server_version)) continue;
    fail(*find(tables_of(*tables, "[[server]]")[i], "version"),
         std::string(entry->id) + " needs commands that this server does not have; write \"" +
             std::string(entry->server_version) + "\", or leave it out");
  }
}

}  // namespace

void check_server_kind(const Node& root, const Draft& draft) {
  check_server_versions(root, draft);
  if (draft.server_kind.is_redis()) return;
  const std::string why = ", which only Redis has so far; the algorithm of [lock] runs on servers of kind " +
                          in_quotes(draft.server_kind.name());
  for (const ClientSpec& client : draft.scenario.clients) {
    if (!client.commands.empty()) throw Bad{client.at, in_quotes(client.name) + " sends commands" + why};
    if (client.via_sentinel) throw Bad{client.at, in_quotes(client.name) + " goes via sentinels" + why};
  }
  for (const std::string_view table : {"market", "sentinels", "sentinel"}) {
    if (const Node* node = find(root, table)) throw Bad{node->at, "there is a table " + in_quotes(table) + why};
  }
}

void list_servers(std::vector<TableRow>& tables) {
  const std::span<const ServerKind* const> kinds = models::server_kinds();
  const bool somebody_shares =
      std::any_of(kinds.begin(), kinds.end(), [](const ServerKind* kind) { return !kind->shared_settings().empty(); });
  TableRow all{"[servers]", somebody_shares ? rows_of(kServersThatShare) : rows_of(kServers)};
  TableRow each{"[[server]]", rows_of(kServer)};
  std::vector<TableRow> inside;
  add_settings(all, inside, &ServerKind::shared_settings);
  add_settings(each, inside, &ServerKind::settings);
  tables.push_back(std::move(all));
  tables.push_back(std::move(each));
  tables.insert(tables.end(), inside.begin(), inside.end());
}

}  // namespace lockstep::scenarios::schema
