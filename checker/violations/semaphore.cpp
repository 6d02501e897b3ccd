// When is the history of a trace not linearizable as a semaphore of p places?
//
// The model is checker/specifications/semaphore.cpp, the operations are those of properties/belief/mutex_history.hpp:
// an acquire takes one place, a release gives back one of its process, whichever; an acquire that failed says nothing,
// and what happens within a hold (reenter, leave) neither. Numbers are those of violations/linearizable.cpp.
//
// 1. A hold is an acquire and a release of one process, the release no earlier. As there: it has a place from
//    b = min(deadlines) to e = max(invocations), its core, for ever without a release; if e <= b it needs one at any
//    one moment of [e, b].
// 2. The holds fit exactly if no p + 1 of them are such that b_X < e_Y of each two, in both directions. Where all are
//    cores, that is a moment within all of them (Helly). A hold without core does not fit if at each moment of [e, b]
//    there are p cores, ends not included; then it is the same p all the time, or the first of them to end has met its
//    successor and the p - 1 others: p + 1 cores. Two without core cannot both be among the p + 1:
//    b_X < e_Y <= b_Y < e_X <= b_X.
// 3. At a moment m within p + 1 cores that are longer than a moment, no other choice of holds helps, if every release
//    that is possible at all (2, 5) has been given to a hold: each process has as many places at m as it has acquired
//    for certain before m, less the releases that may have been invoked by then. That is a count, and the holds are its
//    difference whichever release ends which hold. So each release ends the hold that it names.
// 4. Unlike a mutex, a process may well acquire again while it has a place; of its own holds several may be among the
//    p + 1. Where a hold without length (its release is invoked when its acquire completes) lies within another of its
//    process, the two may be ordered the other way round: the release ends the longer hold, and the acquire begins what
//    is left of it. Where nobody has a deadline, releases therefore end holds in the order of both, the first the
//    first, which has no hold within another: then each p + 1 are exact. With deadlines that order is not known. There
//    p + 1 are exact if all are longer than a moment, and widened without that.
// 5. A deadline moves the release, or is one. Each hold that has one has it from its acquire on: e = min(invocation,
//    noticed), and a hold that was over before its acquire had completed is left out with all its releases.
// 6. Of several releases of one hold, a certain one ends it: it needs a place when it is made. What is left is to
//    spare: a release with unknown outcome may end any later hold of its process, in an instant. So after it, exact are
//    only holds with a certain release that does not touch the next acquire, of a process without unknown acquires: no
//    other place can be there for that release. Everything else is widened.
// 7. An unknown acquire takes no place: that helps whoever else wants one, unless a certain release needs it. Certain
//    releases without a hold of their own, or two of one hold, and whatever else belongs to such a process: widened,
//    and with more certain releases than acquires broken in any case.
// What is widened is never too narrow: some choice of holds is no proof, but if it fits, the history is linearizable.

#include <algorithm>

#include "checker/violations/violations.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kSemaphoreOrder = "linearizable";

}  // namespace

void ViolationFinder::linearizable_semaphore(std::size_t places) {
  collect_items(false);
  place_holds_.clear();
  std::erase_if(items_, [&](const Item& item) { return *item.object != semaphore_.lock; });
  for (std::size_t begin = 0, end = 0; begin < items_.size(); begin = end) {
    while (end < items_.size() && items_[end].process == items_[begin].process) ++end;
    plan_places(std::span(items_).subspan(begin, end - begin));
  }
  if (mutant_ == JudgingMutant::tries_take_places) {
    for (const sim::Operation& o : operations_) {
      if (o.function != "acquire" || o.phase != sim::Phase::fail || o.object != semaphore_.lock) continue;
      place_holds_.push_back({{o.invoked, o.completed, kNone}, o.process, {}, false, false, false});
    }
  }
  std::size_t crowd = places + 1;
  if (mutant_ == JudgingMutant::one_place_less) --crowd;
  if (mutant_ == JudgingMutant::one_place_more) ++crowd;
  crowd_.clear();
  add_hold(0, crowd);
}

