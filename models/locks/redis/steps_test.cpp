// Each algorithm sends the commands of its document, in their order.

#include <catch2/catch.hpp>

#include <deque>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/locks/catalogue.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/server/node.hpp"
#include "models/workloads/lock_user.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::locks::steps_test {
namespace {

using namespace sim::literals;

/// Clients A, B, … with one lock, each in a world of its own making, and what they sent.
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
    for (std::size_t i = 0; i < servers; ++i) {
      server_ids_.push_back(world_.add(servers_.emplace_back(scripts_), "redis" + std::to_string(i + 1), {}));
      if (!entry->server_version.empty()) servers_.back().set_version(redis::version_of(entry->server_version));
    }
    world_.enable_trace();
  }

  sim::ProcessId client(sim::Duration start, sim::Duration hold, sim::World::ClockSettings clock = {}) {
    workloads::LockUser& settings = settings_.emplace_back();
    settings.locks.push_back({.algorithm = lock_.get()});
    settings.hold = sim::DurationRange::exactly(hold);
    Client& client = clients_.emplace_back([&settings](Client& c) { return workloads::run(c, settings); });
    const std::string name(1, static_cast<char>('A' + clients_.size() - 1));
    const sim::ProcessId id = world_.add(client, name, clock);
    for (const sim::ProcessId server : server_ids_) {
      client.connect<redis::Endpoint>().add_server(world_.connect(id, server, sim::DurationRange::exactly(1_ms)),
                                                   std::nullopt);
    }
    starts_.push_back({id, start});
    return id;
  }

  sim::World& world() { return world_; }

  void run() {
    for (const auto& [id, start] : starts_) world_.start(id, sim::DurationRange::exactly(start));
    world_.arm_faults();
    REQUIRE(simulation_.run(sim::Instant::at(sim::Duration::forever()), 100'000) == sim::Simulation::End::quiet);
  }

  /// What a client sent, as the servers got it: "SETNX lock 100".
  std::vector<std::string> sent_by(sim::ProcessId client) const {
    std::vector<std::string> sent;
    for (const sim::TraceRecord& record : world_.trace().records) {
      if (record.kind == sim::EventKind::message && !record.is_reply && record.from == client)
        sent.push_back(record.text);
    }
    return sent;
  }

  /// How the operations of a client ended: "acquire ok".
  std::vector<std::string> ends_of(sim::ProcessId client) const {
    constexpr std::string_view kPhases[] = {"open", "ok", "fail", "info"};
    std::vector<std::string> ends;
    for (const sim::Operation& operation : world_.history().operations) {
      if (operation.process != client) continue;
      ends.push_back(std::string(operation.function) + " " +
                     std::string(kPhases[static_cast<std::size_t>(operation.phase)]));
    }
    return ends;
  }

 private:
  sim::DefaultDecisions decisions_;
  sim::World world_;
  sim::Simulation simulation_;
  redis::ScriptEngine scripts_;
  std::unique_ptr<LockAlgorithm> lock_;
  std::deque<redis::Node> servers_;
  std::vector<sim::ProcessId> server_ids_;
  std::deque<workloads::LockUser> settings_;
  std::deque<Client> clients_;
  std::vector<std::pair<sim::ProcessId, sim::Duration>> starts_;
};

using Sent = std::vector<std::string>;
using Ends = std::vector<std::string>;

}  // namespace

TEST_CASE("setnx-del: SETNX, DEL; a contender only asks") {
  Bench bench("setnx-del");
  const auto a = bench.client(0_ms, 20_ms);
  const auto b = bench.client(5_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(a) == Sent{"SETNX lock A-1", "DEL lock"});
  CHECK(bench.sent_by(b) == Sent{"SETNX lock B-1"});
  CHECK(bench.ends_of(a) == Ends{"acquire ok", "release ok"});
  CHECK(bench.ends_of(b) == Ends{"acquire fail"});
}

TEST_CASE("setnx-expire-two-step: the expiry is a command of its own, in whole seconds where it can be") {
  Bench bench("setnx-expire-two-step", {{"ttl", 10_s}});
  const auto a = bench.client(0_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(a) == Sent{"SETNX lock A-1", "EXPIRE lock 10", "DEL lock"});

  Bench finer("setnx-expire-two-step", {{"ttl", 1500_ms}});
  const auto c = finer.client(0_ms, 20_ms);
  finer.run();
  CHECK(finer.sent_by(c) == Sent{"SETNX lock A-1", "PEXPIRE lock 1500", "DEL lock"});
}

