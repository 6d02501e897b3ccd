// When is the history of a trace not linearizable as a mutex that only its owner releases?
//
// mutex.hpp says what the operations mean; mutex_owner.cpp decides for true times. The same argument with symbolic times:
//
// 1. The operations of one process are in the order of their steps, and take turns: each acquire that is certain is
//    followed by a release, certain or unknown, before the next one. That splits them into holds, and if each
//    acquire has at most one possible release, only one split makes sense. (An unknown acquire together with an unknown
//    release that no hold needs can split another hold in two, or stand for itself; the latter helps nobody.)
// 2. A hold takes the lock at the deadline of its operations at the latest, b = min(deadlines), and gives it back at their
//    invocations at the earliest, e = max(invocations); e is infinite if it is never released. If b < e, (b, e) is its core.
//    Otherwise it can be over at any one moment of [e, b].
// 3. The holds of all processes fit exactly if no two cores overlap and no [e, b] lies inside a core. For holds X and Y
//    both are the same condition: b_X < e_Y and b_Y < e_X. (Two cores: they overlap. X without core: e_X <= b_X, so
//    b_Y < e_X <= b_X < e_Y puts [e_X, b_X] inside Y's core. Neither with a core: e_X <= b_X < e_Y <= b_Y < e_X is
//    impossible.) So each pair of holds of two processes is one way.
// 4. A hold whose release failed, or that has none, and after which the same process acquires again, leaves one
//    release too few. That is final as soon as an acquire completes up to which there were two more acquires than releases
//    that may have been invoked; so it is a way that the next release comes strictly later. It is not final if each later
//    hold gives back at the very moment at which it learned that it got the lock: the two operations touch, may be ordered
//    the other way round, and then each release stands for the hold before: a1, r2, a2, r3, a3, …, and the last hold is
//    for ever. The holds of that other split conflict with those of others as in 3. (It takes operations of some length:
//    one of no length could be moved even further. So this is demanded too, and without it the ways are widened.)
//    Likewise with an unknown release to spare, which may end a hold before its certain one does: the certain release may
//    then belong to the next hold, if it touches that acquire. So it is demanded that nothing touches.
// 5. A crash or a loss is a release with unknown outcome, but only if the belief was not over by its deadline before. An
//    unknown release never hurts: what is broken with it is broken without it. So the ways with it need no further
//    condition, and the ways without it need that the deadline was noticed before: some moment from the deadline on, and
//    before the crash, was in no pause.
// 6. What is left (releases of what was never acquired for certain, unknown releases to spare where there is an unknown
//    acquire) is decided as mutex_owner.cpp would without looking further, which may find a conflict where the search finds
//    none: widened.

#include <algorithm>

#include "checker/violations.hpp"

namespace lockstep::checker {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);
constexpr std::string_view property = "linearizable";
/// So many crashes of holders with deadlines are tried in all combinations; of the others, the deadline is not looked at.
constexpr std::size_t absent_max = 3;

}  // namespace

void ViolationFinder::collect_items() {
  items_.clear();
  for (const sim::Operation& operation : operations_) {
    const bool is_acquire = operation.function == "acquire";
    if ((!is_acquire && operation.function != "release") || operation.phase == sim::Phase::fail) continue;
    items_.push_back({.object = &operation.object,
                      .process = operation.process,
                      .is_acquire = is_acquire,
                      .is_certain = operation.phase == sim::Phase::ok,
                      .invoked = operation.invoked,
                      .invoked_in = operation.invoked_in,
                      .completed = operation.completed,
                      .completed_in = operation.completed_in,
                      .belief = kNone});
  }
  for (std::size_t i = 0; i < beliefs_.size(); ++i) {
    const Belief& belief = beliefs_[i];
    // Of what ends a belief in one step, a release comes first.
    const std::optional<Ending>* first = &belief.released;
    for (const auto* ending : {&belief.lost, &belief.crashed}) {
      if (*ending && (!*first || (*ending)->step < (*first)->step)) first = ending;
    }
    if (first == &belief.released) continue;
    items_.push_back({.object = &operations_[belief.acquire - 1].object,
                      .process = belief.process,
                      .is_acquire = false,
                      .is_certain = false,
                      .invoked = (*first)->at,
                      .invoked_in = (*first)->step,
                      .completed = (*first)->at,
                      .completed_in = (*first)->step,
                      .belief = belief.deadline ? static_cast<std::uint32_t>(i) : kNone});
  }
  // By object, process, step. Few and nearly sorted: an insertion sort, which keeps the order of what is equal.
  const auto is_before = [](const Item& a, const Item& b) {
    if (a.object != b.object) {
      if (const int order = a.object->compare(*b.object); order != 0) return order < 0;
    }
    return a.process != b.process ? a.process < b.process : a.invoked_in < b.invoked_in;
  };
  for (std::size_t i = 1; i < items_.size(); ++i) {
    for (std::size_t j = i; j > 0 && is_before(items_[j], items_[j - 1]); --j) std::swap(items_[j], items_[j - 1]);
  }
}

