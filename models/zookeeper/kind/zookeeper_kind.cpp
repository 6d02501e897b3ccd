// ZooKeeper as a kind of server: one server of ZooKeeper 3.8, or several, which are an ensemble.

#include <array>
#include <deque>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/consensus/connect_members.hpp"
#include "models/servers/kinds.hpp"
#include "models/servers/server_kind.hpp"
#include "models/value.hpp"
#include "models/zookeeper/client/zookeeper_endpoint.hpp"
#include "models/zookeeper/ensemble/ensemble_server.hpp"
#include "models/zookeeper/server/zookeeper_server.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models {
namespace zookeeper {
namespace {

constexpr const char* kNodes = "/locks/lock";
constexpr std::int64_t kSyncLimit = 5;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  return all;
}

SessionTimes times_of(const Settings& settings) {
  const sim::Duration tick = settings.get("tick_time", sim::Duration());
  const auto or_ticks = [&](std::string_view name, int ticks) {
    const sim::Duration own = settings.get(name, sim::Duration());
    return own > sim::Duration::zero() ? own : tick * ticks;
  };
  return {.tick = tick, .least = or_ticks("min_session_timeout", 2), .most = or_ticks("max_session_timeout", 20)};
}

/// Of an ensemble a tick cannot be nothing: leaders ping by it.
constexpr sim::Duration kTick = sim::Duration::seconds(2);

EnsembleSettings ensemble_of(std::span<const ServerSpec> servers, const Settings& settings) {
  Settings its = settings;
  if (its.get("tick_time", sim::Duration()) == sim::Duration::zero()) its.set("tick_time", kTick);
  return {.times = times_of(its),
          .servers = servers.size(),
          .sync_limit = static_cast<int>(its.get("sync_limit", kSyncLimit)),
          .nodes = words_of(its.get("nodes", std::string(kNodes)))};
}

/// What both sorts have in common.
template <class Server>
class ServersOf : public Servers {
 public:
  explicit ServersOf(const ServersSetup& setup) : setup_(setup) {}

  void connect(Client& client, const ClientLink& how) override {
    for (std::size_t i = 0; i < ids_.size(); ++i)
      client.connect<Endpoint>().add_server(link(client, ids_[i], setup_.latency_to(i)), how.timeout);
  }

  /// Transactions and children are counted on, but nobody's getting the lock depends on their number.
  bool is_as_at_first() const override {
    for (const Server& server : servers_) {
      if (!server.is_as_at_first()) return false;
    }
    return true;
  }

  std::uint64_t digest(std::size_t server) const override {
    const Engine& engine = servers_[server].engine();
    auto digest = static_cast<std::uint64_t>(engine.zxid());
    for (const SessionId session : engine.sessions())
      digest = sim::combine64(digest, static_cast<std::uint64_t>(session));
    return digest;
  }

  /// Ephemeral nodes alone: what stands there for good is nobody's.
  std::vector<HeldObject> held(std::size_t server) const override {
    const Engine& engine = servers_[server].engine();
    std::vector<HeldObject> objects;
    for (const std::string& path : engine.paths()) {
      const Stat stat = *engine.stat_of(path);
      if (stat.ephemeral_owner == 0) continue;
      std::string text = engine.data_of(path).empty() ? "" : plain_or_quoted(engine.data_of(path)) + ", ";
      text += fmt::format("czxid {}, of session {}", describe_zxid(stat.czxid), stat.ephemeral_owner);
      objects.push_back(
          {std::string(object_of(path)), "node", std::move(text), servers_[server].end_of(stat.ephemeral_owner)});
    }
    return objects;
  }

  std::vector<std::string> holdings(std::size_t server) const override {
    std::vector<std::string> lines;
    for (const HeldObject& object : held(server)) lines.push_back(object.name + ", ephemeral");
    return lines;
  }

 protected:
  ServersSetup setup_;
  std::deque<Server> servers_;  ///< the world refers to them: they must not move
};

class SingleServer final : public ServersOf<Server> {
 public:
  explicit SingleServer(const ServersSetup& setup) : ServersOf(setup) {
    const ServerSpec& spec = setup.servers.front();
    Server& server =
        servers_.emplace_back(times_of(spec.settings), words_of(spec.settings.get("nodes", std::string(kNodes))));
    ids_.push_back(setup.world.add(server, spec.name, clock_settings(spec.clock)));
  }
};

class Ensemble final : public ServersOf<EnsembleServer> {
 public:
  explicit Ensemble(const ServersSetup& setup) : ServersOf(setup) {
    const auto count = static_cast<consensus::NodeId>(setup.servers.size());
    const EnsembleSettings settings = ensemble_of(setup.servers, setup.servers.front().settings);
    for (consensus::NodeId i = 0; i < count; ++i) {
      const ServerSpec& spec = setup.servers[i];
      ids_.push_back(
          setup.world.add(servers_.emplace_back(i, settings, ledger_), spec.name, clock_settings(spec.clock)));
    }
    ledger_.teller = ids_.front();
    consensus::connect_members(setup.world, servers_, setup.replication.value_or(setup.latency));
  }

