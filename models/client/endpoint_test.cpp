#include "models/client/endpoint.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

#include "models/client/client.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::endpoint_test {
namespace {

using namespace sim::literals;

class Noting final : public Endpoint {
 public:
  explicit Noting(Client&) {}
  void started() override { lives += "started "; }
  void forget() override { lives += "forgotten "; }
  std::string lives;
};

}  // namespace

TEST_CASE("an endpoint hears of each life of its client before the program does, and of its end") {
  sim::DefaultDecisions decisions;
  sim::World world(decisions);
  sim::Simulation simulation(world);
  Client client([](Client& self) -> sim::Task<void> {
    self.to<Noting>().lives += "program ";
    co_await self.sleep(10_ms);
  });
  const sim::ProcessId id = world.add(client, "A", {});
  client.connect<Noting>();
  sim::PlannedFault crash;
  crash.kind = sim::FaultKind::crash;
  crash.process = id;
  crash.at = 5_ms;
  crash.restart_after = sim::DurationRange::exactly(1_ms);
  world.plan(std::move(crash));
  world.start(id, sim::DurationRange::exactly(0_ms));
  world.arm_faults();
  simulation.run(sim::Instant::at(1_s), 1'000);
  CHECK(client.to<Noting>().lives == "started program forgotten started program ");
}

}  // namespace lockstep::models::endpoint_test
