// When is the history of a trace not linearizable as a mutex that only its owner releases?
//
// properties/belief/mutex_history.hpp says what the operations mean; lock_sweep.hpp decides for true times. The same
// argument with symbolic times:
//
// 1. The operations of one process are in the order of their steps, and take turns: each acquire that is certain is
//    followed by a release, certain or unknown, before the next one. That splits them into holds, and if each
//    acquire has at most one possible release, only one split makes sense. (An unknown acquire together with an unknown
//    release that no hold needs can split another hold in two, or stand for itself; the latter helps nobody.)
// 2. A hold takes the lock at the deadline of its operations at the latest, b = min(deadlines), and gives it back at
//    their invocations at the earliest, e = max(invocations); e is infinite if it is never released. If b < e, (b, e)
//    is its core. Otherwise it can be over at any one moment of [e, b].
// 3. The holds of all processes fit exactly if no two cores overlap and no [e, b] lies inside a core. For holds X and Y
//    both are the same condition: b_X < e_Y and b_Y < e_X. (Two cores: they overlap. X without core: e_X <= b_X, so
//    b_Y < e_X <= b_X < e_Y puts [e_X, b_X] inside Y's core. Neither with a core: e_X <= b_X < e_Y <= b_Y < e_X is
//    impossible.) So each pair of holds of two processes is one way.
// 4. A hold whose release failed, or that has none, and after which the same process acquires again, leaves one
//    release too few. That is final as soon as an acquire completes up to which there were two more acquires than
//    releases that may have been invoked; so it is a way that the next release comes strictly later. It is not final if
//    each later hold gives back at the very moment at which it learned that it got the lock: the two operations touch,
//    may be ordered the other way round, and then each release stands for the hold before: a1, r2, a2, r3, a3, …, and
//    the last hold is for ever. The holds of that other split conflict with those of others as in 3. (It takes
//    operations of some length: one of no length could be moved even further. So this is demanded too, and without it
//    the ways are widened.) Likewise with an unknown release to spare, which may end a hold before its certain one
//    does: the certain release may then belong to the next hold, if it touches that acquire. So it is demanded that
//    nothing touches.
// 5. A crash or a loss is a release with unknown outcome. A deadline moves a release: whatever gives the hold back (its
//    release unless that failed, its crash, its loss, or else a release with unknown outcome that stands for the
//    deadline alone) is invoked when the deadline is noticed, if that is earlier; and a hold of which that is before
//    its acquire has completed is left out. So the hold's end is a minimum, e = min(invocation, noticed), and b_Y < e
//    says that both are later. "b_Y is before the deadline is noticed" are the ways of mutual-exclusion to be alive at
//    b_Y, but for endings by events; and with "alive at b_X", the same way, X was not left out. What stands for a
//    deadline has no step. It is taken to be there from the acquire's completion on, so that it can fill the gap before
//    the next acquire. That it was noticed only after that acquire had completed is a way of its own: two more acquires
//    than releases, as in 4. Again it is exact if the acquire does not touch what gives its own hold back, and widened
//    without that; and so are the conflicts of such holds. Where 1 to 4 do not split the operations so that each hold
//    with a deadline has its own release (gaps even so, unknown releases to spare, a certain release that comes after
//    the next acquire), the deadlines are left out. A release that is invoked earlier never hurts, so that is wider:
//    widened.
// (Where something happens within holds, every way is left to a replay.)
// 6. What is left (releases of what was never acquired for certain, unknown releases to spare where there is an unknown
//    acquire) is paired up without looking further, which may find a conflict where the search finds
//    none: widened.
// 7. Where holds are taken again (reenter, leave), the mutex is one that its owner may take as often as it gives back.
//    How deep the owner is before the outermost release lies between what the certain inner operations say and what the
//    unknown ones may add. If that can be 1, a certain release ends the hold: the inner operations say nothing more. If
//    it is never less than 1, no inner release ends it. If it can be 0, and there is one inner release, that may have
//    given the lock back; and did, if it cannot be more and is certain. Everything else is left to a replay, also what
//    4 to 6 are about, for who acquires what it has counts one more.

#include <algorithm>

