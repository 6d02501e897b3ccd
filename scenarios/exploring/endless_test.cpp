// Stories that do not end, by their files: who is blamed, and what stays a message.

#include <string>

#include <catch2/catch.hpp>

#include "scenarios/checking/check.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::endless_test {
namespace {

using testing::catalogue;
using testing::parsed;

constexpr std::string_view kBegin = R"(title  = { en = "t", zh = "t" }
story  = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
source = "us"
[lock]
algorithm = "set-nx-px-lua"
ttl = "1s"
[network]
latency = "0ms"
)";

Scenario story(std::string_view rest) { return parsed(std::string(kBegin) + std::string(rest)); }

/// A has the lock for ever, and B, whose name is in line 15, asks again at once.
constexpr std::string_view kLoop = R"([[client]]
name = "A"
hold = "5ms"
release = false
[[client]]
name = "B"
attempts = 1000000
retry = "0ms"
acquire_at = "1ms"
)";

TEST_CASE("endless: a client that never waits breaks progress, with its line, and nothing else is known") {
  const Scenario scenario = story(kLoop);
  const auto result = run(scenario, catalogue());
  REQUIRE(std::holds_alternative<Outcome>(result));
  const Outcome& outcome = std::get<Outcome>(result);
  CHECK_FALSE(outcome.as_expected);
  CHECK(outcome.notes.size() == 1);
  for (const Judgement& judgement : outcome.properties) {
    INFO(judgement.finding.property);
    const bool is_it = judgement.finding.property == "progress";
    CHECK(judgement.finding.verdict == (is_it ? checker::Verdict::violated : checker::Verdict::unknown));
    CHECK(judgement.as_expected == !is_it);
    if (!is_it) continue;
    CHECK(judgement.finding.by == std::vector{sim::ProcessId{1}});
    CHECK(judgement.finding.why == "B (line 15) never waits: 20000 events at 1ms, and no time goes on");
  }
}

TEST_CASE("endless: check tells the same, and that it is not complete") {
  const Scenario scenario = story(kLoop);
  const auto result = check(scenario, catalogue());
  REQUIRE(std::holds_alternative<Exploration>(result));
  const Exploration& exploration = std::get<Exploration>(result);
  CHECK(exploration.bound == "max-steps");
  CHECK_FALSE(exploration.counts.complete);
  for (const ExploredProperty& property : exploration.properties) {
    const bool is_it = property.name == "progress";
    CHECK(property.verdict == (is_it ? checker::Verdict::violated : checker::Verdict::unknown));
  }
  REQUIRE(exploration.property("progress").witness.has_value());
  const auto replay = run(*exploration.property("progress").witness, catalogue());
  REQUIRE(std::holds_alternative<Outcome>(replay));
  CHECK(std::get<Outcome>(replay).as_expected);
}

TEST_CASE("endless: while somebody waits for an answer that never comes, watchdogs tick on, in check as in a run") {
  // B is done with the lock and keeps it. A's answer is held back by a pause that redis does not survive, and A has no
  // timeout: so B's next tick is part of the story.
  const Scenario scenario = parsed(R"(title  = { en = "t", zh = "t" }
story  = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
source = "us"
[lock]
algorithm = "redisson-lock"
wait = "0ms"
watchdog_timeout = "54ms"
[network]
latency = "2ms"
[[client]]
name = "A"
attempts = 1
[[client]]
name = "B"
attempts = 1
release = false
[[may]]
kind = "pause"
server = "redis"
length = "5ms"
[[may]]
kind = "crash"
server = "redis"
)");
  const auto result = check(scenario, catalogue());
  REQUIRE(std::holds_alternative<Exploration>(result));
  const Exploration& exploration = std::get<Exploration>(result);
  CHECK(exploration.counts.complete);
  CHECK(exploration.disagreements == 0);
  const ExploredProperty& renewal = exploration.property("faithful-renewal");
  CHECK(renewal.verdict == checker::Verdict::violated);
  REQUIRE(renewal.witness.has_value());
  const auto replay = run(*renewal.witness, catalogue());
  REQUIRE(std::holds_alternative<Outcome>(replay));
  CHECK(std::get<Outcome>(replay).as_expected);
}

