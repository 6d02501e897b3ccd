// A real primary and its replica, and a simulated pair, told the same: replies, keys, roles and offsets must agree.

#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/conformance/comparison.hpp"
#include "models/redis/conformance/random_commands.hpp"
#include "models/redis/conformance/real_redis.hpp"
#include "models/redis/server/node.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::redis::replication_conformance_test {
namespace {

const int kRounds = sim::cases<int>(60, 15);

Command parsed(std::string_view line) { return std::get<Command>(parse_command_line(line)); }

/// What both pairs can do. Servers are numbered from 0; at first 1 is a replica of 0.
class SimulatedPair {
 public:
  explicit SimulatedPair(const PersistenceSettings& disk = {}) {
    const sim::DurationRange latency = sim::DurationRange::exactly(10_us);
    const sim::World::ClockSettings clock{.offset = sim::Duration::seconds(static_cast<std::int64_t>(::time(nullptr)))};
    for (const char* name : {"redis1", "redis2"}) {
      Node& node = nodes_.emplace_back(scripts_);
      ids_.push_back(world_.add(node, name, clock));
      node.set_persistence(disk);
    }
    Node::meet(nodes_[0], nodes_[1], latency);
    for (std::size_t i = 0; i < 2; ++i) {
      Client& client = clients_.emplace_back([this](Client& c) { return ask_once(c); });
      const sim::ProcessId id = world_.add(client, "c" + std::to_string(i), {});
      client.connect<Endpoint>().add_server(world_.connect(id, ids_[i], latency), std::nullopt);
    }
    ask(1, parsed("REPLICAOF redis1 6379"));
  }

  Reply ask(std::size_t server, const Command& command) {
    command_ = command;
    world_.start_now(clients_[server].id());
    run();
    return reply_;
  }
  void pass(sim::Duration time) {
    command_.reset();
    pause_ = time;
    world_.start_now(clients_[0].id());
    run();
  }
  void crash_and_restart(std::size_t server) {
    faults_.emplace_back();
    faults_.back().kind = sim::PlannedFault::Kind::crash;
    faults_.back().process = ids_[server];
    faults_.back().restart_after = sim::DurationRange::exactly(1_ms);
    world_.strike_now(faults_.back(), world_.now());
    run();
  }
  std::string address(std::size_t server) const { return "redis" + std::to_string(server + 1) + " 6379"; }
  const Replication& replication(std::size_t server) const { return nodes_[server].database().replication(); }

 private:
  sim::Task<void> ask_once(Client& client) {
    if (command_) {
      reply_ = co_await server_of(client).call(*command_);
    } else {
      co_await client.sleep(pause_);
    }
  }
  void run() { simulation_.run(sim::Instant::at(sim::Duration::forever()), 1'000'000); }

