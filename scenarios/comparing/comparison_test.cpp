// What locks cost: the measures against histories counted by hand, and against workloads of which paper knows the figures.

#include "scenarios/comparing/comparison.hpp"

#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::comparison_test {
namespace {

using testing::catalogue;

using namespace sim::literals;
using sim::Duration;
using sim::Effect;
using sim::Instant;
using sim::Operation;
using sim::Phase;

class HandMade {
 public:
  /// Times in milliseconds.
  HandMade& operation(std::uint16_t client, std::string_view function, int from, int to, Phase phase = Phase::ok) {
    Operation operation;
    operation.id = static_cast<sim::OperationId>(history.operations.size() + 1);
    operation.process = sim::ProcessId{client};
    operation.function = function;
    operation.object = "lock";
    operation.invoked = Instant::at(Duration::milliseconds(from));
    operation.completed = Instant::at(Duration::milliseconds(to));
    operation.phase = phase;
    history.operations.push_back(operation);
    return *this;
  }
  /// What a server did for the latest operation.
  HandMade& effect(Effect::Kind kind, sim::Step step) {
    Effect effect;
    effect.kind = kind;
    effect.object = "lock";
    effect.operation = static_cast<sim::OperationId>(history.operations.size());
    effect.step = step;
    history.effects.push_back(effect);
    return *this;
  }
  sim::History history;
};

Scenario workload(std::string_view network_and_clients) {
  const std::string text = R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
algorithm = "set-nx-px-lua"
ttl = "1s"
)" + std::string(network_and_clients);
  auto result = parse(text, "workload.toml", catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  return std::get<Scenario>(std::move(result));
}

std::vector<ComparedRun> compared(const Scenario& scenario, const CompareOptions& options) {
  auto result = compare_costs(scenario, catalogue(), options);
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  return std::get<std::vector<ComparedRun>>(std::move(result));
}

}  // namespace

TEST_CASE("comparison: a history counted by hand") {
  HandMade made;
  // A has it from 2 to 20; B waits from 5 to 31 with three attempts, C from 6 to 25 and goes first.
  made.operation(0, "acquire", 0, 2).effect(Effect::Kind::write, 1);
  made.operation(1, "acquire", 5, 7, Phase::fail).effect(Effect::Kind::read, 2);
  made.operation(2, "acquire", 6, 8, Phase::fail).effect(Effect::Kind::read, 3);
  made.operation(1, "acquire", 15, 17, Phase::fail).effect(Effect::Kind::expire, 4).effect(Effect::Kind::read, 4);
  made.operation(0, "release", 20, 22).effect(Effect::Kind::read, 5).effect(Effect::Kind::remove, 5);
  made.operation(2, "acquire", 23, 25).effect(Effect::Kind::read, 6).effect(Effect::Kind::write, 6);
  made.operation(2, "release", 26, 28).effect(Effect::Kind::remove, 7);
  made.operation(1, "acquire", 29, 31).effect(Effect::Kind::write, 8);
  made.operation(1, "release", 40, 41).effect(Effect::Kind::remove, 9);
  made.operation(0, "acquire", 50, 50, Phase::invoke);
  const LockCost cost = cost_of(made.history, 3);
  CHECK(cost.acquisitions == 3);
  CHECK(cost.attempts_in_vain == 3);
  CHECK(cost.requests_in_vain == 3);
  CHECK(cost.waiting_median == 19_ms);  // of 2, 19, 26
  CHECK(cost.waiting_p99 == 26_ms);
  CHECK(cost.handover_median == 5_ms);  // 20 to 25, 26 to 31; nobody waited at 40
  CHECK(cost.most_overtaken == 1);      // B by C
  CHECK(cost.fairness == 1000);
}

TEST_CASE("comparison: unequal shares, and a client that never gets it") {
  HandMade made;
  for (int i = 0; i < 4; ++i)
    made.operation(0, "acquire", 10 * i + 1, 10 * i + 2).operation(0, "release", 10 * i + 3, 10 * i + 4);
  made.operation(1, "acquire", 0, 50, Phase::fail);
  const LockCost cost = cost_of(made.history, 2);
  CHECK(cost.fairness == 500);
  CHECK(cost.most_overtaken == 4);
  CHECK(cost_of(sim::History(), 2).waiting_median == std::nullopt);
}

