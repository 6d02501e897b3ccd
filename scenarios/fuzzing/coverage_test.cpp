// What counts as new: other orders and other outcomes do, other names, times and numbers of steps do not.

#include "scenarios/fuzzing/coverage.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace lockstep::scenarios::coverage_test {
namespace {

using sim::Duration;
using sim::Effect;
using sim::Instant;
using sim::Operation;
using sim::ProcessId;

struct Told {
  sim::History history;
  std::uint32_t offset = 0;  ///< of processes
  Duration time;
  sim::Step step = 0;

  ProcessId process(std::uint32_t number) const { return ProcessId{static_cast<std::uint16_t>(number + offset)}; }
  void effect(Effect::Kind kind, std::uint32_t by) {
    time += Duration::milliseconds(1);
    history.effects.push_back({.kind = kind,
                               .server = ProcessId{0},
                               .object = "lock",
                               .by = process(by),
                               .token = std::nullopt,
                               .at = Instant::at(time),
                               .step = ++step});
  }
  void acquire(std::uint32_t by, sim::Phase phase) {
    Operation& operation = history.operations.emplace_back();
    operation.id = static_cast<sim::OperationId>(history.operations.size());
    operation.process = process(by);
    operation.function = "acquire";
    operation.invoked_in = ++step;
    operation.phase = phase;
    operation.completed_in = ++step;
  }
};

std::vector<Feature> features(const Told& told, std::uint64_t salt = 0) {
  std::vector<Feature> found;
  features_of(told.history, salt, Coverage(), found);
  return found;
}

Told usual(std::uint32_t offset, Duration time) {
  Told told{.history = {}, .offset = offset, .time = time};
  told.acquire(1, sim::Phase::ok);
  told.effect(Effect::Kind::write, 1);
  told.effect(Effect::Kind::remove, 1);
  told.acquire(2, sim::Phase::ok);
  told.effect(Effect::Kind::write, 2);
  return told;
}

}  // namespace

TEST_CASE("features: who it was and when makes no difference") {
  const auto found = features(usual(0, Duration::zero()));
  CHECK_FALSE(found.empty());
  CHECK(std::is_sorted(found.begin(), found.end()));
  CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
  CHECK(found == features(usual(7, Duration::seconds(3))));
  CHECK(found != features(usual(0, Duration::zero()), 1));
}

TEST_CASE("features: another order at a server, another outcome, another's removal are new") {
  const auto found = features(usual(0, Duration::zero()));
  const auto has_more = [&](const Told& told) {
    const auto others = features(told);
    return !std::includes(found.begin(), found.end(), others.begin(), others.end());
  };
  CHECK_FALSE(has_more(usual(3, Duration::zero())));
  Told stolen = usual(0, Duration::zero());
  stolen.effect(Effect::Kind::remove, 1);
  CHECK(has_more(stolen));
  Told failed = usual(0, Duration::zero());
  failed.acquire(3, sim::Phase::fail);
  CHECK(has_more(failed));
  Told paused = usual(0, Duration::zero());
  paused.history.interruptions.push_back(
      {.process = paused.process(1), .from = Instant::origin(), .step = 1, .until = std::nullopt});
  CHECK(has_more(paused));
}

TEST_CASE("coverage: what is known is left out") {
  const Told told = usual(0, Duration::zero());
  const auto all = features(told);
  REQUIRE(all.size() > 2);
  Coverage known;
  known.add(all[1]);
  std::vector<Feature> others;
  features_of(told.history, 0, known, others);
  std::vector<Feature> expected = all;
  expected.erase(expected.begin() + 1);
  CHECK(others == expected);
}

TEST_CASE("coverage: a feature is new once") {
  Coverage coverage;
  CHECK(coverage.add(5));
  CHECK_FALSE(coverage.add(5));
  CHECK(coverage.add(Coverage::size - 1));
  CHECK(coverage.has(5));
  CHECK_FALSE(coverage.has(6));
  CHECK(coverage.count() == 2);
}

}  // namespace lockstep::scenarios::coverage_test
