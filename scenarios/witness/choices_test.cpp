// What a server is free to choose: what an exploration or a random run chose, a story can say.

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "models/servers/server_kind.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/random_run.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::choices_test {
namespace {

using testing::catalogue;
using testing::parsed;

Exploration explored(const Scenario& story) {
  auto result = explore(story, catalogue(), {});
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::move(std::get<Exploration>(result));
}

/// A holds the lock from 2 ms to 82 ms and B comes at 65 ms. In between somebody else looks, with these commands, and what the server chooses for
/// him decides whether the lock is deleted.
std::string story_of(std::string_view commands, std::string_view more = "") {
  return fmt::format(R"([lock]
algorithm = "set-nx-px-lua"
ttl = "1s"
attempts = 1
[network]
latency = "1ms"
timeout = "20ms"
[[server]]
append_only = "everysec"
[[client]]
name = "A"
hold = "80ms"
[[client]]
name = "op"
acquire_at = "40ms"
commands = [{}]
[[client]]
name = "B"
hold = "5ms"
acquire_at = "65ms"
{})",
                     commands, more);
}

void check_shown(const Scenario& story) {
  const Exploration exploration = explored(story);
  const ExploredProperty& property = exploration.property("mutual-exclusion");
  INFO(property.why << '\n' << property.unconfirmed);
  CHECK(exploration.unconfirmed == 0);
  REQUIRE(property.verdict == checker::Verdict::violated);
  REQUIRE(property.witness);
  const std::string text = to_toml(*property.witness);
  INFO(text);
  CHECK(text.find(" choosing ") != std::string::npos);
  const auto again = run(parsed(text), catalogue());
  REQUIRE(std::holds_alternative<Outcome>(again));
  CHECK(std::get<Outcome>(again).as_expected);
}

}  // namespace

TEST_CASE("choices: whichever member or key a server draws, the witness says which") {
  for (const std::string_view drawn : {"1", "2", "3"}) {
    for (const std::string_view command : {"'SPOP', 'lot'", "'SRANDMEMBER', 'lot'"}) {
      INFO(command << " " << drawn);
      check_shown(
          parsed(story_of(fmt::format("\"SADD lot 1 2 3\", \"EVAL \\\"if redis.call({}) == '{}' then "
                                      "redis.call('DEL', 'lock') end return 0\\\" 1 lock\"",
                                      command, drawn))));
    }
  }
  for (const std::string_view drawn : {"a", "b"}) {
    check_shown(
        parsed(story_of(fmt::format("\"SET a 1\", \"SET b 1\", \"EVAL \\\"if redis.call('RANDOMKEY') == '{}' "
                                    "then redis.call('DEL', 'lock') end return 0\\\" 1 lock\"",
                                    drawn))));
  }
}