/// The holds of one process; see 3 to 7.
void ViolationFinder::plan_places(std::span<const Item> items) {
  taken_.clear();
  std::size_t acquires = 0;
  std::size_t certain_releases = 0;
  bool has_deadlines = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    has_deadlines = has_deadlines || item.belief != kNone;
    if (!item.is_acquire) {
      certain_releases += item.is_certain ? 1 : 0;
      continue;
    }
    ++acquires;
    if (item.is_certain) taken_.push_back({i, {}});
  }
  bool is_widened = false;
  bool has_stray = false;                  // a release with unknown outcome that is no hold's
  std::size_t spare_from = taken_.size();  // the first hold that has a release to spare: it may end any later one
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& release = items[i];
    if (release.is_acquire) continue;
    const auto own = std::find_if(taken_.begin(), taken_.end(),
                                  [&](const Taken& hold) { return items[hold.acquire].hold == release.hold; });
    if (own == taken_.end()) {
      is_widened = is_widened || release.is_certain;
      has_stray = true;
      spare_from = 0;
      continue;
    }
    const std::optional<std::size_t> other = own->release;
    if (!other) {
      own->release = i;
      continue;
    }
    spare_from = std::min(spare_from, static_cast<std::size_t>(own - taken_.begin()));
    const Item& known = items[*other];
    is_widened = is_widened || (release.is_certain && known.is_certain);
    if (known.is_certain || (!release.is_certain && known.event <= release.event)) continue;
    own->release = i;
  }
  if (is_widened) {
    begin(kSemaphoreOrder, has_deadlines || certain_releases <= acquires, items.front().process, {});
    finish();
  }
  if (mutant_ == JudgingMutant::nothing_is_spare) spare_from = taken_.size();

  const auto event_of = [&](const Taken& hold) { return hold.release ? items[*hold.release].event : sim::no_step; };
  bool may_meet = false;
  for (std::size_t h = 0; h + 1 < taken_.size(); ++h)
    may_meet = may_meet || event_of(taken_[h]) > items[taken_[h + 1].acquire].completed_in;
  const bool has_spare = spare_from < taken_.size();
  is_widened = is_widened || (has_spare && (may_meet || acquires > taken_.size()));
  if (may_meet && !has_deadlines) {
    // The first release ends the first hold. Each still comes after its acquire.
    std::vector<std::size_t> releases;
    for (const Taken& hold : taken_) {
      if (hold.release) releases.push_back(*hold.release);
    }
    std::sort(releases.begin(), releases.end());
    for (std::size_t h = 0; h < taken_.size(); ++h)
      taken_[h].release = h < releases.size() ? std::optional(releases[h]) : std::nullopt;
  }
  for (std::size_t h = 0; h < taken_.size(); ++h) {
    const Item& acquire = items[taken_[h].acquire];
    const Item* release = taken_[h].release ? &items[*taken_[h].release] : nullptr;
    PlaceHold hold{{acquire.completed, {}, acquire.belief}, acquire.process, {}, is_widened, false, may_meet};
    if (mutant_ == JudgingMutant::holds_begin_early) hold.latest_begin = acquire.invoked;
    if (release != nullptr && release->event != sim::no_step) hold.earliest_end = release->invoked;
    hold.is_nested = may_meet && has_deadlines;
    sim::invariant(release != nullptr || acquire.belief == kNone, "a deadline is a release, or moves one");
    if (acquire.belief != kNone && release->belief != acquire.belief) {
      // The certain release is not the one that the deadline moves.
      hold.belief = kNone;
      hold.is_widened = true;
    }
    const bool is_certain = release != nullptr && release->is_certain;
    const bool may_end = h > spare_from || (h == spare_from && has_stray);
    if (may_end && !is_certain) hold.is_widened = true;
    if (h >= spare_from && is_certain && h + 1 < taken_.size())
      hold.untouched = Constraint::less_than(release->completed, items[taken_[h + 1].acquire].invoked);
    place_holds_.push_back(hold);
  }
}

/// Every choice of so many more holds from `first` on.
void ViolationFinder::add_hold(std::size_t first, std::size_t missing) {
  if (missing == 0) {
    choose_way(0);
    return;
  }
  for (std::size_t i = first; i < place_holds_.size(); ++i) {
    const PlaceHold& hold = place_holds_[i];
    const bool fits = hold.may_meet || std::all_of(crowd_.begin(), crowd_.end(), [&](const Companion& other) {
                        return place_holds_[other.belief].process != hold.process;
                      });
    if (!fits) continue;
    crowd_.push_back({i, 0});
    add_hold(i + 1, missing - 1);
    crowd_.pop_back();
  }
}

/// Every choice of a way not to be over for each of them.
void ViolationFinder::choose_way(std::size_t member) {
  if (member < crowd_.size()) {
    const std::size_t ways = kept_ways(place_holds_[crowd_[member].belief]);
    for (std::size_t way = 0; way < ways; ++way) {
      crowd_[member].way = way;
      choose_way(member + 1);
    }
    return;
  }
  bool is_widened = false;
  bool has_conditions = false;
  bool as_cores = false;
  for (const Companion& one : crowd_) {
    const PlaceHold& hold = place_holds_[one.belief];
    is_widened = is_widened || hold.is_widened || is_kept_widened(hold, one.way);
    has_conditions = has_conditions || hold.untouched;
    as_cores = as_cores || hold.is_nested;
  }
  if (!is_widened) begin_overfull(as_cores, false);
  if (is_widened || has_conditions || as_cores) begin_overfull(false, true);
}

void ViolationFinder::begin_overfull(bool as_cores, bool is_widened) {
  begin(kSemaphoreOrder, is_widened, {}, {});
  for (const Companion& one : crowd_) {
    const sim::ProcessId process = place_holds_[one.belief].process;
    std::vector<sim::ProcessId>& by = current_->by;
    if (std::find(by.begin(), by.end(), process) == by.end()) by.push_back(process);
  }
  for (const Companion& one : crowd_) {
    const PlaceHold& hold = place_holds_[one.belief];
    for (const Companion& other : crowd_) {
      if (&one != &other || as_cores) add_kept(hold, one.way, place_holds_[other.belief].latest_begin);
    }
    if (!is_widened && hold.untouched) require(*hold.untouched);
  }
  finish();
}

}  // namespace lockstep::checker