void ViolationFinder::linearizable() {
  const bool is_shared =
      std::any_of(operations_.begin(), operations_.end(), [](const sim::Operation& o) { return o.is_shared; });
  if (is_shared) return;
  collect_items();
  plans_.clear();
  holds_.clear();
  const auto is_same_object = [](const std::string* a, const std::string* b) { return a == b || *a == *b; };
  for (std::size_t begin = 0, end = 0; begin < items_.size(); begin = end) {
    while (end < items_.size() && items_[end].process == items_[begin].process &&
           is_same_object(items_[end].object, items_[begin].object)) {
      ++end;
    }
    plan_process(begin, end);
  }
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    for (std::size_t j = i + 1; j < plans_.size(); ++j) {
      if (plans_[i].process == plans_[j].process || !is_same_object(plans_[i].object, plans_[j].object)) continue;
      conflicts(plans_[i], plans_[j]);
    }
  }
}

void ViolationFinder::conflicts(const Plan& a, const Plan& b) {
  for (std::size_t i = a.holds_begin; i < a.holds_end; ++i) {
    for (std::size_t j = b.holds_begin; j < b.holds_end; ++j) {
      const Hold& x = holds_[i];
      const Hold& y = holds_[j];
      begin(property, a.is_widened || b.is_widened, a.process, b.process);
      if (y.earliest_end) require(x.latest_begin, *y.earliest_end, true);
      if (x.earliest_end) require(y.latest_begin, *x.earliest_end, true);
      add_sides(a.conditions);
      add_sides(b.conditions);
      finish();
    }
  }
}

void ViolationFinder::plan_process(std::size_t begin, std::size_t end) {
  conditions_.clear();
  absent_.clear();
  plan_with_absent(begin, end, begin, false);
}

/// A plan for each choice of the crashes and losses that came too late to be a release.
void ViolationFinder::plan_with_absent(std::size_t begin, std::size_t end, std::size_t next, bool is_widened) {
  while (next < end && items_[next].belief == kNone) ++next;
  if (next == end) {
    make_plan(begin, end, is_widened);
    return;
  }
  plan_with_absent(begin, end, next + 1, is_widened);
  absent_.push_back(static_cast<std::uint32_t>(next));
  if (absent_.size() > absent_max) {
    plan_with_absent(begin, end, next + 1, true);
  } else {
    const std::size_t mark = conditions_.size();
    noticed_before(beliefs_[items_[next].belief], items_[next].invoked, [&](bool is_loose) {
      plan_with_absent(begin, end, next + 1, is_widened || is_loose);
      conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(mark), conditions_.end());
    });
  }
  absent_.pop_back();
}

