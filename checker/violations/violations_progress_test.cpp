// The ways of progress against the checker of true times: at every solution, it is broken exactly if the constraints of one of its ways are satisfied.

#include <algorithm>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "checker/properties/belief/progress.hpp"
#include "checker/testing/progress_sweep.hpp"
#include "checker/testing/symbolic_history.hpp"
#include "checker/violations/violations.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::violations_progress_test {
namespace {

using Times = std::vector<std::int64_t>;
using sim::Duration;

std::int64_t at(sim::Instant instant, const Times& times) {
  return times[instant.anchor()] + instant.offset().count_ns();
}

bool is_satisfied(const Violation& way, const Times& times) {
  const auto holds = [&](const Constraint& c) {
    return (times[c.to] - times[c.from]) * Bound::units_per_ns <= c.bound.units();
  };
  const auto adds_up = [&](const SumConstraint& sum) {
    return at(sum.moment, times) - at(sum.base, times) < at(sum.until, times) - at(sum.from, times);
  };
  return way.property == "progress" && std::all_of(way.constraints.begin(), way.constraints.end(), holds) &&
         std::all_of(way.sums.begin(), way.sums.end(), adds_up);
}

/// By how much earlier the pauses of work begin that the way asks for.
std::vector<std::int64_t> asked_for(const Violation& way, std::span<const ExploredFault> faults, const Times& times) {
  std::vector<std::int64_t> earlier(faults.size(), 0);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i].is_further) earlier[i] = earlier[i - 1];
    for (const WorkPauses& pauses : way.pauses) {
      if (!faults[i].is_further && pauses.event == faults[i].event)
        earlier[i] = at(faults[i].from, times) - at(pauses.begin, times);
    }
  }
  return earlier;
}

struct Compared {
  std::size_t violated = 0;
  std::size_t not_violated = 0;
  std::size_t only_widened = 0;
  std::size_t earlier_pauses = 0;
  const char* trouble = nullptr;
};

class Comparison {
 public:
  explicit Comparison(SymbolicHistory::Kind kind) : kind_(kind) {}

  void compare(std::uint64_t seed) {
    SymbolicHistory symbolic(seed, kind_);
    const ProgressQuestion question{.within = Duration::nanoseconds(static_cast<std::int64_t>(1 + seed % 17))};
    finder_.ask(question);
    const auto found = finder_.find(symbolic.history(), symbolic.faults(), {});
    std::vector<Violation> ways(found.begin(), found.end());
    DifferenceConstraints& constraints = symbolic.constraints();
    for (int i = 0; i < 6; ++i) {
      std::vector<Preference> wishes;
      for (std::uint64_t n = symbolic.random().below(8); n > 0; --n) {
        const auto from = static_cast<Variable>(symbolic.random().below(constraints.variables()));
        const auto to = static_cast<Variable>(symbolic.random().below(constraints.variables()));
        wishes.push_back({from, to, Duration::nanoseconds(symbolic.random().between(-6, 12)), true});
      }
      if (const auto times = constraints.solution_ns(wishes)) at_solution(symbolic, ways, *times, question);
    }
    // And the corner that each way asks for.
    for (const Violation& way : ways) {
      if (way.property != "progress") continue;
      const auto mark = constraints.mark();
      if (constraints.add_all(way.constraints)) {
        if (const auto times = constraints.solution_ns()) at_solution(symbolic, ways, *times, question);
      }
      constraints.undo(mark);
    }
    // What the delays rule out is nothing that would be feasible.
    ProgressQuestion with_delays = question;
    with_delays.delays = &constraints;
    const Violable before = violable("progress", ways, constraints);
    finder_.ask(with_delays);
    const Violable after = violable("progress", finder_.find(symbolic.history(), symbolic.faults(), {}), constraints);
    if (before.for_certain != after.for_certain || before.perhaps != after.perhaps)
      compared.trouble = "the delays ruled out what is possible";
  }

  Compared compared;

 private:
  void at_solution(SymbolicHistory& symbolic, std::span<const Violation> ways, const Times& times,
                   const ProgressQuestion& question) {
    const auto is_broken = [&](std::span<const std::int64_t> earlier) {
      const sim::History history = at_times(symbolic.history(), symbolic.faults(), times, earlier);
      const bool broken = progress(history, {}, question).verdict == Verdict::violated;
      if (!kind_.has_unknown_acquires && !kind_.has_nested && sweep_progress(history, question.within) != broken)
        compared.trouble = "the sweep says something else";
      return broken;
    };
    const bool violated = is_broken({});
    ++(violated ? compared.violated : compared.not_violated);
    bool exact = false, perhaps = false;
    for (const Violation& way : ways) {
      if (!is_satisfied(way, times)) continue;
      perhaps = true;
      if (way.is_widened) continue;
      exact = true;
      compared.earlier_pauses += way.pauses.empty() ? 0 : 1;
      if (way.pauses.empty() ? !violated : !is_broken(asked_for(way, symbolic.faults(), times)))
        compared.trouble = "a way is satisfied, but nothing is broken";
    }
    if (perhaps && !exact) ++compared.only_widened;
    if (violated && !perhaps) compared.trouble = "broken, but in no way that was found";
    // A pause within work may as well have begun earlier.
    std::vector<std::int64_t> earlier = symbolic.slack(times);
    for (std::size_t i = 0; i < earlier.size(); ++i) {
      const std::int64_t most = symbolic.faults()[i].is_further ? earlier[i - 1] : earlier[i];
      earlier[i] = symbolic.random().between(0, most);
    }
    if (!perhaps && is_broken(earlier)) compared.trouble = "broken by an earlier pause, but in no way that was found";
  }

  SymbolicHistory::Kind kind_;
  ViolationFinder finder_;
};

const std::uint64_t kHistories = sim::cases<std::uint64_t>(10'000, 250);

void compare_all(SymbolicHistory::Kind kind, std::uint64_t first_seed, double widened_max) {
  Comparison comparison(kind);
  for (std::uint64_t seed = first_seed; seed < first_seed + kHistories; ++seed) {
    comparison.compare(seed);
    INFO("history " << seed);
    REQUIRE(std::string(comparison.compared.trouble == nullptr ? "" : comparison.compared.trouble) == "");
  }
  const Compared& compared = comparison.compared;
  INFO(compared.violated << " broken, " << compared.not_violated << " not, " << compared.only_widened << " perhaps, "
                         << compared.earlier_pauses << " by earlier pauses");
  if (kHistories < 10'000) return;
  CHECK(compared.violated > kHistories / 2);
  CHECK(compared.not_violated > kHistories / 2);
  CHECK(compared.earlier_pauses > 50);
  CHECK(static_cast<double>(compared.only_widened) <= widened_max * static_cast<double>(kHistories));
}

TEST_CASE("violations: progress is broken exactly if one of its ways is satisfied") {
  compare_all({.has_unknown_acquires = false}, 8'000'000, 0.5);
}

TEST_CASE("violations: progress, where moments meet, attempts stay open and there are two locks") {
  compare_all({.zero_length_one_in = 2, .locks = 2}, 8'500'000, 0.5);
}

TEST_CASE("violations: progress without deadlines rests on nothing widened but two pauses of one work") {
  compare_all({.has_deadlines = false, .has_unknown_acquires = false}, 9'000'000, 0.1);
}

TEST_CASE("violations: progress, with holds that are shared and entered again") {
  compare_all({.has_nested = true}, 9'500'000, 0.5);
}

}  // namespace
}  // namespace lockstep::checker::violations_progress_test
