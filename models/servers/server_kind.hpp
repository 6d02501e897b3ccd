#pragma once

// What a kind of server is to all that knows no product: files, worlds, the matrix, comparisons, reports. Start here;
// docs/adding-a-server.md walks through one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/servers/server_spec.hpp"
#include "models/servers/settings.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/fault_kinds.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models {

class Client;

/// What a story has of its servers besides a list of them; each kind derives its own. (Redis: sentinels.)
struct ServerCompany {
  virtual ~ServerCompany() = default;
  bool operator==(const ServerCompany&) const = default;
};

/// What the servers of one world are made from. All that it refers to outlives them.
struct ServersSetup {
  sim::World& world;
  std::span<const ServerSpec> servers;
  sim::DurationRange latency;                                ///< of the network
  std::optional<sim::DurationRange> replication;             ///< of replicas: how much later than replies
  std::optional<sim::Duration> timeout;                      ///< how long a client waits for a reply
  const Settings& shared;                                    ///< of [servers]
  const ServerCompany* company = nullptr;                    ///< null: there is none
  bool expects_anything = false;                             ///< somebody sends them commands of the file
  std::string_view version;                                  ///< of those that do not say theirs; empty: the usual one
  sim::DurationRange latency_to(std::size_t server) const {  ///< from anybody who is no server
    return servers[server].latency.value_or(latency);
  }
};

/// How one client is to be connected.
struct ClientLink {
  std::optional<sim::Duration> timeout;  ///< how long it waits for a reply. Nothing: for ever
  bool follows_primary = false;          ///< its only server is whoever leads at the moment
};

/// What a server holds under one name, for people.
struct HeldObject {
  std::string name;                     ///< as histories have it
  std::string type;                     ///< "string"
  std::string text;                     ///< "A-1", "{A:1: 2}", cut where it is long
  std::optional<sim::Instant> expires;  ///< by the server's clock; nothing: it has no time to live
};

/// The servers of one world. They lie where they are made: nothing here may move.
class Servers {
 public:
  /// A script of a server ran away, or something else that is no answer of a server but the end of the run.
  struct Trouble {
    std::string message;
    std::string script;  ///< names it, where it is known
  };
  /// A script that its author will want to mend.
  struct Mistake {
    std::string script;  ///< names it
    std::size_t line = 0;
    std::string code;  ///< what stands there
    std::string message;
  };

  Servers() = default;
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;
  virtual ~Servers() = default;

  /// In the order of the setup. Requires: the world has got no other processes, but for those of the company, which
  /// come after them.
  std::span<const sim::ProcessId> ids() const { return ids_; }

  // --- Building.

  /// Gives the client connections to all servers, and an endpoint for them (`Client::connect`).
  virtual void connect(Client& client, const ClientLink& link) = 0;
  /// Gives it what an algorithm needs whose entry `subscribes`: connections for messages that it has not asked for.
  virtual void connect_subscriber(Client& process, const ClientLink& link) {
    static_cast<void>(process), static_cast<void>(link);
  }
  /// The first of them keeps what the lock protects, and tells of it under this id.
  virtual void keep_resource(sim::ProcessId resource) { static_cast<void>(resource); }
  /// An explorer runs this world again and again.
  virtual void expect_exploration() {}

  // --- Running: what servers do by themselves from the beginning on.

  /// Before clients start.
  virtual void begin_first() {}
  /// After clients have started.
  virtual void begin() {}

  // --- Looking. Nothing of it changes anything.

  /// Whether a fresh client finds what the first one found.
  virtual bool is_as_at_first() const = 0;
  /// Changes when what the server holds does.
  virtual std::uint64_t digest(std::size_t server) const = 0;
  virtual std::vector<HeldObject> held(std::size_t server) const = 0;
  /// "lock = A-1, with a lease": says nothing of instants, so that states which differ only in those read the same.
  virtual std::vector<std::string> holdings(std::size_t server) const = 0;
  virtual std::optional<Trouble> trouble() const { return std::nullopt; }
  virtual std::vector<Mistake> mistakes() const { return {}; }

 protected:
  std::vector<sim::ProcessId> ids_;
};

/// A kind of server. There is one object of each, which has no state.
class ServerKind {
 public:
  virtual ~ServerKind() = default;

