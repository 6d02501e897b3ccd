#pragma once

// The explorer's solver of times. Start here for `Bound`, `Constraint` and `DifferenceConstraints`.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/time/time.hpp"

namespace lockstep::checker {

/// The c of `x <= c` or, strict, of `x < c`, exactly, in one integer: c in nanoseconds times 2^20, minus 1 if strict.
///
/// Why this is exact. Let epsilon be 2^-20 ns, and read x < c as x <= c - epsilon. The system is then infeasible
/// exactly if some simple cycle has a negative sum 2^20 * S - k, S being the sum of its c and k the number of its
/// strict bounds. Over the rationals it is infeasible exactly if S < 0, or S = 0 and k > 0. As S is an integer, the
/// two agree whenever k < 2^20: from S >= 1 follows 2^20 * S - k > 0. Likewise the shortest of several paths is that
/// of the smallest S and, among those, the one with the most strict bounds; S is its sum divided by 2^20, rounded up,
/// and k the rest. A simple cycle or path has no more bounds than the system has variables, so fewer than 2^20
/// variables are enough, however many strict constraints there are; `DifferenceConstraints` asserts that.
///
/// 128 bits, since 64 hold days of such units and stories last for longer. What is as long as `Duration::forever()`
/// (half of it will do, so that deadlines computed from it count) is no bound: `x <= forever` always holds,
/// `x <= -forever` never does.
class Bound {
 public:
  using Units = __int128;
  static constexpr Units units_per_ns = Units{1} << 20;
  /// No bound, and no time of a solution the system settles on, may reach this: 2^64 ns. Asserted.
  static constexpr Units units_end = Units{1} << 84;

  static constexpr Bound at_most(sim::Duration c) { return of(c, false); }
  static constexpr Bound less_than(sim::Duration c) { return of(c, true); }
  static constexpr Bound always() { return Bound(2 * units_end); }
  static constexpr Bound never() { return Bound(-2 * units_end); }

  constexpr bool operator==(const Bound&) const = default;
  /// False for `always` and `never`.
  constexpr bool is_finite() const { return units_ < units_end && units_ > -units_end; }
  /// c, and of how many strict bounds it is the sum. Requires: finite.
  constexpr std::int64_t ns() const { return static_cast<std::int64_t>((units_ + units_per_ns - 1) >> 20); }
  constexpr std::int64_t strict_bounds() const { return static_cast<std::int64_t>(ns() * units_per_ns - units_); }
  constexpr bool is_strict() const { return strict_bounds() > 0; }
  /// For the solver.
  constexpr Units units() const { return units_; }
  static constexpr Bound of_units(Units units) { return Bound(units); }
  /// The same bound of c + d, as strict. Requires: finite, and stays so.
  constexpr Bound shifted(sim::Duration d) const {
    const Bound moved(units_ + d.count_ns() * units_per_ns);
    assert(is_finite() && moved.is_finite());
    return moved;
  }

 private:
  explicit constexpr Bound(Units units) : units_(units) {}
  static constexpr Bound of(sim::Duration c, bool strict) {
    constexpr std::int64_t forever_ns = sim::Duration::forever().count_ns() / 2;
    const std::int64_t ns = c.count_ns();
    if (ns >= forever_ns || ns <= -forever_ns) [[unlikely]]
      return ns > 0 ? always() : never();
    return Bound(ns * units_per_ns - (strict ? 1 : 0));
  }

  Units units_;
};

/// A point in time, dense from 0. Variable 0 is the origin.
using Variable = std::uint32_t;

/// x_to - x_from <= bound.
struct Constraint {
  Variable from;
  Variable to;
  Bound bound;

  /// a <= b or, strict, a < b. An instant's anchor is a variable.
  static constexpr Constraint at_most(sim::Instant a, sim::Instant b, bool strict = false) {
    const sim::Duration c = b.offset() - a.offset();
    return {b.anchor(), a.anchor(), strict ? Bound::less_than(c) : Bound::at_most(c)};
  }
  static constexpr Constraint less_than(sim::Instant a, sim::Instant b) { return at_most(a, b, true); }
  bool operator==(const Constraint&) const = default;
};

/// The end of a range of differences. Not attained: approached without limit (an infimum or supremum).
struct Extent {
  sim::Duration value;
  bool attained;

