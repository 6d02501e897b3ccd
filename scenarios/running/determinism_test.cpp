// The same file and seed give the same run: again, replayed from its decisions, and (with `world_digests` and `.ci/run`)
// on other builds.

#include <catch2/catch.hpp>

#include "scenarios/exploring/oracles/random_scenario.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::determinism_test {
namespace {

struct Result {
  std::uint64_t digest = 0;
  std::uint64_t events = 0;
  std::string trouble;
  bool operator==(const Result&) const = default;
};

Result result_of(const Scenario& scenario, const models::locks::Catalogue& catalogue, const RunOptions& options) {
  const auto result = run(scenario, catalogue, options);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) return {.trouble = problem->message};
  const auto& outcome = std::get<Outcome>(result);
  return {.digest = outcome.digest, .events = outcome.events, .trouble = ""};
}

}  // namespace

// Builds without optimisation or with sanitizers would take minutes: there a tenth will do, and `world_digests` compares
// the builds.
const std::uint64_t kWorlds = sim::cases<std::uint64_t>(10'000, 500);

TEST_CASE("10,000 random worlds replay from their recorded decisions to the same digest") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  std::size_t different = 0;
  std::uint64_t all = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const Scenario scenario = random_scenario(seed, catalogue);
    sim::RandomDecisions random(seed);
    sim::RecordingDecisions recording(random);
    const Result original = result_of(scenario, catalogue, {.decisions = &recording});
    sim::RecordedDecisions recorded(recording.record());
    const Result replayed = result_of(scenario, catalogue, {.decisions = &recorded});
    if (original != replayed || recorded.diverged() || !recorded.is_used_up()) ++different;
    all = sim::combine64(all, original.digest);
  }
  CHECK(different == 0);
  CHECK(all != 0);
}

TEST_CASE("a replay that is not of this world is found out at its first decision that differs") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  std::size_t tried = 0;
  std::size_t noticed = 0;
  for (std::uint64_t seed = 0; seed < sim::cases(500U, 100U); ++seed) {
    const Scenario scenario = random_scenario(seed, catalogue);
    sim::RandomDecisions random(seed);
    sim::RecordingDecisions recording(random);
    result_of(scenario, catalogue, {.decisions = &recording});
    if (recording.record().size() < 4) continue;
    ++tried;

    // A record whose n-th question was another event's.
    const std::size_t n = recording.record().size() / 2;
    std::vector<sim::Decision> forged = recording.record();
    forged[n].event.value ^= 1;
    sim::RecordedDecisions recorded(forged);
    result_of(scenario, catalogue, {.decisions = &recorded});
    INFO("seed " << seed << ": " << recorded.divergence());
    CHECK(recorded.divergence().starts_with("decision " + std::to_string(n) + ":"));

    // The same questions, another world: everything happens, but not as it did.
    Scenario other = scenario;
    for (ClientSpec& client : other.clients) {
      client.acquire_at.lo += sim::Duration::milliseconds(1);
      client.acquire_at.hi += sim::Duration::milliseconds(1);
    }
    sim::RecordedDecisions elsewhere(recording.record());
    const Result moved = result_of(other, catalogue, {.decisions = &elsewhere});
    if (moved.digest != result_of(scenario, catalogue, {.seed = seed}).digest) ++noticed;
  }
  CHECK(tried > sim::cases(400U, 80U));
  // A client that is frozen when it should start starts at the end of its pause, whenever that was to be.
  CHECK(noticed > tried * 95 / 100);
}

TEST_CASE("a seed gives the same run twice, and another seed mostly another run") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  std::size_t moved = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Scenario scenario = random_scenario(seed, catalogue);
    const Result first = result_of(scenario, catalogue, {.seed = seed});
    CHECK(first == result_of(scenario, catalogue, {.seed = seed}));
    if (result_of(scenario, catalogue, {.seed = seed + 1}).digest != first.digest) ++moved;
  }
  CHECK(moved > 150);
}

TEST_CASE("looking at a run does not change it") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Scenario scenario = random_scenario(seed, catalogue);
    CHECK(result_of(scenario, catalogue, {.seed = seed}) ==
          result_of(scenario, catalogue, {.seed = seed, .trace = true}));
  }
}

}  // namespace lockstep::scenarios::determinism_test