/// The ways in which the deadline of a belief is noticed before `moment`: it, or the end of a pause after it, is in no
/// pause. Puts their constraints behind `conditions_`, and calls `then` with whether they are widened.
template <class Then>
void ViolationFinder::noticed_before(const Belief& belief, sim::Instant moment, const Then& then) {
  const sim::Instant deadline = belief.deadline->at;
  const auto is_own = [&](const Pause& pause) { return pause.process == belief.process; };
  const bool has_loose =
      std::any_of(pauses_.begin(), pauses_.end(), [&](const Pause& p) { return is_own(p) && p.is_loose; });
  // `free` is after the first `over` pauses, and before the others: they are in order of their beginning.
  const auto is_free = [&](sim::Instant free, std::size_t over) {
    for (std::size_t i = 0; i < pauses_.size(); ++i) {
      if (!is_own(pauses_[i])) continue;
      if (i >= over) {
        conditions_.push_back(Constraint::less_than(free, pauses_[i].from));
        return true;
      }
      if (!pauses_[i].until) return false;
      conditions_.push_back(Constraint::at_most(*pauses_[i].until, free));
    }
    return true;
  };
  const std::size_t mark = conditions_.size();
  for (std::size_t over = 0; over <= pauses_.size(); ++over) {
    if (over > 0 && !is_own(pauses_[over - 1])) continue;
    conditions_.push_back(Constraint::less_than(deadline, moment));
    if (is_free(deadline, over)) then(false);
    conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(mark), conditions_.end());
    if (over == 0 || !pauses_[over - 1].until) continue;
    const sim::Instant free = *pauses_[over - 1].until;
    conditions_.push_back(Constraint::at_most(deadline, free));
    conditions_.push_back(Constraint::less_than(free, moment));
    if (is_free(free, over)) then(false);
    conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(mark), conditions_.end());
  }
  if (!has_loose) return;
  conditions_.push_back(Constraint::less_than(deadline, moment));
  then(true);
  conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(mark), conditions_.end());
}

