// Redisson's locks send the commands of their documents, in their order; who waits is woken; a watchdog renews and stops.

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/locks/catalogue.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/server/node.hpp"
#include "models/workloads/lock_user.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::locks::redisson_steps_test {
namespace {

using namespace sim::literals;

/// Processes A, B, … with threads, their background tasks and subscriptions; every message takes a millisecond.
class Bench {
 public:
  Bench(std::string_view algorithm, std::vector<std::pair<std::string_view, ParameterValue>> set = {},
        std::size_t servers = 1)
      : world_(decisions_), simulation_(world_) {
    static const Catalogue catalogue = Catalogue::built_in();
    const Entry* entry = catalogue.find(algorithm);
    REQUIRE(entry != nullptr);
    Parameters parameters(entry->parameters);
    for (auto& [name, value] : set) parameters.set(name, std::move(value));
    lock_ = entry->make(parameters);
    mode_ = entry->mode;
    for (std::size_t i = 0; i < servers; ++i) {
      server_ids_.push_back(world_.add(servers_.emplace_back(scripts_), "redis" + std::to_string(i + 1), {}));
    }
    world_.enable_trace();
  }
  /// Programs may be waiting for objects of their processes, so they go first.
  ~Bench() { world_.restart(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  struct Use {
    sim::Duration after;
    sim::Duration hold;
    std::int64_t reenter = 0;
    bool release = true;
  };

  /// A process of its own with these threads.
  sim::ProcessId process(std::vector<Use> uses, std::optional<sim::Duration> timeout = std::nullopt) {
    Client& process = clients_.emplace_back();
    const std::string name(1, static_cast<char>('A' + starts_.size()));
    process.set_process_name(name);
    const sim::ProcessId id = world_.add(process, name, {});
    starts_.push_back(id);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      workloads::LockUser& settings = settings_.emplace_back();
      settings.locks.push_back({.algorithm = lock_.get()});
      settings.after = sim::DurationRange::exactly(uses[i].after);
      settings.hold = sim::DurationRange::exactly(uses[i].hold);
      settings.reenter = uses[i].reenter;
      settings.release = uses[i].release;
      Client& thread = clients_.emplace_back([&settings](Client& c) { return workloads::run(c, settings); });
      world_.add_part(thread, id, name + "/" + std::to_string(i + 1));
      thread.become_thread_of(process, static_cast<std::int64_t>(i) + 1);
      thread.set_mode(mode_);
      connect(thread, timeout);
    }
    Client& watchdog = clients_.emplace_back();
    world_.add_part(watchdog, id, name + "/watchdog");
    watchdog.become_background_of(process);
    connect(watchdog, timeout);
    for (const sim::ProcessId server : server_ids_) {
      process.connect<redis::Endpoint>().add_subscriber(world_.connect(id, server, sim::DurationRange::exactly(1_ms)),
                                                        timeout);
    }
    return id;
  }

  sim::World& world() { return world_; }

  sim::Simulation::End run(sim::Duration until = 10'000_ms) {
    for (const sim::ProcessId id : starts_) world_.start(id, sim::DurationRange::exactly(0_ms));
    world_.arm_faults();
    return simulation_.run(sim::Instant::at(until), 100'000);
  }

  /// What was sent by whoever has this name, without the text of scripts: "EVAL lock", with the first argument after the keys.
  std::vector<std::string> sent_by(std::string_view name) const {
    std::vector<std::string> sent;
    for (const sim::TraceRecord& record : world_.trace().records) {
      if (record.kind != sim::EventKind::message || record.is_reply || world_.name(record.from) != name) continue;
      sent.push_back(record.name);
    }
    return sent;
  }

  /// "A/1 acquire ok 12ms", in order of completion.
  std::vector<std::string> ends(std::string_view name) const {
    constexpr std::string_view kPhases[] = {"open", "ok", "fail", "info"};
    std::vector<std::string> ends;
    for (const sim::Operation& o : world_.history().operations) {
      if (world_.name(o.process) != name) continue;
      ends.push_back(std::string(o.function) + " " + std::string(kPhases[static_cast<std::size_t>(o.phase)]));
    }
    return ends;
  }

  sim::Duration completed(std::string_view name, std::string_view function) const {
    for (const sim::Operation& o : world_.history().operations) {
      if (world_.name(o.process) == name && o.function == function) return o.completed.offset();
    }
    return sim::Duration::forever();
  }

  bool holds_nothing() const {
    return std::all_of(servers_.begin(), servers_.end(),
                       [](const redis::Node& server) { return server.database().keys().size() == 0; });
  }

 private:
  void connect(Client& client, std::optional<sim::Duration> timeout) {
    for (const sim::ProcessId server : server_ids_) {
      const sim::ConnectionId connection = world_.connect(client.id(), server, sim::DurationRange::exactly(1_ms));
      world_.assign(connection, client.self());
      client.connect<redis::Endpoint>().add_server(connection, timeout);
    }
  }

  sim::DefaultDecisions decisions_;
  sim::World world_;
  sim::Simulation simulation_;
  redis::ScriptEngine scripts_;
  std::unique_ptr<LockAlgorithm> lock_;
  Mode mode_ = Mode::exclusive;
  std::deque<redis::Node> servers_;
  std::vector<sim::ProcessId> server_ids_;
  std::deque<workloads::LockUser> settings_;
  std::deque<Client> clients_;
  std::vector<sim::ProcessId> starts_;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("redisson-lock: a free lock costs one command to take and one to give back") {
  Bench bench("redisson-lock");
  bench.process({{0_ms, 20_ms}});
  CHECK(bench.run() == sim::Simulation::End::quiet);
  CHECK(bench.sent_by("A/1") == Names{"EVAL", "EVAL"});
  CHECK(bench.sent_by("A/watchdog").empty());
  CHECK(bench.ends("A/1") == Names{"acquire ok", "release ok"});
  CHECK(bench.holds_nothing());
}

TEST_CASE("redisson-lock: the watchdog renews every third of the lease, and stops with the release") {
  Bench bench("redisson-lock", {{"watchdog_timeout", 30_ms}});
  bench.process({{0_ms, 40_ms}});
  CHECK(bench.run() == sim::Simulation::End::quiet);
  // Granted at 2ms: renewals leave at 12ms, 24ms and 36ms (each is followed by its answer), the release at 42ms.
  CHECK(bench.sent_by("A/watchdog") == Names{"EVAL", "EVAL", "EVAL"});
  CHECK(bench.ends("A/watchdog") == Names{"renew ok", "renew ok", "renew ok"});
  CHECK(bench.ends("A/1") == Names{"acquire ok", "release ok"});
}

TEST_CASE("redisson-lock: an explicit lease is not renewed") {
  Bench bench("redisson-lock", {{"watchdog_timeout", 30_ms}, {"lease", 30_ms}});
  bench.process({{0_ms, 45_ms}});
  bench.run();
  CHECK(bench.sent_by("A/watchdog").empty());
  CHECK(bench.ends("A/1") == Names{"acquire ok", "release fail"});
}

TEST_CASE("redisson-lock: a waiter subscribes, tries again, and is woken by the release") {
  Bench bench("redisson-lock");
  bench.process({{0_ms, 20_ms}});
  bench.process({{5_ms, 3_ms}});
  bench.run();
  CHECK(bench.sent_by("B/1") == Names{"EVAL", "EVAL", "EVAL", "EVAL"});
  CHECK(bench.sent_by("B") == Names{"SUBSCRIBE", "UNSUBSCRIBE"});
  CHECK(bench.ends("B/1") == Names{"acquire ok", "release ok"});
  // The release is carried out at 23ms; the message takes one millisecond, the try two more.
  CHECK(bench.completed("B/1", "acquire") == 26_ms);
  CHECK(bench.holds_nothing());
}

TEST_CASE("redisson-lock: the threads of a process share one subscription, and a release wakes one of them") {
  Bench bench("redisson-lock");
  bench.process({{0_ms, 20_ms}});
  bench.process({{5_ms, 3_ms}, {7_ms, 3_ms}});
  bench.run();
  CHECK(bench.sent_by("B") == Names{"SUBSCRIBE", "UNSUBSCRIBE"});
  CHECK(bench.ends("B/1") == Names{"acquire ok", "release ok"});
  CHECK(bench.ends("B/2") == Names{"acquire ok", "release ok"});
  CHECK(bench.completed("B/1", "acquire") == 26_ms);
  CHECK(bench.completed("B/2", "acquire") > 29_ms);
}

TEST_CASE("redisson-lock: a waiter gives up when its time is over") {
  Bench bench("redisson-lock", {{"wait", 10_ms}});
  bench.process({{0_ms, 40_ms}});
  bench.process({{5_ms, 3_ms}});
  bench.run();
  CHECK(bench.ends("B/1") == Names{"acquire fail"});
  CHECK(bench.completed("B/1", "acquire") == 15_ms);
  CHECK(bench.sent_by("B") == Names{"SUBSCRIBE", "UNSUBSCRIBE"});
}

TEST_CASE("redisson-lock: n acquires need n releases, and the last one frees") {
  Bench bench("redisson-lock");
  bench.process({{0_ms, 5_ms, 2}});
  bench.run();
  CHECK(bench.sent_by("A/1").size() == 6);
  CHECK(bench.ends("A/1") == Names{"acquire ok", "reenter ok", "reenter ok", "leave ok", "leave ok", "release ok"});
  CHECK(bench.holds_nothing());
}

TEST_CASE("redisson-lock: a forgotten release is renewed for ever, and the story ends all the same") {
  Bench bench("redisson-lock", {{"watchdog_timeout", 30_ms}});
  bench.process({{0_ms, 45_ms, 0, false}});
  CHECK(bench.run() == sim::Simulation::End::quiet);
  CHECK_FALSE(bench.holds_nothing());
}

TEST_CASE("a crash of the process ends its threads, its watchdog and its tables") {
  Bench bench("redisson-lock", {{"watchdog_timeout", 30_ms}});
  const sim::ProcessId a = bench.process({{0_ms, 100_ms}, {1_ms, 5_ms}});
  sim::PlannedFault crash;
  crash.kind = sim::PlannedFault::Kind::crash;
  crash.process = a;
  crash.at = 15_ms;
  bench.world().plan(crash);
  bench.run();
  CHECK(bench.sent_by("A/watchdog") == Names{"EVAL"});
  CHECK(bench.ends("A/1") == Names{"acquire ok"});
  CHECK(bench.ends("A/2") == Names{"acquire open"});
  const auto& interruptions = bench.world().history().interruptions;
  CHECK(interruptions.size() == 4);  // the process and each of its parts
}

TEST_CASE("a process that comes back is nobody whom its lock knows, unless its name is configured") {
  for (const bool is_configured : {false, true}) {
    Bench bench("redisson-lock", {{"watchdog_timeout", 30_ms}});
    const sim::ProcessId a = bench.process({{0_ms, 100_ms}});
    static_cast<Client*>(bench.world().state(a).process)->set_process_name("A", is_configured);
    sim::PlannedFault crash;
    crash.kind = sim::PlannedFault::Kind::crash;
    crash.process = a;
    crash.at = 5_ms;
    crash.restart_after = sim::DurationRange::exactly(1_ms);
    bench.world().plan(crash);
    bench.run(60_ms);
    CHECK(bench.ends("A/1") == Names{"acquire ok", "acquire ok"});
    // Its hold is taken for its own, and entered again, or runs out first.
    const bool is_at_once = bench.world().history().operations[1].completed.offset() < 20_ms;
    CHECK(is_at_once == is_configured);
  }
}

TEST_CASE("a thread that dies by itself leaves its process alive, and its watchdog renewing") {
  Bench bench("redisson-lock", {{"watchdog_timeout", 30_ms}});
  bench.process({{0_ms, 20_ms}, {60_ms, 1_ms, 0, true}});
  sim::PlannedFault crash;
  crash.kind = sim::PlannedFault::Kind::crash;
  crash.process = sim::ProcessId{2};  // A/1: after the server and A
  crash.step = "release";
  crash.moment = sim::Moment::before;
  bench.world().plan(crash);
  bench.run(200_ms);
  REQUIRE(bench.world().name(sim::ProcessId{2}) == "A/1");
  CHECK(bench.ends("A/1") == Names{"acquire ok"});
  CHECK(bench.ends("A/watchdog").size() > 4);
}

TEST_CASE("redisson-spin: asks at intervals that double") {
  Bench bench("redisson-spin", {{"first_delay", 4_ms}, {"longest_delay", 8_ms}});
  bench.process({{0_ms, 20_ms}});
  bench.process({{3_ms, 1_ms}});
  bench.run();
  // Asks at 3, 9, 19 and 29ms, each answered two milliseconds later; free since 23ms. Then the release.
  CHECK(bench.sent_by("B/1") == Names{"EVAL", "EVAL", "EVAL", "EVAL", "EVAL"});
  CHECK(bench.completed("B/1", "acquire") == 31_ms);
}

TEST_CASE("redisson-fair: waiters get the lock in the order in which they came") {
  Bench bench("redisson-fair");
  bench.process({{0_ms, 20_ms}});
  bench.process({{5_ms, 3_ms}});
  bench.process({{8_ms, 3_ms}});
  bench.run();
  CHECK(bench.ends("B/1") == Names{"acquire ok", "release ok"});
  CHECK(bench.ends("C/1") == Names{"acquire ok", "release ok"});
  CHECK(bench.completed("B/1", "acquire") == 26_ms);
  CHECK(bench.completed("C/1", "acquire") == 33_ms);
  CHECK(bench.holds_nothing());
}

TEST_CASE("redisson-read: readers share; redisson-write waits for them") {
  Bench readers("redisson-read");
  readers.process({{0_ms, 20_ms}});
  readers.process({{5_ms, 3_ms}});
  readers.run();
  CHECK(readers.completed("B/1", "acquire") == 7_ms);
  CHECK(readers.holds_nothing());

  Bench writers("redisson-write");
  writers.process({{0_ms, 20_ms}});
  writers.process({{5_ms, 3_ms}});
  writers.run();
  CHECK(writers.completed("B/1", "acquire") == 26_ms);
  CHECK(writers.holds_nothing());
}

TEST_CASE("redisson-multilock: all parts in order, or none") {
  Bench bench("redisson-multilock", {{"wait", 0_ms}});
  bench.process({{0_ms, 20_ms}});
  bench.process({{10_ms, 1_ms}});
  bench.run();
  CHECK(bench.sent_by("A/1") == Names{"EVAL", "EVAL", "EVAL", "EVAL"});
  CHECK(bench.sent_by("B/1") == Names{"EVAL"});
  CHECK(bench.ends("B/1") == Names{"acquire fail"});
  CHECK(bench.holds_nothing());
}

TEST_CASE("redisson-redlock: a majority will do; each part gets its lease at the end") {
  Bench bench("redisson-redlock", {{"lease", 100_ms}, {"wait", 300_ms}}, 3);
  bench.process({{0_ms, 20_ms}});
  bench.run();
  CHECK(bench.sent_by("A/1") == Names{"EVAL", "EVAL", "EVAL", "PEXPIRE", "PEXPIRE", "PEXPIRE", "EVAL", "EVAL", "EVAL"});
  CHECK(bench.holds_nothing());
}

TEST_CASE("redisson-fenced: each acquire draws the next token, taking it again as well") {
  Bench bench("redisson-fenced");
  bench.process({{0_ms, 5_ms, 1}});
  bench.process({{30_ms, 5_ms}});
  bench.run();
  const auto& operations = bench.world().history().operations;
  std::vector<std::int64_t> tokens;
  for (const sim::Operation& o : operations) {
    if (o.function == "acquire" && o.value) tokens.push_back(*o.value);
  }
  CHECK(tokens == std::vector<std::int64_t>{1, 3});
}

TEST_CASE(
    "lua-reentrant-hash and redisson-hash-owner count at the server; the local count sends nothing for the second") {
  for (const auto& [algorithm, commands] :
       {std::pair{"lua-reentrant-hash", 4}, {"redisson-hash-owner", 4}, {"redisson-hash-local-count", 2}}) {
    Bench bench(algorithm);
    bench.process({{0_ms, 5_ms, 1}});
    bench.run();
    CHECK(bench.sent_by("A/1").size() == static_cast<std::size_t>(commands));
    CHECK(bench.ends("A/1") == Names{"acquire ok", "reenter ok", "leave ok", "release ok"});
    CHECK(bench.holds_nothing());
  }
}

}  // namespace lockstep::models::locks::redisson_steps_test
