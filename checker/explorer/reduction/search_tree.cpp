#include "checker/explorer/reduction/search_tree.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/invariant.hpp"

namespace lockstep::checker::explorer {
namespace {

/// The same answers, whether they were forced or chosen.
bool are_same_answers(const std::vector<Answer>& a, const std::vector<Answer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Answer& x, const Answer& y) {
    return x.index == y.index && (x.options == y.options || x.options == 1 || y.options == 1);
  });
}

/// The next answer after these, keeping the first `fixed`. False: there is none.
bool to_next_answer(std::vector<Answer>& answers, std::size_t fixed) {
  while (answers.size() > fixed) {
    Answer& last = answers.back();
    if (last.index + 1 < last.options) {
      ++last.index;
      return true;
    }
    answers.pop_back();
  }
  return false;
}

}  // namespace

// --- The branch.

std::uint32_t SearchTree::common_with(const Branch& branch) const {
  const std::vector<BranchPoint*> way = way_to(branch.from);
  if (way.empty() || way.front()->answers != trace_.root_answers) return 0;
  std::uint32_t common = 0;
  while (common < trace_.built() && common + 1 < way.size() && trace_[common].chosen == way[common + 1]->chosen &&
         trace_[common].answers == way[common + 1]->answers) {
    ++common;
  }
  return common;
}

void SearchTree::follow(const Branch& branch) {
  own_from_ = 0;
  follows_.clear();
  fixed_answers_ = 0;
  dead_from_.reset();
  if (branch.at_root) {
    trace_.root_answers = branch.answers;
    fixed_answers_ = branch.answers.size();
  }
  const std::vector<BranchPoint*> way = way_to(branch.from);
  const auto length = static_cast<std::uint32_t>(way.size());
  trace_.lay_out(length);
  if (length == 0) return;
  sim::invariant(!branch.at_root, "a branch that begins with answers of the root has nothing before it");
  trace_.root_answers = way.front()->answers;
  if (places_.size() < length) places_.resize(length);
  for (std::uint32_t i = 0; i < length; ++i) {
    const bool is_last = i + 1 == length;
    trace_[i].chosen = is_last ? branch.chosen : way[i + 1]->chosen;
    trace_[i].answers = is_last ? branch.answers : way[i + 1]->answers;
    Place& place = places_[i];
    place.backtrack.clear();
    if (is_last) place.backtrack.push_back({{branch.chosen, sim::ProcessId()}, branch.then});
    for (const Scheduled& event : way[i]->backtrack) place.backtrack.push_back({event, {}});
    place.sleep = is_last ? branch.sleep : std::vector<Sleeping>();
    place.done.clear();
    place.reversals.clear();
    place.has_tried = place.tried_before = place.may_live = place.lived_before = place.is_impossible = false;
    place.conflict.clear();
  }
  follow_wakeup(length - 1);
  own_from_ = length;
  fixed_answers_ = branch.answers.size();
}

std::vector<std::shared_ptr<BranchPoint>> SearchTree::points_of(const Branch& branch) const {
  std::vector<std::shared_ptr<BranchPoint>> points(trace_.length());
  if (own_from_ > 0) points[own_from_ - 1] = branch.from;
  for (std::uint32_t i = own_from_; i < trace_.length(); ++i) {
    points[i] = std::make_shared<BranchPoint>();
    points[i]->answers = i == 0 ? trace_.root_answers : trace_[i - 1].answers;
    if (i == 0) continue;
    points[i]->before = points[i - 1];
    points[i]->chosen = trace_[i - 1].chosen;
  }
  return points;
}

void SearchTree::complete(std::vector<std::shared_ptr<BranchPoint>>& points) const {
  for (std::size_t i = own_from_; i < points.size(); ++i) {
    points[i]->backtrack.assign(places_[i].backtrack.begin(), places_[i].backtrack.end());
    points[i]->sleep = places_[i].sleep;
  }
}