TEST_CASE("setnx-ts-del-setnx: an expired timestamp is deleted, and the lock competed for again") {
  Bench bench("setnx-ts-del-setnx", {{"ttl", 100_ms}});
  const auto a = bench.client(0_ms, 400_ms);
  const auto b = bench.client(50_ms, 20_ms);
  const auto c = bench.client(150_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(a)[0] == "SETNX lock 100");
  CHECK(bench.sent_by(b) == Sent{"SETNX lock 150", "GET lock"});
  CHECK(bench.sent_by(c) == Sent{"SETNX lock 250", "GET lock", "DEL lock", "SETNX lock 256", "DEL lock"});
  CHECK(bench.ends_of(c) == Ends{"acquire ok", "release ok"});
}

TEST_CASE("setnx-ts-del-setnx: a timestamp is expired when it is before now, not when it is now") {
  for (const auto& [start, deletes] : {std::pair{96_ms, false}, std::pair{97_ms, true}}) {
    Bench bench("setnx-ts-del-setnx", {{"ttl", 100_ms}});
    bench.client(0_ms, 400_ms);
    // SETNX and GET take four milliseconds: the comparison is at 100ms or 101ms.
    const auto b = bench.client(start, 20_ms);
    bench.run();
    CHECK((bench.sent_by(b).size() > 2) == deletes);
  }
}

TEST_CASE("setnx-ts-inverted: a live timestamp is deleted, an expired one is left") {
  Bench bench("setnx-ts-inverted", {{"ttl", 100_ms}});
  bench.client(0_ms, 400_ms);
  const auto b = bench.client(20_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(b) == Sent{"SETNX lock 120", "GET lock", "DEL lock", "SETNX lock 126", "DEL lock"});

  Bench dead("setnx-ts-inverted", {{"ttl", 100_ms}});
  dead.client(0_ms, 400_ms);
  const auto c = dead.client(150_ms, 20_ms);
  dead.run();
  CHECK(dead.sent_by(c) == Sent{"SETNX lock 250", "GET lock"});
}

TEST_CASE("getset-prose: a fresh timestamp for GETSET; owner if what comes back is expired") {
  Bench bench("getset-prose", {{"ttl", 100_ms}});
  bench.client(0_ms, 400_ms);
  const auto b = bench.client(150_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(b) == Sent{"SETNX lock 250", "GET lock", "GETSET lock 254", "GET lock", "DEL lock"});
  CHECK(bench.ends_of(b) == Ends{"acquire ok", "release ok"});
}

TEST_CASE("getset-java: one timestamp per attempt, a millisecond later than the prose has it") {
  Bench bench("getset-java", {{"ttl", 100_ms}});
  const auto a = bench.client(0_ms, 400_ms);
  const auto b = bench.client(150_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(a)[0] == "SETNX lock 101");
  CHECK(bench.sent_by(b) == Sent{"SETNX lock 251", "GET lock", "GETSET lock 251", "GET lock", "DEL lock"});
}

TEST_CASE("getset-java: the same text twice is the same lock, even if it was somebody else's") {
  // H6 of the catalogue: B's clock is behind by as much as it comes later, so both store 101.
  Bench bench("getset-java", {{"ttl", 100_ms}});
  const auto a = bench.client(0_ms, 20_ms);
  const auto b = bench.client(60_ms, 20_ms, {.offset = -60_ms});
  bench.run();
  CHECK(bench.sent_by(a)[0] == bench.sent_by(b)[0]);
}

TEST_CASE("getset-del-release: takes over as getset-java, deletes without looking") {
  Bench bench("getset-del-release", {{"ttl", 100_ms}});
  bench.client(0_ms, 400_ms);
  const auto b = bench.client(150_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(b) == Sent{"SETNX lock 251", "GET lock", "GETSET lock 251", "DEL lock"});
}

