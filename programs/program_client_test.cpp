#include "programs/program_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "checker/properties/belief/mutual_exclusion.hpp"
#include "models/locks/catalogue.hpp"
#include "programs/belief.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/format/loader.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::programs {
namespace program_client_test {

using sim::Duration;

constexpr std::string_view kStory = R"(
title = { en = "One Redis" }
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = "1ms"
[[client]]
name = "nobody"
)";

/// What befalls the programs of a world: by their number.
struct Fault {
  sim::FaultKind kind = sim::FaultKind::pause;
  std::size_t who = 0;
  Duration at;
  Duration length;
  std::optional<sim::DurationRange> restart_after = std::nullopt;
};

struct Result {
  sim::History history;
  std::uint64_t digest = 0;
  bool both_hold = false;
  std::vector<std::optional<int>> statuses;
};

Result run(const std::vector<std::string>& command, const std::vector<Fault>& faults) {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  const auto loaded = scenarios::parse(kStory, "story.toml", catalogue);
  const auto& story = std::get<scenarios::Scenario>(loaded);
  std::vector<std::unique_ptr<ProgramClient>> programs;
  sim::DefaultDecisions decisions;
  scenarios::Deployment deployment(story, catalogue, decisions);
  sim::World& world = deployment.world();
  for (const char* name : {"A", "B"}) {
    tracer::Command own{command, {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8"}, ""};
    own.arguments.push_back(name);
    programs.push_back(std::make_unique<ProgramClient>(own, 1 + programs.size()));
    const sim::ProcessId id = world.add(*programs.back(), name, {});
    programs.back()->connect_to(deployment.servers().ids()[0], sim::DurationRange::exactly(Duration::milliseconds(1)));
    for (const Fault& fault : faults) {
      if (fault.who != programs.size() - 1) continue;
      world.plan(sim::PlannedFault{.kind = fault.kind,
                                   .process = id,
                                   .length = fault.length,
                                   .restart_after = fault.restart_after,
                                   .at = fault.at});
    }
  }
  world.arm_faults();
  deployment.begin_servers();
  for (const auto& program : programs) world.start(program->id(), {});
  deployment.simulation().run(sim::Instant() + Duration::seconds(20), 100'000);
  Result result;
  for (const auto& program : programs) {
    INFO(program->output());
    CHECK(program->trouble().value_or("").empty());
    if (::geteuid() == 0) CHECK(program->escapes().empty());
    result.statuses.push_back(program->status());
  }
  result.history = world.history();
  result.digest = world.digest();
  result.both_hold = checker::mutual_exclusion(world.history(), deployment.names()).verdict != checker::Verdict::holds;
  return result;
}

std::size_t acquired(const Result& result) {
  return static_cast<std::size_t>(std::count_if(result.history.operations.begin(), result.history.operations.end(),
                                                [](const auto& each) { return each.function == "acquire"; }));
}

bool has_redis_py() {
  if (std::system("/usr/bin/python3 -c 'import redis' 2>/dev/null") == 0) return true;
  std::cout << "SKIPPED: there is no python3-redis on this machine\n";
  return false;
}

const std::vector<std::string>& redis_py() {
  static const std::vector<std::string> command{"/usr/bin/python3", in_tree("programs/samples/redis_py.py")};
  return command;
}

TEST_CASE("lines of belief") {
  using Kind = BeliefLine::Kind;
  CHECK(read_belief("lockstep: acquired stock token=7") == BeliefLine{Kind::acquired, "stock", 7});
  CHECK(read_belief("lockstep: releasing stock") == BeliefLine{Kind::releasing, "stock", std::nullopt});
  CHECK(read_belief("lockstep: lost stock") == BeliefLine{Kind::lost, "stock", std::nullopt});
  CHECK(read_belief("lockstep: acquired stock token=x") == BeliefLine{Kind::acquired, "stock", std::nullopt});
  CHECK(!read_belief("lockstep: greets stock"));
  CHECK(!read_belief("acquired stock"));
}

TEST_CASE("redis-py: two clients take turns, the same way each time") {
  if (!has_redis_py()) return;
  if (::geteuid() != 0) {
    // Its tokens are of uuid1, which shows the number of the process.
    std::cout << "SKIPPED: numbers of processes are the same each time for root alone\n";
    return;
  }
  const Result first = run(redis_py(), {});
  CHECK(acquired(first) == 6);
  CHECK(!first.both_hold);
  CHECK(first.statuses == std::vector<std::optional<int>>{0, 0});
  for (int i = 1; i < sim::cases(20, 3); ++i) REQUIRE(run(redis_py(), {}).digest == first.digest);
}

TEST_CASE("redis-py: a client that is killed while it holds leaves the lock to the other, and comes back") {
  if (!has_redis_py()) return;
  const auto back = sim::DurationRange::exactly(Duration::milliseconds(500));
  const Result killed = run(redis_py(), {{sim::FaultKind::crash, 0, Duration::milliseconds(12), {}, std::nullopt}});
  CHECK(acquired(killed) == 4);
  CHECK(!killed.statuses[0]);
  const Result revived = run(redis_py(), {{sim::FaultKind::crash, 0, Duration::milliseconds(12), {}, back}});
  CHECK(acquired(revived) == 7);
  CHECK(revived.statuses[0] == 0);
}

/// On paper: ttl 100 ms from the arrival of SET; its holder is paused from 10 ms on, and believes until it begins to
/// give the lock back. Until it had given it back were 6 ms less: EVALSHA, SCRIPT LOAD, EVALSHA.
TEST_CASE("redis-py: the shortest pause after which both hold is 122.0 ms") {
  if (!has_redis_py()) return;
  const auto breaks = [](Duration length) {
    bool both = false;
    for (const std::size_t who : {0, 1}) {
      both = both || run(redis_py(), {{sim::FaultKind::pause, who, Duration::milliseconds(10), length}}).both_hold;
    }
    return both;
  };
  CHECK(!breaks(Duration::microseconds(121'800)));
  CHECK(breaks(Duration::microseconds(122'200)));
}

}  // namespace program_client_test
}  // namespace lockstep::programs