// The log has "kept" and then the lock. With nothing of it the operator takes the lock himself, with all of it A still has it: only with the one
// and without the other B gets it.
TEST_CASE("choices: how much of a log survives a crash, the witness says") {
  check_shown(parsed(story_of(
      R"("EVAL \"if redis.call('EXISTS', 'kept') == 0 then redis.call('SET', 'lock', 'x') end return 0\" 1 lock")",
      R"([[client]]
name = "first"
commands = ["SET kept 1"]
[[may]]
kind = "crash"
server = "redis"
restart_after = "5ms"
)")));
}

namespace {

/// Each run of these seeds, written and played again, is judged alike. Returns how many chose.
std::uint64_t check_random_runs(const Scenario& story, std::uint64_t runs) {
  std::uint64_t chosen = 0;
  RandomRuns random(story, catalogue());
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const auto findings = random.run(seed, std::nullopt);
    REQUIRE(findings);
    const std::string text = to_toml(random.story());
    INFO(text);
    chosen += text.find(" choosing ") != std::string::npos ? 1 : 0;
    const auto again = run(parsed(text), catalogue());
    if (const auto* problem = std::get_if<Diagnostic>(&again)) FAIL(problem->to_string());
    for (const Judgement& judgement : std::get<Outcome>(again).properties) {
      for (const checker::Finding& finding : *findings) {
        if (finding.property == "recoverable" || finding.property != judgement.finding.property) continue;
        INFO(finding.property << ": " << finding.why << " / " << judgement.finding.why);
        CHECK(finding.verdict == judgement.finding.verdict);
      }
    }
  }
  return chosen;
}

Scenario loaded(std::string_view file) {
  auto result = load(in_tree(file), catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Scenario>(std::move(result));
}

}  // namespace

TEST_CASE("choices: those of random runs are written, and played again") {
  const std::uint64_t runs = sim::cases<std::uint64_t>(200, 6);
  const Scenario drawing = parsed(story_of("\"SADD lot 1 2 3 4\", \"SPOP lot\", \"SPOP lot\", \"SRANDMEMBER lot\"",
                                           "[[may]]\nkind = \"crash\"\nserver = \"redis\"\nrestart_after = \"5ms\"\n"));
  CHECK(check_random_runs(drawing, runs) > runs / 2);
}

TEST_CASE("choices: those of sentinels and of an ensemble's clients and members, too") {
  const std::uint64_t runs = sim::cases<std::uint64_t>(50, 2);
  const Scenario failover = parsed(to_toml(loaded("scenarios/stories/lock-summary/f001-10-sentinel-failover.toml")) +
                                   "\n[[may]]\nkind = \"crash\"\nserver = \"redis1\"\n");
  CHECK(check_random_runs(failover, runs) > 0);
  const Scenario ensemble = parsed(R"([lock]
algorithm = "zk-ephemeral-create"
[[server]]
name = "zk1"
kind = "zookeeper"
[[server]]
name = "zk2"
kind = "zookeeper"
[[server]]
name = "zk3"
kind = "zookeeper"
[network]
latency = ["1ms", "3ms"]
[[client]]
name = ["A", "B"]
hold = "20ms"
)");
  CHECK(check_random_runs(ensemble, runs) > 0);
}

TEST_CASE("choices: a file that says what is not asked, or in another way, is told where") {
  const auto complaint = [](std::string_view entry) {
    const auto result = parse("title = \"t\"\n" + story_of("\"SADD lot 1 2 3\", \"SPOP lot\"",
                                                           fmt::format("[schedule]\nevents = [\"{}\"]\n", entry)),
                              "story.toml", catalogue());
    if (const auto* problem = std::get_if<Diagnostic>(&result)) return problem->to_string();
    const auto outcome = run(std::get<Scenario>(result), catalogue());
    const auto* problem = std::get_if<Diagnostic>(&outcome);
    return problem == nullptr ? std::string() : problem->to_string();
  };
  CHECK(complaint("43ms op.SPOP choosing 2 of 3").empty());
  CHECK(complaint("43ms op.SPOP choosing 2 of 3, 1 of 2").find("makes only 1 choices; leave out \"1 of 2\"") !=
        std::string::npos);
  CHECK(complaint("41ms op.SADD choosing 1 of 2").find("op.SADD#1 makes no choice") != std::string::npos);
  for (const std::string_view bad : {"choosing", "choosing 0 of 3", "choosing 4 of 3", "choosing 2", "choosing 2 of",
                                     "choosing two of 3", "choosing 1 of 2, ", "choosing 1 of 2 1 of 2 3"}) {
    INFO(bad);
    CHECK(complaint(fmt::format("43ms op.SPOP {}", bad)).find("2 of 3\"") != std::string::npos);
  }
}

// A message without a name cannot be scheduled, and whatever witness has it is lost.
TEST_CASE("choices: every message that travels in a story of the tree has a name in schedules") {
  std::map<std::string, std::string> nameless;
  std::size_t seen = 0;
  for (const std::string& file : repository_stories()) {
    auto story = load(file, catalogue());
    if (!std::holds_alternative<Scenario>(story)) continue;
    const Scenario& scenario = std::get<Scenario>(story);
    const auto outcome = run(scenario, catalogue(), {.trace = true, .brief = true});
    if (!std::holds_alternative<Outcome>(outcome)) continue;
    const auto& kind = models::locks::server_kind_of(*find_entry(scenario.lock, catalogue()));
    std::set<std::string, std::less<>> known{"FIN", "READ", "WRITE"};
    for (const auto& names : {kind.requests(), kind.other_messages()}) known.insert(names.begin(), names.end());
    for (const sim::TraceRecord& record : std::get<Outcome>(outcome).trace.records) {
      if (record.kind != sim::EventKind::message) continue;
      ++seen;
      if (!known.contains(record.name)) nameless.emplace(record.name, file);
    }
  }
  CHECK(nameless == std::map<std::string, std::string>());
  CHECK(seen > 1'000);
}

// Whoever adds a choice to a server has to add it here and to show, above or in a story, that a file can say it.
TEST_CASE("choices: these are all that servers have") {
  std::map<std::string, int> found;
  for (const std::string& file : tracked_files(in_tree("."), "models/*.[ch]pp")) {
    if (file.find("conformance/") != std::string::npos || file.find("_test.cpp") != std::string::npos) continue;
    std::ifstream in(in_tree(file));
    std::stringstream text;
    text << in.rdbuf();
    const std::string all = text.str();
    for (std::size_t at = all.find("choose(sim::Choice::model"); at != std::string::npos;
         at = all.find("choose(sim::Choice::model", at + 1))
      ++found[file];
  }
  if (found.empty()) return;  // no checkout
  const std::map<std::string, int> known{{"models/consensus/member.hpp", 1},
                                         {"models/redis/commands/databases.cpp", 1},
                                         {"models/redis/commands/random_members.cpp", 1},
                                         {"models/redis/commands/sets.cpp", 1},
                                         {"models/redis/sentinel/promoter.cpp", 1},
                                         {"models/redis/sentinel/sentinel_failover.cpp", 1},
                                         {"models/redis/server/persistence.cpp", 1},
                                         {"models/zookeeper/client/handle.cpp", 1}};
  CHECK(found == known);
}

// What waits for the end of the first pause waits for that of the second, which begins at the same moment: A's patience is
// over at 4ms, and the answer has been there since 2ms.
TEST_CASE("a schedule: a pause that begins as another ends begins before what waits for that end") {
  const auto answered = [](const char* entry) {
    const Scenario story = parsed(fmt::format(R"([lock]
algorithm = "set-nx-px-lua"
attempts = 1
[network]
latency = "1ms"
timeout = "4ms"
[[client]]
name = "A"
[[fault]]
kind = "pause"
client = "A"
at = "2ms"
length = "7ms"
[[fault]]
kind = "pause"
client = "A"
at = "9ms"
length = "7ms"
[schedule]
events = ["0ms A start", "2ms A pause", {}])",
                                              entry));
    const auto result = run(story, catalogue());
    if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
    const sim::Operation& acquire = std::get<Outcome>(result).history.operations.front();
    return std::pair(acquire.phase, acquire.completed.offset());
  };
  using sim::Duration;
  CHECK(answered("\"9ms A pause#2\", \"16ms A.SET#1 reply\"") == std::pair(sim::Phase::ok, Duration::milliseconds(16)));
  CHECK(answered("\"9ms A.SET#1 reply\", \"9ms A pause#2\"") == std::pair(sim::Phase::ok, Duration::milliseconds(9)));
}

}  // namespace lockstep::scenarios::choices_test