  /// As files have it: `kind = "redis"`. Servers that nobody named are called so, too.
  virtual std::string_view name() const = 0;
  /// What clients send to it, in a sentence: "a Redis command".
  virtual std::string_view request() const = 0;
  /// The names of what clients send: steps at which faults strike, and which [pin] and [schedule] put in order.
  virtual std::vector<std::string_view> requests() const = 0;
  /// The names of what else travels: between servers, from a server without being asked. For [schedule].
  virtual std::vector<std::string_view> other_messages() const { return {}; }
  /// The keys of a [[server]] of this kind.
  virtual std::span<const SettingSpec> settings() const { return {}; }
  /// The keys of [servers], besides `count`: what all servers of a story have in common.
  virtual std::span<const SettingSpec> shared_settings() const { return {}; }

  /// The faults whose effects on its servers, and on messages to and from them, are modelled. Files that have another
  /// are refused: a server that nobody taught a fault must not look like one that withstands it.
  virtual std::span<const sim::FaultKind> implements() const = 0;
  /// Whether what its servers answer depends on their wall clocks. False: leases end by clocks that no operator sets.
  virtual bool reads_wall_clock() const = 0;
  /// Whether a client that sends this learns from one server of the others: how many replicas have something, say.
  virtual bool tells_of_others(std::string_view request) const {
    static_cast<void>(request);
    return false;
  }
  /// Whether one of these servers answers as others let it, whatever a client sends.
  virtual bool depends_on_others(std::span<const ServerSpec> servers) const {
    static_cast<void>(servers);
    return false;
  }

  /// What is wrong with the servers of a story that no single key can know. `server` has it, in its setting of that
  /// name.
  struct Contradiction {
    std::size_t server = 0;
    std::string_view setting;
    std::string message;
  };
  virtual std::optional<Contradiction> contradiction(std::span<const ServerSpec> servers) const {
    static_cast<void>(servers);
    return std::nullopt;
  }
  /// Whether a server with these settings can do what one of that version can, as far as it says which it is.
  virtual bool has_version(const Settings& settings, std::string_view version) const {
    static_cast<void>(settings);
    static_cast<void>(version);
    return true;
  }
  /// Whether a server that crashes and comes back has something on its disk.
  virtual bool has_disk(const Settings& settings) const {
    static_cast<void>(settings);
    return false;
  }
  /// Whether no server is there because of another one: then one of several can be left out.
  virtual bool are_independent(std::span<const ServerSpec> servers) const {
    static_cast<void>(servers);
    return true;
  }
  /// Whether all of them keep one state, of which histories tell under the id of the first: an ensemble. Then there is
  /// a moment at which a lock is free, as no-lost-wakeup asks for.
  virtual bool keep_one_state(std::span<const ServerSpec> servers) const { return servers.size() == 1; }
  /// How many there are in worlds and stories that are made up (matrix, fuzz, new): one, or an ensemble that can lose
  /// one. Of a lock on several independent servers that is for the lock to say.
  virtual std::size_t usual_count() const { return 1; }
  /// Why an exploration cannot follow them, in a sentence: heartbeats for ever, for example. Empty: it can.
  virtual std::string_view not_explored(std::span<const ServerSpec> servers, const Settings& shared) const {
    static_cast<void>(servers);
    static_cast<void>(shared);
    return "";
  }
  /// What only Redis has so far asks this: clients that send `commands`, [market], [sentinels], locks as scripts,
  /// `serve` and `confirm`, and worlds with a failover in the matrix and in `fuzz`.
  virtual bool is_redis() const { return false; }

  /// Adds the servers to the world, in the order of the setup.
  virtual std::unique_ptr<Servers> make(const ServersSetup& setup) const = 0;
};

/// What a server is called that nobody named.
std::string server_name(const ServerKind& kind, std::size_t index, std::size_t count);

inline sim::World::ClockSettings clock_settings(const ClockSpec& spec) {
  return {.offset = spec.offset, .drift_ppb = spec.drift_ppm * 1000, .uptime = spec.uptime};
}

/// A connection of a client, or of a part of one, which is then named in histories.
sim::ConnectionId link(Client& client, sim::ProcessId server, sim::DurationRange latency);

}  // namespace lockstep::models
