// Locks that exist twice, in C++ and as scripts: the same stories, the same verdicts, margins and traces.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <utility>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::own_lock_twins_test {
namespace {

using testing::catalogue;

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kTwins{
    {{"set-nx-px-lua", "set-nx-px.lua"},
     {"redlock-seq", "redlock.lua"},
     {"redlock-par", "redlock-par.lua"},
     {"redisson-lock", "redisson.lua"},
     {"redisson-fair", "fair.lua"},
     {"redisson-semaphore", "semaphore.lua"},
     {"zk-sequential", "other-servers/zk-sequential.lua"},
     {"etcd-mutex", "other-servers/etcd-mutex.lua"},
     {"consul-lock", "other-servers/consul-lock.lua"},
     {"sql-for-update", "other-servers/sql-for-update.lua"},
     {"sql-unique-insert", "other-servers/sql-unique-insert.lua"}}};

Scenario with_script(Scenario story, std::string_view script) {
  auto read = read_own_lock(in_tree("scenarios/stories/own-lock") + "/" + std::string(script));
  if (const auto* problem = std::get_if<std::string>(&read)) FAIL(*problem);
  story.lock.own = std::get<OwnLock>(std::move(read));
  story.lock.algorithm = story.lock.own.entry->id;
  return story;
}

/// Scripts have no flags for the mistakes of their twins' predecessors.
bool has_all_parameters(const Scenario& twin) {
  const auto has = [&](const auto& given) {
    return std::any_of(twin.lock.own.entry->parameters.begin(), twin.lock.own.entry->parameters.end(),
                       [&](const models::locks::ParameterSpec& declared) { return declared.name == given.first; });
  };
  return std::all_of(twin.lock.parameters.begin(), twin.lock.parameters.end(), has) &&
         std::all_of(twin.clients.begin(), twin.clients.end(), [&](const ClientSpec& client) {
           return std::all_of(client.parameters.begin(), client.parameters.end(), has);
         });
}

/// All stories that one of these algorithms plays, with the script of its twin.
std::vector<std::pair<Scenario, std::string_view>> stories() {
  std::vector<std::pair<Scenario, std::string_view>> all;
  for (const std::filesystem::path file : repository_stories()) {
    auto loaded = load(file, catalogue());
    const auto* story = std::get_if<Scenario>(&loaded);
    if (story == nullptr || story->cost != Cost::fast || story->market) continue;
    for (const auto& [algorithm, script] : kTwins) {
      if (story->lock.algorithm == algorithm && has_all_parameters(with_script(*story, script)))
        all.emplace_back(*story, script);
    }
  }
  return all;
}

/// What two runs have to have in common. The digest has not: it knows the texts of the servers' scripts.
std::string told(const Outcome& outcome) {
  std::string text = std::to_string(outcome.events) + " events, " + std::to_string(outcome.history.operations.size()) +
                     " operations\n";
  for (const Judgement& judgement : outcome.properties) {
    text += std::string(judgement.finding.property) + " " + std::string(checker::to_string(judgement.finding.verdict)) +
            " " + judgement.finding.why + "\n";
  }
  for (const std::string& mistake : outcome.script_mistakes) text += mistake + "\n";
  return text;
}

std::string told(const Exploration& exploration) {
  std::string text = std::to_string(exploration.counts.traces) + " traces" +
                     (exploration.counts.complete ? "" : ", incomplete") + "\n";
  for (const ExploredProperty& property : exploration.properties) {
    text += std::string(property.name) + " " + std::string(checker::to_string(property.verdict)) + " in " +
            std::to_string(property.violating_traces) + " " + property.why + " " + property.frontier;
    for (const Threshold& threshold : property.thresholds) {
      text += " " + threshold.parameter + " " + sim::to_string(threshold.infimum.value) +
              (threshold.infimum.attained ? "" : " exclusive") + (threshold.is_exact ? "" : " at most");
    }
    text += "\n";
  }
  for (const std::string& mistake : exploration.script_mistakes) text += mistake + "\n";
  return text;
}

/// Whether the lock comes back is tried in another way of a script than of the catalogue
/// (docs/decisions/recoverable-is-tried.md): the verdict is the same, but not who tried when.
bool but_recovery(std::string_view property) { return property != "recoverable"; }

std::string_view recovery_of(const Outcome& outcome) {
  for (const Judgement& judgement : outcome.properties) {
    if (judgement.finding.property == "recoverable") return checker::to_string(judgement.finding.verdict);
  }
  return "";
}

}  // namespace

