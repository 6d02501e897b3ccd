// capacity and fair, as ways: the definitions are those of capacity.hpp and fair.hpp.
//
// capacity. Intervals on a line have a common moment exactly if each two of them have one (Helly), so too many at once
// are places + 1 beliefs of different processes of which each is alive at the beginnings of all.
//
// fair. What a server did to one object is in its order; two effects on different objects are ordered by their times
// and, if these are equal, as the trace has them. Of each holder it is a way that its lease was over before Y came, and
// another that it lasts until X is granted.

#include <algorithm>
#include <set>

#include "checker/properties/evidence.hpp"
#include "checker/properties/server/fair.hpp"
#include "checker/violations/violations.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {

void ViolationFinder::capacity(std::size_t places) {
  crowd_.clear();
  add_to_crowd(0, places + 1);
}

/// Every choice of so many more beliefs from `first` on, each of another process and of the same object.
void ViolationFinder::add_to_crowd(std::size_t first, std::size_t missing) {
  if (missing == 0) {
    begin_crowd(0, false);
    return;
  }
  for (std::size_t i = first; i < beliefs_.size(); ++i) {
    const Belief& belief = beliefs_[i];
    const bool fits = std::all_of(crowd_.begin(), crowd_.end(), [&](const Companion& other) {
      return beliefs_[other.belief].process != belief.process && beliefs_[other.belief].object == belief.object;
    });
    if (!fits) continue;
    crowd_.push_back({i, 0});
    add_to_crowd(i + 1, missing - 1);
    crowd_.pop_back();
  }
}

/// Every choice of a way to be alive for each of the crowd.
void ViolationFinder::begin_crowd(std::size_t member, bool is_widened) {
  if (member < crowd_.size()) {
    const BeliefWays ways = alive_ways(crowd_[member].belief);
    for (std::size_t way = ways.begin; way < ways.end; ++way) {
      crowd_[member].way = way;
      begin_crowd(member + 1, is_widened || ways_[way].is_widened);
    }
    return;
  }
  sim::costly_invariant(
      [&] {
        std::set<sim::ProcessId> who;
        for (const Companion& one : crowd_) who.insert(beliefs_[one.belief].process);
        return who.size() == crowd_.size() && static_cast<std::int64_t>(who.size()) > *semaphore_.places;
      },
      "a crowd are more different processes than there are places");
  begin("capacity", is_widened, {}, {});
  for (const Companion& one : crowd_) current_->by.push_back(beliefs_[one.belief].process);
  for (const Companion& one : crowd_) {
    for (const Companion& other : crowd_) add_together(ways_[one.way], beliefs_[other.belief].from);
    add_sides(ways_[one.way].sides);
  }
  finish();
}

void ViolationFinder::fairness(std::size_t overtakings) {
  collect_arrivals(operations_, effects_, arrivals_);
  for (std::size_t y = 0; y < arrivals_.size(); ++y) {
    faster_.clear();
    add_overtaker(y, 0, overtakings + 1);
  }
}

void ViolationFinder::add_overtaker(std::size_t overtaken, std::size_t first, std::size_t missing) {
  const Arrival& y = arrivals_[overtaken];
  if (missing == 0) {
    add_leases(overtaken, 0);
    return;
  }
  for (std::size_t i = first; i < arrivals_.size(); ++i) {
    const Arrival& x = arrivals_[i];
    if (x.attempt->phase != sim::Phase::ok || x.attempt->process == y.attempt->process ||
        x.attempt->object != y.attempt->object) {
      continue;
    }
    faster_.push_back({i, 0});
    add_overtaker(overtaken, i + 1, missing - 1);
    faster_.pop_back();
  }
}

/// For each overtaker of an attempt that was turned away: which holders' leases were over before that came.
void ViolationFinder::add_leases(std::size_t overtaken, std::size_t member) {
  const Arrival& y = arrivals_[overtaken];
  if (member < faster_.size() && y.attempt->phase == sim::Phase::fail) {
    std::uint64_t leases = 0;
    for (const Arrival& z : arrivals_) leases += z.attempt->lease_until && is_holder(z, y) ? 1 : 0;
    // More than a handful of holders with leases: only the choice in which none was over.
    const std::uint64_t choices = leases <= 6 ? std::uint64_t{1} << leases : 1;
    for (std::uint64_t over = 0; over < choices; ++over) {
      faster_[member].leases_over = over;
      add_leases(overtaken, member + 1);
    }
    return;
  }
  begin("fair", false, y.attempt->process, {});
  for (const Faster& one : faster_) {
    const Arrival& x = arrivals_[one.arrival];
    if (std::find(current_->by.begin(), current_->by.end(), x.attempt->process) == current_->by.end()) {
      current_->by.push_back(x.attempt->process);
    }
    add_order(y.arrived, x.arrived);
    if (y.attempt->phase == sim::Phase::ok) {
      add_order(x.granted, y.granted);
    } else {
      add_still_taken(x, y, one.leases_over);
    }
  }
  finish();
}

/// One effect comes before another in the server's order.
void ViolationFinder::add_order(std::size_t before, std::size_t after) {
  const sim::Effect& a = effects_[before];
  const sim::Effect& b = effects_[after];
  if (a.server == b.server && a.object == b.object) {
    is_impossible_ = is_impossible_ || before >= after;
  } else {
    require(a.at, b.at, before > after);
  }
}

/// By the server's order alone: it had been granted when `y` came, and was not given back before.
bool ViolationFinder::is_holder(const Arrival& z, const Arrival& y) const {
  if (z.attempt->phase != sim::Phase::ok || z.attempt->object != y.attempt->object || z.granted >= y.arrived)
    return false;
  const auto back = place_given_back(z.attempt->id, operations_, effects_);
  return !back || *back >= y.arrived;
}

void ViolationFinder::add_still_taken(const Arrival& x, const Arrival& y, std::uint64_t leases_over) {
  for (const Arrival& z : arrivals_) {
    if (&z == &x || !is_holder(z, y)) continue;
    const auto back = place_given_back(z.attempt->id, operations_, effects_);
    const bool is_given_back = back && *back < x.granted;
    if (!z.attempt->lease_until) {
      is_impossible_ = is_impossible_ || is_given_back;
      continue;
    }
    const bool is_over = (leases_over & 1) != 0;
    leases_over >>= 1;
    if (is_over) {
      require(*z.attempt->lease_until, effects_[y.arrived].at, false);
    } else {
      is_impossible_ = is_impossible_ || is_given_back;
      require(effects_[x.granted].at, *z.attempt->lease_until, true);
    }
  }
}

}  // namespace lockstep::checker