  constexpr bool operator==(const Extent&) const = default;
};

/// A wish for a solution: x_to - x_from = value; if that is infeasible, nothing, or the nearest whole nanosecond.
struct Preference {
  Variable from;
  Variable to;
  sim::Duration value;
  bool or_nearest = false;
};

/// A conjunction of constraints x_v - x_u <= w over the reals, kept feasible, with undo.
///
/// Method: Cotton and Maler 2006, "Fast and flexible difference constraint propagation for DPLL(T)". The system holds
/// one solution, the potentials. A constraint that they satisfy costs nothing more than being stored. Another one is
/// repaired by a wave from one of its ends, which visits only variables that must change; if it arrives at the other
/// end, the constraint closes a negative cycle. A wave computes changes beside the potentials and is applied or
/// dropped as a whole. Removing constraints keeps every solution, so `undo` leaves the potentials alone.
///
/// Two things are not in the paper; both rest on variables being numbered as events were executed. Either end of a
/// constraint can be repaired: `v` with its successors to earlier, or `u` with its predecessors to later times. The
/// newer variable is: it has fewer constraints, and a new event is mostly just put later. And a wave does not visit by
/// decreasing change, with a heap, but from new to old, around and around, with a bit for each variable that waits:
/// that is the direction of the older end, where infeasibility is found. A variable can then be visited again (few
/// are), but one round is at least one pass of Bellman and Ford's algorithm, so that there are never more rounds than
/// variables. Measured against the heap: 1.3 to 1.8 times faster with 100 to 300 variables, the same with 30.
///
/// No answer depends on the potentials, that is, on how the system came to be: only on its constraints.
/// The const functions use scratch memory inside: one system per thread. No allocation once the arrays have grown.
class DifferenceConstraints {
  using Units = Bound::Units;

 public:
  struct Mark {
    std::uint32_t variables;
    std::uint32_t constraints;
  };

  /// The origin alone.
  DifferenceConstraints();

  /// Another variable without constraints.
  Variable add_variable();
  /// Another variable with lo <= x - x_base <= hi. Cheaper than adding the two, and never infeasible; `hi` may be
  /// forever.
  Variable add_variable(Variable base, sim::DurationRange delay);

  std::uint32_t variables() const { return variables_; }
  std::uint32_t constraints() const { return constraints_; }
  /// The i-th of those that were added and not undone; bounds that always hold are not kept.
  Constraint constraint(std::uint32_t i) const {
    assert(i < constraints_);
    return {in_[i].other, out_[i].other, Bound::of_units(out_[i].units)};
  }

  /// Adds x_v - x_u <= w. False: infeasible together with what is there, and nothing is changed.
  bool add(Variable u, Variable v, Bound w) {
    assert(u < variables_ && v < variables_);
    if (!w.is_finite()) [[unlikely]]
      return needs_no_wave(w == Bound::always());
    if (u == v) return needs_no_wave(w.units() >= 0);
    const Units slack = potential_[u] + w.units() - potential_[v];
    if (slack < 0) return add_repairing(u, v, w);
    store(u, v, w);
    return true;
  }
  bool add(const Constraint& c) { return add(c.from, c.to, c.bound); }
  /// Adds a <= b or, strict, a < b.
  bool add_at_most(sim::Instant a, sim::Instant b, bool strict = false) {
    return add(Constraint::at_most(a, b, strict));
  }
  /// Adds all of them, or none if they are infeasible together.
  bool add_all(std::span<const Constraint> constraints);

  /// Would `add` succeed? Nothing is changed.
  bool is_feasible_with(const Constraint& c) const {
    assert(c.from < variables_ && c.to < variables_);
    if (!c.bound.is_finite()) [[unlikely]]
      return needs_no_wave(c.bound == Bound::always());
    if (c.from == c.to) return needs_no_wave(c.bound.units() >= 0);
    const Units slack = potential_[c.from] + c.bound.units() - potential_[c.to];
    return slack >= 0 || can_repair(c.from, c.to, c.bound);
  }
  bool can_be_at_most(sim::Instant a, sim::Instant b, bool strict = false) const {
    return is_feasible_with(Constraint::at_most(a, b, strict));
  }
  /// Would `add_all` succeed? No constraint is changed (the potentials may be, which no answer shows).
  bool is_feasible_with(std::span<const Constraint> constraints);
  bool is_feasible_with(const Constraint& a, const Constraint& b) {
    const Constraint both[] = {a, b};
    return is_feasible_with(both);
  }

