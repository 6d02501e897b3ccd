// A solution of a trace's constraints is a concrete history, which the checkers of true times judge. They are the oracle:
// at every solution, a property is broken exactly if the constraints of one of its ways are satisfied.

#include "checker/violations/violations.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "checker/properties/belief/capacity.hpp"
#include "checker/properties/belief/linearizable.hpp"
#include "checker/properties/belief/mutual_exclusion.hpp"
#include "checker/properties/belief/no_deadlock.hpp"
#include "checker/properties/damage/fencing.hpp"
#include "checker/properties/server/faithful_renewal.hpp"
#include "checker/properties/server/no_lost_wakeup.hpp"
#include "checker/properties/server/order_properties.hpp"
#include "checker/properties/server/own_release.hpp"
#include "checker/testing/forged_history.hpp"
#include "checker/testing/lost_updates_oracle.hpp"
#include "checker/testing/symbolic_history.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::violations_test {
namespace {

using namespace sim::literals;
using Times = std::vector<std::int64_t>;

constexpr std::string_view kProperties[] = {"mutual-exclusion", "linearizable", "own-release",
                                            "no-lost-update",   "fencing",      "capacity"};
constexpr std::string_view kLinearizable[] = {"linearizable"};
constexpr std::string_view kOwners[] = {"own-release", "truthful-reports"};
constexpr std::string_view kNestedOwners[] = {"own-release", "truthful-reports", "reentrancy", "faithful-renewal"};
constexpr std::string_view kNoDeadlock[] = {"no-deadlock"};
constexpr std::string_view kNested[] = {"mutual-exclusion", "linearizable",     "reentrancy",
                                        "truthful-reports", "faithful-renewal", "no-lost-wakeup"};
/// Whoever waits for ever, does so at any time.
const WakeupQuestion kWakeup{
    .server = sim::ProcessId{3}, .object = "lock", .within = 5_ns, .end = sim::Instant::at(1_s)};
constexpr SemaphoreQuestion kSemaphore{.places = 2, .overtakings = {}};
const std::vector<sim::ProcessId> kResources{SymbolicHistory::resource_server};

/// What is compared.
struct Question {
  std::span<const std::string_view> properties = kProperties;
  std::optional<Duration> lasting = std::nullopt;     ///< how long a circle must last to be a deadlock
  std::optional<std::int64_t> places = std::nullopt;  ///< linearizable asks for a semaphore, and not for a mutex
};

bool is_violated(std::string_view property, const sim::History& history, const Question& question) {
  const Names names{"A", "B", "C", "S1", "S2", "R", "D", "E"};
  const Duration lasting = question.lasting.value_or(Duration::zero());
  if (property == "mutual-exclusion") return mutual_exclusion(history, names).verdict == Verdict::violated;
  if (property == "linearizable" && question.places)
    return linearizable_semaphore(history, names, "lock", *question.places).verdict == Verdict::violated;
  if (property == "linearizable") return linearizable(history, names).verdict == Verdict::violated;
  if (property == "no-deadlock") return no_deadlock(history, names, lasting).verdict == Verdict::violated;
  if (property == "reentrancy") return reentrancy(history, names).verdict == Verdict::violated;
  if (property == "truthful-reports") return truthful_reports(history, names).verdict == Verdict::violated;
  if (property == "faithful-renewal") return faithful_renewal(history, names).verdict == Verdict::violated;
  if (property == "no-lost-wakeup") return no_lost_wakeup(history, names, kWakeup).verdict == Verdict::violated;
  if (property == "own-release") return own_release(history, names).verdict == Verdict::violated;
  if (property == "no-lost-update") return loses_an_update(history, SymbolicHistory::resource_server);
  if (property == "capacity") return capacity(history, names, *kSemaphore.places).verdict == Verdict::violated;
  return fencing(history, names, kResources).verdict == Verdict::violated;
}

std::int64_t at(sim::Instant instant, const Times& times) {
  return times[instant.anchor()] + instant.offset().count_ns();
}

bool is_satisfied(const Violation& way, const Times& times) {
  return std::all_of(way.constraints.begin(), way.constraints.end(),
                     [&](const Constraint& c) {
                       return (times[c.to] - times[c.from]) * Bound::units_per_ns <= c.bound.units();
                     }) &&
         std::all_of(way.sums.begin(), way.sums.end(), [&](const SumConstraint& sum) {
           return at(sum.moment, times) - at(sum.base, times) < at(sum.until, times) - at(sum.from, times);
         });
}

/// By how much earlier pauses of work begin, each, for a way to break what it says.
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

bool has_satisfied(std::span<const Violation> ways, std::string_view property, const Times& times, bool or_widened) {
  return std::any_of(ways.begin(), ways.end(), [&](const Violation& way) {
    return way.property == property && (or_widened || !way.is_widened) && is_satisfied(way, times);
  });
}

/// Some solution: each variable wants to be somewhere.
std::optional<Times> some_solution(const DifferenceConstraints& constraints, sim::Random& random) {
  std::vector<Preference> wishes;
  for (std::uint64_t i = random.below(8); i > 0; --i) {
    const auto from = static_cast<Variable>(random.below(constraints.variables()));
    const auto to = static_cast<Variable>(random.below(constraints.variables()));
    wishes.push_back({from, to, Duration::nanoseconds(random.between(-6, 12)), random.one_in(2)});
  }
  return constraints.solution_ns(wishes);
}

struct Compared {
  std::map<std::string_view, std::size_t> violated;
  std::map<std::string_view, std::size_t> not_violated;
  std::map<std::string_view, std::size_t> only_widened;
  std::size_t earlier_pauses =
      0;  ///< ways that were satisfied by pauses within work that begin earlier than at its end
  std::string trouble;
};

void compare_solution(SymbolicHistory& symbolic, std::span<const Violation> ways, const Times& times,
                      const Question& question, Compared& compared) {
  const sim::History history = at_times(symbolic.history(), symbolic.faults(), times);
  // A pause within work may as well have begun earlier.
  std::vector<std::int64_t> earlier = symbolic.slack(times);
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    const std::int64_t most = symbolic.faults()[i].is_further ? earlier[i - 1] : earlier[i];
    earlier[i] = symbolic.random().between(0, most);
  }
  const sim::History shifted = at_times(symbolic.history(), symbolic.faults(), times, earlier);
  for (const std::string_view property : question.properties) {
    const bool violated = is_violated(property, history, question);
    const bool exact = has_satisfied(ways, property, times, false);
    const bool perhaps = has_satisfied(ways, property, times, true);
    ++(violated ? compared.violated : compared.not_violated)[property];
    if (perhaps && !exact) ++compared.only_widened[property];
    for (const Violation& way : ways) {
      if (way.property != property || way.is_widened || !is_satisfied(way, times)) continue;
      if (way.pauses.empty() && violated) continue;
      const auto placed = asked_for(way, symbolic.faults(), times);
      compared.earlier_pauses += way.pauses.empty() ? 0 : 1;
      if (!is_violated(property, at_times(symbolic.history(), symbolic.faults(), times, placed), question))
        compared.trouble = std::string(property) + ": a way is satisfied, but nothing is broken";
    }
    if (violated && !perhaps) compared.trouble = std::string(property) + ": broken, but in no way that was found";
    if (is_violated(property, shifted, question) && !perhaps)
      compared.trouble = std::string(property) + ": broken by an earlier pause, but in no way that was found";
  }
}

