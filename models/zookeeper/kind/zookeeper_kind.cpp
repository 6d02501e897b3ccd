// ZooKeeper as a kind of server: one server of ZooKeeper 3.8, as models/zookeeper/engine has it.

#include <array>
#include <deque>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/servers/kinds.hpp"
#include "models/servers/server_kind.hpp"
#include "models/value.hpp"
#include "models/zookeeper/client/zookeeper_endpoint.hpp"
#include "models/zookeeper/server/zookeeper_server.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models {
namespace zookeeper {
namespace {

constexpr const char* kNodes = "/locks/lock";

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

class ZooKeeperServers final : public Servers {
 public:
  explicit ZooKeeperServers(const ServersSetup& setup) : setup_(setup) {
    for (const ServerSpec& spec : setup.servers) {
      Server& server =
          servers_.emplace_back(times_of(spec.settings), words_of(spec.settings.get("nodes", std::string(kNodes))));
      ids_.push_back(setup.world.add(server, spec.name, clock_settings(spec.clock)));
    }
  }

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
      text += fmt::format("czxid {}, of session {}", stat.czxid, stat.ephemeral_owner);
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

 private:
  ServersSetup setup_;
  std::deque<Server> servers_;  ///< the world refers to them: they must not move
};

class ZooKeeperKind final : public ServerKind {
 public:
  std::string_view name() const override { return "zookeeper"; }
  std::string_view request() const override { return "a request of ZooKeeper's protocol"; }
  std::vector<std::string_view> requests() const override {
    return {"CONNECT",      "CREATE", "DELETE",      "SET_DATA", "EXISTS",       "GET_DATA",
            "GET_CHILDREN", "MULTI",  "SET_WATCHES", "PING",     "CLOSE_SESSION"};
  }
  std::vector<std::string_view> other_messages() const override { return {"NOTIFICATION"}; }

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
                    "between"}};
    return specs;
  }
  bool has_disk(const Settings&) const override { return true; }

  std::unique_ptr<Servers> make(const ServersSetup& setup) const override {
    return std::make_unique<ZooKeeperServers>(setup);
  }
};

}  // namespace
}  // namespace zookeeper

const ServerKind& zookeeper_kind() {
  static const zookeeper::ZooKeeperKind kind;
  return kind;
}

}  // namespace lockstep::models