  void begin_first() override {
    for (const sim::ProcessId id : ids_) setup_.world.start(id, sim::DurationRange::exactly(sim::Duration::zero()));
  }

 private:
  consensus::Ledger ledger_;
};

class ZooKeeperKind final : public ServerKind {
 public:
  std::string_view name() const override { return "zookeeper"; }
  std::string_view request() const override { return "a request of ZooKeeper's protocol"; }
  std::span<const sim::FaultKind> implements() const override {
    using enum sim::FaultKind;
    static constexpr std::array kFaults{pause, crash, lose, jump, skew, delay, partition};
    return kFaults;
  }
  /// Sessions end by System.nanoTime.
  bool reads_wall_clock() const override { return false; }
  std::vector<std::string_view> requests() const override {
    return {"CONNECT",      "CREATE", "DELETE",      "SET_DATA", "EXISTS",       "GET_DATA",
            "GET_CHILDREN", "MULTI",  "SET_WATCHES", "PING",     "CLOSE_SESSION"};
  }
  std::vector<std::string_view> other_messages() const override {
    return {"NOTIFICATION", "CLOSED",  "REQUESTVOTE", "VOTE",        "APPENDENTRIES", "APPENDED", "REQUEST",
            "LEADER_PING",  "TOUCHES", "REVALIDATE",  "REVALIDATED", "LEADER_SYNC",   "SYNCED"};
  }

  std::span<const SettingSpec> settings() const override {
    static const std::array specs{
        SettingSpec{"tick_time", "duration", sim::Duration(), "\"0ms\"",
                    "tickTime: sessions that are over are looked for so often, so that one ends up to so much late; "
                    "ZooKeeper's own is 2s or 3s"},
        SettingSpec{"min_session_timeout", "duration", sim::Duration(), "\"0ms\"",
                    "minSessionTimeout: a session that is asked for a shorter time lasts so long; zero: two ticks"},
        SettingSpec{"max_session_timeout", "duration", sim::Duration(), "\"0ms\"",
                    "maxSessionTimeout: no session lasts longer; zero: twenty ticks"},
        SettingSpec{"nodes", "string", std::string(kNodes), "\"/locks/lock\"",
                    "persistent nodes that are there from the beginning, with all above them: paths, with spaces "
                    "between"},
        SettingSpec{.name = "sync_limit",
                    .type = "whole number, 1 or more",
                    .fallback = kSyncLimit,
                    .told = "5",
                    .meaning = "syncLimit, in ticks: for so long a follower does without its leader, and a leader "
                               "without a majority",
                    .min = 1}};
    return specs;
  }
  std::optional<Contradiction> contradiction(std::span<const ServerSpec> servers) const override {
    for (std::size_t i = 1; i < servers.size(); ++i) {
      for (const SettingSpec& spec : settings()) {
        const SettingValue* own = servers[i].settings.find(spec.name);
        const SettingValue* firsts = servers[0].settings.find(spec.name);
        if (own == nullptr || (firsts != nullptr && *firsts == *own)) continue;
        return Contradiction{i, spec.name, "the first server of an ensemble has the settings of all"};
      }
    }
    if (servers.size() <= consensus::kNodesMax) return std::nullopt;
    return Contradiction{consensus::kNodesMax, "name", "an ensemble has nine servers at most"};
  }
  bool are_independent(std::span<const ServerSpec> servers) const override { return servers.size() == 1; }
  bool keep_one_state(std::span<const ServerSpec>) const override { return true; }
  std::string_view not_explored(std::span<const ServerSpec> servers, const Settings&) const override {
    return servers.size() == 1 ? "" : "the servers of an ensemble send each other heartbeats for ever";
  }
  bool has_disk(const Settings&) const override { return true; }

  std::unique_ptr<Servers> make(const ServersSetup& setup) const override {
    if (setup.servers.size() == 1) return std::make_unique<SingleServer>(setup);
    return std::make_unique<Ensemble>(setup);
  }
};

}  // namespace
}  // namespace zookeeper

const ServerKind& zookeeper_kind() {
  static const zookeeper::ZooKeeperKind kind;
  return kind;
}

}  // namespace lockstep::models
