#include "checker/explorer/search/search.hpp"

#include <algorithm>
#include <utility>

#include "sim/coroutines/region.hpp"
#include "sim/invariant.hpp"
#include "sim/last_words.hpp"
#include "sim/stop.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {
namespace {

// Whether it gives up is asked after so many runs, or after so many events where runs are long.
constexpr std::uint64_t kRunsBetweenQuestions = 64;
constexpr std::uint64_t kEventsBetweenQuestions = 4096;

// What an event costs, in events of a simulation.
constexpr std::uint64_t kSteps = 8;

}  // namespace

BranchOutcome Search::explore(Explorable& subject, const Branch& branch, BranchLimits limits,
                              const Explorer::Visitor& visit) {
  start(subject, branch);
  BranchOutcome outcome;
  std::uint64_t asked_at = 0;  // events
  for (std::uint64_t runs = 1;; ++runs) {
    if (runs % kRunsBetweenQuestions == 0 || counts_.events - asked_at >= kEventsBetweenQuestions) {
      asked_at = counts_.events;
      if (rules_.options.gives_up && rules_.options.gives_up()) {
        outcome.given_up = true;
        break;
      }
    }
    if (!advance(outcome, visit)) {
      outcome.stopped = !outcome.too_long;
      break;
    }
    const bool is_full = (limits.traces != 0 && counts_.traces >= limits.traces) ||
                         (limits.events != 0 && counts_.events >= limits.events);
    // What was run beyond the first infeasible event only served to find races.
    if (timing_.is_infeasible()) trace_.shorten(*timing_.infeasible_from() + 1);
    if (is_full) outcome.rest = rest_of(branch);
    if (is_full ? outcome.rest.empty() : !back_up()) {
      counts_.complete = true;
      break;
    }
    if (is_full) break;
  }
  {
    // Nobody must ask the explorer about what is left in the world.
    const sim::Region::Inside inside(saved_.region());
    moment_.world().restart();
  }
  tree_.tell_others(outcome);
  outcome.counts = counts_;
  return outcome;
}

void Search::start(Explorable& subject, const Branch& branch) {
  subject_ = &subject;
  observer_ = rules_.options.observer;
  moment_.watch(subject.world());
  moment_.world().set_scheduler(execution_);
  // An observer sees each trace from its beginning.
  const bool is_same = saved_.watch(subject.region(), rules_.options.goes_back && observer_ == nullptr);
  // Of the branch before, what led there stands.
  forget_from(is_same && tree_.own_from() > 0 ? tree_.own_from() - 1 : 0);
  counts_ = {};
  has_enough_ = picks_again_ = false;
  timing_.forget_failure();
  alike_.watch();
  forget_from(tree_.common_with(branch));
  tree_.follow(branch);
}

/// Of the present trace only what comes before this event stands.
void Search::forget_from(std::uint32_t position) {
  while (trace_.built() > position) execution_.undo_last();
  saved_.forget_after(position);
  if (position > 0) return;
  saved_.forget_all();
  trace_.root_answers.clear();
  execution_.clear();
}

/// Brings the world to a state from which the present trace goes on, and says at which position: the nearest that is
/// known, or the beginning.
std::uint32_t Search::go_back() {
  timing_.forget_failure();
  const SavedMoments::Saved* saved = saved_.go_back(trace_.length());
  if (saved == nullptr) {
    begin_again();
    return 0;
  }
  moment_.go_back_to(saved->moment);
  if (rules_.mutant == SearchMutant::forget_last) moment_.forget_last();
  counts_.events += saved->position;
  return saved->position;
}

void Search::save_if_worthwhile(std::uint32_t position) {
  if (timing_.is_infeasible()) return;
  const auto is_open = [&] { return position < trace_.built() && tree_.is_open(position); };
  if (saved_.is_worth_saving(position, is_open)) saved_.save(position, moment_);
}

void Search::begin_again() {
  saved_.forget_all();
  sim::Region* const region = saved_.region();
  {
    const sim::Region::Inside inside(region);
    moment_.world().restart();
    if (rules_.faults.may_be_late()) moment_.world().reunite();
  }
  moment_.begin();
  execution_.decide_beforehand(region);
  {
    const sim::Region::Inside inside(region);
    subject_->begin();
    execution_.arm_faults();
  }
  if (observer_ != nullptr) observer_->began(explorer_);
}

