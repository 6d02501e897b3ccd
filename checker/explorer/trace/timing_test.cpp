#include "checker/explorer/trace/timing.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "sim/time/time.hpp"

namespace lockstep::checker::explorer::timing_test {
namespace {

using sim::Instant;
using namespace sim::literals;

/// Two events, of which one comes after 1 to 2ms, the other after 5 to 6ms; and a third that is being executed.
struct Three {
  Three() {
    arrive(first, {1_ms, 2_ms});
    arrive(second, {5_ms, 6_ms});
    begin();
  }
  void begin() {
    timing.note(trace.push().before);
    trace.begin(trace.length() - 1, false);
  }
  void arrive(Instant& at, sim::DurationRange delay) {
    begin();
    at = timing.fresh();
    timing.between(Instant::origin(), at, delay);
  }
  std::vector<std::uint32_t> conflict() const {
    std::vector<std::uint32_t> sorted = timing.failure().conflict;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

  PossibleFaults faults{{}};
  Trace trace{faults};
  Timing timing{trace};
  Instant first;
  Instant second;
};

}  // namespace

TEST_CASE("timing: an event that cannot be names those that do not allow it, and nothing more is added") {
  Three t;
  t.timing.at_most(t.second, t.first + 2_ms);
  CHECK(t.timing.infeasible_from() == 2U);
  CHECK(t.conflict() == std::vector<std::uint32_t>{0, 1});
  const std::uint32_t constraints = t.timing.constraints().constraints();
  t.timing.at_most(t.first, t.second);
  CHECK(t.timing.constraints().constraints() == constraints);
}

TEST_CASE("timing: without one of those that do not allow it a constraint is feasible") {
  Three t;
  const Constraint wanted = Constraint::at_most(t.second, t.first + 2_ms);
  Positions second;
  set_bit(second, 1);
  REQUIRE(!t.timing.constraints().is_feasible_with(wanted));
  CHECK(t.timing.explain_among(wanted, 1, second, 2) != nullptr);
  CHECK(t.conflict() == std::vector<std::uint32_t>{0, 1});
  CHECK(t.timing.explain_among(wanted, 0, second, 2) == nullptr);
}

TEST_CASE("timing: a question leaves nothing behind, and what an event has added is taken back with it") {
  Three t;
  t.timing.at_most(t.first, t.second);
  bool was_asked_why = false;
  const auto why = [&] { was_asked_why = t.timing.explain_last(2).conflict.size() == 2; };
  CHECK(!t.timing.would_be_feasible([&] { return t.timing.add(Constraint::at_most(t.second, t.first)); }, why));
  CHECK(was_asked_why);
  CHECK(!t.timing.is_infeasible());
  CHECK(t.timing.constraints().constraints() == 5);
  t.timing.undo(t.trace.last().before);
  CHECK(t.timing.constraints().constraints() == 4);
  CHECK(t.timing.earliest(t.second) == 5_ms);
}

}  // namespace lockstep::checker::explorer::timing_test
