#include "checker/time/difference_constraints.hpp"

#include <algorithm>
#include <bit>

#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

using Units = Bound::Units;

constexpr Units kVariablesEnd = Bound::units_per_ns;

bool is_in_range(Units potential) { return potential < Bound::units_end && potential > -Bound::units_end; }

/// The tightest bound that whole nanoseconds can tell from this one.
std::int64_t floor_ns(Bound bound) { return bound.ns() - (bound.is_strict() ? 1 : 0); }

}  // namespace

DifferenceConstraints::DifferenceConstraints() {
  grow_variables();
  grow_constraints();
  first_out_[0] = first_in_[0] = kNone;
}

void DifferenceConstraints::grow_variables() {
  const std::size_t size = std::max<std::size_t>(64, 2 * potential_.size());  // a multiple of 64
  potential_.resize(size);
  first_out_.resize(size);
  first_in_.resize(size);
  change_.resize(size);
  via_.resize(size);
  touched_.resize(size);
  waiting_.resize(size / 64);
}

void DifferenceConstraints::grow_constraints() {
  const std::size_t size = std::max<std::size_t>(256, 2 * out_.size());
  out_.resize(size);
  in_.resize(size);
}

Variable DifferenceConstraints::add_variable() {
  assert(variables_ + 1 < kVariablesEnd);
  if (variables_ == potential_.size()) [[unlikely]]
    grow_variables();
  potential_[variables_] = potential_[0];
  first_out_[variables_] = first_in_[variables_] = kNone;
  return variables_++;
}

Variable DifferenceConstraints::add_variable(Variable base, sim::DurationRange delay) {
  assert(base < variables_ && delay.lo <= delay.hi);
  const Bound least = Bound::at_most(-delay.lo);
  assert(least.is_finite());
  const Variable added = add_variable();
  potential_[added] = potential_[base] - least.units();
  store(added, base, least);
  const Bound greatest = Bound::at_most(delay.hi);
  if (greatest.is_finite()) store(base, added, greatest);
  if (!is_in_range(potential_[added])) [[unlikely]]
    renew_potentials();
  return added;
}

bool DifferenceConstraints::add_all(std::span<const Constraint> constraints) {
  const Mark before = mark();
  for (const Constraint& c : constraints) {
    if (add(c)) continue;
    undo(before);
    return false;
  }
  return true;
}

bool DifferenceConstraints::is_feasible_with(std::span<const Constraint> constraints) {
  if (constraints.empty()) return true;
  const Mark before = mark();
  const bool feasible = add_all(constraints.first(constraints.size() - 1)) && is_feasible_with(constraints.back());
  undo(before);
  return feasible;
}

/// Takes the newest waiting variable older than `before`, or else the newest of all; `kNone` if nobody waits.
Variable DifferenceConstraints::next_waiting(Variable before) const {
  const std::uint32_t words = (variables_ + 63) / 64;
  std::uint32_t word = before / 64;
  std::uint64_t bits = waiting_[word] & ((std::uint64_t{1} << (before % 64)) - 1);
  while (bits == 0 && word > 0) bits = waiting_[--word];
  if (bits == 0) {
    word = words;
    while (bits == 0 && word > 0) bits = waiting_[--word];
    if (bits == 0) return kNone;
  }
  const std::uint32_t bit = 63 - static_cast<std::uint32_t>(std::countl_zero(bits));
  waiting_[word] &= ~(std::uint64_t{1} << bit);
  return 64 * word + bit;
}

/// Computes into `change_` by how much each variable must move (later, or else earlier) if `moved` moves by `missing`.
/// False if `fixed` would have to move too. Slacks are those of the unchanged potentials: a neighbour must move by what
/// the change exceeds the slack.
template <bool kLater>
bool DifferenceConstraints::propagate(Variable moved, Variable fixed, Units missing) const {
  const std::uint32_t* const first = kLater ? first_in_.data() : first_out_.data();
  const Half* const halves = kLater ? in_.data() : out_.data();
  const Units* const potential = potential_.data();
  Units* const change = change_.data();
  std::uint32_t* const via = via_.data();
  change[moved] = missing;
  touched_[0] = moved;
  touched_count_ = 1;
  for (Variable s = moved; s != kNone; s = next_waiting(s)) {
    const Units moves_to = change[s] + (kLater ? potential[s] : -potential[s]);
    for (std::uint32_t i = first[s]; i != kNone; i = halves[i].next) {
      const Variable t = halves[i].other;
      const Units needed = moves_to - halves[i].units - (kLater ? potential[t] : -potential[t]);
      if (needed <= change[t]) continue;
      if (t == fixed) {
        std::fill_n(waiting_.begin(), (variables_ + 63) / 64, 0);
        failed_ = {kLater, moved, s, i};
        return false;
      }
      if (change[t] == 0) touched_[touched_count_++] = t;
      change[t] = needed;
      via[t] = i;
      wait(t);
    }
  }
  return true;
}

