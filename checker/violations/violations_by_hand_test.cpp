// Traces of a few moments, made by hand: for which delays each property breaks, to the nanosecond at both sides of the limit.

#include <catch2/catch.hpp>

#include <algorithm>

#include "checker/testing/forged_history.hpp"
#include "checker/violations/violations.hpp"

namespace lockstep::checker::violations_by_hand_test {
namespace {

using namespace sim::literals;

/// A history with moments that are not known: variables, each within a range after another.
struct Trace : ForgedHistory {
  DifferenceConstraints constraints;
  std::vector<ExploredFault> faults;

  sim::Instant moment(Duration lo, Duration hi, sim::Instant after = {}) {
    return {constraints.add_variable(static_cast<Variable>(after.anchor()), {after.offset() + lo, after.offset() + hi}),
            0_ms};
  }
  /// Acquires that end ok at a moment; and a release that is invoked at one.
  sim::OperationId holds(sim::ProcessId who, sim::Instant from, const std::string& object = "lock") {
    const sim::OperationId id = operation(who, "acquire", 0_ms, 0_ms, Phase::ok, 0, object);
    of(id).completed = from;
    return id;
  }
  void releases(sim::ProcessId who, sim::OperationId hold, sim::Instant at) {
    of(operation(who, "release", 0_ms, 0_ms, Phase::ok, hold, of(hold).object)).invoked = at;
  }
  void paused(sim::ProcessId who, sim::Instant from, sim::Instant until) {
    ExploredFault& pause = faults.emplace_back();
    pause.process = who;
    pause.place = ExploredFault::Place::after;
    pause.from = from;
    pause.until = until;
  }
  std::int64_t places = 0;  ///< of a semaphore, if it is one

