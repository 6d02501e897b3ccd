// What one constraint costs the explorer's solver, on constraints as the explorer makes them: events caused by messages
// with a range of delays, in order at their process, with answers of `has_reached` and undo. Prints nanoseconds and,
// for comparison between versions, sums of answers; judges nothing.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "checker/time/difference_constraints.hpp"
#include "sim/schedules/random.hpp"

namespace {

namespace checker = lockstep::checker;
namespace sim = lockstep::sim;
using checker::Constraint;
using checker::DifferenceConstraints;
using checker::Variable;
using sim::Duration;
using sim::Instant;

/// Nanoseconds for each call of something that returns how many it made: the best of seven runs.
template <class Body>
double best_ns(Body body) {
  double best = 1e18;
  for (int run = 0; run < 7; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t calls = body();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / static_cast<double>(calls));
  }
  return best;
}

/// One event of a timed story: who causes it how much later, what is the last event at its process, and two instants
/// that its process compares.
struct Event {
  Variable cause;
  Variable last;
  Duration lo;
  Duration hi;
  Variable deadline_of;
  Duration ttl;
};

/// A story of `processes` that send each other messages. The cause is a recent event: messages are soon delivered.
std::vector<Event> random_story(std::uint64_t seed, std::uint32_t events, std::uint32_t processes) {
  sim::Random random(seed);
  std::vector<Variable> last(processes, 0);
  std::vector<Event> story;
  for (Variable v = 1; v <= events; ++v) {
    Variable& at = last[random.below(processes)];
    Event e{};
    e.cause = v - 1 - static_cast<Variable>(random.below(std::min(v, processes + 1)));
    e.last = at;
    e.lo = Duration::milliseconds(random.between(1, 3));
    e.hi = e.lo + Duration::milliseconds(random.between(0, 9));
    e.deadline_of = static_cast<Variable>(random.below(v));
    e.ttl = Duration::milliseconds(random.between(0, static_cast<std::int64_t>(v) * 8 / processes));
    story.push_back(e);
    at = v;
  }
  return story;
}

struct Count {
  std::uint64_t adds = 0;
  std::uint64_t infeasible = 0;
};

/// Five constraints for each event as the explorer asks them: its delay, the order, and a forking question.
void execute(DifferenceConstraints& system, const Event& e, bool prefer_yes, Count& count) {
  const Variable v = system.add_variable(e.cause, {e.lo, e.hi});
  count.adds += 3;
  const Instant now(v, Duration::zero());
  if (!system.add_at_most(Instant(e.last, Duration::zero()), now)) {
    ++count.infeasible;
    return;
  }
  const Instant deadline(e.deadline_of, e.ttl);
  const Constraint yes = Constraint::at_most(deadline, now);
  const Constraint no = Constraint::less_than(now, deadline);
  count.adds += 2;
  if (!system.add(prefer_yes ? yes : no)) {
    ++count.infeasible;
    system.add(prefer_yes ? no : yes);
  }
}

/// As `execute`, but with single constraints only: no help from `add_variable`.
void execute_plainly(DifferenceConstraints& system, const Event& e, Count& count) {
  const Variable v = system.add_variable();
  const Instant now(v, Duration::zero());
  const Instant cause(e.cause, Duration::zero());
  const Instant deadline(e.deadline_of, e.ttl);
  count.adds += 4;
  system.add_at_most(cause + e.lo, now);
  system.add_at_most(now, cause + e.hi);
  if (!system.add_at_most(Instant(e.last, Duration::zero()), now)) ++count.infeasible;
  if (!system.add_at_most(deadline, now)) ++count.infeasible;
}

}  // namespace

int main() {
  constexpr std::uint32_t processes = 7;
  for (const std::uint32_t events : {10U, 30U, 100U, 300U}) {
    const int repeats = static_cast<int>(600'000 / events);
    std::vector<std::vector<Event>> stories;
    for (std::uint64_t seed = 0; seed < 64; ++seed) stories.push_back(random_story(seed, events, processes));
    DifferenceConstraints system;
    Count count;

    const double plain = best_ns([&] {
      count = {};
      for (int i = 0; i < repeats; ++i) {
        system.clear();
        for (const Event& e : stories[i % 64]) execute_plainly(system, e, count);
      }
      return count.adds;
    });
    fmt::print("{:3} events, add each alone            {:6.1f} ns per add; infeasible {:4.1f} of 100\n", events, plain,
               100.0 * static_cast<double>(count.infeasible) / static_cast<double>(count.adds));

    const double forward = best_ns([&] {
      count = {};
      for (int i = 0; i < repeats; ++i) {
        system.clear();
        for (const Event& e : stories[i % 64]) execute(system, e, i % 2 == 0, count);
      }
      return count.adds;
    });
    fmt::print("{:3} events, story by story            {:6.1f} ns per add; infeasible {:4.1f} of 100\n", events,
               forward, 100.0 * static_cast<double>(count.infeasible) / static_cast<double>(count.adds));

    // Depth first: back to a place of the last eight events, the other answer, on to the end.
    const double searching = best_ns([&] {
      count = {};
      sim::Random random(events);
      std::vector<DifferenceConstraints::Mark> marks(events);
      for (int i = 0; i < repeats / 8; ++i) {
        const std::vector<Event>& story = stories[i % 64];
        system.clear();
        std::size_t at = 0;
        for (int branch = 0; branch < 64; ++branch) {
          for (; at < story.size(); ++at) {
            marks[at] = system.mark();
            execute(system, story[at], random.below(2) == 0, count);
          }
          at -= 1 + random.below(8);
          system.undo(marks[at]);
        }
      }
      return count.adds;
    });
    fmt::print("{:3} events, depth first with undo     {:6.1f} ns per add; infeasible {:4.1f} of 100\n", events,
               searching, 100.0 * static_cast<double>(count.infeasible) / static_cast<double>(count.adds));

    // Questions to whole stories.
    std::vector<DifferenceConstraints> whole;
    for (const std::vector<Event>& story : stories) {
      whole.emplace_back();
      for (const Event& e : story) execute(whole.back(), e, e.cause % 2 == 0, count);
    }
    sim::Random random(events);
    const auto any = [&] {
      return Instant(static_cast<Variable>(random.below(events + 1)), Duration::milliseconds(random.between(0, 9)));
    };
    std::uint64_t yes = 0;
    constexpr std::uint64_t questions = 300'000;
    const double one = best_ns([&] {
      for (std::uint64_t i = 0; i < questions; ++i) yes += whole[i % 64].can_be_at_most(any(), any()) ? 1 : 0;
      return questions;
    });
    const double two = best_ns([&] {
      for (std::uint64_t i = 0; i < questions; ++i) {
        yes += whole[i % 64].is_feasible_with(Constraint::less_than(any(), any()), Constraint::less_than(any(), any()));
      }
      return questions;
    });
    const double extent = best_ns([&] {
      for (std::uint64_t i = 0; i < questions; ++i) {
        yes += whole[i % 64].least_difference(any().anchor(), any().anchor())->attained ? 1 : 0;
      }
      return questions;
    });
    fmt::print("{:3} events, is_feasible_with one      {:6.1f} ns, two {:6.1f} ns, least_difference {:6.1f} ns; {}\n",
               events, one, two, extent, yes);
  }
}
