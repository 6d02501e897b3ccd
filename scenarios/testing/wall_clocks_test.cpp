// What a kind of server says of its wall clock is so: where nothing depends on it, a run is the same whatever it shows.

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <variant>

#include "models/servers/server_kind.hpp"
#include "scenarios/fuzzing/fuzzed_world.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::wall_clocks_test {
namespace {

using testing::catalogue;

/// All that its clients did and were told, and when.
std::string told(const Scenario& story, std::uint64_t seed) {
  const auto result = run(story, catalogue(), {.seed = seed, .max_events = 20'000});
  if (const auto* problem = std::get_if<Diagnostic>(&result)) return problem->message;
  std::string text;
  for (const sim::Operation& operation : std::get<Outcome>(result).history.operations) {
    text += std::to_string(operation.process.index) + " " + std::string(operation.function) + " " +
            std::to_string(operation.invoked.offset().count_ns()) + " " +
            std::to_string(static_cast<int>(operation.phase)) + " " +
            std::to_string(operation.completed.offset().count_ns()) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("wall clocks: they matter at no kind of server that says that it does not read them") {
  std::map<std::string, bool> matters;
  for (const models::locks::Entry& entry : catalogue().entries()) {
    const models::ServerKind& kind = models::locks::server_kind_of(entry);
    bool& does_matter = matters[std::string(kind.name())];
    for (std::uint64_t seed = 0; seed < sim::cases<std::uint64_t>(60, 6); ++seed) {
      // The same events in both, so that chance says the same.
      const auto moved = [&](sim::Duration off, sim::Duration by) {
        Scenario world = generated_world(entry, seed);
        world.may.clear();
        for (ServerSpec& server : world.servers) {
          server.clock.offset = off;
          FaultSpec& jump = world.faults.emplace_back();
          jump.kind = FaultSpec::Kind::jump;
          jump.who = server.name;
          jump.trigger.kind = Trigger::Kind::at;
          jump.trigger.time = sim::Duration::milliseconds(static_cast<std::int64_t>(seed) * 3 + 5);
          jump.by = sim::DurationRange::exactly(by);
        }
        return told(world, seed);
      };
      const sim::Duration minute = sim::Duration::seconds(seed % 2 == 0 ? 60 : -60);
      const bool is_same = moved({}, sim::Duration::nanoseconds(1)) == moved(minute / 20, minute);
      INFO(entry.id << ", seed " << seed);
      if (!kind.reads_wall_clock()) CHECK(is_same);
      does_matter = does_matter || !is_same;
    }
  }
  CHECK(matters.at("redis"));  // or nothing could be seen here
}

}  // namespace lockstep::scenarios::wall_clocks_test