TEST_CASE("comparison: one client alone costs what paper says") {
  const Scenario scenario = workload(R"(
[network]
latency = "2ms"
[[client]]
name = "A"
hold = "10ms"
between = "6ms"
)");
  const std::vector<ComparedRun> runs = compared(scenario, {.length = 1_s});
  REQUIRE(runs.size() == 1);
  // SET there and back, work, EVAL there and back, and the pause: 4 + 10 + 4 + 6 = 24ms; the 42nd round begins at 984ms.
  CHECK(runs[0].cost.acquisitions == 42);
  CHECK(runs[0].messages == 41 * 4 + 3);
  CHECK(runs[0].cost.requests_in_vain == 0);
  CHECK(runs[0].cost.waiting_median == 4_ms);
  CHECK(runs[0].cost.handover_median == std::nullopt);
  CHECK(runs[0].recovery == std::nullopt);
}

TEST_CASE("comparison: a crashed holder is waited for as long as its lease, or for ever") {
  const Scenario scenario = workload(R"(
[network]
latency = "1ms"
[[client]]
name = ["A", "B"]
hold = "10ms"
between = "6ms"
retry = "10ms"
)");
  const std::vector<ComparedRun> runs =
      compared(scenario, {.algorithms = {"set-nx-px-lua", "setnx-del"}, .clients = {2, 5}, .length = 5_s});
  REQUIRE(runs.size() == 4);
  for (const ComparedRun& run : runs) {
    INFO(run.algorithm << " " << run.clients);
    if (run.algorithm == "setnx-del") {
      CHECK(run.recovery == std::nullopt);
    } else {
      REQUIRE(run.recovery);
      // It ends a second after the SET; then at most one poll (10ms and a round trip) and the answer.
      CHECK((*run.recovery >= 999_ms && *run.recovery <= 1013_ms));
    }
    CHECK(run.cost.acquisitions > 100);
    CHECK(run.cost.requests_in_vain > 0);
  }
  CHECK(runs[0].clients == 2);
  CHECK(runs[3].clients == 5);
}

TEST_CASE("comparison: the more contend, the more requests each grant costs, polled or woken") {
  const Scenario scenario = workload(R"(
[network]
latency = "1ms"
[[client]]
name = ["A", "B", "C"]
hold = "10ms"
)");
  const CompareOptions options{.algorithms = {"redisson-spin", "redisson-hash-owner", "redisson-lock"},
                               .clients = {1, 2, 4, 8, 16, 32, 64},
                               .length = 3_s,
                               .seed = 1,
                               .jobs = 2,
                               .interrupted = {}};
  std::map<std::string, double> least;
  for (const ComparedRun& run : compared(scenario, options)) {
    INFO(run.algorithm << " with " << run.clients);
    REQUIRE(run.cost.acquisitions > 0);
    const double vain = static_cast<double>(run.cost.requests_in_vain) / static_cast<double>(run.cost.acquisitions);
    if (run.clients == 1) CHECK(run.cost.requests_in_vain == 0);
    if (run.clients > 1) CHECK(vain > least[run.algorithm]);
    least[run.algorithm] = vain;
  }
}

TEST_CASE("comparison: any number of threads gives the same, another seed does not") {
  const Scenario scenario = workload(R"(
[network]
latency = ["1ms", "9ms"]
[[client]]
name = ["A", "B", "C"]
hold = "10ms"
retry = ["1ms", "20ms"]
)");
  const auto sum = [&](unsigned jobs, std::uint64_t seed) {
    std::uint64_t messages = 0;
    const CompareOptions options{.algorithms = {"set-nx-px-lua", "redlock-par", "getset-java"},
                                 .clients = {2, 9},
                                 .length = 3_s,
                                 .seed = seed,
                                 .jobs = jobs,
                                 .interrupted = {}};
    for (const ComparedRun& run : compared(scenario, options)) messages = messages * 31 + run.messages;
    return messages;
  };
  CHECK(sum(1, 1) == sum(3, 1));
  CHECK(sum(1, 1) != sum(1, 2));
}

}  // namespace lockstep::scenarios::comparison_test