const std::uint64_t kHistories = sim::cases<std::uint64_t>(20'000, 400);

/// Up to the first trouble.
Compared compared_of(SymbolicHistory::Kind kind, std::uint64_t first_seed, std::uint64_t histories,
                     const Question& question, JudgingMutant mutant = JudgingMutant::none) {
  Compared compared;
  ViolationFinder finder;
  finder.break_on_purpose(mutant);
  finder.ask(question.places ? SemaphoreQuestion{.places = question.places, .overtakings = {}, .lock = "lock"}
                             : kSemaphore);
  for (std::uint64_t seed = first_seed; seed < first_seed + histories; ++seed) {
    SymbolicHistory symbolic(seed, kind);
    const auto ways =
        finder.find(symbolic.history(), symbolic.faults(), kResources, nullptr, question.lasting, &kWakeup);
    for (int i = 0; i < 6; ++i) {
      if (const auto times = some_solution(symbolic.constraints(), symbolic.random()))
        compare_solution(symbolic, ways, *times, question, compared);
    }
    // And the corner that each way asks for.
    for (const Violation& way : ways) {
      DifferenceConstraints& constraints = symbolic.constraints();
      const auto mark = constraints.mark();
      if (constraints.add_all(way.constraints)) {
        if (const auto times = constraints.solution_ns()) compare_solution(symbolic, ways, *times, question, compared);
      }
      constraints.undo(mark);
    }
    if (compared.trouble.empty()) continue;
    compared.trouble = "history " + std::to_string(seed) + ": " + compared.trouble;
    break;
  }
  return compared;
}

void compare_all(SymbolicHistory::Kind kind, std::uint64_t first_seed, double widened_max,
                 const Question& question = {}, std::uint64_t histories = kHistories) {
  Compared compared = compared_of(kind, first_seed, histories, question);
  REQUIRE(compared.trouble == "");
  if (kHistories >= 20'000 && kind.has_deadlines && question.properties.data() == kProperties)
    CHECK(compared.earlier_pauses > 100);
  for (const std::string_view property : question.properties) {
    INFO(property << ": " << compared.violated[property] << " broken, " << compared.not_violated[property] << " not, "
                  << compared.only_widened[property] << " perhaps");
    if (kHistories < 20'000) continue;  // too few to say that they are not vacuous
    CHECK(compared.violated[property] > histories / 200);
    CHECK(compared.not_violated[property] > histories / 10);
    CHECK(static_cast<double>(compared.only_widened[property]) <= widened_max * static_cast<double>(6 * histories));
  }
}

}  // namespace

TEST_CASE("violations: at every solution a property is broken exactly if one of its ways is satisfied") {
  compare_all({}, 0, 0.11);
}

TEST_CASE(
    "violations: at every solution the properties of nested and renewed holds are broken exactly if a way is "
    "satisfied") {
  // Reports on what an acquire without a write has got are unknown.
  compare_all({.has_nested = true}, 600'000, 0.7, {.properties = kNested});
}

TEST_CASE("violations: also where each member of an object has an owner of its own, or nobody knows whose a part is") {
  compare_all({.has_members = true}, 4'000'000, 0.4, {.properties = kOwners});
  compare_all({.has_members = true, .has_nested = true}, 4'100'000, 0.4, {.properties = kNestedOwners});
}

TEST_CASE("violations: also where moments meet all the time") {
  compare_all({.zero_length_one_in = 2}, 1'000'000, 0.12);
}

TEST_CASE("violations: also without deadlines, and with every acquire's outcome known") {
  compare_all({.has_deadlines = false, .has_unknown_acquires = false}, 2'000'000, 0.025);
}

namespace {

constexpr SymbolicHistory::Kind kOfSemaphores{.takes_several = true, .more_clients = 2};
constexpr std::uint64_t kFirstOfSemaphores = 5'000'000;

}  // namespace

TEST_CASE("violations: at every solution a semaphore of one to three places is broken exactly if a way is satisfied") {
  for (const std::int64_t places : {1, 2, 3}) {
    const Question question{.properties = kLinearizable, .places = places};
    const std::uint64_t first = kFirstOfSemaphores + static_cast<std::uint64_t>(places) * 200'000;
    compare_all(kOfSemaphores, first, 0.3, question, kHistories / 8);
    compare_all({.zero_length_one_in = 2, .takes_several = places > 1, .more_clients = 1}, first + 50'000, 0.3,
                question, kHistories / 8);
    // One after the other, without deadlines and without unknown acquires: nothing is left to a replay but what may
    // be released twice.
    compare_all({.has_deadlines = false, .has_unknown_acquires = false, .more_clients = 2}, first + 100'000, 0.1,
                question, kHistories / 8);
  }
}

TEST_CASE("violations: judges of semaphores that are broken on purpose are found out") {
  using enum JudgingMutant;
  for (const JudgingMutant mutant :
       {one_place_less, one_place_more, holds_begin_early, tries_take_places, nothing_is_spare}) {
    for (const std::int64_t places : {1, 2}) {
      const Question question{.properties = kLinearizable, .places = places};
      INFO(static_cast<int>(mutant) << " of " << places);
      CHECK(compared_of(kOfSemaphores, kFirstOfSemaphores, 2'000, question, mutant).trouble != "");
    }
  }
}

TEST_CASE("violations: circles of waits, at all or for some time") {
  for (const std::int64_t ns : {0, 2, 9}) {
    const Question question{kNoDeadlock, Duration::nanoseconds(ns)};
    compare_all({.zero_length_one_in = 4, .locks = 2}, 3'000'000 + static_cast<std::uint64_t>(ns) * 100'000, 0,
                question);
  }
}

TEST_CASE("violations: an acquire that is overwritten, waits and writes again had no grant in between") {
  ForgedHistory h;
  const auto b = h.acquire(B, 10_ms);
  const auto c = h.operation(C, "acquire", 5_ms, 50_ms);
  const auto release = h.operation(B, "release", 20_ms, 40_ms, Phase::ok, b);
  h.effect(Did::write, server, B, b, 9_ms);
  h.effect(Did::write, server, C, c, 15_ms);
  h.effect(Did::remove, server, B, release, 30_ms);
  h.effect(Did::write, server, C, c, 45_ms);
  ViolationFinder finder;
  DifferenceConstraints constraints;
  CHECK(own_release(h.history(), forged_names()).verdict == Verdict::holds);
  CHECK_FALSE(violable("own-release", finder.find(h.history(), {}, {}), constraints).for_certain);
}

TEST_CASE("violations: recoverable asks when the probe got the lock, and leaves the probe out of the story") {
  // 0: it had it late, 1: in time; 2: it failed when it could still try again, 3: when it could not; 4: it had it late, after it had failed at the bound.
  for (const int variant : {0, 1, 2, 3, 4}) {
    // Variable 1 is when all is quiet, 2 is when the probe got the lock, or gave up.
    DifferenceConstraints constraints;
    constraints.add_variable(0, {0_ms, 5_ms});
    constraints.add_variable(1, {1_ms, variant == 1 ? 9_ms : 12_ms});
    ForgedHistory h;
    h.acquire(A, 0_ms);
    if (variant == 4) h.of(h.operation(B, "acquire", 0_ms, 0_ms, Phase::fail)).completed = sim::Instant(1, 10_ms);
    const auto probe = h.operation(B, "acquire", 0_ms, 0_ms, variant == 2 || variant == 3 ? Phase::fail : Phase::ok);
    h.of(probe).completed = sim::Instant(2, 0_ms);
    const RecoverableQuestion question{.probe = B,
                                       .quiescent = sim::Instant(1, 0_ms),
                                       .within = 10_ms,
                                       .probed_until = sim::Instant(2, variant == 2 ? -3_ms : 0_ms)};
    ViolationFinder finder;
    const auto ways = finder.find(h.history(), {}, {}, &question);
    CHECK(violable("recoverable", ways, constraints).for_certain == (variant == 3 || variant == 4));
    CHECK(violable("recoverable", ways, constraints).perhaps == (variant == 0 || variant == 4));
    // The probe's own hold is no part of the story: A never gives back.
    CHECK_FALSE(violable("mutual-exclusion", ways, constraints).for_certain);
    CHECK_FALSE(violable("linearizable", ways, constraints).for_certain);
    if (variant == 0) CHECK(ways.front().by == std::vector{A});
  }
}

TEST_CASE(
    "violations: of a visitor both judges say the same: in time, late by how long it takes, waiting, or in vain") {
  // It comes at 20ms, has 100ms, and may take 5ms; an attempt begins and ends so.
  struct Case {
    Duration began;
    Duration ended;
    Phase phase;
    bool breaks;
  };
  for (const Case& last : {Case{50_ms, 52_ms, Phase::ok, false}, Case{130_ms, 135_ms, Phase::ok, false},
                           Case{130_ms, 136_ms, Phase::ok, true}, Case{50_ms, 125_ms, Phase::ok, false},
                           Case{50_ms, 126_ms, Phase::ok, true}, Case{120_ms, 122_ms, Phase::fail, true},
                           Case{50_ms, 52_ms, Phase::invoke, true}}) {
    ForgedHistory h;
    h.acquire(A, 0_ms);
    h.operation(B, "acquire", 30_ms, 40_ms, Phase::fail);
    h.operation(B, "acquire", last.began, last.ended, last.phase);
    const RecoverableQuestion question{
        .probe = B,
        .quiescent = sim::Instant::at(20_ms),
        .within = 100_ms,
        .probed_until = probed_until(h.history().operations, B, sim::Instant::at(120_ms)),
        .visitor_attempt = 5_ms};
    INFO(sim::to_string(last.began) << " " << sim::to_string(last.ended) << " " << static_cast<int>(last.phase));
    CHECK((recoverable(h.history(), forged_names(), question).verdict == Verdict::violated) == last.breaks);
    ViolationFinder finder;
    DifferenceConstraints constraints;
    const auto ways = finder.find(h.history(), {}, {}, &question);
    CHECK(violable("recoverable", ways, constraints).for_certain == last.breaks);
    CHECK(violable("recoverable", ways, constraints).perhaps == false);
  }
}

}  // namespace lockstep::checker::violations_test