TEST_CASE("own lock: a script runs as its twin in C++ does, event by event") {
  std::size_t compared = 0;
  for (const auto& [story, script] : stories()) {
    INFO(story.file << " with " << script);
    const Scenario twin = with_script(story, script);
    for (const std::optional<std::uint64_t> seed : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(7)}) {
      RunOptions options;
      options.seed = seed;
      options.asks = but_recovery;
      const auto one = run(story, catalogue(), options), other = run(twin, catalogue(), options);
      REQUIRE(std::holds_alternative<Outcome>(one) == std::holds_alternative<Outcome>(other));
      if (const auto* outcome = std::get_if<Outcome>(&one)) CHECK(told(*outcome) == told(std::get<Outcome>(other)));
    }
    const auto one = run(story, catalogue()), other = run(twin, catalogue());
    if (const auto* outcome = std::get_if<Outcome>(&one))
      CHECK(recovery_of(*outcome) == recovery_of(std::get<Outcome>(other)));
    ++compared;
  }
  CHECK(compared > 85);
}

TEST_CASE("own lock: a script is explored as its twin in C++ is: verdicts, margins and the number of traces") {
  std::size_t compared = 0;
  for (const auto& [story, script] : stories()) {
    if (!can_be_explored(story, catalogue())) continue;
    INFO(story.file << " with " << script);
    ExplorationOptions options;
    options.max_traces = sim::cases<std::uint64_t>(500, 40);
    options.asks = but_recovery;
    const auto one = explore(story, catalogue(), options);
    const auto other = explore(with_script(story, script), catalogue(), options);
    REQUIRE(std::holds_alternative<Exploration>(one) == std::holds_alternative<Exploration>(other));
    if (const auto* found = std::get_if<Exploration>(&one)) CHECK(told(*found) == told(std::get<Exploration>(other)));
    options.asks = [](std::string_view property) { return property == "recoverable"; };
    const auto tried = explore(story, catalogue(), options);
    const auto visited = explore(with_script(story, script), catalogue(), options);
    const auto* by_probe = std::get_if<Exploration>(&tried);
    const auto* by_visitor = std::get_if<Exploration>(&visited);
    if (by_probe != nullptr && by_visitor != nullptr && by_probe->counts.complete && by_visitor->counts.complete)
      CHECK(by_visitor->property("recoverable").verdict == by_probe->property("recoverable").verdict);
    ++compared;
  }
  CHECK(compared > 60);
}

TEST_CASE("own lock: a world with a script that goes back is explored as one that runs each trace from its beginning") {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kStories{
      {{"redisson-source/f003-2-watchdog-pause.toml", "redisson.lua"},
       {"redisson-source/f003-lost-wakeup.toml", "redisson.lua"},
       {"lock-summary/redlock-crash-restart.toml", "redlock.lua"},
       {"lock-summary/f001-7-no-renewal-fixed.toml", "redisson.lua"},
       {"redisson-source/f003-semaphore-crash.toml", "semaphore.lua"},
       {"redisson-source/f003-fair-dead-waiter.toml", "fair.lua"},
       {"zookeeper/f001-zk-pause.toml", "other-servers/zk-sequential.lua"},
       {"etcd/etcd-session-pause.toml", "other-servers/etcd-mutex.lua"},
       {"consul/consul-session-pause.toml", "other-servers/consul-lock.lua"},
       {"sql/sql-missing-row.toml", "other-servers/sql-for-update.lua"}}};
  for (const auto& [file, script] : kStories) {
    auto loaded = load(in_tree("scenarios/stories") + "/" + std::string(file), catalogue());
    REQUIRE(std::holds_alternative<Scenario>(loaded));
    const Scenario story = with_script(std::get<Scenario>(std::move(loaded)), script);
    INFO(file << " with " << script);
    ExplorationOptions options;
    options.max_traces = sim::cases<std::uint64_t>(200, 40);
    const auto back = explore(story, catalogue(), options);
    options.goes_back = false;
    const auto again = explore(story, catalogue(), options);
    CHECK(told(std::get<Exploration>(back)) == told(std::get<Exploration>(again)));
  }
}

}  // namespace lockstep::scenarios::own_lock_twins_test