/// False if a potential is now out of range.
template <bool kLater>
bool DifferenceConstraints::apply() {
  bool in_range = true;
  for (std::uint32_t i = 0; i < touched_count_; ++i) {
    const Variable t = touched_[i];
    potential_[t] += kLater ? change_[t] : -change_[t];
    in_range = in_range && is_in_range(potential_[t]);
    change_[t] = 0;
  }
  return in_range;
}

bool DifferenceConstraints::is_solved_where_touched() const {
  return std::all_of(touched_.begin(), touched_.begin() + touched_count_, [&](Variable v) {
    for (std::uint32_t i = first_out_[v]; i != kNone; i = out_[i].next) {
      if (potential_[out_[i].other] - potential_[v] > out_[i].units) return false;
    }
    for (std::uint32_t i = first_in_[v]; i != kNone; i = in_[i].next) {
      if (potential_[v] - potential_[in_[i].other] > in_[i].units) return false;
    }
    return true;
  });
}

void DifferenceConstraints::discard() const {
  for (std::uint32_t i = 0; i < touched_count_; ++i) change_[touched_[i]] = 0;
}

/// The way of the wave, from where it arrived. It may have found a longer one to a variable since: then that closes the
/// cycle all the more.
void DifferenceConstraints::explain_last(std::vector<std::uint32_t>& why) const {
  why.clear();
  if (failed_.moved == kNone) return;
  why.push_back(failed_.constraint);
  for (Variable v = failed_.last; v != failed_.moved;) {
    const std::uint32_t i = via_[v];
    why.push_back(i);
    v = failed_.later ? out_[i].other : in_[i].other;
  }
}

bool DifferenceConstraints::can_repair(Variable u, Variable v, Bound w) const {
  const Units missing = potential_[v] - potential_[u] - w.units();
  const bool repaired = u > v ? propagate<true>(u, v, missing) : propagate<false>(v, u, missing);
  discard();
  return repaired;
}

bool DifferenceConstraints::add_repairing(Variable u, Variable v, Bound w) {
  const Units missing = potential_[v] - potential_[u] - w.units();
  if (!(u > v ? propagate<true>(u, v, missing) : propagate<false>(v, u, missing))) {
    discard();
    return false;
  }
  const bool in_range = u > v ? apply<true>() : apply<false>();
  store(u, v, w);
  sim::costly_invariant([&] { return is_solved_where_touched(); },
                        "potentials that have moved satisfy all constraints of what moved");
  if (!in_range) [[unlikely]]
    renew_potentials();
  return true;
}

/// Repairs over many adds and undos can carry potentials away, all of them together or those of unrelated variables.
/// The solution of all shortest paths from a source at 0 does not depend on that past.
void DifferenceConstraints::renew_potentials() {
  std::fill_n(potential_.begin(), variables_, 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < constraints_; ++i) {
      const Units latest = potential_[in_[i].other] + out_[i].units;
      if (latest >= potential_[out_[i].other]) continue;
      assert(is_in_range(latest));  // the constraints force times further apart than any sum of theirs
      potential_[out_[i].other] = latest;
      changed = true;
    }
  }
}

