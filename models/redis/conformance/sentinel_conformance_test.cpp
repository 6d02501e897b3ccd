// The same failovers told to real processes and to simulated ones: a primary, a replica, three sentinels and clients. What the clients
// were told, who is primary, and which keys are left must be the same. Without an installed redis-server it says SKIPPED.
//
// Real processes are slow and late, so both sides use short periods (SENTINEL DEBUG), and nothing is compared but what the
// story decides: no times, and none of the announcements that come earlier or later from run to run.

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/conformance/real_redis.hpp"
#include "models/redis/sentinel/sentinel.hpp"
#include "models/redis/server/node.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/testing/local_socket.hpp"

namespace lockstep::models::redis::sentinel_conformance_test {
namespace {

using namespace sim::literals;

constexpr int kSentinels = 3;
constexpr int kPatient = 60'000, kImpatient = 300;  // milliseconds of down-after
using Transcript = std::vector<std::string>;

Command command_of(const std::string& line) { return std::get<Command>(parse_command_line(line)); }

// --- The real side.

/// A redis-server or a sentinel on loopback, with a folder of its own; killed and removed with the object.
class RealProcess {
 public:
  RealProcess(std::filesystem::path folder, std::vector<std::string> arguments, const std::string& configuration)
      : folder_(std::move(folder)), port_(sim::free_port()), arguments_(std::move(arguments)) {
    std::filesystem::create_directory(folder_);
    std::ofstream(folder_ / "redis.conf") << "port " << port_ << "\nbind 127.0.0.1\nunixsocket " << socket() << "\ndir "
                                          << folder_.string() << "\nsave \"\"\n"
                                          << configuration;
  }
  ~RealProcess() { kill_now(); }
  RealProcess(const RealProcess&) = delete;
  RealProcess& operator=(const RealProcess&) = delete;

  void start() {
    std::filesystem::remove(socket());
    pid_ = fork();
    if (pid_ == 0) {
      const int nowhere = open("/dev/null", O_RDWR);
      for (const int fd : {0, 1, 2}) dup2(nowhere, fd);
      const std::string file = (folder_ / "redis.conf").string();
      std::vector<const char*> words{"redis-server", file.c_str()};
      for (const std::string& argument : arguments_) words.push_back(argument.c_str());
      words.push_back(nullptr);
      execvp("redis-server", const_cast<char* const*>(words.data()));
      _exit(127);
    }
    for (int i = 0; i < 500; ++i) {
      usleep(10'000);
      try {
        if (say("PING").is_status("PONG")) return;
      } catch (const std::runtime_error&) {
        continue;  // not listening yet
      }
    }
    throw std::runtime_error("redis-server did not come up");
  }
  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGCONT);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  void stop() const { kill(pid_, SIGSTOP); }
  void go_on() const { kill(pid_, SIGCONT); }

  /// On a connection of its own.
  Reply say(const Command& command) const {
    RealRedis::Connection connection(socket());
    return say(connection, command);
  }
  Reply say(const std::string& line) const { return say(command_of(line)); }
  static Reply say(RealRedis::Connection& connection, const Command& command) {
    std::string request;
    append_request(request, command);
    connection.send(request);
    return connection.receive();
  }
  RealRedis::Connection connect() const { return RealRedis::Connection(socket()); }
  int port() const { return port_; }

