// Which trace is the better witness: by hand, and for all orders of independent events alike.

#include "checker/explorer/witness_size.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/schedules/random.hpp"

namespace lockstep::checker::witness_size_test {
namespace {

constexpr std::uint32_t kNone = ExploredEvent::no_cause;

ExploredEvent event(std::uint16_t process, std::uint32_t cause = kNone, std::uint64_t id = 0) {
  ExploredEvent e;
  e.id = sim::EventId{id};
  e.process = sim::ProcessId{process};
  e.cause = cause;
  return e;
}

WitnessSize size_of(const std::vector<ExploredEvent>& events, const std::vector<ExploredFault>& faults = {}) {
  return witness_size(events, faults);
}

}  // namespace

TEST_CASE("witness size: a change of process that causes demand counts, and the order of execution does not") {
  CHECK(size_of({}).switches == 0);
  CHECK(size_of({event(0), event(0)}).switches == 0);
  // A asks S, and is answered: there and back.
  const std::vector<ExploredEvent> call{event(0), event(1, 0), event(0, 1)};
  CHECK(size_of(call).switches == 2);
  // Two calls, one inside the other as they were executed; each by itself would do.
  const std::vector<ExploredEvent> mixed{event(0), event(2), event(1, 0), event(3, 1), event(0, 2), event(2, 3)};
  CHECK(size_of(mixed).switches == 5);
  // Two processes that need nothing of each other: once from one to the other, whatever the order was.
  CHECK(size_of({event(0), event(1), event(0), event(1), event(0)}).switches == 1);
}

TEST_CASE("witness size: faults weigh more than events, these more than changes of process") {
  ExploredFault pause;
  pause.event = 0;
  const WitnessSize short_and_faulty = size_of({event(0)}, {pause});
  const WitnessSize long_and_calm = size_of({event(0), event(1, 0), event(0, 1), event(1, 2)});
  CHECK(long_and_calm < short_and_faulty);
  const WitnessSize straight = size_of({event(0), event(0), event(0)});
  const WitnessSize restless = size_of({event(0), event(1, 0), event(0, 1)});
  CHECK(straight < restless);
  CHECK(restless < long_and_calm);
}

TEST_CASE("witness size: equally large traces are told apart by what happens in them, and by their faults") {
  const WitnessSize one = size_of({event(0, kNone, 7), event(1, kNone, 8)});
  const WitnessSize same = size_of({event(1, kNone, 8), event(0, kNone, 7)});
  const WitnessSize other = size_of({event(0, kNone, 7), event(1, kNone, 9)});
  CHECK(one == same);
  CHECK(one != other);
  ExploredFault before;
  before.place = ExploredFault::Place::before;
  before.event = 1;
  ExploredFault after = before;
  after.place = ExploredFault::Place::after;
  const std::vector<ExploredEvent> events{event(0, kNone, 7), event(0, kNone, 8)};
  CHECK(size_of(events, {before}) != size_of(events, {after}));
}

TEST_CASE("witness size: every execution order of one trace has the same size") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    sim::Random random(sim::combine64(0x73697a65, seed));
    std::vector<ExploredEvent> events;
    for (std::uint64_t n = 2 + random.below(10); n > 0; --n) {
      const auto position = static_cast<std::uint32_t>(events.size());
      const std::uint32_t cause =
          position == 0 || random.one_in(4) ? kNone : static_cast<std::uint32_t>(random.below(position));
      events.push_back(event(static_cast<std::uint16_t>(random.below(3)), cause, 100 + position));
    }
    const WitnessSize expected = size_of(events);
    // Neighbours of different processes of which the one does not cause the other may change places.
    for (int swaps = 0; swaps < 20; ++swaps) {
      const auto i = static_cast<std::uint32_t>(random.below(events.size() - 1));
      if (events[i].process == events[i + 1].process || events[i + 1].cause == i) continue;
      std::swap(events[i], events[i + 1]);
      for (ExploredEvent& e : events) {
        if (e.cause == i || e.cause == i + 1) e.cause = e.cause == i ? i + 1 : i;
      }
    }
    INFO("seed " << seed);
    REQUIRE(size_of(events) == expected);
  }
}

}  // namespace lockstep::checker::witness_size_test