void SearchTree::tell_others(BranchOutcome& outcome) {
  for (std::uint32_t i = 0; i < own_from_; ++i) {
    for (Reversal& reversal : places_[i].reversals) outcome.reversals.emplace_back(i, std::move(reversal));
  }
  if (own_from_ == 0 || fixed_answers_ > 0) return;
  outcome.first = std::move(places_[own_from_ - 1].done);
  for (Sleeping& variant : outcome.first) variant.variants = static_cast<std::uint32_t>(outcome.first.size());
}

Branch SearchTree::here() const {
  auto point = std::make_shared<BranchPoint>();
  point->answers = trace_.root_answers;
  for (std::uint32_t i = 0; i + 1 < trace_.length(); ++i) {
    auto next = std::make_shared<BranchPoint>();
    next->before = point;
    next->chosen = trace_[i].chosen;
    next->answers = trace_[i].answers;
    point = std::move(next);
  }
  Branch branch;
  branch.from = std::move(point);
  branch.chosen = trace_.last().chosen;
  branch.answers = trace_.last().answers;
  return branch;
}

// --- Forward.

Place& SearchTree::arrive() {
  const std::uint32_t position = trace_.length();
  if (places_.size() <= position) places_.resize(position + 1);
  Place& place = places_[position];
  place.has_tried = place.tried_before = false;
  place.backtrack.clear();
  place.sleep.clear();
  place.done.clear();
  if (position == 0 || !rules_.options.reduction) return place;
  const Step& before = trace_.last();
  for (const Sleeping& sleeping : places_[position - 1].sleep) {
    const bool is_dependent = sleeping.process == before.process && sleeping.footprint.conflicts(before.footprint);
    if (!is_dependent || rules_.mutant == SearchMutant::never_wake) place.sleep.push_back(sleeping);
  }
  return place;
}

void SearchTree::choose(Scheduled event) {
  const std::uint32_t position = trace_.length();
  Place& place = places_[position];
  sim::costly_invariant([&] { return !is_asleep(place.sleep, event.id); }, "nobody who sleeps is chosen");
  place.may_live = place.lived_before = place.is_impossible = false;
  place.conflict.clear();
  place.backtrack.push_back({event, {}});
  Step& step = trace_.push();
  step.chosen = event.id;
  step.answers.clear();
}

/// What comes after the chosen event, where that was chosen to reverse a race.
void SearchTree::follow_wakeup(std::uint32_t position) {
  const std::vector<Wakeup>& backtrack = places_[position].backtrack;
  const auto wakeup = std::find_if(backtrack.begin(), backtrack.end(),
                                   [&](const Wakeup& next) { return next.id == trace_[position].chosen; });
  if (wakeup != backtrack.end()) follows_.assign(wakeup->then.rbegin(), wakeup->then.rend());
}

std::optional<sim::EventId> SearchTree::next_to_follow() {
  if (follows_.empty()) return std::nullopt;
  const sim::EventId next = follows_.back();
  follows_.pop_back();
  return next;
}

bool SearchTree::is_redundant(std::uint32_t position) const {
  const std::vector<Sleeping>& sleep = places_[position].sleep;
  return std::any_of(sleep.begin(), sleep.end(), [&](const Sleeping& sleeping) {
    return sleeping.id == trace_[position].chosen && are_same_answers(sleeping.answers, trace_[position].answers);
  });
}

// --- Backward.

void SearchTree::note_done(std::uint32_t position, bool is_impossible) {
  const Step& step = trace_[position];
  std::vector<Sleeping>& done = places_[position].done;
  sim::invariant(done.empty() || done.back().id == step.chosen, "one event is tried with all of its answers at a time");
  sim::costly_invariant(
      [&] {
        const auto is_chosen = [&](const Wakeup& next) { return next.id == step.chosen; };
        return std::any_of(places_[position].backtrack.begin(), places_[position].backtrack.end(), is_chosen);
      },
      "what is done was to be tried");
  done.push_back({step.chosen, step.process, step.footprint, step.answers, is_impossible});
}