  /// Why the last `add`, or the last question whether one would succeed, failed: constraints that are infeasible
  /// together with that one, none of which could be left out. Requires: it did, for want of a solution, and nothing has
  /// been added or undone since.
  void explain_last(std::vector<std::uint32_t>& why) const;
  /// Would `add` fail if of what is there only the constraints existed for which `counts(i)`? Then `why`, if there is
  /// one, says which of them are infeasible together with it: those on a shortest path.
  template <class Counts>
  bool is_infeasible_among(const Constraint& c, const Counts& counts, std::vector<std::uint32_t>* why = nullptr) const {
    if (why != nullptr) why->clear();
    if (!c.bound.is_finite()) return c.bound == Bound::never();
    const Units slack_end = potential_[c.to] - potential_[c.from] - c.bound.units();
    if (slack_end <= 0) return false;
    // To be infeasible any path will do that is short enough; only as an explanation it should be a shortest one.
    if (why == nullptr) return is_reached(c.to, c.from, slack_end, counts);
    reach(c.to, counts, slack_end);
    if (distance_[c.from] == kFar) return false;
    for (Variable v = c.from; v != c.to; v = in_[reached_by_[v]].other)  // back to front
      why->push_back(reached_by_[v]);
    return true;
  }

  /// The same as `greatest_difference`, of those constraints alone for which `counts(i)`; the whole nanosecond that is
  /// not less.
  template <class Counts>
  std::optional<Extent> greatest_difference_among(Variable a, Variable b, const Counts& counts) const {
    reach(a, counts, kFar);
    if (distance_[b] == kFar) return std::nullopt;
    return Extent{sim::Duration::nanoseconds(Bound::of_units(distance_[b]).ns()), true};
  }

  Mark mark() const { return {variables_, constraints_}; }
  /// Removes the constraints and variables that came after the mark, in time proportional to their number.
  void undo(Mark mark) {
    assert(mark.variables <= variables_ && mark.constraints <= constraints_);
    while (constraints_ > mark.constraints) {
      --constraints_;
      const Half& out = out_[constraints_];
      const Half& in = in_[constraints_];
      first_out_[in.other] = out.next;
      first_in_[out.other] = in.next;
    }
    variables_ = mark.variables;
  }
  /// Back to the origin alone.
  void clear() { undo({1, 0}); }

  /// The infimum of x_b - x_a over all solutions; nothing if there is none. Minus the shortest path from b to a.
  std::optional<Extent> least_difference(Variable a, Variable b) const;
  /// The supremum of x_b - x_a over all solutions; nothing if there is none. The shortest path from a to b.
  std::optional<Extent> greatest_difference(Variable a, Variable b) const;

  /// The same constraints over whole nanoseconds: x < c has become x <= c - 1ns. Nothing if that is infeasible (as are
  /// x < y, y < x + 1ns). In the result each least and greatest difference is attained by a solution in nanoseconds,
  /// and fixing one at any value between keeps it so: for building witnesses piece by piece.
  std::optional<DifferenceConstraints> in_whole_ns() const;
  /// A solution in whole nanoseconds with x_0 = 0, strict bounds kept with at least 1ns; nothing if there is none.
  /// Each preference is granted in turn if the constraints and those granted before allow it. Then every variable is as
  /// early as possible; one that could be arbitrarily early is 0 or, if it must, as little before that as possible.
  std::optional<std::vector<std::int64_t>> solution_ns(std::span<const Preference> preferences = {}) const;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr Units kFar = 8 * Bound::units_end;