TEST_CASE("endless: whoever gets the lock again and again makes progress, and the message stays") {
  const Scenario scenario = story("[[client]]\nname = \"A\"\nrounds = 1000000\n");
  const auto result = run(scenario, catalogue());
  REQUIRE(std::holds_alternative<Diagnostic>(result));
  CHECK(std::get<Diagnostic>(result).message.find("the story does not go on at 0ms") == 0);
  CHECK(std::holds_alternative<Diagnostic>(check(scenario, catalogue())));
}

TEST_CASE("progress: the default is what the lease, the work, the retry and the round trips cost") {
  const Scenario scenario = story(R"([[client]]
name = "A"
hold = "7ms"
[[client]]
name = "B"
attempts = 2000
retry = "1ms"
acquire_at = "1ms"
[[fault]]
kind = "crash"
client = "A"
at = "3ms"
)");
  const auto finding_of = [](const Scenario& s) {
    auto result = run(s, catalogue());
    REQUIRE(std::holds_alternative<Outcome>(result));
    for (const Judgement& judgement : std::get<Outcome>(result).properties) {
      if (judgement.finding.property == "progress") return judgement.finding;
    }
    FAIL("not judged");
    return checker::Finding{};
  };
  // A dies at 3ms, and its lease ends at 1s.
  CHECK(finding_of(scenario).verdict == checker::Verdict::holds);
  CHECK(finding_of(scenario).why == "nobody tried for longer than 997ms while nobody held it (1008ms allowed)");
  Scenario strict = scenario;
  strict.progress_within = sim::Duration::milliseconds(997);
  CHECK(finding_of(strict).verdict == checker::Verdict::holds);
  strict.progress_within = sim::Duration::milliseconds(996);
  CHECK(finding_of(strict).verdict == checker::Verdict::violated);
}

TEST_CASE("progress: rounds that come back later are other tries") {
  Scenario scenario = story(R"([[client]]
name = "A"
hold = "1ms"
release = false
[[client]]
name = "B"
attempts = 2
retry = "1ms"
rounds = 3
between = "100ms"
acquire_at = "10ms"
[properties]
progress = { within = "50ms" }
)");
  const auto verdict = [&] {
    auto result = run(scenario, catalogue());
    for (const Judgement& judgement : std::get<Outcome>(result).properties) {
      if (judgement.finding.property == "progress") return judgement.finding.verdict;
    }
    return checker::Verdict::unknown;
  };
  CHECK(scenario.progress_within == sim::Duration::milliseconds(50));
  CHECK(verdict() == checker::Verdict::holds);
  for (ClientSpec& client : scenario.clients)
    client.retry = sim::DurationRange::exactly(sim::Duration::milliseconds(100));
  CHECK(verdict() == checker::Verdict::violated);
}

}  // namespace
TEST_CASE("endless: heartbeats that put off the end of a lease are followed no further than what else is under way") {
  // B's DELETE_RANGE sleeps while its heartbeats go on, each of which sets etcd's clock for the lease anew. A message may
  // be delayed by two seconds, so by then it has come.
  const Scenario scenario = parsed(R"(
[lock]
algorithm = "etcd-mutex"
ttl = "2s"
[[server]]
kind = "etcd"
[network]
latency = ["2ms", "7ms"]
[[client]]
name = "A"
hold = "300ms"
[[client]]
name = "B"
acquire_at = "50ms"
hold = "100ms"
[[may]]
kind = "delay"
client = "A"
length = ["0ms", "2s"]
)");
  const auto result = check(scenario, catalogue());
  REQUIRE(std::holds_alternative<Exploration>(result));
  const Exploration& exploration = std::get<Exploration>(result);
  CHECK(exploration.counts.complete);
  CHECK(exploration.counts.traces > 100);
  CHECK(exploration.disagreements == 0);
  CHECK(exploration.property("mutual-exclusion").verdict == checker::Verdict::holds);
  CHECK(exploration.property("truthful-reports").verdict == checker::Verdict::violated);
}

}  // namespace lockstep::scenarios::endless_test