/// A wave of slacks, which are not negative: what is not shorter than a known path to `to` goes no further.
/// Distances are kept less `kFar`, so that 0 stands for no path.
std::optional<Units> DifferenceConstraints::shortest_path(Variable from, Variable to) const {
  assert(from < variables_ && to < variables_);
  if (from == to) return 0;
  const bool forward = from > to;
  const std::uint32_t* const first = forward ? first_out_.data() : first_in_.data();
  const Half* const halves = forward ? out_.data() : in_.data();
  const Variable begin = forward ? from : to;
  const Variable end = forward ? to : from;
  change_[begin] = -kFar;
  touched_[0] = begin;
  touched_count_ = 1;
  for (Variable s = begin; s != kNone; s = next_waiting(s)) {
    if (change_[s] >= change_[end]) continue;
    assert(change_[s] + kFar < Bound::units_end);  // a slack is below 3 * units_end
    for (std::uint32_t i = first[s]; i != kNone; i = halves[i].next) {
      const Variable t = halves[i].other;
      const Units difference = forward ? potential_[s] - potential_[t] : potential_[t] - potential_[s];
      const Units distance = change_[s] + (difference + halves[i].units);
      if (distance >= change_[t] || distance >= change_[end]) continue;
      if (change_[t] == 0) touched_[touched_count_++] = t;
      change_[t] = distance;
      if (t != end) wait(t);
    }
  }
  std::optional<Units> found;
  if (change_[end] != 0) found = change_[end] + kFar - potential_[from] + potential_[to];
  discard();
  return found;
}

std::optional<Extent> DifferenceConstraints::greatest_difference(Variable a, Variable b) const {
  const std::optional<Units> units = shortest_path(a, b);
  if (!units) return std::nullopt;
  const Bound least = Bound::of_units(*units);
  return Extent{sim::Duration::nanoseconds(least.ns()), !least.is_strict()};
}

std::optional<Extent> DifferenceConstraints::least_difference(Variable a, Variable b) const {
  std::optional<Extent> extent = greatest_difference(b, a);
  if (extent) extent->value = -extent->value;
  return extent;
}

std::optional<DifferenceConstraints> DifferenceConstraints::in_whole_ns() const {
  DifferenceConstraints whole;
  while (whole.variables() < variables_) whole.add_variable();
  for (std::uint32_t i = 0; i < constraints_; ++i) {
    const sim::Duration c = sim::Duration::nanoseconds(floor_ns(constraint(i).bound));
    if (!whole.add(in_[i].other, out_[i].other, Bound::at_most(c))) return std::nullopt;
  }
  return whole;
}

std::optional<std::vector<std::int64_t>> DifferenceConstraints::solution_ns(
    std::span<const Preference> preferences) const {
  std::optional<DifferenceConstraints> whole = in_whole_ns();
  if (!whole) return std::nullopt;
  for (const Preference& wish : preferences) {
    sim::Duration value = wish.value;
    if (wish.or_nearest) {
      const std::optional<Extent> least = whole->least_difference(wish.from, wish.to);
      const std::optional<Extent> greatest = whole->greatest_difference(wish.from, wish.to);
      if (least && value < least->value) value = least->value;
      if (greatest && value > greatest->value) value = greatest->value;
    }
    const Constraint exactly[] = {{wish.from, wish.to, Bound::at_most(value)},
                                  {wish.to, wish.from, Bound::at_most(-value)}};
    whole->add_all(exactly);
  }

  const std::uint32_t n = whole->constraints_;
  constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> times(variables_, kNoTime);
  const auto sweep = [&](auto tighten) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t i = 0; i < n; ++i) {
        const Variable from = whole->in_[i].other;
        const Variable to = whole->out_[i].other;
        if (tighten(from, to, floor_ns(whole->constraint(i).bound))) changed = true;
      }
    }
  };
  // The earliest time of each variable that has one.
  times[0] = 0;
  sweep([&](Variable from, Variable to, std::int64_t ns) {
    if (times[to] == kNoTime || times[to] - ns <= times[from]) return false;
    times[from] = times[to] - ns;
    return true;
  });
  // The others bound nobody who has one: the latest not after 0.
  std::vector<char> is_free(variables_);
  for (Variable v = 0; v < variables_; ++v) {
    if (times[v] != kNoTime) continue;
    is_free[v] = 1;
    times[v] = 0;
  }
  sweep([&](Variable from, Variable to, std::int64_t ns) {
    if (!is_free[to] || times[from] + ns >= times[to]) return false;
    times[to] = times[from] + ns;
    return true;
  });
  return times;
}

}  // namespace lockstep::checker