TEST_CASE("setnx-nanotime: the uptime in nanoseconds is the value") {
  Bench bench("setnx-nanotime", {{"ttl", 100_ms}});
  const auto a = bench.client(3_ms, 20_ms, {.offset = 70_ms, .uptime = 5_s});
  bench.run();
  CHECK(bench.sent_by(a) == Sent{"SET lock 5003000000 NX PX 100", "GET lock", "DEL lock"});
}

TEST_CASE("set-nx-px-plain-del and set-nx-px-get-del: one command to create, one or two to release") {
  Bench plain("set-nx-px-plain-del", {{"ttl", 100_ms}});
  const auto a = plain.client(0_ms, 20_ms);
  plain.run();
  CHECK(plain.sent_by(a) == Sent{"SET lock A-1 NX PX 100", "DEL lock"});

  Bench checked("set-nx-px-get-del", {{"ttl", 100_ms}});
  const auto late = checked.client(0_ms, 150_ms);
  const auto next = checked.client(120_ms, 60_ms);
  checked.run();
  CHECK(checked.sent_by(late) == Sent{"SET lock A-1 NX PX 100", "GET lock"});
  CHECK(checked.ends_of(late) == Ends{"acquire ok", "release fail"});
  CHECK(checked.sent_by(next) == Sent{"SET lock B-1 NX PX 100", "GET lock", "DEL lock"});
}

TEST_CASE("set-nx-px-lua: released by a script that leaves others' keys alone") {
  Bench bench("set-nx-px-lua", {{"ttl", 100_ms}});
  const auto late = bench.client(0_ms, 150_ms);
  const auto next = bench.client(120_ms, 60_ms);
  bench.run();
  CHECK(bench.sent_by(late) == Sent{"SET lock A-1 NX PX 100", "EVAL <script> 1 lock A-1"});
  CHECK(bench.ends_of(late) == Ends{"acquire ok", "release fail"});
  CHECK(bench.ends_of(next) == Ends{"acquire ok", "release ok"});
}

TEST_CASE(
    "set-nx-px-delex and set-nx-px-delifeq: one command to create, one to release, which leaves others' keys alone") {
  for (const bool is_redis : {true, false}) {
    Bench bench(is_redis ? "set-nx-px-delex" : "set-nx-px-delifeq", {{"ttl", 100_ms}});
    const auto late = bench.client(0_ms, 150_ms);
    const auto next = bench.client(120_ms, 60_ms);
    bench.run();
    const std::string release = is_redis ? "DELEX lock IFEQ " : "DELIFEQ lock ";
    CHECK(bench.sent_by(late) == Sent{"SET lock A-1 NX PX 100", release + "A-1"});
    CHECK(bench.ends_of(late) == Ends{"acquire ok", "release fail"});
    CHECK(bench.sent_by(next) == Sent{"SET lock B-1 NX PX 100", release + "B-1"});
    CHECK(bench.ends_of(next) == Ends{"acquire ok", "release ok"});
  }
}

