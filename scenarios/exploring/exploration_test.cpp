// The margins of known locks, exactly.

#include "scenarios/exploring/exploration.hpp"

#include <catch2/catch.hpp>

#include "scenarios/format/loader.hpp"

namespace lockstep::scenarios::exploration_test {
namespace {

using sim::Duration;
using namespace sim::literals;

/// set-nx-px-lua, one server, clients that start anywhere in the first second, one attempt each, work of exactly 20ms.
std::string story(const std::string& lock, int clients, const std::string& more) {
  std::string text = R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
)" + lock + R"(
[network]
latency = ["1ms", "10ms"]
)" + more;
  for (int i = 0; i < clients; ++i) {
    text += "[[client]]\nname = \"" + std::string(1, static_cast<char>('A' + i)) +
            "\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"20ms\"\nattempts = 1\n";
  }
  return text;
}

const std::string kLua = "algorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n";
const std::string kRedlock = "algorithm = \"redlock-seq\"\nttl = \"200ms\"\n";

Exploration exploration_of(const std::string& text, const ExplorationOptions& options = {}) {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  auto scenario = parse(text, "story.toml", catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&scenario)) FAIL(problem->to_string());
  auto result = explore(std::get<Scenario>(scenario), catalogue, options);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Exploration>(result);
}

std::string pause(const std::string& lo, const std::string& hi) {
  return "[[may]]\nkind = \"pause\"\nlength = [\"" + lo + "\", \"" + hi + "\"]\n";
}

}  // namespace

TEST_CASE("set-nx-px-lua without pauses holds in every order and with every delay") {
  const Exploration result = exploration_of(story(kLua, 2, ""));
  CHECK(result.counts.complete);
  CHECK(result.property("mutual-exclusion").verdict == checker::Verdict::holds);
  CHECK(result.counts.traces > 1);
}

TEST_CASE("a probe that can go several ways goes each of them, also where nothing is held any more") {
  // 20ms are as long as the slowest answer: Redlock looks at its clock, and so does the probe's.
  const std::string lock = "algorithm = \"redlock-seq\"\nttl = \"20ms\"\n[servers]\ncount = 1\n";
  const std::string text = story(lock, 1, "");
  const Exploration result = exploration_of(text);
  CHECK(result.counts.complete);
  CHECK(result.property("mutual-exclusion").verdict == checker::Verdict::holds);
  CHECK(result.counts.traces > 2);
  const Exploration together = exploration_of(text, {.jobs = 2});
  CHECK(together.counts.traces == result.counts.traces);
}

TEST_CASE("a probe that has time for very many attempts uses it: a lock that stays taken is not called free") {
  // Three servers that may be silent for 50ms each let the probe come early; at the one that is asked an attempt takes 2ms.
  for (const int servers : {1, 2, 3, 5}) {
    CAPTURE(servers);
    const Exploration exploration = exploration_of(R"(
title = { en = "t" }
[lock]
algorithm = "setnx-del"
[network]
latency = ["1ms", "5ms"]
timeout = "50ms"
[servers]
count = )" + std::to_string(servers) + R"(
[[client]]
name = ["A", "B"]
hold = "20ms"
acquire_at = ["0ms", "30ms"]
[[may]]
kind = "lose"
client = "A"
)");
    CHECK(exploration.counts.complete);
    CHECK(exploration.property("recoverable").verdict == checker::Verdict::violated);
  }
}

TEST_CASE("set-nx-px-lua breaks for every pause above 71ms, and for none up to it") {
  // A learns 10ms late, works 20ms and the pause; B learns 1ms after the expiry: 10 + 20 + P > 101.
  const Exploration result = exploration_of(story(kLua, 2, pause("0ms", "10s")));
  CHECK(result.counts.complete);
  REQUIRE(result.property("mutual-exclusion").verdict == checker::Verdict::violated);
  const std::vector<Threshold>& thresholds = result.property("mutual-exclusion").thresholds;
  REQUIRE(thresholds.size() == 1);
  CHECK(thresholds.front().parameter == "pause");
  CHECK(thresholds.front().infimum == checker::Extent{71_ms, false});

  CHECK(exploration_of(story(kLua, 2, pause("0ms", "71ms"))).property("mutual-exclusion").verdict ==
        checker::Verdict::holds);
  CHECK(exploration_of(story(kLua, 2, pause("0ms", "71.001ms"))).property("mutual-exclusion").verdict ==
        checker::Verdict::violated);
}

TEST_CASE("the reduction changes neither verdict nor threshold of a small story") {
  for (const std::string& more : {std::string(), pause("0ms", "10s")}) {
    const Exploration reduced = exploration_of(story(kLua, 2, more));
    const Exploration all = exploration_of(story(kLua, 2, more), {.reduction = false});
    CHECK(all.counts.complete);
    CHECK(reduced.property("mutual-exclusion").verdict == all.property("mutual-exclusion").verdict);
    const auto& thresholds = reduced.property("mutual-exclusion").thresholds;
    REQUIRE(thresholds.size() == all.property("mutual-exclusion").thresholds.size());
    if (!thresholds.empty()) CHECK(thresholds[0].infimum == all.property("mutual-exclusion").thresholds[0].infimum);
    CHECK(reduced.counts.traces < all.counts.traces);
  }
}

TEST_CASE("a lease that is shorter than the work breaks without any pause") {
  const Exploration result = exploration_of(story("algorithm = \"set-nx-px-lua\"\nttl = \"10ms\"\n", 2, ""));
  CHECK(result.property("mutual-exclusion").verdict == checker::Verdict::violated);
}

TEST_CASE("redlock-seq on three servers holds without pauses and breaks with one") {
  const std::string servers = "[servers]\ncount = 3\n";
  const Exploration calm = exploration_of(story(kRedlock, 2, servers));
  CHECK(calm.counts.complete);
  CHECK(calm.property("mutual-exclusion").verdict == checker::Verdict::holds);
  const Exploration paused = exploration_of(story(kRedlock, 2, servers + pause("0ms", "10s")));
  CHECK(paused.counts.complete);
  CHECK(paused.property("mutual-exclusion").verdict == checker::Verdict::violated);
}

}  // namespace lockstep::scenarios::exploration_test
