// A file to begin with: that it is good for every algorithm, and that what its comments say to try works.

#include "scenarios/format/new_story.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "scenarios/checking/check.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/execution.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::new_story_test {
namespace {

using namespace sim::literals;
using testing::catalogue;

Scenario good(const std::string& text) {
  auto result = parse(text, "mine.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string() << "\n" << text);
  return std::get<Scenario>(std::move(result));
}

Outcome outcome_of(const Scenario& scenario) {
  auto result = run(scenario, catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Outcome>(std::move(result));
}

/// The line of a comment becomes a line of the file.
std::string without_marks(std::string text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  REQUIRE(begin != std::string::npos);
  std::size_t at = begin;
  const std::size_t end = text.find(to, begin);
  REQUIRE(end != std::string::npos);
  std::size_t left = end;
  while ((at = text.find("# ", at)) < left) {
    text.erase(at, 2);
    left -= 2;
  }
  return text;
}

}  // namespace

TEST_CASE("new story: for each algorithm it is a file that run plays, and in which nothing breaks") {
  for (const models::locks::Entry& entry : catalogue().entries()) {
    INFO(entry.id);
    const Scenario scenario = good(new_story(entry, "mine", "mine.toml"));
    const Outcome outcome = outcome_of(scenario);
    // These two break whenever two compete.
    if (entry.id == "setnx-ts-inverted" || entry.id == "lua-reentrant-hash") continue;
    for (const Judgement& judgement : outcome.properties) {
      INFO(judgement.finding.property << ": " << judgement.finding.why);
      CHECK(judgement.as_expected);
    }
  }
}

// Else `recoverable` would blame a lock for being as slow as it is where nobody is in its way.
TEST_CASE("new story: the probe is allowed as long as an attempt takes that finds nobody there") {
  for (const models::locks::Entry& entry : catalogue().entries()) {
    INFO(entry.id);
    const Scenario scenario = good(new_story(entry, "mine", "mine.toml"));
    sim::DefaultDecisions decisions;
    const Deployment deployment(scenario, catalogue(), decisions, Deployment::Faults::none);
    const sim::Duration attempt =
        visitor_attempt(scenario, catalogue()) - deployment.probe_slack() - deployment.patience();
    CHECK(attempt > 0_ms);
    CHECK(attempt <= deployment.probe_slack());
  }
}

TEST_CASE("new story: the fault that its comment shows breaks the lock, and check tells from which pause on") {
  const std::string text = new_story(*catalogue().find("set-nx-px-lua"), "mine", "mine.toml");
  CHECK(outcome_of(good(text)).as_expected);
  std::string paused = without_marks(text, "# [[fault]]", "# What you expect");
  paused.replace(paused.find("[\"0ms\", \"200ms\"]"), 18, "\"110ms\"");
  CHECK_FALSE(outcome_of(good(paused)).as_expected);
  const auto result = check(good(text), catalogue(), {});
  const ExploredProperty& broken = std::get<Exploration>(result).property("mutual-exclusion");
  REQUIRE(broken.verdict == checker::Verdict::violated);
  // A has the lock from 2 on and works for 30; its key is gone at 101, B has the lock at 102 at the earliest.
  CHECK(broken.thresholds.front().infimum == checker::Extent{sim::Duration::milliseconds(70), false});
}

// A promise of the other one needs the digits of instants.
TEST_CASE("new story: check explores it completely, and judges all that the algorithm claims") {
  const std::string_view open = "redisson-permit-expirable-semaphore";
  const auto entries = catalogue().entries();
  const std::uint64_t count = sim::cases<std::uint64_t>(entries.size(), 12);
  for (std::uint64_t i = 0; i < count; ++i) {
    const models::locks::Entry& entry = entries[i * entries.size() / count];
    if (entry.id == open) continue;
    INFO(entry.id);
    CheckOptions options;
    options.exploration.max_events = 20'000'000;
    const auto result = check(good(new_story(entry, "mine", "mine.toml")), catalogue(), options);
    REQUIRE(std::holds_alternative<Exploration>(result));
    const Exploration& exploration = std::get<Exploration>(result);
    CHECK(exploration.counts.complete);
    CHECK(exploration.disagreements == 0);
    for (const ExploredProperty& property : exploration.properties) {
      if (property.claim == Claim::none) continue;
      INFO(property.name << ": " << property.why);
      CHECK((property.verdict == checker::Verdict::holds || property.verdict == checker::Verdict::violated));
    }
  }
}

TEST_CASE("new story: of a deployment, for each algorithm it is a file that run plays") {
  for (const models::locks::Entry& entry : catalogue().entries()) {
    INFO(entry.id);
    const bool is_redis = models::locks::server_kind_of(entry).is_redis() && !entry.many_nodes;
    for (const bool failover : {false, true}) {
      if (failover && !is_redis) continue;
      KnownDeployment known{.clients = 3, .pause = 5_s, .failover = failover};
      known.work = {2_s, 15_s};
      const Scenario scenario = good(new_story(entry, "mine", "mine.toml", known));
      CHECK(scenario.clients.size() == 3);
      CHECK(scenario.clients.front().hold == known.work);
      CHECK(scenario.sentinels.has_value() == failover);
      CHECK(scenario.may.size() == (failover ? 2 : 1));
      outcome_of(scenario);
    }
  }
}

TEST_CASE("new story: a call of Redisson as it stands in code") {
  using Parameters = std::vector<std::pair<std::string, sim::Duration>>;
  const auto parameters = [](const char* code) {
    INFO(code);
    auto call = redisson_call(code);
    if (const auto* wrong = std::get_if<std::string>(&call)) FAIL(*wrong);
    return std::get<RedissonCall>(call).parameters;
  };
  const Parameters both{{"wait", 5_s}, {"lease", 10_s}};
  CHECK(parameters("tryLock(5s, 10s)") == both);
  CHECK(parameters(" lock.tryLock(5, 10, TimeUnit.SECONDS); ") == both);
  CHECK(parameters("tryLock(5000, 10000, MILLISECONDS)") == both);
  CHECK(parameters("tryLock()") == Parameters{{"wait", 0_s}});
  CHECK(parameters("tryLock(5, SECONDS)") == Parameters{{"wait", 5_s}});
  CHECK(parameters("tryLock(5, -1, SECONDS)") == Parameters{{"wait", 5_s}});
  CHECK(parameters("lock(10, TimeUnit.SECONDS)").back() == both.back());
  CHECK(parameters("lock()").size() == 1);
  for (const char* wrong : {"", "tryLock", "unlock()", "tryLock(5)", "tryLock(1s, 2s, 3s)",
                            "tryLock(5, 10, FORTNIGHTS)", "tryLock(99999999999, SECONDS)", "lock(x)"}) {
    INFO(wrong);
    CHECK(std::holds_alternative<std::string>(redisson_call(wrong)));
  }
  // As a story, also of one that waits for ever.
  const models::locks::Entry& redisson = *catalogue().find("redisson-lock");
  KnownDeployment known;
  for (const char* code : {"lock()", "tryLock(5s, 10s)"}) {
    known.parameters = parameters(code);
    good(new_story(redisson, "mine", "mine.toml", known));
  }
}

}  // namespace lockstep::scenarios::new_story_test