  Guided decisions_;
  sim::World world_{decisions_};
  sim::Simulation simulation_{world_};
  ScriptEngine scripts_;
  std::deque<Node> nodes_;
  std::vector<sim::ProcessId> ids_;
  std::deque<Client> clients_;
  std::deque<sim::PlannedFault> faults_;
  std::optional<Command> command_;
  sim::Duration pause_;
  Reply reply_;
};

class RealPair {
 public:
  /// Null: there is no server to be had, and the test has said so.
  static std::unique_ptr<RealPair> start(std::vector<std::string> arguments = {}) {
    std::string why;
    auto pair = std::unique_ptr<RealPair>(new RealPair);
    for (const std::string_view argument : {"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "3600"}) {
      arguments.emplace_back(argument);
    }
    for (int i = 0; i < 2; ++i) {
      auto server = RealRedis::start(why, arguments);
      if (server == nullptr) {
        std::cout << "SKIPPED: " << why << "; nothing was compared\n";
        WARN("SKIPPED: " << why << "; nothing was compared");
        return nullptr;
      }
      pair->connections_.push_back(std::make_unique<RealRedis::Connection>(server->connect()));
      pair->servers_.push_back(std::move(server));
    }
    pair->ask(1, parsed("REPLICAOF " + pair->address(0)));
    pair->wait_for_link(1);
    return pair;
  }

  Reply ask(std::size_t server, const Command& command) {
    std::string bytes;
    append_request(bytes, command);
    connections_[server]->send(bytes);
    return connections_[server]->receive();
  }
  void restart(std::size_t server) {
    servers_[server]->restart();
    connections_[server] = std::make_unique<RealRedis::Connection>(servers_[server]->connect());
  }
  std::string address(std::size_t server) const { return "127.0.0.1 " + std::to_string(servers_[server]->port()); }
  std::string info(std::size_t server, const std::string& name, const char* section = "replication") {
    const std::string text = ask(server, Command{"INFO", section}).value().text();
    const std::size_t at = text.find("\n" + name + ":");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
  void wait_for_link(std::size_t server) {
    for (int i = 0; i < 1000; ++i) {
      if (info(server, "master_link_status") == "up") return;
      usleep(10'000);
    }
    FAIL("the real replica does not connect");
  }
  /// Until no child of the server writes the snapshot that a replica has asked for: the server refuses another one meanwhile.
  void wait_for_background_save(std::size_t server) {
    for (int i = 0; i < 1000; ++i) {
      if (info(server, "rdb_bgsave_in_progress", "persistence") == "0") return;
      usleep(10'000);
    }
    FAIL("the real server's background save does not end");
  }
  /// Until the replica has all that the primary has.
  void drain(std::size_t primary) {
    const std::string wanted = info(primary, "master_repl_offset");
    for (int i = 0; i < 1000; ++i) {
      if (info(1 - primary, "master_repl_offset") == wanted) return;
      usleep(1'000);
    }
    FAIL("the real replica does not catch up");
  }

 private:
  RealPair() = default;
  std::vector<std::unique_ptr<RealRedis>> servers_;
  std::vector<std::unique_ptr<RealRedis::Connection>> connections_;
};

/// The same words to both.
class Pairs {
 public:
  Pairs(RealPair& real, SimulatedPair& simulated) : real_(real), simulated_(simulated) {}

  void say(std::size_t server, const Command& command) {
    const Reply theirs = real_.ask(server, command);
    const Reply ours = simulated_.ask(server, command);
    ++said_;
    INFO("server " << server << ": " << command.describe() << "\n  real:      " << theirs.describe()
                   << "\n  simulated: " << ours.describe());
    REQUIRE(comparable(command, ours) == comparable(command, theirs));
  }
  void say(std::size_t server, std::string_view line) { say(server, parsed(line)); }
  /// Addresses differ, so the reply alone is compared.
  void follow(std::size_t server, std::size_t primary) {
    const Reply theirs = real_.ask(server, parsed("REPLICAOF " + real_.address(primary)));
    const Reply ours = simulated_.ask(server, parsed("REPLICAOF " + simulated_.address(primary)));
    CHECK(ours == theirs);
    real_.wait_for_link(server);
  }

  /// All keys of a server, with their types, contents and whether they expire.
  void compare_keys(std::size_t server) {
    const Command all = parsed("KEYS *");
    say(server, all);
    const Reply keys = simulated_.ask(server, all);
    for (const Reply& key : keys.items()) {
      const Value& name = key.value();
      const std::string type(simulated_.ask(server, Command{"TYPE", name}).text());
      say(server, Command{"TYPE", name});
      say(server, Command{"PTTL", name});
      if (type == "string") say(server, Command{"GET", name});
      if (type == "list") say(server, Command{"LRANGE", name, 0, -1});
      if (type == "hash") say(server, Command{"HGETALL", name});
      if (type == "set") say(server, Command{"SMEMBERS", name});
      if (type == "zset") say(server, Command{"ZRANGE", name, 0, -1, "WITHSCORES"});
    }
    compared_keys_ += keys.items().size();
  }
  void compare_offsets(std::size_t server) {
    CHECK(std::to_string(simulated_.replication(server).offset()) == real_.info(server, "master_repl_offset"));
  }
  void sleep(sim::Duration time) {
    usleep(static_cast<useconds_t>(time.count_ns() / 1000));
    simulated_.pass(time);
  }
  std::size_t said() const { return said_; }
  std::size_t compared_keys() const { return compared_keys_; }

 private:
  RealPair& real_;
  SimulatedPair& simulated_;
  std::size_t said_ = 0;
  std::size_t compared_keys_ = 0;
};

/// Commands whose effects are the same bytes on both sides: no moment of the real clock is in them.
void write_something(Pairs& both, std::size_t primary) {
  for (const char* line : {"SET a 1",
                           "SET a 2 NX",
                           "INCR n",
                           "INCRBY n 41",
                           "LPUSH l x y z",
                           "LPOP l",
                           "DEL nothing",
                           "DEL a",
                           "APPEND s abc",
                           "HSET h f v g w",
                           "HDEL h f",
                           "SADD t 1 2 3",
                           "SREM t 2",
                           "ZADD z 1 one 2 two",
                           "ZINCRBY z 5 one",
                           "MSET p 1 q 2",
                           "SETNX p 2",
                           "PERSIST p",
                           "RENAME q r",
                           "MULTI",
                           "SET m 1",
                           "GET m",
                           "INCR m",
                           "EXEC",
                           "MULTI",
                           "SET only 1",
                           "EXEC",
                           "EVAL \"redis.call('set','e',1) redis.call('incr','e') return redis.call('get','e')\" 0",
                           "EVAL \"return redis.call('get','e')\" 0",
                           "PUBLISH news hello",
                           "GETDEL m",
                           "FLUSHDB",
                           "SET last 1"}) {
    both.say(primary, line);
  }
}

}  // namespace

TEST_CASE("replication: random commands on a real and a simulated primary make the same keys on their replicas") {
  const auto real = RealPair::start();
  if (real == nullptr) return;
  SimulatedPair simulated;
  Pairs both(*real, simulated);
  RandomCommands commands(20261121, {.now_seconds = static_cast<std::uint64_t>(::time(nullptr)), .server = false});
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 30; ++i) both.say(0, commands.next());
    real->drain(0);
    both.compare_keys(1);
    // Whatever else one says to a replica: reads are answered, writes are refused.
    for (int i = 0; i < 20; ++i) both.say(1, commands.next());
  }
  CHECK(both.compared_keys() > 100);
  std::cout << "compared " << both.said() << " replies of a replicated pair with redis-server\n";
}

TEST_CASE("replication: offsets, links and roles agree with the real pair's") {
  const auto real = RealPair::start();
  if (real == nullptr) return;
  SimulatedPair simulated;
  Pairs both(*real, simulated);
  write_something(both, 0);
  real->drain(0);
  for (const std::size_t server : {0, 1}) {
    both.compare_offsets(server);
    both.compare_keys(server);
  }
  SECTION("a replica's errors") {
    for (const char* line : {"SET a 1",
                             "MULTI",
                             "SET a 1",
                             "GET last",
                             "EXEC",
                             "EVAL \"return redis.call('set','x',1)\" 0",
                             "EVAL \"return redis.pcall('set','x',1)\" 0",
                             "EVAL \"return redis.call('get','last')\" 0",
                             "WAIT 1 10",
                             "EVAL \"#!lua\\nreturn redis.call('get','last')\" 0",
                             "EVAL_RO \"#!lua\\nreturn redis.call('get','last')\" 0",
                             "EVAL \"#!lua flags=no-writes\\nreturn redis.call('get','last')\" 0",
                             "BLPOP l 1",
                             "PUBLISH news x",
                             "FLUSHALL",
                             "SPOP t",
                             "FAILOVER",
                             "FAILOVER ABORT",
                             "REPLICAOF NO WAY",
                             "REPLICAOF somewhere 65536",
                             "DEL nothing",
                             "GETEX last PERSIST"}) {
      both.say(1, line);
    }
  }
  SECTION("WAIT, and too few replicas") {
    for (const char* line : {"SET a 1",
                             "WAIT 1 1000",
                             "WAIT 0 0",
                             "WAIT 2 20",
                             "WAIT x 1",
                             "WAIT 1 -1",
                             "WAIT 1 x",
                             "CONFIG SET min-replicas-to-write 2",
                             "SET a 2",
                             "GET a",
                             "MULTI",
                             "SET a 2",
                             "EXEC",
                             "EVAL \"return redis.call('set','x',1)\" 0",
                             "EVAL \"return redis.pcall('set','x',1)\" 0",
                             "EVAL \"return redis.call('get','a')\" 0",
                             "EVAL \"#!lua\\nreturn redis.call('get','a')\" 0",
                             "EVAL_RO \"#!lua\\nreturn redis.call('get','a')\" 0",
                             "EVAL \"#!lua flags=no-writes\\nreturn redis.call('get','a')\" 0",
                             "PUBLISH news x",
                             "DEL nothing",
                             "CONFIG SET min-replicas-to-write 1",
                             "SET a 3",
                             "CONFIG SET min-replicas-to-write 0"}) {
      both.say(0, line);
    }
    real->drain(0);
    both.compare_keys(1);
  }
  SECTION("an expired key is hidden on the replica, and gone when the primary has met it") {
    both.say(0, "SET short 1 PX 50");
    both.say(0, "SET long 1 PX 100000");
    both.sleep(100_ms);
    for (const char* line : {"GET short", "EXISTS short", "TTL short", "GET long", "TYPE short", "STRLEN short"}) {
      both.say(1, line);
    }
    both.say(0, "GET short");
    real->drain(0);
    both.compare_keys(1);
  }
  SECTION("a link that was cut goes on where it was") {
    both.say(0, "CLIENT KILL TYPE replica");
    write_something(both, 0);
    real->wait_for_link(1);
    real->drain(0);
    both.compare_keys(1);
    both.compare_offsets(1);
    CHECK(real->info(0, "sync_partial_ok", "stats") == "1");
    CHECK(simulated.replication(1).id() == simulated.replication(0).id());
  }
  SECTION("a promoted replica, and the old primary as its replica") {
    both.say(1, "REPLICAOF NO ONE");
    both.say(1, "REPLICAOF NO ONE");
    both.say(1, "SET new 1");
    const bool diverged = GENERATE(false, true);
    if (diverged) both.say(0, "SET old 1");
    both.follow(0, 1);
    real->drain(1);
    both.compare_keys(0);
    both.compare_offsets(0);
    both.compare_offsets(1);
    both.say(0, "SET x 1");
    both.say(1, "SET x 1");
    real->drain(1);
    both.compare_keys(0);
    CHECK(real->info(1, "sync_partial_ok", "stats") == (diverged ? "0" : "1"));
    CHECK((simulated.replication(0).second_id() != std::string(40, '0')) == !diverged);
  }
  SECTION("a planned failover") {
    both.say(0, "FAILOVER");
    for (int i = 0; i < 500 && real->info(1, "role") != "master"; ++i) usleep(10'000);
    real->wait_for_link(0);
    both.say(1, "SET new 1");
    both.say(0, "SET old 1");
    real->drain(1);
    both.compare_keys(0);
    both.compare_keys(1);
  }
}

TEST_CASE("persistence: a restarted server has the keys that the real one has") {
  using AppendOnly = PersistenceSettings::AppendOnly;
  struct Mode {
    const char* name;
    std::vector<std::string> arguments;
    PersistenceSettings disk;
    bool saves;
  };
  // A process that is killed has given the kernel what it had to write, as one that loses power has with `always`.
  const auto mode = GENERATE(values<Mode>({{"none", {}, {}, false},
                                           {"snapshot", {}, {}, true},
                                           {"append-only",
                                            {"--appendonly", "yes", "--appendfsync", "always"},
                                            {.append_only = AppendOnly::always, .save = {}},
                                            false},
                                           {"both",
                                            {"--appendonly", "yes", "--appendfsync", "always"},
                                            {.append_only = AppendOnly::always, .save = {}},
                                            true}}));
  INFO(mode.name);
  const auto real = RealPair::start(mode.arguments);
  if (real == nullptr) return;
  SimulatedPair simulated(mode.disk);
  Pairs both(*real, simulated);
  write_something(both, 0);
  both.say(0, "SET leased 1 PX 100000");
  if (mode.saves) {
    real->wait_for_background_save(0);
    both.say(0, "SAVE");
  }
  both.say(0, "SET after 1");
  both.say(0, "DEL last");
  real->drain(0);
  real->restart(0);
  simulated.crash_and_restart(0);
  both.compare_keys(0);
  // The replica comes back to what its primary has become.
  real->wait_for_link(1);
  both.say(0, "SET again 1");
  real->drain(0);
  both.compare_keys(1);
}

}  // namespace lockstep::models::redis::replication_conformance_test