bool SearchTree::try_next_answer(std::uint32_t position) {
  Place& place = places_[position];
  place.tried_before = place.has_tried;
  place.lived_before = place.may_live;
  note_done(position, std::exchange(place.is_impossible, false));
  if (!to_next_answer(trace_[position].answers, 0)) return false;
  follow_wakeup(position);
  return true;
}

bool SearchTree::try_next_event(std::uint32_t position) {
  Place& place = places_[position];
  sim::EventId& chosen = trace_[position].chosen;
  if (rules_.mutant == SearchMutant::forget_forks) place.done.erase(place.done.begin(), place.done.end() - 1);
  std::erase_if(place.sleep, [&](const Sleeping& sleeping) { return sleeping.id == chosen; });
  for (Sleeping& variant : place.done) {
    variant.variants = static_cast<std::uint32_t>(place.done.size());
    place.sleep.push_back(std::move(variant));
  }
  place.done.clear();
  for (const Wakeup& next : place.backtrack) {
    if (is_asleep(place.sleep, next.id)) continue;
    chosen = next.id;
    follow_wakeup(position);
    place.may_live = place.lived_before = false;
    place.conflict.clear();
    return true;
  }
  return false;
}

bool SearchTree::is_to_pick_again(std::uint32_t position) const {
  return !places_[position].has_tried && rules_.options.reduction && rules_.mutant != SearchMutant::picks_once;
}

bool SearchTree::try_next_own_answer() {
  sim::invariant(!dead_from_ && trace_.length() == own_from_, "all places of the branch have been backed up through");
  if (own_from_ == 0) return to_next_answer(trace_.root_answers, fixed_answers_);
  note_done(own_from_ - 1, false);
  follow_wakeup(own_from_ - 1);
  return to_next_answer(trace_[own_from_ - 1].answers, fixed_answers_);
}

bool SearchTree::is_open(std::uint32_t position) const {
  const Step& step = trace_[position];
  for (const Answer& answer : step.answers) {
    if (answer.index + 1 < answer.options) return true;
  }
  const Place& place = places_[position];
  return std::any_of(place.backtrack.begin(), place.backtrack.end(),
                     [&](const Wakeup& next) { return next.id != step.chosen && !is_asleep(place.sleep, next.id); });
}

void SearchTree::die(std::uint32_t position) {
  sim::invariant(position >= own_from_, "what belongs to others is not given up here");
  dead_from_ = position;
}

bool SearchTree::is_dead(std::uint32_t position) {
  if (!dead_from_) return false;
  if (position > *dead_from_) return true;
  sim::invariant(position == *dead_from_, "the way back passes each place");
  dead_from_.reset();
  Place& place = places_[position];
  place.is_impossible = true;
  place.has_tried = place.tried_before;
  return false;
}

// --- What is to be tried.

bool SearchTree::needs_no_reversal(std::uint32_t position, const Reversal& reversal) const {
  const Place& place = places_[position];
  if (have_common(place.backtrack, reversal.candidates)) return true;
  if (rules_.mutant == SearchMutant::doze && have_common(place.sleep, reversal.candidates)) return true;
  return !rules_.options.thorough && (is_one_asleep(place.sleep, reversal.candidates) || trace_.comes_next(position));
}

void SearchTree::reverse(std::uint32_t position, const Reversal& reversal) {
  sim::invariant(!reversal.candidates.empty(), "some event can begin what is tried in place of another");
  if (needs_no_reversal(position, reversal)) return;
  Place& place = places_[position];
  if (position >= own_from_) {
    place.backtrack.push_back({reversal.candidates.front(), reversal.then});
    return;
  }
  // Others choose, who know what other branches have found; so no choice may be taken for made here. But whatever they
  // choose for a set of candidates will do for every larger one.
  const auto is_smaller = [&](const Reversal& known) {
    return std::all_of(known.candidates.begin(), known.candidates.end(),
                       [&](const Scheduled& event) { return have_common(std::span(&event, 1), reversal.candidates); });
  };
  if (std::any_of(place.reversals.begin(), place.reversals.end(), is_smaller)) return;
  place.reversals.push_back(reversal);
}

}  // namespace lockstep::checker::explorer
