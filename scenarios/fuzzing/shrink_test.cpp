// A run of a large world that breaks something becomes the story that one would have written by hand.

#include "scenarios/fuzzing/shrink.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <variant>

#include "scenarios/format/loader.hpp"
#include "scenarios/running/random_run.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::shrink_test {
namespace {

using testing::catalogue;
using testing::parsed;

/// Eight clients, five servers and four kinds of faults; only a pause of the holder breaks it.
const std::string kLarge = R"(
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
timeout = "80ms"
[[client]]
name = ["A", "B", "C", "D", "E", "F"]
acquire_at = ["0ms", "300ms"]
hold = ["5ms", "20ms"]
rounds = 3
between = ["1ms", "9ms"]
attempts = 4
retry = ["3ms", "30ms"]
[[may]]
kind = "pause"
length = ["0ms", "400ms"]
times = 3
[[may]]
kind = "delay"
length = ["0ms", "7ms"]
times = 3
)";

struct Found {
  Scenario story;
  std::vector<NamedDelay> delays;
};

std::optional<Found> some_violation(const Scenario& world, std::string_view property) {
  RandomRuns runs(world, catalogue());
  for (std::uint64_t seed = 1; seed < 2'000; ++seed) {
    const auto findings = runs.run(
        {.seed = seed, .fault_seed = seed * 7, .typical = 200, .asks_whether_it_recovers = property == "recoverable"});
    if (!findings) continue;
    for (const checker::Finding& finding : *findings) {
      if (finding.property == property && finding.verdict == checker::Verdict::violated) {
        Scenario story = runs.story();
        return Found{std::move(story), runs.delays()};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("shrink: few clients, pauses alone, hardly an order, round times") {
  const Scenario world = parsed(kLarge);
  const std::optional<Found> found = some_violation(world, "mutual-exclusion");
  REQUIRE(found);
  CHECK(found->story.clients.size() == 6);
  auto result = shrink(found->story, found->delays, world, catalogue(), "mutual-exclusion");
  if (const auto* trouble = std::get_if<Unconfirmed>(&result)) FAIL(trouble->reason << "\n" << trouble->text);
  const Shrunk& shrunk = std::get<Shrunk>(result);
  INFO(shrunk.text);
  CHECK(shrunk.is_minimal);
  // A minimum, though not the smallest of all: each step leaves out one thing.
  CHECK(shrunk.story.clients.size() <= 3);
  CHECK(shrunk.story.faults.size() <= 2);
  CHECK(shrunk.faults == std::vector<std::string>{"pause"});
  CHECK(shrunk.story.schedule.size() <= 20);
  CHECK(shrunk.story.faults.front().length.lo ==
        sim::Duration::milliseconds(shrunk.story.faults.front().length.lo.floor_ms()));
  // For `check`: what the world allows of the same kind, and nothing else.
  REQUIRE(shrunk.story.may.size() == 1);
  CHECK(shrunk.story.may.front().kind == MaySpec::Kind::pause);
  CHECK(shrunk.tried < 3'000);
  CHECK(found->story.schedule.size() > 50);
  // The same arguments, the same result.
  auto again = shrink(found->story, found->delays, world, catalogue(), "mutual-exclusion");
  REQUIRE(std::holds_alternative<Shrunk>(again));
  CHECK(std::get<Shrunk>(again).text == shrunk.text);
}

TEST_CASE("shrink: what does not violate it is not made small") {
  Scenario world = parsed(kLarge);
  world.may.clear();
  RandomRuns runs(world, catalogue());
  runs.run({.seed = 3, .fault_seed = 3});
  const Scenario story = runs.story();
  auto result = shrink(story, runs.delays(), world, catalogue(), "mutual-exclusion");
  REQUIRE(std::holds_alternative<Unconfirmed>(result));
}

TEST_CASE("a schedule that lists the first of two messages on a connection, whose server is paused") {
  const Scenario story = parsed(R"(
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
timeout = "5ms"
[[client]]
name = "A"
hold = "5ms"
attempts = 2
retry = "1ms"
[[fault]]
kind = "pause"
server = "redis"
at = "0.5ms"
length = "30ms"
[schedule]
events = ["30.5ms A.SET#1"]
)");
  const auto result = run(story, catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  CHECK(std::get<Outcome>(result).history.operations.size() >= 2);
}

TEST_CASE("a schedule: what arrived during a pause is handled in an order in which it can have arrived") {
  // A's first SET is late, and there from 11ms to 15ms; the second, on the same connection, behind it; B's from 9ms to 13ms. So
  // B's can be last, though A's first can come later than B's ever does.
  const auto story = [](const std::string& start_of_b) {
    return R"(
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "5ms"]
timeout = "2ms"
[[client]]
name = "A"
attempts = 2
retry = "0ms"
[[client]]
name = "B"
acquire_at = ")" +
           start_of_b + R"("
attempts = 1
[[fault]]
kind = "delay"
client = "A"
message = "SET"
length = "10ms"
[[fault]]
kind = "pause"
server = "redis"
at = "9.5ms"
length = "30ms"
[schedule]
events = ["39.5ms A.SET#1", "39.5ms A.SET#2", "39.5ms B.SET#1"]
)";
  };
  const auto possible = run(parsed(story("8ms")), catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&possible)) FAIL(problem->to_string());
  // From 6ms to 10ms: always before A's.
  const auto impossible = run(parsed(story("5ms")), catalogue());
  const auto* problem = std::get_if<Diagnostic>(&impossible);
  REQUIRE(problem != nullptr);
  CHECK(problem->message.find("B.SET#1 is there before what stands in the list before it") != std::string::npos);
}

TEST_CASE("shrink: a bound ends it early, and then it says that it may not be the smallest") {
  const Scenario world = parsed(kLarge);
  const std::optional<Found> found = some_violation(world, "mutual-exclusion");
  REQUIRE(found);
  auto result = shrink(found->story, found->delays, world, catalogue(), "mutual-exclusion", nullptr, 3);
  if (const auto* trouble = std::get_if<Unconfirmed>(&result)) FAIL(trouble->reason);
  CHECK_FALSE(std::get<Shrunk>(result).is_minimal);
  CHECK(std::get<Shrunk>(result).tried < 30);
}

TEST_CASE("shrink: when one server of two is left and has another name, its faults have that name, too") {
  const Scenario world = parsed(R"(
[lock]
algorithm = "redisson-multilock"
lease = "30ms"
wait = "0ms"
[servers]
count = 2
[network]
latency = "1ms"
timeout = "20ms"
[[client]]
name = "A"
acquire_at = "30ms"
hold = "10ms"
[[may]]
kind = "crash"
server = "redis1"
)");
  const std::optional<Found> found = some_violation(world, "recoverable");
  REQUIRE(found);
  auto result = shrink(found->story, found->delays, world, catalogue(), "recoverable");
  if (const auto* trouble = std::get_if<Unconfirmed>(&result)) FAIL(trouble->reason << "\n" << trouble->text);
  const Shrunk& shrunk = std::get<Shrunk>(result);
  INFO(shrunk.text);
  CHECK(shrunk.story.servers.size() == 1);
  REQUIRE(shrunk.story.faults.size() == 1);
  CHECK(shrunk.story.faults.front().who == shrunk.story.servers.front().name);
}

TEST_CASE("an edited story that names nobody is refused, wherever it does") {
  const Scenario story = parsed(R"(
[lock]
algorithm = "set-nx-px-lua"
[network]
timeout = "20ms"
[[client]]
name = ["A", "B"]
[[fault]]
kind = "pause"
client = "A"
at = "1ms"
length = "1ms"
[[fault]]
kind = "partition"
between = [["A"], ["redis"]]
from = "1ms"
length = "1ms"
)");
  const auto is_refused = [&](auto edit) {
    Scenario edited = story;
    edit(edited);
    const auto result = run(edited, catalogue());
    const auto* problem = std::get_if<Diagnostic>(&result);
    return problem != nullptr && problem->message == "nobody is called \"gone\"";
  };
  CHECK_FALSE(is_refused([](Scenario&) {}));
  CHECK(is_refused([](Scenario& s) { s.faults[0].who = "gone"; }));
  CHECK(is_refused([](Scenario& s) { s.faults[1].between[1] = {"gone"}; }));
  CHECK(is_refused([](Scenario& s) { s.pin.push_back({.client = "gone", .command = "SET"}); }));
  CHECK(is_refused([](Scenario& s) { s.pin.push_back({.client = "A", .command = "SET", .server = "gone"}); }));
  CHECK(is_refused([](Scenario& s) { s.schedule.push_back({.process = "gone"}); }));
  CHECK(is_refused([](Scenario& s) { s.schedule.push_back({.process = "A", .step = "SET", .server = "gone"}); }));
}

TEST_CASE("an edited story is refused when no file could say it, and no story of the repository is") {
  for (const std::string& file : repository_stories()) {
    auto loaded = load(file, catalogue());
    if (const auto* problem = std::get_if<Diagnostic>(&loaded)) FAIL(problem->to_string());
    if (const auto refusal = refusal_of(std::get<Scenario>(loaded), catalogue())) FAIL(refusal->to_string());
  }
  const Scenario story = parsed(R"(
[lock]
algorithm = "redlock-seq"
[servers]
count = 3
[network]
timeout = "20ms"
[resource]
kind = "counter"
[[client]]
name = ["A", "B"]
[[fault]]
kind = "pause"
client = "A"
before = "SET"
length = "1ms"
[[fault]]
kind = "partition"
between = [["A"], ["resource"]]
from = "1ms"
length = "1ms"
[[may]]
kind = "crash"
server = "redis2"
)");
  const auto refusal_after = [&](auto edit) {
    Scenario edited = story;
    edit(edited);
    const auto refusal = refusal_of(edited, catalogue());
    return refusal ? refusal->message : "";
  };
  using Catch::Matchers::Contains;
  CHECK(refusal_after([](Scenario&) {}).empty());
  CHECK_THAT(refusal_after([](Scenario& s) { s.clients[1].name = "A"; }), Contains("A"));
  CHECK_FALSE(refusal_after([](Scenario& s) { s.clients.clear(); }).empty());
  CHECK_THAT(refusal_after([](Scenario& s) { s.clients.erase(s.clients.begin()); }), Contains("A"));
  CHECK_THAT(refusal_after([](Scenario& s) { s.servers.pop_back(), s.servers.pop_back(); }), Contains("redis2"));
  CHECK_THAT(refusal_after([](Scenario& s) { s.resource.reset(); }), Contains("resource"));
  CHECK_THAT(refusal_after([](Scenario& s) { s.lock.algorithm = "gone"; }), Contains("gone"));
  CHECK_THAT(refusal_after([](Scenario& s) { s.faults[0].trigger.step = "GONE"; }), Contains("GONE"));
  CHECK_THAT(refusal_after([](Scenario& s) { s.may[0].who = {"gone"}; }), Contains("gone"));
}

}  // namespace lockstep::scenarios::shrink_test