void ViolationFinder::make_plan(std::size_t begin_at, std::size_t end_at, bool is_widened) {
  const Slice conditions{sides_.size(), sides_.size() + conditions_.size()};
  sides_.insert(sides_.end(), conditions_.begin(), conditions_.end());
  const sim::ProcessId process = items_[begin_at].process;
  const auto is_there = [&](std::size_t i) {
    return std::find(absent_.begin(), absent_.end(), static_cast<std::uint32_t>(i)) == absent_.end();
  };
  const auto add_structural = [&](bool widened) {
    begin(property, widened, process, {});
    add_sides(conditions);
    finish();
  };

  // Pairs them as mutex_owner.cpp does: gaps are filled with the earliest unknown operation that can fill them.
  unknown_acquires_.clear();
  unknown_releases_.clear();
  std::size_t certain_acquires = 0;
  std::size_t certain_releases = 0;
  for (std::size_t i = begin_at; i < end_at; ++i) {
    if (!is_there(i)) continue;
    if (items_[i].is_certain) {
      ++(items_[i].is_acquire ? certain_acquires : certain_releases);
    } else {
      (items_[i].is_acquire ? unknown_acquires_ : unknown_releases_).push_back(i);
    }
  }
  std::size_t next_acquire = 0;
  std::size_t next_release = 0;
  const auto take = [&](const std::vector<std::size_t>& unknown, std::size_t& next, sim::Step latest) {
    return next == unknown.size() || items_[unknown[next]].invoked_in > latest ? none : unknown[next++];
  };
  pairs_.clear();
  std::size_t gap = none;  ///< the pair that has no release although another one follows
  bool is_regular = true;
  bool has_gaps = false;
  bool lacks_acquire = false;
  bool has_spare = false;  ///< some certain release comes while an unknown one is to spare
  std::size_t held = none;
  for (std::size_t i = begin_at; i < end_at; ++i) {
    if (!items_[i].is_certain) continue;
    if (items_[i].is_acquire) {
      if (held != none) {
        // What is invoked in the step in which the acquire completes cannot come before it.
        const std::size_t release = take(unknown_releases_, next_release, items_[i].completed_in - 1);
        if (release == none) {
          is_regular = is_regular && !has_gaps;
          has_gaps = true;
          gap = pairs_.size();
        }
        pairs_.push_back({held, release});
      }
      held = i;
      continue;
    }
    if (next_release < unknown_releases_.size() &&
        items_[unknown_releases_[next_release]].invoked_in <= items_[i].completed_in)
      has_spare = true;
    if (held != none) {
      pairs_.push_back({held, i});
      held = none;
    } else if (const std::size_t acquire = take(unknown_acquires_, next_acquire, items_[i].completed_in);
               acquire != none) {
      pairs_.push_back({acquire, i});
      is_regular = false;
    } else {
      lacks_acquire = true;
    }
  }
  if (held != none) pairs_.push_back({held, take(unknown_releases_, next_release, 0xffffffff)});

  const std::size_t possible_releases = certain_releases + unknown_releases_.size();
  const std::size_t possible_acquires = certain_acquires + unknown_acquires_.size();
  if (certain_acquires > possible_releases + 1 || certain_releases > possible_acquires) {
    add_structural(is_widened);
    return;
  }
  // By the time an acquire has completed, two more were made than all releases so far can have ended.
  for (std::size_t i = begin_at; has_gaps && i < end_at; ++i) {
    const Item& acquire = items_[i];
    if (!acquire.is_acquire || !acquire.is_certain) continue;
    std::size_t acquires = 1;
    std::size_t releases = 0;
    const Item* next = nullptr;
    for (std::size_t j = begin_at; j < end_at; ++j) {
      const Item& item = items_[j];
      if (!is_there(j)) continue;
      if (item.is_acquire) {
        if (j < i && item.is_certain) ++acquires;
      } else if (item.invoked_in < acquire.completed_in) {
        ++releases;
      } else if (next == nullptr) {
        next = &item;
      }
    }
    if (acquires < releases + 2) continue;
    begin(property, is_widened, process, {});
    if (next != nullptr) require(acquire.completed, next->invoked, true);
    add_sides(conditions);
    finish();
  }
  if (lacks_acquire) {
    add_structural(true);
    return;
  }
  is_widened = is_widened || (has_spare && !unknown_acquires_.empty()) || !is_regular;
  Plan plan{items_[begin_at].object, process, conditions, holds_.size(), 0, is_widened};
  if (has_gaps) {
    const bool each_has_one = next_release == unknown_releases_.size() && !has_spare && is_regular;
    if (!each_has_one || pairs_.back().release == none) {
      add_structural(true);
      return;
    }
    plan.conditions.begin = sides_.size();
    sides_.insert(sides_.end(), conditions_.begin(), conditions_.end());
    for (std::size_t p = gap + 1; p < pairs_.size(); ++p) {
      const Item& acquire = items_[pairs_[p].acquire];
      const Item& release = items_[pairs_[p].release];
      for (const Item* item : {&acquire, &release}) {
        if (plan.is_widened || !item->is_certain) continue;
        sides_.push_back(Constraint::less_than(item->invoked, item->completed));
      }
      pairs_[p - 1].release = pairs_[p].release;
    }
    pairs_.back().release = none;
    plan.conditions.end = sides_.size();
  }
  if (has_spare && !plan.is_widened) {
    plan.conditions.begin = sides_.size();
    sides_.insert(sides_.end(), conditions_.begin(), conditions_.end());
    const Item* before = nullptr;
    for (std::size_t i = begin_at; i < end_at; ++i) {
      if (!items_[i].is_certain) continue;
      if (before != nullptr) sides_.push_back(Constraint::less_than(before->completed, items_[i].invoked));
      before = &items_[i];
    }
    plan.conditions.end = sides_.size();
  }
  for (const Pair& pair : pairs_) {
    const Item& acquire = items_[pair.acquire];
    const Item* release = pair.release == none ? nullptr : &items_[pair.release];
    Hold hold{acquire.is_certain ? acquire.completed : release->completed, {}};
    if (release != nullptr) {
      hold.earliest_end = release->invoked_in >= acquire.invoked_in ? release->invoked : acquire.invoked;
    }
    holds_.push_back(hold);
  }
  plan.holds_end = holds_.size();
  plans_.push_back(plan);
  if ((has_gaps || has_spare) && !plan.is_widened) {
    plan.conditions = conditions;
    plan.is_widened = true;
    plans_.push_back(plan);
  }
}

}  // namespace lockstep::checker