void Search::execute(std::uint32_t position, bool is_replay) {
  ++counts_.events;
  // Of many who wait, and of many faults, each is looked at.
  sim::Stop::ask(kSteps + moment_.pending().size() + rules_.faults.budgets().size());
  execution_.execute(position, is_replay, saved_.region());
  if (observer_ != nullptr && !timing_.is_infeasible()) observer_->executed(explorer_, position, is_replay);
}

/// Runs what the trace is to begin with; only its last event is new. False: that sleeps with the answers that it was
/// given.
bool Search::run_way() {
  const std::uint32_t length = trace_.length();
  for (std::uint32_t i = go_back(); i < length; ++i) {
    const bool may_be_over = !moment_.world().is_busy() || subject_->is_over_early();
    if (may_be_over && !moment_.is_coda() && !moment_.find(trace_[i].chosen) && !begin_coda(i, true))
      sim::end_with_divergence();
    const bool is_replay = i < trace_.built();
    sim::invariant(is_replay || i + 1 == length || i < tree_.own_from(),
                   "only the last event of what is run again is new");
    save_if_worthwhile(i);
    execute(i, is_replay);
    if ((i + 1 == length && leads_nowhere(i)) || (!is_replay && has_failed(i))) {
      trace_.note_built();
      return false;
    }
    tree_.note_tried(i);
    if (is_replay) continue;
    // Races on the way to a branch were found by whoever came there first.
    const bool is_of_others = i + 1 < tree_.own_from();
    is_of_others ? races_.fill_past(i) : races_.reverse_all(i);
  }
  trace_.note_built();
  return true;
}

/// Runs the trace to its end. False: the visitor has had enough, or the trace is too long.
bool Search::advance(BranchOutcome& outcome, const Explorer::Visitor& visit) {
  if (!run_way()) return true;
  while (!is_at_rest() || begin_coda(trace_.length(), false)) {
    if (trace_.length() >= rules_.options.max_steps) {
      outcome.too_long = true;
      return false;
    }
    if (timing_.is_infeasible() && rules_.mutant == SearchMutant::cut_infeasible) break;
    if (!go_on()) return true;
  }
  if (timing_.is_infeasible()) {
    ++counts_.infeasible;
    return true;
  }
  if (execution_.faults().has_idle_partition()) {
    ++counts_.blocked;
    return true;
  }
  sim::invariant(trace_.built() == trace_.length(), "of a trace that is shown, all stands");
  ++counts_.traces;
  return visit(explorer_);
}

/// Executes one more event. False: nothing is left to be tried here.
bool Search::go_on() {
  const std::uint32_t position = trace_.length();
  save_if_worthwhile(position);
  Place& place = picks_again_ ? tree_[position] : tree_.arrive();
  picks_again_ = false;
  const std::optional<std::uint32_t> slot = picker_.next(place);
  if (!slot || conflicts_.sleeps_for_good(place) || picker_.comes_after_all_sleepers(place, moment_.event(*slot))) {
    // Those who wait for somebody alike who will never come do so for ever: no execution of the world, only a place for
    // races.
    const bool is_dead_end = !slot && place.sleep.empty();
    const bool is_impossible =
        std::any_of(place.sleep.begin(), place.sleep.end(), [](const Sleeping& s) { return s.is_impossible; });
    ++(timing_.is_infeasible() || is_dead_end || is_impossible ? counts_.infeasible : counts_.blocked);
    return false;
  }
  tree_.choose({moment_.event(*slot).id, moment_.event(*slot).process});
  if (!rules_.options.reduction && !moment_.is_coda()) choose_all_others(*slot);
  execute(position, false);
  trace_.note_built();
  if (leads_nowhere(position) || has_failed(position)) return false;
  tree_.note_tried(position);
  races_.reverse_all(position);
  return true;
}

/// All interleavings: whatever else could come is tried in place of what was chosen.
void Search::choose_all_others(std::uint32_t chosen) {
  Place& place = tree_[trace_.length() - 1];
  for (const std::uint32_t other : moment_.pending()) {
    const sim::Event& event = moment_.event(other);
    if (other != chosen && arrivals_.is_enabled(other)) place.backtrack.push_back({{event.id, event.process}, {}});
  }
}

/// Whether the world has something to do after everything has come to rest.
bool Search::begin_coda(std::uint32_t position, bool is_due) {
  if (timing_.is_infeasible() || moment_.is_coda()) return false;
  std::optional<Coda> coda;
  {
    const sim::Region::Inside inside(saved_.region());
    coda = subject_->begin_coda(is_due);
  }
  if (!coda || !moment_.world().is_busy()) return false;
  moment_.begin_coda(position, coda->after, coda->has_ticks);
  return true;
}