 private:
  std::string socket() const { return (folder_ / "s").string(); }
  std::filesystem::path folder_;
  int port_;
  std::vector<std::string> arguments_;
  int pid_ = -1;
};

/// redis1, its replica redis2, and three sentinels that know each other and both.
class RealWorld {
 public:
  RealWorld() {
    std::string name = (std::filesystem::temp_directory_path() / "lockstep-sentinel-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    servers_.push_back(std::make_unique<RealProcess>(folder_ / "redis1", std::vector<std::string>{}, kServer));
    servers_.push_back(
        std::make_unique<RealProcess>(folder_ / "redis2", std::vector<std::string>{},
                                      kServer + ("replicaof 127.0.0.1 " + std::to_string(server(1).port()) + "\n")));
    for (const auto& server : servers_) server->start();
    for (int i = 0; i < kSentinels; ++i) {
      const std::string configuration = "sentinel monitor mymaster 127.0.0.1 " + std::to_string(server(1).port()) +
                                        " 2\nsentinel down-after-milliseconds mymaster " + std::to_string(kPatient) +
                                        "\n"
                                        "sentinel failover-timeout mymaster 3000\n";
      sentinels_.push_back(std::make_unique<RealProcess>(folder_ / ("sentinel" + std::to_string(i)),
                                                         std::vector<std::string>{"--sentinel"}, configuration));
      sentinels_.back()->start();
      sentinels_.back()->say("SENTINEL DEBUG info-period 100 publish-period 200 ask-period 100");
    }
    wait_until("everybody knows everybody", [&] {
      return std::all_of(sentinels_.begin(), sentinels_.end(), [&](const auto& sentinel) {
        const Reply primary = sentinel->say("SENTINEL MASTER mymaster");
        return field(primary, "num-slaves") == "1" && field(primary, "num-other-sentinels") == "2";
      });
    });
    wait_until("the replica is in sync", [&] { return info(server(2), "master_link_status") == "up"; });
  }
  /// A loaded machine is slow to answer: until a story wants a failover, and after it, the sentinels are patient.
  void set_patience(int milliseconds) {
    for (const auto& sentinel : sentinels_) {
      sentinel->say("SENTINEL SET mymaster down-after-milliseconds " + std::to_string(milliseconds));
    }
  }

  ~RealWorld() {
    sentinels_.clear();
    servers_.clear();
    std::filesystem::remove_all(folder_);
  }
  RealWorld(const RealWorld&) = delete;
  RealWorld& operator=(const RealWorld&) = delete;

  RealProcess& server(std::size_t i) { return *servers_[i - 1]; }
  RealProcess& sentinel(std::size_t i) { return *sentinels_[i - 1]; }

  static void wait_until(const std::string& what, const std::function<bool()>& is_so) {
    for (int i = 0; i < 1000; ++i) {
      try {
        if (is_so()) return;
      } catch (const std::runtime_error&) {
        // hung up, e.g. since its role changes
      }
      usleep(10'000);
    }
    throw std::runtime_error("waited for too long until " + what);
  }
  static std::string field(const Reply& instance, std::string_view name) {
    for (std::size_t i = 0; i + 1 < instance.items().size(); i += 2) {
      if (instance.items()[i] == Reply::bulk(name)) return instance.items()[i + 1].value().text();
    }
    return "";
  }
  static std::string info(const RealProcess& server, const std::string& name) {
    const std::string text = "\n" + server.say("INFO replication").value().text();
    const std::size_t at = text.find("\n" + name + ":");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
  /// Hosts and ports as the simulation calls them.
  std::string with_names(std::string text) const {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      const std::string port = std::to_string(servers_[i]->port());
      for (const std::string& address : {"127.0.0.1 " + port, "\"127.0.0.1\" 2) \"" + port + "\""}) {
        const bool is_quoted = address.front() == '"';
        const std::string host = "redis" + std::to_string(i + 1);
        const std::string name = is_quoted ? "\"" + host + "\" 2) \"6379\"" : host + " 6379";
        for (std::size_t at = 0; (at = text.find(address, at)) != std::string::npos; at += name.size()) {
          text.replace(at, address.size(), name);
        }
      }
    }
    return text;
  }
  std::string primary_of(std::size_t sentinel_number) {
    return with_names(sentinel(sentinel_number).say("SENTINEL GET-MASTER-ADDR-BY-NAME mymaster").describe());
  }

 private:
  static inline const std::string kServer = "appendonly no\nrepl-diskless-sync-delay 0\nrepl-ping-replica-period 1\n";
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<RealProcess>> servers_, sentinels_;
};

// --- The simulated side.

class SimulatedWorld {
 public:
  SimulatedWorld() {
    for (int i = 1; i <= 2; ++i) world_.add(servers_.emplace_back(scripts_), "redis" + std::to_string(i), {});
    Node::meet(servers_[0], servers_[1], kLatency);
    servers_[1].begin_as_replica_of(servers_[0]);
    SentinelSettings settings;
    settings.quorum = 2;
    settings.down_after = 300_ms;
    settings.failover_timeout = 3_s;
    settings.info_period = 100_ms;
    settings.publish_period = 200_ms;
    settings.ask_period = 100_ms;
    for (int i = 1; i <= kSentinels; ++i) {
      world_.add(sentinels_.emplace_back(settings), "sentinel" + std::to_string(i), {});
    }
    for (std::size_t i = 0; i < sentinels_.size(); ++i) {
      for (Node& server : servers_) {
        const sim::ConnectionId requests = world_.connect(sentinels_[i].id(), server.id(), kLatency);
        sentinels_[i].connect_node(server.name(), requests, world_.connect(sentinels_[i].id(), server.id(), kLatency));
      }
      for (Sentinel& other : sentinels_) {
        if (&other == &sentinels_[i]) continue;
        sentinels_[i].connect_sentinel(other.name(), world_.connect(sentinels_[i].id(), other.id(), kLatency));
      }
      sentinels_[i].monitor("redis1");
      world_.start(sentinels_[i].id(), sim::DurationRange::exactly(17_ms * static_cast<std::int64_t>(i)));
    }
  }

  /// At this time a client of its own sends a line: to a server, or (from 11 on) to a sentinel.
  void say(sim::Duration at, std::size_t whom, const std::string& line, std::function<void(const Reply&)> then) {
    Client& client =
        clients_.emplace_back([this, whom, line, then](Client& c) { return run_line(c, whom, line, then); });
    world_.add(client, "c" + std::to_string(clients_.size()), {});
    const sim::ProcessId server = whom > 10 ? sentinels_[whom - 11].id() : servers_[whom - 1].id();
    connections_.push_back(world_.connect(client.id(), server, kLatency));
    client.connect<Endpoint>().add_server(connections_.back(), std::nullopt);
    numbers_[client.name()] = connections_.size() - 1;
    world_.start(client.id(), sim::DurationRange::exactly(at));
  }
  void listen(std::size_t sentinel, std::vector<std::string>& heard) {
    Client& client = clients_.emplace_back([this, &heard](Client& c) -> sim::Task<void> {
      co_await sim::Call<Response>(c, connections_[numbers_[c.name()]],
                                   world_.make<SentinelRequest>(Command{"SUBSCRIBE", "+switch-master"}), std::nullopt);
      while (true) {
        const std::optional<Reply> message = co_await server_of(c).next_message(std::nullopt);
        heard.push_back(message->items()[2].value().text());
      }
    });
    world_.add(client, "l" + std::to_string(clients_.size()), {});
    connections_.push_back(world_.connect(client.id(), sentinels_[sentinel - 1].id(), kLatency));
    client.connect<Endpoint>().add_server(connections_.back(), std::nullopt);
    numbers_[client.name()] = connections_.size() - 1;
    world_.start(client.id(), sim::DurationRange::exactly(1_s));
  }
  void plan(sim::PlannedFault::Kind kind, std::size_t server, sim::Duration at, sim::Duration length,
            std::optional<sim::Duration> restart_after = std::nullopt) {
    sim::PlannedFault fault;
    fault.kind = kind;
    fault.process = servers_[server - 1].id();
    fault.at = at;
    fault.length = length;
    if (restart_after) fault.restart_after = sim::DurationRange::exactly(*restart_after);
    world_.plan(std::move(fault));
  }
  void plan(sim::Partition partition) { world_.plan(std::move(partition)); }
  sim::ProcessId server(std::size_t i) const { return servers_[i - 1].id(); }
  sim::ProcessId sentinel(std::size_t i) const { return sentinels_[i - 1].id(); }
  void run(sim::Duration until) {
    world_.arm_faults();
    for (Node& node : servers_) node.begin();
    while (simulation_.next_due() && world_.now().offset() <= until && simulation_.step()) {
    }
  }

 private:
  static constexpr sim::DurationRange kLatency = sim::DurationRange::exactly(sim::Duration::milliseconds(1));
  sim::Task<void> run_line(Client& client, std::size_t whom, std::string line, std::function<void(const Reply&)> then) {
    const sim::ConnectionId connection = connections_[numbers_[client.name()]];
    sim::MessagePtr request;
    if (whom > 10) {
      request = world_.make<SentinelRequest>(command_of(line));
    } else {
      request = world_.make<Request>(command_of(line));
    }
    const auto reply = co_await sim::Call<Response>(client, connection, std::move(request), std::nullopt);
    then(reply.value_or(Reply::unknown()));
  }

  sim::DefaultDecisions decisions_;
  sim::World world_{decisions_};
  sim::Simulation simulation_{world_};
  ScriptEngine scripts_;
  std::deque<Node> servers_;
  std::deque<Sentinel> sentinels_;
  std::deque<Client> clients_;
  std::vector<sim::ConnectionId> connections_;
  std::map<std::string, std::size_t> numbers_;
};

/// ROLE without offsets: who it is, whom it follows, and whether it is connected.
std::string role_of(const Reply& reply) {
  const std::string role = reply.items()[0].value().text();
  if (role != "slave") return role;
  const Reply& port = reply.items()[2];
  return role + " of " + reply.items()[1].value().text() + " " + port.describe().substr(10) + " " +
         reply.items()[3].value().text();
}

std::string sorted_keys(const Reply& reply) {
  std::vector<std::string> keys;
  for (const Reply& key : reply.items()) keys.push_back(key.value().text());
  std::erase(keys, "filler");
  std::sort(keys.begin(), keys.end());
  std::string out;
  for (const std::string& key : keys) out += key + " ";
  return out;
}

Transcript simulated_failover();
Transcript simulated_split_brain();

/// The stopped replica's kernel would take what the primary sends and hand it over later. So first comes more than all
/// buffers between them hold: what comes after that has not left the primary when it dies.
Transcript real_failover() {
  constexpr std::size_t kFillerBytes = 48u << 20;
  Transcript seen;
  RealWorld world;
  std::vector<RealRedis::Connection> listeners;
  for (std::size_t i = 1; i <= kSentinels; ++i) {
    listeners.push_back(world.sentinel(i).connect());
    RealProcess::say(listeners.back(), Command{"SUBSCRIBE", "+switch-master"});
  }
  seen.push_back(world.server(1).say("SET before 1").describe());
  RealWorld::wait_until("the write is there", [&] { return world.server(2).say("GET before").is_bulk(); });
  world.server(2).stop();
  world.server(1).say(Command{"SET", "filler", std::string(kFillerBytes, 'x')});
  seen.push_back(world.server(1).say("SET lock A NX PX 60000").describe());
  world.set_patience(kImpatient);
  world.server(1).kill_now();
  world.server(2).go_on();
  for (RealRedis::Connection& listener : listeners) {
    const Reply message = listener.receive();
    seen.push_back(world.with_names(message.items()[2].value().text()));
  }
  world.set_patience(kPatient);
  for (std::size_t i = 1; i <= kSentinels; ++i) seen.push_back(world.primary_of(i));
  seen.push_back(role_of(world.server(2).say("ROLE")));
  seen.push_back(world.server(2).say("GET lock").describe());
  seen.push_back(world.server(2).say("SET lock B NX PX 60000").describe());
  world.server(1).start();
  RealWorld::wait_until("the old primary follows",
                        [&] { return role_of(world.server(1).say("ROLE")).ends_with(" connected"); });
  seen.push_back(world.with_names(role_of(world.server(1).say("ROLE"))));
  seen.push_back(world.server(1).say("SET x 1").describe());
  for (std::size_t i = 1; i <= 2; ++i) seen.push_back(sorted_keys(world.server(i).say("KEYS *")));
  seen.push_back(world.server(1).say("GET lock").describe());
  for (std::size_t i = 1; i <= kSentinels; ++i) seen.push_back(world.primary_of(i));
  return seen;
}

/// Nothing of the last write has left the primary when it dies: a partition between the two keeps it.
Transcript simulated_failover() {
  Transcript first, told, last;
  std::vector<std::string> heard;
  SimulatedWorld world;
  const auto into = [](Transcript& seen) { return [&seen](const Reply& reply) { seen.push_back(reply.describe()); }; };
  for (std::size_t i = 1; i <= kSentinels; ++i) world.listen(i, heard);
  world.say(3_s, 1, "SET before 1", into(first));
  world.plan(sim::Partition{.sides = {{world.server(1)}, {world.server(2)}},
                            .from = sim::Instant::at(3100_ms),
                            .until = sim::Instant::at(9_s)});
  world.plan(sim::PlannedFault::Kind::pause, 2, 3150_ms, 100_ms);
  world.say(3200_ms, 1, "SET lock A NX PX 60000", into(first));
  world.plan(sim::PlannedFault::Kind::crash, 1, 3250_ms, {}, 10_s);
  const sim::Duration after = 10_s, end = 30_s;
  for (std::size_t i = 1; i <= kSentinels; ++i) {
    world.say(after + 10_ms * static_cast<std::int64_t>(i), 10 + i, "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster",
              into(told));
  }
  world.say(11000_ms, 2, "ROLE", [&](const Reply& reply) { told.push_back(role_of(reply)); });
  world.say(11010_ms, 2, "GET lock", into(told));
  world.say(11020_ms, 2, "SET lock B NX PX 60000", into(told));
  world.say(end, 1, "ROLE", [&](const Reply& reply) { last.push_back(role_of(reply)); });
  world.say(end + 10_ms, 1, "SET x 1", into(last));
  for (std::size_t i = 1; i <= 2; ++i) {
    world.say(end + 10_ms * static_cast<std::int64_t>(1 + i), i, "KEYS *",
              [&](const Reply& reply) { last.push_back(sorted_keys(reply)); });
  }
  world.say(end + 50_ms, 1, "GET lock", into(last));
  for (std::size_t i = 1; i <= kSentinels; ++i) {
    world.say(end + 50_ms + 10_ms * static_cast<std::int64_t>(i), 10 + i, "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster",
              into(last));
  }
  world.run(end + 1_s);
  Transcript seen = first;
  for (const Transcript& part : {heard, told, last}) seen.insert(seen.end(), part.begin(), part.end());
  return seen;
}

/// Sentinels lose sight of the primary, and it of its replica; a client that it goes on serving does not. The real one's
/// network cannot be cut here, so it answers sentinels with an error (which counts as no answer), and its replica has left it
/// when the client writes: to be promoted is to leave.
Transcript real_split_brain() {
  Transcript seen;
  RealWorld world;
  world.server(1).say("ACL SETUSER inside on nopass ~* &* +@all");
  RealRedis::Connection inside = world.server(1).connect();
  RealProcess::say(inside, Command{"AUTH", "inside", "x"});
  seen.push_back(RealProcess::say(inside, command_of("SET before 1")).describe());
  RealWorld::wait_until("the write is there", [&] { return world.server(2).say("GET before").is_bulk(); });
  world.set_patience(kImpatient);
  RealProcess::say(inside, command_of("ACL SETUSER default -@all"));
  RealWorld::wait_until("the replica is promoted everywhere", [&] {
    for (std::size_t i = 1; i <= kSentinels; ++i) {
      if (world.primary_of(i).find("redis2") == std::string::npos) return false;
    }
    return role_of(world.server(2).say("ROLE")) == "master";
  });
  world.set_patience(kPatient);
  seen.push_back(RealProcess::say(inside, command_of("SET lock A NX PX 60000")).describe());
  seen.push_back(RealProcess::say(inside, command_of("SET counter 7")).describe());
  seen.push_back(world.server(2).say("SET lock B NX PX 60000").describe());
  seen.push_back(RealProcess::say(inside, command_of("GET lock")).describe());
  RealProcess::say(inside, command_of("ACL SETUSER default on nopass ~* &* +@all"));
  RealWorld::wait_until("the old primary follows",
                        [&] { return role_of(world.server(1).say("ROLE")).ends_with(" connected"); });
  seen.push_back(world.with_names(role_of(world.server(1).say("ROLE"))));
  for (std::size_t i = 1; i <= 2; ++i) seen.push_back(sorted_keys(world.server(i).say("KEYS *")));
  seen.push_back(world.server(1).say("GET lock").describe());
  for (std::size_t i = 1; i <= kSentinels; ++i) seen.push_back(world.primary_of(i));
  return seen;
}

Transcript simulated_split_brain() {
  Transcript seen;
  SimulatedWorld world;
  const auto note = [&](const Reply& reply) { seen.push_back(reply.describe()); };
  world.say(3_s, 1, "SET before 1", note);
  world.plan(sim::Partition{
      .sides = {{world.server(1)}, {world.server(2), world.sentinel(1), world.sentinel(2), world.sentinel(3)}},
      .from = sim::Instant::at(4_s),
      .until = sim::Instant::at(12_s)});
  world.say(10_s, 1, "SET lock A NX PX 60000", note);
  world.say(10010_ms, 1, "SET counter 7", note);
  world.say(10020_ms, 2, "SET lock B NX PX 60000", note);
  world.say(10030_ms, 1, "GET lock", note);
  const sim::Duration end = 30_s;
  world.say(end, 1, "ROLE", [&](const Reply& reply) { seen.push_back(role_of(reply)); });
  for (std::size_t i = 1; i <= 2; ++i) {
    world.say(end + 10_ms * static_cast<std::int64_t>(i), i, "KEYS *",
              [&](const Reply& reply) { seen.push_back(sorted_keys(reply)); });
  }
  world.say(end + 30_ms, 1, "GET lock", note);
  for (std::size_t i = 1; i <= kSentinels; ++i) {
    world.say(end + 30_ms + 10_ms * static_cast<std::int64_t>(i), 10 + i, "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster",
              note);
  }
  world.run(end + 1_s);
  return seen;
}

/// Whether there is something to compare with.
bool has_real_redis() {
  std::string why;
  if (RealRedis::start(why) != nullptr) return true;
  WARN("SKIPPED: " << why);
  std::cout << "SKIPPED: " << why << "\n";
  return false;
}

}  // namespace

TEST_CASE("simulated failover: the write that the replica had not seen is lost, and the lock is granted twice") {
  CHECK(simulated_failover() ==
        Transcript{"OK", "OK", "mymaster redis1 6379 redis2 6379", "mymaster redis1 6379 redis2 6379",
                   "mymaster redis1 6379 redis2 6379", R"(1) "redis2" 2) "6379")", R"(1) "redis2" 2) "6379")",
                   R"(1) "redis2" 2) "6379")", "master", "(nil)", "OK", "slave of redis2 6379 connected",
                   "(error) READONLY You can't write against a read only replica.", "before lock ", "before lock ",
                   "\"B\"", R"(1) "redis2" 2) "6379")", R"(1) "redis2" 2) "6379")", R"(1) "redis2" 2) "6379")"});
}

TEST_CASE("simulated split brain: both sides grant the lock, and the old primary's writes are gone in the end") {
  CHECK(simulated_split_brain() == Transcript{"OK", "OK", "OK", "OK", "\"A\"", "slave of redis2 6379 connected",
                                              "before lock ", "before lock ", "\"B\"", R"(1) "redis2" 2) "6379")",
                                              R"(1) "redis2" 2) "6379")", R"(1) "redis2" 2) "6379")"});
}

TEST_CASE("a real failover ends as the simulated one") {
  if (!has_real_redis()) return;
  CHECK(real_failover() == simulated_failover());
}

TEST_CASE("a real split brain ends as the simulated one") {
  if (!has_real_redis()) return;
  CHECK(real_split_brain() == simulated_split_brain());
}

}  // namespace lockstep::models::redis::sentinel_conformance_test