TEST_CASE("set-nx-px-lua: with fencing, tokens grow with the grants and failed attempts draw none") {
  Bench bench("set-nx-px-lua", {{"ttl", 100_ms}, {"fencing", true}});
  bench.client(0_ms, 20_ms);
  bench.client(10_ms, 20_ms);
  bench.client(60_ms, 20_ms);
  bench.run();
  std::vector<std::int64_t> tokens;
  for (const sim::Operation& operation : bench.world().history().operations) {
    if (operation.function == "acquire" && operation.phase == sim::Phase::ok) tokens.push_back(*operation.value);
  }
  CHECK(tokens == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("redlock-seq: one server after the other, then the release everywhere") {
  Bench bench("redlock-seq", {{"ttl", 1_s}}, 3);
  const auto a = bench.client(0_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(a) == Sent{"SET lock A-1 NX PX 1000", "SET lock A-1 NX PX 1000", "SET lock A-1 NX PX 1000",
                                 "EVAL <script> 1 lock A-1", "EVAL <script> 1 lock A-1", "EVAL <script> 1 lock A-1"});
  // 1s, less one in a hundred and 2ms, counted from before the first command.
  CHECK(bench.world().history().operations[0].valid_until->offset() == 988_ms);
}

TEST_CASE("redlock-par: all servers at once, one round trip for the attempt and one for the release") {
  Bench bench("redlock-par", {{"ttl", 1_s}}, 3);
  const auto a = bench.client(0_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(a) == Sent{"SET lock A-1 NX PX 1000", "SET lock A-1 NX PX 1000", "SET lock A-1 NX PX 1000",
                                 "EVAL <script> 1 lock A-1", "EVAL <script> 1 lock A-1", "EVAL <script> 1 lock A-1"});
  const std::vector<sim::Operation>& operations = bench.world().history().operations;
  CHECK(operations[0].completed.offset() == 2_ms);
  CHECK(operations[1].completed.offset() == 24_ms);
  CHECK(operations[0].valid_until->offset() == 988_ms);
}

TEST_CASE(
    "redlock-par: whoever need not wait for all goes on with the vote that decides, and still deletes everywhere") {
  for (const auto& [wait, has_it_at] : {std::pair<std::string, sim::Duration>{"all", 12_ms}, {"decided", 2_ms}}) {
    Bench bench("redlock-par", {{"ttl", 1_s}, {"wait", wait}}, 3);
    const auto a = bench.client(0_ms, 1_ms);
    bench.world().plan({.kind = sim::PlannedFault::Kind::delay,
                        .process = a,
                        .length = 10_ms,
                        .at = {},
                        .step = "SET",
                        .moment = sim::Moment::after,
                        .occurrence = 3,
                        .of_reply = false});
    bench.run();
    CHECK(bench.world().history().operations[0].completed.offset() == has_it_at);
    CHECK(bench.ends_of(a) == Ends{"acquire ok", "release ok"});
    CHECK(bench.sent_by(a).size() == 6);
  }
}

TEST_CASE("redlock-seq: a minority is given back, on every server or only where it was granted") {
  for (const auto& [unlock, commands] : {std::pair<std::string, std::size_t>{"all", 6}, {"granted", 4}}) {
    Bench bench("redlock-seq", {{"ttl", 1_s}, {"unlock", unlock}}, 3);
    bench.client(0_ms, 50_ms);
    // B asks the third server before A does, and finds A at the other two.
    const auto b = bench.client(1_ms, 50_ms);
    bench.world().plan({.kind = sim::PlannedFault::Kind::delay,
                        .process = sim::ProcessId{3},
                        .length = 10_ms,
                        .at = {},
                        .step = "SET",
                        .moment = sim::Moment::after,
                        .occurrence = 3,
                        .of_reply = false});
    bench.run();
    CHECK(bench.ends_of(b) == Ends{"acquire fail"});
    CHECK(bench.sent_by(b).size() == commands);
  }
}

TEST_CASE(
    "redlock-seq: a wall clock that is set back lets an attempt that took too long pass; the monotonic one does not") {
  for (const auto& [clock, gets_it] : {std::pair<std::string, bool>{"wall", true}, {"monotonic", false}}) {
    Bench bench("redlock-seq", {{"ttl", 100_ms}, {"clock", clock}, {"node_timeout", 1_s}}, 3);
    const auto a = bench.client(0_ms, 5_ms);
    bench.world().plan({.kind = sim::PlannedFault::Kind::delay,
                        .process = a,
                        .length = 120_ms,
                        .at = {},
                        .step = "SET",
                        .moment = sim::Moment::after,
                        .occurrence = 1,
                        .of_reply = false});
    bench.world().plan(
        {.kind = sim::PlannedFault::Kind::jump, .process = a, .length = -100_ms, .at = 50_ms, .step = ""});
    bench.run();
    CHECK((bench.ends_of(a)[0] == "acquire ok") == gets_it);
  }
}

TEST_CASE("set-nx-px-watch-release: a transaction deletes only what has not changed since the look") {
  Bench bench("set-nx-px-watch-release", {{"ttl", 100_ms}});
  const auto a = bench.client(0_ms, 20_ms);
  bench.run();
  CHECK(bench.sent_by(a) == Sent{"SET lock A-1 NX PX 100", "WATCH lock", "GET lock", "EXEC: DEL lock"});
  CHECK(bench.ends_of(a) == Ends{"acquire ok", "release ok"});

  // The key expires after the look and is B's when EXEC comes: look again, and leave it.
  Bench changed("set-nx-px-watch-release", {{"ttl", 100_ms}});
  const auto late = changed.client(0_ms, 20_ms);
  const auto next = changed.client(120_ms, 60_ms);
  changed.world().plan({.kind = sim::PlannedFault::Kind::pause,
                        .process = late,
                        .length = 120_ms,
                        .at = {},
                        .step = "GET",
                        .moment = sim::Moment::after,
                        .occurrence = 1});
  changed.run();
  CHECK(changed.sent_by(late) == Sent{"SET lock A-1 NX PX 100", "WATCH lock", "GET lock", "EXEC: DEL lock",
                                      "WATCH lock", "GET lock", "UNWATCH"});
  CHECK(changed.ends_of(late) == Ends{"acquire ok", "release fail"});
  CHECK(changed.ends_of(next) == Ends{"acquire ok", "release ok"});
}

TEST_CASE("ria-lock-v1: asks every poll until its wall clock says that it was enough") {
  Bench bench("ria-lock-v1", {{"acquire_timeout", 10_ms}, {"poll", sim::DurationRange::exactly(3_ms)}});
  bench.client(0_ms, 100_ms);
  const auto b = bench.client(10_ms, 1_ms);
  bench.run();
  // At 10, 15 and 20: asking and waiting take 5 each, and at 20 the time is over.
  CHECK(bench.sent_by(b) == Sent{"SETNX lock B-1", "SETNX lock B-1"});

  Bench back("ria-lock-v1", {{"acquire_timeout", 10_ms}, {"poll", sim::DurationRange::exactly(3_ms)}});
  back.client(0_ms, 100_ms);
  const auto c = back.client(10_ms, 1_ms);
  back.world().plan({.kind = sim::PlannedFault::Kind::jump, .process = c, .length = -200_ms, .at = 12_ms, .step = ""});
  back.run();
  CHECK(back.ends_of(c).front() == "acquire ok");
}

TEST_CASE("ria-lock-v2-fine: the item's name is part of the key") {
  Bench bench("ria-lock-v2-fine", {{"item", std::string("sword")}});
  const auto a = bench.client(0_ms, 1_ms);
  bench.run();
  CHECK(bench.sent_by(a) == Sent{"SETNX lock/sword A-1", "WATCH lock/sword", "GET lock/sword", "EXEC: DEL lock/sword"});
}

TEST_CASE("ria-lock-v3-timeout: a contender sets the end that a crash left out, and only that") {
  Bench bench("ria-lock-v3-timeout", {{"ttl", 10_s}, {"acquire_timeout", 0_ms}});
  const auto a = bench.client(0_ms, 20_ms);
  const auto b = bench.client(10_ms, 1_ms);
  bench.run();
  CHECK(bench.sent_by(a) == Sent{"SETNX lock A-1", "EXPIRE lock 10", "WATCH lock", "GET lock", "EXEC: DEL lock"});
  CHECK(bench.sent_by(b) == Sent{"SETNX lock B-1", "TTL lock"});

  for (const auto& [repair, sent] : {std::pair<std::string, std::size_t>{"no-expiry", 3}, {"never", 1}}) {
    Bench crashed("ria-lock-v3-timeout", {{"ttl", 10_s}, {"acquire_timeout", 0_ms}, {"repair", repair}});
    const auto dead = crashed.client(0_ms, 20_ms);
    const auto finder = crashed.client(10_ms, 1_ms);
    crashed.world().plan({.kind = sim::PlannedFault::Kind::crash,
                          .process = dead,
                          .at = {},
                          .step = "SETNX",
                          .moment = sim::Moment::after,
                          .occurrence = 1});
    crashed.run();
    CHECK(crashed.sent_by(finder).size() == sent);
    CHECK(crashed.ends_of(finder) == Ends{"acquire fail"});
  }
}

TEST_CASE("fenced-write: numbers in the order of the grants, from a counter, from a hash, or too late") {
  for (const std::string token : {"with-grant", "hash", "second-command"}) {
    Bench bench("fenced-write", {{"ttl", 100_ms}, {"token", token}});
    bench.client(0_ms, 20_ms);
    bench.client(10_ms, 20_ms);
    bench.client(60_ms, 20_ms);
    bench.run();
    std::vector<std::int64_t> numbers;
    for (const sim::Operation& operation : bench.world().history().operations) {
      if (operation.function == "acquire" && operation.phase == sim::Phase::ok) numbers.push_back(*operation.value);
    }
    CHECK(numbers == std::vector<std::int64_t>{1, 2});
  }
}

TEST_CASE("getset-redispy: a release deletes any timestamp that is not before its own") {
  Bench bench("getset-redispy", {{"ttl", 100_ms}});
  const auto a = bench.client(0_ms, 160_ms);
  const auto b = bench.client(120_ms, 80_ms);
  bench.run();
  CHECK(bench.sent_by(a) == Sent{"SETNX lock 100", "GET lock", "DEL lock"});
  CHECK(bench.sent_by(b) == Sent{"SETNX lock 220", "GET lock", "GETSET lock 220", "GET lock"});
  CHECK(bench.ends_of(b) == Ends{"acquire ok", "release fail"});
}

TEST_CASE("ria-sem-unfair: purge, join and rank in one transaction; whoever is too late leaves again") {
  Bench bench("ria-sem-unfair", {{"limit", std::int64_t{1}}, {"ttl", 100_ms}});
  const auto a = bench.client(200_ms, 20_ms);
  const auto b = bench.client(210_ms, 1_ms);
  bench.run();
  CHECK(bench.sent_by(a) ==
        Sent{"EXEC: ZREMRANGEBYSCORE lock -inf 100; ZADD lock 200 A-1; ZRANK lock A-1", "ZREM lock A-1"});
  CHECK(bench.sent_by(b) ==
        Sent{"EXEC: ZREMRANGEBYSCORE lock -inf 110; ZADD lock 210 B-1; ZRANK lock B-1", "ZREM lock B-1"});
  CHECK(bench.ends_of(a) == Ends{"acquire ok", "release ok"});
  CHECK(bench.ends_of(b) == Ends{"acquire fail"});
}

TEST_CASE("ria-sem-unfair: a place whose time is over goes to the next, and its holder hears of it at the release") {
  Bench bench("ria-sem-unfair", {{"limit", std::int64_t{1}}, {"ttl", 100_ms}});
  const auto a = bench.client(200_ms, 200_ms);
  const auto b = bench.client(310_ms, 1_ms);
  bench.run();
  CHECK(bench.ends_of(a) == Ends{"acquire ok", "release fail"});
  CHECK(bench.ends_of(b) == Ends{"acquire ok", "release ok"});
}

TEST_CASE("ria-sem-fair: a number first, then a place; the numbers wrap as a counter of so many bits does") {
  for (const auto& [bits, second] : {std::pair<std::int64_t, std::string>{0, "2"}, {2, "-2"}, {3, "2"}}) {
    Bench bench("ria-sem-fair", {{"limit", std::int64_t{1}}, {"ttl", 100_ms}, {"counter_bits", bits}});
    const auto a = bench.client(200_ms, 50_ms);
    const auto b = bench.client(210_ms, 1_ms);
    bench.run();
    CHECK(bench.sent_by(a)[0] ==
          "EXEC: ZREMRANGEBYSCORE lock -inf 100; ZINTERSTORE lock:owner 2 lock:owner lock WEIGHTS 1 0; INCR "
          "lock:counter");
    CHECK(bench.sent_by(a)[1] == "EXEC: ZADD lock 200 A-1; ZADD lock:owner 1 A-1; ZRANK lock:owner A-1");
    CHECK(bench.sent_by(b)[1] == "EXEC: ZADD lock 210 B-1; ZADD lock:owner " + second + " B-1; ZRANK lock:owner B-1");
    CHECK(bench.ends_of(b)[0] == (second == "-2" ? "acquire ok" : "acquire fail"));
  }
}

TEST_CASE("ria-sem-fair-locked: the lock is held from before the number until after the place") {
  Bench bench("ria-sem-fair-locked", {{"limit", std::int64_t{1}}, {"acquire_timeout", 0_ms}});
  const auto a = bench.client(0_ms, 20_ms);
  const auto b = bench.client(1_ms, 1_ms);
  bench.run();
  const Sent sent = bench.sent_by(a);
  REQUIRE(sent.size() == 7);
  CHECK(sent[0] == "SETNX lock:lock A-1");
  CHECK(sent[3] == "WATCH lock:lock");
  CHECK(sent[5] == "EXEC: DEL lock:lock");
  CHECK(bench.sent_by(b) == Sent{"SETNX lock:lock B-1"});
}

}  // namespace lockstep::models::locks::steps_test