  bool breaks(std::string_view property, std::optional<Duration> lasting = {}) {
    ViolationFinder finder;
    if (places > 0) finder.ask({.places = places, .overtakings = {}, .lock = "lock"});
    const std::vector<sim::ProcessId> resources{resource};
    const auto ways = finder.find(history(), faults, resources, nullptr, lasting);
    const Violable found = violable(property, ways, constraints);
    CHECK_FALSE(found.perhaps);  // nothing here is widened
    return found.for_certain;
  }
};

const Duration kGrain = Duration::nanoseconds(1);

}  // namespace

TEST_CASE("by hand: two holds overlap if the one can end after the other begins, and not at the same moment") {
  for (const auto& [latest_end, breaks] : {std::pair(20_ms, false), std::pair(20_ms + kGrain, true)}) {
    Trace trace;
    const auto a = trace.holds(A, trace.moment(1_ms, 5_ms));
    trace.releases(A, a, trace.moment(10_ms, latest_end));
    trace.holds(B, trace.moment(20_ms, 30_ms));
    CHECK(trace.breaks("mutual-exclusion") == breaks);
    CHECK(trace.breaks("linearizable") == breaks);
  }
}

TEST_CASE("by hand: a hold is over at its deadline, unless a pause keeps its process from looking") {
  for (const auto& [pause, breaks] :
       {std::pair(0_ms, false), std::pair(10_ms, false), std::pair(10_ms + kGrain, true)}) {
    Trace trace;
    const auto a = trace.holds(A, trace.moment(0_ms, 2_ms));
    trace.of(a).valid_until = sim::Instant::at(20_ms);
    if (pause > 0_ms) {
      const sim::Instant from = trace.moment(5_ms, 20_ms);
      trace.paused(A, from, trace.moment(0_ms, pause, from));
    }
    trace.holds(B, trace.moment(30_ms, 40_ms));
    CHECK(trace.breaks("mutual-exclusion") == breaks);
  }
  // A pause that begins after the deadline comes too late to hide it.
  Trace late;
  const auto a = late.holds(A, late.moment(0_ms, 2_ms));
  late.of(a).valid_until = sim::Instant::at(20_ms);
  const sim::Instant from = late.moment(20_ms + kGrain, 25_ms);
  late.paused(A, from, late.moment(0_ms, 1'000_ms, from));
  late.holds(B, late.moment(30_ms, 40_ms));
  CHECK_FALSE(late.breaks("mutual-exclusion"));
}

TEST_CASE("by hand: a mutex whose client notices its deadline has been given back then, to the nanosecond") {
  // A has it until 20ms by its clock, and asks to unlock at 50ms.
  for (const auto unlocks : {Phase::ok, Phase::fail, Phase::info}) {
    for (const auto& [earliest, breaks] : {std::pair(20_ms - kGrain, true), std::pair(20_ms, false)}) {
      Trace trace;
      const auto a = trace.holds(A, trace.moment(0_ms, 2_ms));
      trace.of(a).valid_until = sim::Instant::at(20_ms);
      trace.of(trace.operation(A, "release", 50_ms, 60_ms, unlocks, a)).invoked = trace.moment(50_ms, 55_ms);
      trace.holds(B, trace.moment(earliest, 40_ms));
      CHECK(trace.breaks("linearizable") == breaks);
      CHECK(trace.breaks("mutual-exclusion") == breaks);
    }
  }
  // A pause hides it until 30ms + kGrain at the latest.
  for (const auto& [earliest, breaks] : {std::pair(30_ms, true), std::pair(30_ms + kGrain, false)}) {
    Trace trace;
    const auto a = trace.holds(A, trace.moment(0_ms, 2_ms));
    trace.of(a).valid_until = sim::Instant::at(20_ms);
    const sim::Instant from = trace.moment(5_ms, 20_ms);
    trace.paused(A, from, trace.moment(0_ms, 10_ms + kGrain, from));
    trace.holds(B, trace.moment(earliest, 40_ms));
    CHECK(trace.breaks("linearizable") == breaks);
  }
}

TEST_CASE("by hand: three holds of two places have a moment in common, and none at which one ends and one begins") {
  for (const auto& [latest_end, breaks] : {std::pair(20_ms, false), std::pair(20_ms + kGrain, true)}) {
    Trace trace;
    trace.places = 2;
    // A until 20ms, B for ever, C from 20ms on; D tries in vain, and a failed try says nothing.
    const auto a = trace.holds(A, trace.moment(1_ms, 5_ms));
    trace.releases(A, a, trace.moment(10_ms, latest_end));
    trace.holds(B, trace.moment(12_ms, 14_ms));
    trace.operation(A, "acquire", 22_ms, 23_ms, Phase::fail);
    CHECK_FALSE(trace.breaks("linearizable"));
    trace.holds(C, trace.moment(20_ms, 30_ms));  // from its return on: it asked at 0ms
    CHECK(trace.breaks("linearizable") == breaks);
    CHECK(trace.breaks("capacity") == breaks);
    trace.places = 3;
    CHECK_FALSE(trace.breaks("linearizable"));
  }
}

TEST_CASE("by hand: two places of one process count as two, and its releases end its first hold first") {
  // A's first release fails. It takes a second place at 10ms to 20ms, and gives back at 30ms to latest; B gets one at
  // 40ms at the earliest, and A keeps one for ever.
  for (const auto& [latest, breaks] : {std::pair(40_ms, false), std::pair(40_ms + kGrain, true)}) {
    Trace trace;
    trace.places = 2;
    const auto first = trace.holds(A, trace.moment(1_ms, 5_ms));
    trace.operation(A, "release", 6_ms, 7_ms, Phase::fail, first);
    const auto second = trace.holds(A, trace.moment(10_ms, 20_ms));
    trace.releases(A, second, trace.moment(30_ms, latest));
    trace.holds(B, trace.moment(40_ms, 50_ms));
    CHECK(trace.breaks("linearizable") == breaks);
    CHECK_FALSE(trace.breaks("capacity"));  // its processes are two
    trace.places = 1;
    CHECK(trace.breaks("linearizable"));  // A's own two are too many
  }
  // A gives back when it gets the second one: one place is enough.
  Trace touching;
  touching.places = 1;
  const auto first = touching.holds(A, touching.moment(1_ms, 5_ms));
  touching.operation(A, "release", 6_ms, 7_ms, Phase::fail, first);
  const sim::Instant again = touching.moment(10_ms, 20_ms);
  touching.releases(A, touching.holds(A, again), again);
  CHECK_FALSE(touching.breaks("linearizable"));
}

TEST_CASE("by hand: a crash gives a place back at some time, and a deadline when it is noticed") {
  for (const auto& [earliest, breaks] : {std::pair(20_ms - kGrain, true), std::pair(20_ms, false)}) {
    for (const bool crashes : {false, true}) {
      Trace trace;
      trace.places = 2;
      const auto a = trace.holds(A, trace.moment(0_ms, 2_ms));
      trace.holds(B, trace.moment(0_ms, 2_ms));
      if (crashes) {
        trace.crash(A, 20_ms);
      } else {
        trace.of(a).valid_until = sim::Instant::at(20_ms);
        trace.operation(A, "release", 50_ms, 60_ms, Phase::ok, a);
      }
      trace.holds(C, trace.moment(earliest, 40_ms));
      CHECK(trace.breaks("linearizable") == breaks);
    }
  }
}

TEST_CASE("by hand: one who takes the mutex again had given it back by its deadline, or has not") {
  for (const auto& [earliest, breaks] : {std::pair(20_ms - kGrain, true), std::pair(20_ms, false)}) {
    Trace trace;
    const auto a = trace.holds(A, trace.moment(0_ms, 2_ms));
    trace.of(a).valid_until = sim::Instant::at(20_ms);
    trace.operation(A, "release", 5_ms, 6_ms, Phase::fail, a);
    const auto again = trace.holds(A, trace.moment(earliest, 40_ms));
    trace.releases(A, again, trace.moment(50_ms, 60_ms));
    ViolationFinder finder;
    CHECK(violable("linearizable", finder.find(trace.history(), {}, {}), trace.constraints).for_certain == breaks);
  }
}

TEST_CASE("by hand: a hold of another lock is no overlap") {
  Trace trace;
  trace.holds(A, trace.moment(0_ms, 2_ms), "x");
  trace.holds(B, trace.moment(0_ms, 2_ms), "y");
  CHECK_FALSE(trace.breaks("mutual-exclusion"));
  trace.holds(B, trace.moment(3_ms, 4_ms), "x");
  CHECK(trace.breaks("mutual-exclusion"));
}

TEST_CASE("by hand: whose release removes whose grant is a question of the server's order alone") {
  for (const bool expires_before : {false, true}) {
    Trace trace;
    const auto a = trace.holds(A, trace.moment(0_ms, 1'000_ms));
    trace.effect(Did::write, server, A, a, 1_ms);
    if (expires_before) {
      trace.effect(Did::expire, server, {}, 0, 10_ms);
      const auto b = trace.holds(B, trace.moment(0_ms, 1'000_ms));
      trace.effect(Did::write, server, B, b, 11_ms);
    }
    const auto release = trace.operation(A, "release", 12_ms, 14_ms, Phase::ok, a);
    trace.effect(Did::remove, server, A, release, 13_ms);
    CHECK(trace.breaks("own-release") == expires_before);
  }
}

TEST_CASE("by hand: a taker may remove what its lease has left behind, and not a moment before") {
  for (const auto& [latest, breaks] : {std::pair(20_ms, true), std::pair(20_ms + kGrain, false)}) {
    Trace trace;
    const auto a = trace.holds(A, trace.moment(0_ms, 2_ms));
    trace.of(a).lease_until = sim::Instant::at(20_ms + kGrain);
    trace.effect(Did::write, server, A, a, 1_ms);
    const auto b = trace.operation(B, "acquire", 18_ms, 30_ms);
    trace.effect(Did::remove, server, B, b, 0_ms).at = trace.moment(breaks ? 18_ms : latest, 25_ms);
    CHECK(trace.breaks("own-release") == breaks);
  }
}

TEST_CASE("by hand: an update is lost if somebody wrote between one's reading and one's writing") {
  for (const bool is_between : {false, true}) {
    Trace trace;
    const auto a = trace.holds(A, trace.moment(0_ms, 9_ms));
    const auto read = trace.operation(A, "read", 1_ms, 2_ms, Phase::ok, a, "resource");
    const auto write = trace.operation(A, "write", 5_ms, 6_ms, Phase::ok, a, "resource");
    const auto others = trace.operation(B, "write", 1_ms, 6_ms, Phase::ok, 0, "resource");
    if (!is_between) trace.effect(Did::write, resource, B, others, 1_ms, "resource");
    trace.effect(Did::read, resource, A, read, 2_ms, "resource");
    if (is_between) trace.effect(Did::write, resource, B, others, 3_ms, "resource");
    trace.effect(Did::write, resource, A, write, 5_ms, "resource");
    CHECK(trace.breaks("no-lost-update") == is_between);
  }
}

TEST_CASE("by hand: of two tokens the older must not come after the newer") {
  for (const std::int64_t late : {6, 7}) {
    Trace trace;
    const auto a = trace.operation(A, "write", 1_ms, 9_ms, Phase::ok, 0, "resource");
    const auto b = trace.operation(B, "write", 1_ms, 9_ms, Phase::ok, 0, "resource");
    trace.effect(Did::write, resource, B, b, 2_ms, "resource").token = 7;
    trace.effect(Did::write, resource, A, a, 3_ms, "resource").token = late;
    CHECK(trace.breaks("fencing") == (late == 6));
  }
}

TEST_CASE("by hand: a circle lasts from its last beginning to its first end, and by no more") {
  // A wants y from 4 to 5 on and gives up between 10 and 12; B wants x from 6 to 8 on, for ever.
  const auto crossing = [](Trace& trace) {
    trace.holds(A, trace.moment(1_ms, 2_ms), "x");
    trace.holds(B, trace.moment(1_ms, 2_ms), "y");
    const auto failed = trace.operation(A, "acquire", 0_ms, 0_ms, Phase::fail, 0, "y");
    trace.of(failed).invoked = trace.moment(4_ms, 5_ms);
    trace.of(failed).completed = trace.moment(10_ms, 12_ms);
    const auto open = trace.operation(B, "acquire", 0_ms, 0_ms, Phase::invoke, 0, "x");
    trace.of(open).invoked = trace.moment(6_ms, 8_ms);
  };
  for (const auto& [lasting, breaks] :
       {std::pair(0_ms, true), std::pair(6_ms, true), std::pair(6_ms + kGrain, false), std::pair(1'000_ms, false)}) {
    Trace trace;
    crossing(trace);
    CHECK(trace.breaks("no-deadlock", lasting) == breaks);
    CHECK_FALSE(trace.breaks("no-deadlock"));  // nobody asked
  }
  // A lease that runs out is one more end: 6 to 9.
  for (const auto& [lasting, breaks] : {std::pair(3_ms, true), std::pair(3_ms + kGrain, false)}) {
    Trace trace;
    crossing(trace);
    trace.of(2).valid_until = sim::Instant::at(9_ms);
    CHECK(trace.breaks("no-deadlock", lasting) == breaks);
  }
  // Beginning and end at one moment are no circle.
  Trace touching;
  touching.holds(A, touching.moment(1_ms, 2_ms), "x");
  touching.holds(B, touching.moment(1_ms, 2_ms), "y");
  const auto failed = touching.operation(A, "acquire", 0_ms, 0_ms, Phase::fail, 0, "y");
  touching.of(failed).completed = touching.moment(4_ms, 6_ms);
  touching.of(touching.operation(B, "acquire", 0_ms, 0_ms, Phase::invoke, 0, "x")).invoked =
      touching.moment(6_ms, 8_ms);
  CHECK_FALSE(touching.breaks("no-deadlock", 0_ms));
}

}  // namespace lockstep::checker::violations_by_hand_test
