// Where the story of a run ends: with the step in which everything came to rest, as in an exploration, whatever happens before the probe asks.

#include "scenarios/running/execution.hpp"

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "scenarios/checking/check.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::execution_test {
namespace {

using checker::Finding;
using checker::Verdict;
using sim::Duration;
using testing::catalogue;
using testing::parsed;

/// The watchdog's first tick comes 21ms after A got the lock: when A, who never gives the lock back, is done.
const std::string kForgets = R"([lock]
algorithm = "redisson-lock"
wait = "0ms"
watchdog_timeout = "63ms"
[network]
latency = ["1ms", "2ms"]
[[client]]
name = "A"
hold = "21ms"
release = false
)";

/// B still asks for the lock then: A's watchdog ticks while the story goes on.
const std::string kForgetsBefore = kForgets + R"([[client]]
name = "B"
acquire_at = "5ms"
attempts = 10
retry = "10ms"
)";

const Finding& renewal_in(const Outcome& outcome) {
  const auto at = std::find_if(outcome.properties.begin(), outcome.properties.end(), [](const Judgement& judgement) {
    return judgement.finding.property == "faithful-renewal";
  });
  return at->finding;
}

TEST_CASE("a run's end: a tick at the very moment is no part of the story, and check agrees") {
  const Scenario scenario = parsed(kForgets);
  const auto explored = check(scenario, catalogue());
  REQUIRE(std::holds_alternative<Exploration>(explored));
  CHECK(std::get<Exploration>(explored).property("faithful-renewal").verdict == Verdict::holds);
  int after_the_end = 0;
  int before_the_end = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto result = run(scenario, catalogue(), {.seed = seed});
    REQUIRE(std::holds_alternative<Outcome>(result));
    const Outcome& outcome = std::get<Outcome>(result);
    const auto named = [&](std::string_view function) {
      return std::find_if(outcome.history.operations.begin(), outcome.history.operations.end(),
                          [&](const sim::Operation& operation) { return operation.function == function; });
    };
    const auto renewal = named("renew");
    const auto end = named("lost");
    REQUIRE(renewal != outcome.history.operations.end());
    REQUIRE(end != outcome.history.operations.end());
    REQUIRE(renewal->invoked.identical(end->invoked));
    ++(renewal->invoked_in > end->invoked_in ? after_the_end : before_the_end);
    INFO(seed << ": " << renewal_in(outcome).why);
    CHECK(renewal_in(outcome).verdict == Verdict::holds);
  }
  // Both orders were there, so this has looked at something.
  CHECK(after_the_end > 5);
  CHECK(before_the_end > 5);
}

TEST_CASE("a run's end: ticks until a probe that comes late are no part of the story") {
  const Scenario scenario = parsed(kForgets);
  sim::DefaultDecisions decisions;
  Deployment deployment(scenario, catalogue(), decisions);
  Execution execution(scenario, deployment, 100'000);
  REQUIRE_FALSE(execution.play());
  const sim::Instant late = execution.quiescent() + Duration::milliseconds(100);
  REQUIRE_FALSE(execution.probe(Execution::Patience::just_beyond_the_bound, late));
  const auto& operations = deployment.world().history().operations;
  const auto is_renewal_between = [&](const sim::Operation& o) {
    return o.function == "renew" && o.invoked.offset() > execution.quiescent().offset() &&
           o.invoked.offset() < late.offset();
  };
  CHECK(std::count_if(operations.begin(), operations.end(), is_renewal_between) >= 4);
  for (const Finding& finding : execution.findings()) {
    INFO(finding.property << ": " << finding.why);
    if (finding.property == "faithful-renewal") CHECK(finding.verdict == Verdict::holds);
    if (finding.property == "recoverable") CHECK(finding.verdict == Verdict::violated);
  }
}

TEST_CASE("a run's end: a tick before it is judged, though its client is done") {
  const Scenario scenario = parsed(kForgetsBefore);
  const auto result = run(scenario, catalogue(), {.seed = 1});
  REQUIRE(std::holds_alternative<Outcome>(result));
  const Finding& finding = renewal_in(std::get<Outcome>(result));
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.by == std::vector{sim::ProcessId{0}});
}

}  // namespace
}  // namespace lockstep::scenarios::execution_test