bool Search::is_at_rest() const {
  return picker_.is_quiet() || (!timing_.is_infeasible() && subject_->is_over_early());
}

/// Whether the event, with the answers that it has just been given, is no part of an execution, or of one that is
/// explored elsewhere.
bool Search::leads_nowhere(std::uint32_t position) {
  if (execution_.faults().is_void(position)) {
    tree_[position].may_live = true;
    return true;
  }
  if (!tree_.is_redundant(position)) return false;
  races_.note_redundant(position);
  return true;
}

/// Whether the event that has just been executed is infeasible. Then it is no part of any trace that begins like this
/// one.
bool Search::has_failed(std::uint32_t position) {
  if (timing_.infeasible_from() != position || !rules_.asks_why()) return false;
  ++counts_.infeasible;
  Place& place = tree_[position];
  place.is_impossible = true;
  place.may_live = true;
  if (moment_.is_coda() || rules_.mutant == SearchMutant::cut_infeasible) return true;
  // Races are explained, too.
  const Failure failure = timing_.failure();
  races_.reverse_all(position);
  conflicts_.try_instead_of(position, failure);
  return true;
}

/// To the last place where something is left to be tried. False: nothing is, of this branch.
bool Search::back_up() {
  tree_.begin_to_back_up();
  for (; trace_.length() > tree_.own_from(); trace_.shorten(trace_.length() - 1)) {
    const std::uint32_t position = trace_.length() - 1;
    sim::invariant(trace_.built() == trace_.length(), "what is backed up through stands");
    execution_.undo_last();
    if (tree_.is_dead(position) || has_enough_) continue;
    if (tree_.try_next_answer(position)) return true;
    const bool is_hopeless = !conflicts_.give_up(position);
    has_enough_ = is_hopeless && rules_.order.events > 0;
    if (tree_.is_dying() || has_enough_) continue;
    if (tree_.try_next_event(position)) return true;
    if (tree_.is_to_pick_again(position)) {
      picks_again_ = true;
      trace_.shorten(position);
      return true;
    }
  }
  has_enough_ = false;
  if (trace_.length() == 0) {
    execution_.clear();
  } else {
    execution_.undo_last();
  }
  return tree_.try_next_own_answer();
}

/// All that would still be tried, cut into branches. Backs up through all of it as the search does, but executes only
/// the first event of each: what comes after it sleeps with what that event does, as if it had been explored before.
std::vector<std::shared_ptr<Branch>> Search::rest_of(const Branch& branch) {
  const ExplorerCounts counts = counts_;
  ExplorationObserver* const observer = std::exchange(observer_, nullptr);
  std::vector<std::shared_ptr<BranchPoint>> points = tree_.points_of(branch);
  std::vector<std::shared_ptr<Branch>> rest;
  const auto add = [&](Branch part) {
    part.events = branch.events_of_parts();
    rest.push_back(std::make_shared<Branch>(std::move(part)));
  };
  std::uint32_t all_answers_at = 0;  // how long the trace is whose last event's answers the last branch has all
  while (back_up()) {
    if (trace_.length() == 0 && !picks_again_) {
      add({.from = {}, .at_root = true, .chosen = {}, .answers = trace_.root_answers, .sleep = {}, .then = {}});
      continue;
    }
    // The event that is picked again is known only when the world is there.
    const bool is_picked_again = picks_again_;
    const bool is_other_event = is_picked_again || trace_.last().answers.empty();
    if (is_other_event || trace_.length() < all_answers_at) all_answers_at = 0;
    if (!run_way() || (is_picked_again && !go_on()) || all_answers_at == trace_.length()) continue;
    if (is_other_event) all_answers_at = trace_.length();
    const Step& step = trace_.last();
    add({.from = points[trace_.length() - 1],
         .at_root = false,
         .chosen = step.chosen,
         .answers = is_other_event ? std::vector<Answer>() : step.answers,
         .sleep = tree_[trace_.length() - 1].sleep,
         .then = tree_.to_follow()});
  }
  tree_.complete(points);
  counts_ = counts;
  observer_ = observer;
  std::reverse(rest.begin(), rest.end());
  return rest;
}

}  // namespace lockstep::checker::explorer