  /// One end's view of a constraint; constraint i is out_[i] in the list of its `from` and in_[i] in that of its `to`.
  struct Half {
    Units units;
    Variable other;
    std::uint32_t next;
  };
  void store(Variable u, Variable v, Bound w) {
    if (constraints_ == out_.size()) [[unlikely]]
      grow_constraints();
    out_[constraints_] = {w.units(), v, first_out_[u]};
    in_[constraints_] = {w.units(), u, first_in_[v]};
    first_out_[u] = constraints_;
    first_in_[v] = constraints_;
    ++constraints_;
  }
  /// For `explain_last`: it fails by itself.
  bool needs_no_wave(bool holds) const {
    if (!holds) failed_ = {};
    return holds;
  }
  void grow_constraints();
  /// Whether there is a path with less slack than `slack_end`, which is more than none, over the constraints for which
  /// `counts(i)`. As the potentials satisfy every constraint, no slack is negative: Dijkstra's algorithm, and no
  /// further than that.
  template <class Counts>
  bool is_reached(Variable from, Variable goal, Units slack_end, const Counts& counts) const {
    if (from == goal) return true;
    distance_.assign(variables_, kFar);
    distance_[from] = 0;
    nearest_.assign(1, {0, from});
    while (!nearest_.empty()) {
      std::pop_heap(nearest_.begin(), nearest_.end(), std::greater<>());
      const auto [slack, u] = nearest_.back();
      nearest_.pop_back();
      if (slack > distance_[u]) continue;
      for (std::uint32_t i = first_out_[u]; i != kNone; i = out_[i].next) {
        const Variable v = out_[i].other;
        const Units to_there = slack + (potential_[u] + out_[i].units - potential_[v]);
        if (to_there >= distance_[v] || to_there >= slack_end || !counts(i)) continue;
        if (v == goal) return true;
        distance_[v] = to_there;
        nearest_.emplace_back(to_there, v);
        std::push_heap(nearest_.begin(), nearest_.end(), std::greater<>());
      }
    }
    return false;
  }
  /// The shortest paths from a variable over the constraints for which `counts(i)`; one with as much slack as
  /// `slack_end`, or more, is none.
  ///
  /// By Bellman and Ford: around and around in the order of the constraints. Left out are those that cannot tell
  /// anything, since the variable that they start from has come no nearer since; and, as slack only grows along a path,
  /// all paths that have too much of it already. Neither changes which of several shortest paths is found: every part
  /// of one that is wanted is wanted.
  template <class Counts>
  void reach(Variable from, const Counts& counts, Units slack_end) const {
    distance_.assign(variables_, kFar);
    reached_by_.assign(variables_, kNone);
    open_.assign((constraints_ + 63) / 64, 0);
    distance_[from] = 0;
    open_from(from);
    for (bool is_over = false; !is_over;) {
      is_over = true;
      for (std::uint32_t word = 0; word < open_.size(); ++word) {
        // What is opened behind the one at hand waits for the next time around.
        std::uint64_t ahead = ~std::uint64_t{0};
        while ((open_[word] & ahead) != 0) {
          is_over = false;
          const int bit = std::countr_zero(open_[word] & ahead);
          ahead = ~std::uint64_t{1} << bit;
          open_[word] &= ~(std::uint64_t{1} << bit);
          const std::uint32_t i = 64 * word + static_cast<std::uint32_t>(bit);
          const Variable v = out_[i].other;
          const Units distance = distance_[in_[i].other] + out_[i].units;
          if (distance >= distance_[v] || distance + potential_[from] - potential_[v] >= slack_end) continue;
          if (!counts(i)) continue;
          distance_[v] = distance;
          reached_by_[v] = i;
          open_from(v);
        }
      }
    }
  }
  void open_from(Variable v) const {
    for (std::uint32_t i = first_out_[v]; i != kNone; i = out_[i].next) open_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  void grow_variables();
  bool add_repairing(Variable u, Variable v, Bound w);
  bool can_repair(Variable u, Variable v, Bound w) const;
  template <bool kLater>
  bool propagate(Variable moved, Variable fixed, Units missing) const;
  template <bool kLater>
  bool apply();
  void discard() const;
  bool is_solved_where_touched() const;
  void renew_potentials();
  std::optional<Units> shortest_path(Variable from, Variable to) const;
  void wait(Variable v) const { waiting_[v / 64] |= std::uint64_t{1} << (v % 64); }
  Variable next_waiting(Variable before) const;

  std::uint32_t variables_ = 1;
  std::uint32_t constraints_ = 0;
  // By variable.
  std::vector<Units> potential_;
  std::vector<std::uint32_t> first_out_;
  std::vector<std::uint32_t> first_in_;
  // By constraint.
  std::vector<Half> out_;
  std::vector<Half> in_;
  // Of `reach`, by variable: how far it is, and over which constraint it is reached last.
  mutable std::vector<Units> distance_;
  mutable std::vector<std::uint32_t> reached_by_;
  mutable std::vector<std::uint64_t> open_;                  ///< a bit for each constraint that may lead on
  mutable std::vector<std::pair<Units, Variable>> nearest_;  ///< a heap: with how much slack, and where
  // Of one wave; between waves all is 0. By variable; the variables whose change is not 0; a bit for each variable.
  mutable std::vector<Units> change_;
  mutable std::vector<std::uint32_t> via_;  ///< the constraint that made it move; left as it is
  struct Failed {
    bool later = false;
    Variable moved = kNone;
    Variable last = 0;  ///< that moved, and would have moved the fixed one
    std::uint32_t constraint = 0;
  };
  mutable Failed failed_;  ///< of the last wave that arrived
  mutable std::vector<Variable> touched_;
  mutable std::uint32_t touched_count_ = 0;
  mutable std::vector<std::uint64_t> waiting_;
};

}  // namespace lockstep::checker