#include "checker/violations/violations.hpp"

namespace lockstep::checker {
namespace {

constexpr std::size_t kNoPair = static_cast<std::size_t>(-1);
constexpr std::string_view kLinearizable = "linearizable";

}  // namespace

void ViolationFinder::collect_items(bool with_inner) {
  items_.clear();
  // Of each belief with a deadline, what gives its hold back and what else stands for that: positions among the items.
  const auto with_deadline = [&](sim::OperationId acquire) {
    const std::size_t belief = acquire < belief_of_.size() ? belief_of_[acquire] : kNoPair;
    const bool has = belief < beliefs_.size() && beliefs_[belief].deadline;
    return has ? static_cast<std::uint32_t>(belief) : kNone;
  };
  is_given_back_.assign(beliefs_.size(), false);
  for (const sim::Operation& operation : operations_) {
    const bool is_acquire = operation.function == "acquire";
    if ((!is_acquire && operation.function != "release") || operation.phase == sim::Phase::fail) continue;
    Item item{.object = &operation.object,
              .process = operation.process,
              .is_acquire = is_acquire,
              .is_certain = operation.phase == sim::Phase::ok,
              .invoked = operation.invoked,
              .invoked_in = operation.invoked_in,
              .event = operation.invoked_in,
              .completed = operation.completed,
              .completed_in = operation.completed_in,
              .belief = kNone,
              .hold = is_acquire ? operation.id : operation.of};
    if (is_acquire && item.is_certain) item.belief = with_deadline(operation.id);
    if (!is_acquire) item.belief = with_deadline(operation.of);
    if (!is_acquire && item.belief != kNone) {
      // Only the first release of a hold gives it back.
      if (is_given_back_[item.belief] || beliefs_[item.belief].object != operation.object) {
        item.is_extra = true;
        item.belief = kNone;
      } else {
        is_given_back_[item.belief] = true;
      }
    }
    items_.push_back(item);
  }
  for (std::size_t i = 0; i < beliefs_.size(); ++i) {
    const Belief& belief = beliefs_[i];
    // Of what ends a belief in one step, a release comes first.
    const std::optional<Ending>* first = &belief.released;
    for (const auto* ending : {&belief.lost, &belief.crashed}) {
      if (*ending && (!*first || (*ending)->step < (*first)->step)) first = ending;
    }
    const bool is_given_up = first != &belief.released;
    if (!is_given_up && (!belief.deadline || is_given_back_[i])) continue;
    Item item{.object = &operations_[belief.acquire - 1].object,
              .process = belief.process,
              .is_acquire = false,
              .is_certain = false,
              .invoked = is_given_up ? (*first)->at : belief.from,
              .invoked_in = is_given_up ? (*first)->step : belief.from_step,
              .event = is_given_up ? (*first)->step : sim::no_step,
              .completed = belief.from,
              .completed_in = belief.from_step,
              .belief = belief.deadline ? static_cast<std::uint32_t>(i) : kNone,
              .hold = belief.acquire,
              .is_extra = belief.deadline && is_given_back_[i]};
    items_.push_back(item);
  }
  has_inner_ = false;
  if (with_inner) inner_operations();
  // A deadline may come at any time: what has one and is not certain may be there as soon as the hold is.
  for (Item& item : items_) {
    if (item.is_acquire || item.is_certain || item.belief == kNone) continue;
    item.invoked_in = std::min(item.invoked_in, beliefs_[item.belief].from_step);
  }
  sort_items(items_);
}

/// What happens within holds. Where each further acquire has its release, they say nothing new; see 7.
void ViolationFinder::inner_operations() {
  const auto is_inner = [](const sim::Operation& o) { return o.function == "reenter" || o.function == "leave"; };
  has_inner_ = std::any_of(operations_.begin(), operations_.end(), is_inner);
  if (!has_inner_) return;
  for (const Belief& belief : beliefs_) {
    // How deep it can be in the hold before the outermost release.
    int least = 1;
    int most = 1;
    std::size_t leaves = 0;
    const sim::Operation* last = nullptr;
    bool is_released = false;
    bool is_perhaps_released = false;
    bool is_within = !belief.lost && !belief.deadline;
    for (const sim::Operation& o : operations_) {
      if (o.of != belief.acquire || o.phase == sim::Phase::fail) continue;
      const bool is_certain = o.phase == sim::Phase::ok;
      const auto comes_between = [&](const sim::Operation& other) {
        const bool is_next = other.process == belief.process && other.id > belief.acquire && other.id < o.id;
        return is_next && other.function == "acquire" && other.phase != sim::Phase::fail;
      };
      const bool is_late = is_released || is_perhaps_released ||
                           (belief.crashed && belief.crashed->step <= o.invoked_in) ||
                           std::any_of(operations_.begin(), operations_.end(), comes_between);
      is_within = is_within && !(is_inner(o) && is_late);
      if (o.function == "reenter") {
        if (is_certain) ++least;
        ++most;
      } else if (o.function == "leave") {
        --least;
        if (is_certain) --most;
        ++leaves;
        last = &o;
      } else if (o.function == "release") {
        (is_certain ? is_released : is_perhaps_released) = true;
      }
    }
    if (leaves == 0 && most == 1) continue;
    if (is_within && is_released && least <= 1 && most >= 1) continue;
    if (is_within && !is_released && (least == 1 || (least > 1 && !is_perhaps_released))) continue;
    const bool has_one = is_within && !is_released && least <= 0 && most >= 0 && leaves == 1;
    Item item{.object = &operations_[belief.acquire - 1].object,
              .process = belief.process,
              .is_acquire = false,
              .is_certain = has_one && most == 0 && last->phase == sim::Phase::ok,
              .invoked = has_one ? last->invoked : belief.from,
              .invoked_in = has_one ? last->invoked_in : belief.from_step,
              .event = has_one ? last->invoked_in : belief.from_step,
              .completed = has_one ? last->completed : belief.from,
              .completed_in = has_one ? last->completed_in : belief.from_step,
              .belief = kNone,
              .hold = belief.acquire};
    item.is_puzzle = !has_one;
    items_.push_back(item);
  }
}

/// By object, process, step. Few and nearly sorted: an insertion sort, which keeps the order of what is equal.
void ViolationFinder::sort_items(std::span<Item> items) {
  const auto is_before = [](const Item& a, const Item& b) {
    if (a.object != b.object) {
      if (const int order = a.object->compare(*b.object); order != 0) return order < 0;
    }
    if (a.process != b.process) return a.process < b.process;
    return a.invoked_in != b.invoked_in ? a.invoked_in < b.invoked_in : a.event < b.event;
  };
  for (std::size_t i = 1; i < items.size(); ++i) {
    for (std::size_t j = i; j > 0 && is_before(items[j], items[j - 1]); --j) std::swap(items[j], items[j - 1]);
  }
}

void ViolationFinder::linearizable() {
  const bool is_shared =
      std::any_of(operations_.begin(), operations_.end(), [](const sim::Operation& o) { return o.is_shared; });
  if (is_shared) return;
  collect_items(true);
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

/// How many ways there are for a hold not to be over at some moment; see 5.
std::size_t ViolationFinder::kept_ways(const Hold& hold) {
  if (hold.belief == kNone) return 1;
  const BeliefWays& ways = alive_ways(hold.belief);
  return ways.end - ways.begin;
}

bool ViolationFinder::is_kept_widened(const Hold& hold, std::size_t way) const {
  return hold.belief != kNone && ways_[ways_of_[hold.belief].begin + way].is_widened;
}

/// The hold is not over at `moment`, in one of its ways.
void ViolationFinder::add_kept(const Hold& hold, std::size_t way, sim::Instant moment) {
  if (hold.earliest_end) require(moment, *hold.earliest_end, true);
  if (hold.belief == kNone) return;
  const AliveWay& alive = ways_[ways_of_[hold.belief].begin + way];
  add_unnoticed(alive, moment);
  add_unnoticed(alive, hold.latest_begin);
  add_sides(alive.sides);
}

void ViolationFinder::conflicts(const Plan& a, const Plan& b) {
  for (std::size_t i = a.holds_begin; i < a.holds_end; ++i) {
    for (std::size_t j = b.holds_begin; j < b.holds_end; ++j) {
      const Hold& x = holds_[i];
      const Hold& y = holds_[j];
      const std::size_t ways_x = kept_ways(x);
      const std::size_t ways_y = kept_ways(y);
      for (std::size_t way_x = 0; way_x < ways_x; ++way_x) {
        for (std::size_t way_y = 0; way_y < ways_y; ++way_y) {
          const bool is_widened = is_kept_widened(x, way_x) || is_kept_widened(y, way_y);
          begin(kLinearizable, has_inner_ || a.is_widened || b.is_widened || is_widened, a.process, b.process);
          add_kept(y, way_y, x.latest_begin);
          add_kept(x, way_x, y.latest_begin);
          add_sides(a.conditions);
          add_sides(b.conditions);
          finish();
        }
      }
    }
  }
}

void ViolationFinder::plan_process(std::size_t begin, std::size_t end) {
  group_.assign(items_.begin() + static_cast<std::ptrdiff_t>(begin), items_.begin() + static_cast<std::ptrdiff_t>(end));
  if (make_plan(false)) return;
  left_out_holds();
  // Without deadlines: what has no order with them has none without. (A hold that is left out takes all its releases
  // with it.)
  std::erase_if(group_,
                [](const Item& item) { return item.event == sim::no_step || (item.is_extra && !item.is_certain); });
  for (Item& item : group_) {
    item.belief = kNone;
    item.invoked_in = item.event;
  }
  sort_items(group_);
  make_plan(true);
}

/// A hold that was over before its acquire had completed is left out, and takes its releases with it. Another hold of
/// the process that has none of its own then lacks one: a replay tells.
void ViolationFinder::left_out_holds() {
  const auto count = [&](bool acquires, std::uint32_t but) {
    return std::count_if(group_.begin(), group_.end(), [&](const Item& item) {
      return item.is_acquire == acquires && item.is_certain && (item.belief == kNone || item.belief != but);
    });
  };
  for (const Item& item : group_) {
    if (!item.is_acquire || !item.is_certain || item.belief == kNone) continue;
    if (count(true, item.belief) <= count(false, item.belief)) continue;
    begin(kLinearizable, true, item.process, {});
    require(deadline_of(beliefs_[item.belief]), item.completed, false);
    finish();
  }
}

/// The ways in which the deadline of a hold was noticed too late, after the process's next acquire had completed.
void ViolationFinder::late_deadlines() {
  for (std::size_t i = 0; i < group_.size(); ++i) {
    const Item& acquire = group_[i];
    if (!acquire.is_acquire || !acquire.is_certain) continue;
    std::size_t acquires = 1;
    std::size_t releases = 0;
    maybe_.clear();
    const Item* next = nullptr;
    for (std::size_t j = 0; j < group_.size(); ++j) {
      const Item& item = group_[j];
      if (item.is_acquire) {
        if (j < i && item.is_certain) ++acquires;
      } else if (item.event != sim::no_step && item.event < acquire.completed_in) {
        ++releases;
      } else if (item.belief != kNone && item.belief != acquire.belief && item.invoked_in < acquire.completed_in) {
        maybe_.push_back(static_cast<std::uint32_t>(j));
      } else if (item.event != sim::no_step && (next == nullptr || item.event < next->event)) {
        next = &item;
      }
    }
    if (!maybe_.empty() && next != nullptr) {
      untouched_.push_back(Constraint::less_than(acquire.completed, next->invoked));
    }
    // So many of these must be late; with unknown releases to spare it is more than one.
    if (releases + maybe_.size() + 1 < acquires || maybe_.empty()) continue;
    const std::size_t late = releases + maybe_.size() + 2 - acquires;
    if (late > maybe_.size()) continue;
    const auto add = [&](const Item& held, bool may_touch) {
      const BeliefWays ways = alive_ways(held.belief);
      const Hold own{acquire.completed, next == nullptr ? std::nullopt : std::optional(next->invoked), acquire.belief};
      const std::size_t own_ways = may_touch ? 1 : kept_ways(own);
      for (std::size_t w = ways.begin; w < ways.end; ++w) {
        for (std::size_t way = 0; way < own_ways; ++way) {
          const bool is_loose = ways_[w].is_widened || (!may_touch && is_kept_widened(own, way));
          begin(kLinearizable, has_inner_ || is_loose || may_touch || late > 1, acquire.process, {});
          if (held.event != sim::no_step) require(acquire.completed, held.invoked, true);
          add_unnoticed(ways_[w], acquire.completed);
          add_sides(ways_[w].sides);
          if (!may_touch) add_kept(own, way, acquire.completed);
          finish();
        }
      }
    };
    for (const std::uint32_t item : maybe_) {
      add(group_[item], false);
      add(group_[item], true);
    }
  }
}

/// The plan of the operations in `group_`. False, and nothing was added: their deadlines do not fit into it.
bool ViolationFinder::make_plan(bool is_widened) {
  if (group_.empty()) return true;
  const auto is_puzzle = [](const Item& item) { return item.is_puzzle; };
  if (std::any_of(group_.begin(), group_.end(), is_puzzle)) {
    begin(kLinearizable, true, group_.front().process, {});
    finish();
    is_widened = true;
  }
  const auto has_one = [](const Item& item) { return item.belief != kNone; };
  const bool has_deadlines = std::any_of(group_.begin(), group_.end(), has_one);
  const bool has_extra = std::any_of(group_.begin(), group_.end(), [](const Item& item) { return item.is_extra; });
  const sim::ProcessId process = group_.front().process;
  const auto add_structural = [&](bool widened) {
    begin(kLinearizable, widened || has_inner_, process, {});
    finish();
  };

  // Pairs them: gaps are filled with the earliest unknown operation that can fill them.
  unknown_acquires_.clear();
  unknown_releases_.clear();
  std::size_t certain_acquires = 0;
  std::size_t certain_releases = 0;
  for (std::size_t i = 0; i < group_.size(); ++i) {
    if (group_[i].is_certain) {
      ++(group_[i].is_acquire ? certain_acquires : certain_releases);
    } else {
      (group_[i].is_acquire ? unknown_acquires_ : unknown_releases_).push_back(i);
    }
  }
  std::size_t next_acquire = 0;
  std::size_t next_release = 0;
  const auto take = [&](const std::vector<std::size_t>& unknown, std::size_t& next, sim::Step latest) {
    return next == unknown.size() || group_[unknown[next]].invoked_in > latest ? kNoPair : unknown[next++];
  };
  pairs_.clear();
  std::size_t gap = kNoPair;  ///< the pair that has no release although another one follows
  bool is_regular = true;
  bool has_gaps = false;
  bool lacks_acquire = false;
  bool has_spare = false;  ///< some certain release comes while an unknown one is to spare
  std::size_t held = kNoPair;
  for (std::size_t i = 0; i < group_.size(); ++i) {
    if (!group_[i].is_certain) continue;
    if (group_[i].is_acquire) {
      if (held != kNoPair) {
        // What is invoked in the step in which the acquire completes cannot come before it.
        const std::size_t release = take(unknown_releases_, next_release, group_[i].completed_in - 1);
        if (release == kNoPair) {
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
        group_[unknown_releases_[next_release]].invoked_in <= group_[i].completed_in)
      has_spare = true;
    if (held != kNoPair) {
      pairs_.push_back({held, i});
      held = kNoPair;
    } else if (const std::size_t acquire = take(unknown_acquires_, next_acquire, group_[i].completed_in);
               acquire != kNoPair) {
      pairs_.push_back({acquire, i});
      is_regular = false;
    } else {
      lacks_acquire = true;
    }
  }
  if (held != kNoPair) pairs_.push_back({held, take(unknown_releases_, next_release, 0xffffffff)});

  // One who acquires what it has counts one more.
  const bool is_plain = !has_gaps && !has_spare && !lacks_acquire && unknown_acquires_.empty() && !has_deadlines;
  if (has_inner_ && !is_plain) {
    add_structural(true);
    return true;
  }

  const auto has_its_own = [&](const Pair& pair) {
    return group_[pair.acquire].belief == (pair.release == kNoPair ? kNone : group_[pair.release].belief);
  };
  const bool fits = std::none_of(group_.begin(), group_.end(), is_puzzle) && !has_extra && !has_gaps && !has_spare &&
                    !lacks_acquire && std::all_of(pairs_.begin(), pairs_.end(), has_its_own);
  if (has_deadlines && !fits) return false;

  const std::size_t possible_releases = certain_releases + unknown_releases_.size();
  const std::size_t possible_acquires = certain_acquires + unknown_acquires_.size();
  if (certain_acquires > possible_releases + 1 || certain_releases > possible_acquires) {
    add_structural(is_widened);
    return true;
  }
  // By the time an acquire has completed, two more were made than all releases so far can have ended.
  for (std::size_t i = 0; has_gaps && i < group_.size(); ++i) {
    const Item& acquire = group_[i];
    if (!acquire.is_acquire || !acquire.is_certain) continue;
    std::size_t acquires = 1;
    std::size_t releases = 0;
    const Item* next = nullptr;
    for (std::size_t j = 0; j < group_.size(); ++j) {
      const Item& item = group_[j];
      if (item.is_acquire) {
        if (j < i && item.is_certain) ++acquires;
      } else if (item.invoked_in < acquire.completed_in) {
        ++releases;
      } else if (next == nullptr) {
        next = &item;
      }
    }
    if (acquires < releases + 2) continue;
    begin(kLinearizable, is_widened || has_inner_, process, {});
    if (next != nullptr) require(acquire.completed, next->invoked, true);
    finish();
  }
  if (lacks_acquire) {
    add_structural(true);
    return true;
  }
  is_widened = is_widened || (has_spare && !unknown_acquires_.empty()) || !is_regular;
  Plan plan{group_.front().object, process, {}, holds_.size(), 0, is_widened};
  untouched_.clear();
  if (has_deadlines) late_deadlines();
  if (!untouched_.empty()) {
    plan.conditions = {sides_.size(), sides_.size() + untouched_.size()};
    sides_.insert(sides_.end(), untouched_.begin(), untouched_.end());
  }
  if (has_gaps) {
    const bool each_has_one = next_release == unknown_releases_.size() && !has_spare && is_regular;
    if (!each_has_one || pairs_.back().release == kNoPair) {
      add_structural(true);
      return true;
    }
    plan.conditions.begin = sides_.size();
    for (std::size_t p = gap + 1; p < pairs_.size(); ++p) {
      const Item& acquire = group_[pairs_[p].acquire];
      const Item& release = group_[pairs_[p].release];
      for (const Item* item : {&acquire, &release}) {
        if (plan.is_widened || !item->is_certain) continue;
        sides_.push_back(Constraint::less_than(item->invoked, item->completed));
      }
      pairs_[p - 1].release = pairs_[p].release;
    }
    pairs_.back().release = kNoPair;
    plan.conditions.end = sides_.size();
  }
  if (has_spare && !plan.is_widened) {
    plan.conditions.begin = sides_.size();
    const Item* before = nullptr;
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (!group_[i].is_certain) continue;
      if (before != nullptr) sides_.push_back(Constraint::less_than(before->completed, group_[i].invoked));
      before = &group_[i];
    }
    plan.conditions.end = sides_.size();
  }
  for (const Pair& pair : pairs_) {
    const Item& acquire = group_[pair.acquire];
    const Item* release = pair.release == kNoPair ? nullptr : &group_[pair.release];
    Hold hold{acquire.is_certain ? acquire.completed : release->completed, {}, acquire.belief};
    if (release != nullptr && release->event != sim::no_step) {
      hold.earliest_end = release->event >= acquire.invoked_in ? release->invoked : acquire.invoked;
    }
    holds_.push_back(hold);
  }
  plan.holds_end = holds_.size();
  plans_.push_back(plan);
  if ((has_gaps || has_spare || !untouched_.empty()) && !plan.is_widened) {
    plan.conditions = {};
    plan.is_widened = true;
    plans_.push_back(plan);
  }
  return true;
}

}  // namespace lockstep::checker
