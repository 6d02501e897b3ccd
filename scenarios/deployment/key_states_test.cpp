// What servers hold, step by step: against what histories say of the same servers, and against hand arithmetic.

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include <catch2/catch.hpp>

#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/failures.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::key_states_test {
namespace {

using testing::catalogue;
using testing::parsed;

Outcome outcome_of(const Scenario& scenario, bool with_states = true) {
  auto result = run(scenario, catalogue(), {.key_states = with_states});
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::move(std::get<Outcome>(result));
}

TEST_CASE("a key comes with its value and its end, and goes") {
  // Two clocks that are 200ms apart: the lease of 100ms that is set at 5ms ends at 105ms of true time.
  const Outcome outcome = outcome_of(parsed(R"(
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = "5ms"
[[server]]
clock = { offset = "200ms" }
[[client]]
name = "A"
acquire_at = "0ms"
hold = "20ms"
)"));
  REQUIRE(outcome.key_states.size() >= 2);
  const KeyState& set = outcome.key_states[0];
  CHECK(set.at.offset() == sim::Duration::milliseconds(5));
  CHECK(set.server == sim::ProcessId{1});
  CHECK(set.key == "lock");
  CHECK(set.type == "string");
  CHECK(set.text.starts_with("A"));
  REQUIRE(set.expires);
  CHECK(set.expires->offset() == sim::Duration::milliseconds(105));
  CHECK(set.expires_by_own_clock->offset() == sim::Duration::milliseconds(305));
  const KeyState& gone = outcome.key_states[1];
  CHECK(gone.at.offset() == sim::Duration::milliseconds(35));
  CHECK(gone.key == "lock");
  CHECK(gone.type.empty());
  CHECK_FALSE(gone.expires);
}

TEST_CASE("of every story: looking changes nothing, and what changed is what the history says") {
  std::size_t states = 0;
  for (const std::filesystem::path file : repository_stories()) {
    auto loaded = load(file, catalogue());
    const auto& story = std::get<Scenario>(loaded);
    INFO(file.string());
    const Outcome outcome = outcome_of(story);
    CHECK(outcome.digest == outcome_of(story, false).digest);
    using Place = std::tuple<sim::Step, sim::ProcessId, std::string>;
    std::set<Place> touched, changed;
    for (const sim::Effect& effect : outcome.history.effects) {
      using Kind = sim::Effect::Kind;
      if (effect.kind != Kind::read && effect.kind != Kind::reject)
        touched.insert({effect.step, effect.server, effect.object});
    }
    for (const KeyState& state : outcome.key_states) changed.insert({state.step, state.server, state.key});
    states += changed.size();
    // A full resync or a restart is noted by its losses; what then comes with the other's keys is no command of anybody.
    const bool is_replicated = std::any_of(story.servers.begin(), story.servers.end(), [](const ServerSpec& server) {
      return server.kind->has_disk(server.settings) || server.settings.find("replica_of") != nullptr;
    });
    if (is_replicated) continue;
    for (const auto& [step, server, key] : changed) {
      INFO("step " << step << " server " << server.index << " key " << key);
      CHECK(touched.contains({step, server, key}));
    }
  }
  CHECK(states > 1000);
}

}  // namespace
}  // namespace lockstep::scenarios::key_states_test
