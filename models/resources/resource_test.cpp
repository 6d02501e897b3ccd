#include <catch2/catch.hpp>

#include "models/client/client.hpp"
#include "models/resources/resource.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::resources::resource_test {
namespace {

using namespace sim::literals;
using Kind = sim::Effect::Kind;

struct Written {
  std::int64_t value;
  std::optional<std::int64_t> token;
};

/// Writes one after the other; gives what the resource holds in the end, and what it did.
std::pair<std::int64_t, std::vector<Kind>> after(bool fenced, const std::vector<Written>& writes) {
  sim::DefaultDecisions decisions;
  sim::World world(decisions);
  sim::Simulation simulation(world);
  Resource resource("resource", fenced);
  sim::ConnectionId connection;
  const auto program = [&](Client& client) -> sim::Task<void> {
    for (const Written& written : writes)
      co_await write(client, connection, 0, written.value, written.token, std::nullopt);
  };
  Client client([&](Client& c) { return program(c); });
  const sim::ProcessId a = world.add(client, "A", {});
  connection = world.connect(a, world.add(resource, "resource", {}), sim::DurationRange::exactly(1_ms));
  world.start(a, {});
  REQUIRE(simulation.run(sim::Instant::at(1_s), 1000) == sim::Simulation::End::quiet);
  std::vector<Kind> did;
  for (const sim::Effect& effect : world.history().effects) did.push_back(effect.kind);
  return {resource.value(), did};
}

}  // namespace

TEST_CASE("a fenced resource refuses a token that goes back, and takes one that it has seen") {
  CHECK(after(true, {{1, 1}, {2, 2}, {3, 1}}) ==
        std::pair{std::int64_t{2}, std::vector{Kind::write, Kind::write, Kind::reject}});
  CHECK(after(true, {{1, 2}, {2, 2}}).first == 2);
}

TEST_CASE("an unfenced resource takes whatever comes last") {
  CHECK(after(false, {{1, 1}, {2, 2}, {3, 1}}).first == 3);
}

TEST_CASE("a write without a token cannot be judged, and passes") {
  CHECK(after(true, {{1, 5}, {2, std::nullopt}, {3, 4}}).first == 2);
}

}  // namespace lockstep::models::resources::resource_test
