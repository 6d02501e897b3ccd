#include "scenarios/exploring/exploration.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "checker/explorer/branches.hpp"
#include "checker/explorer/branches_ahead.hpp"
#include "checker/properties/properties.hpp"
#include "scenarios/exploring/checkpoint.hpp"
#include "scenarios/exploring/endless.hpp"
#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/exploring/trace_judge.hpp"
#include "scenarios/exploring/trace_witness.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/execution.hpp"
#include "scenarios/story/alike.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/witness/witness.hpp"
#include "scenarios/workers/threads.hpp"
#include "sim/schedules/random.hpp"
#include "sim/stop.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Branch;
using checker::BranchLimits;
using checker::BranchOutcome;
using checker::BranchStack;
using checker::Explorer;
using checker::Verdict;

constexpr checker::Extent kNothing{sim::Duration::zero(), true};

/// A branch that goes on for so long after a bound was hit is given up; nearly all end before.
constexpr double kPatienceSeconds = 0.5;

bool is_asked(const ExplorationOptions& options, std::string_view property) {
  return !options.asks || options.asks(property);
}

/// One thread's world.
struct Worker {
  Worker(const Scenario& scenario, const models::locks::Catalogue& catalogue, const checker::ExplorerOptions& settings,
         const ExplorationOptions& options, ExploredStory::Probe probe, bool first_comer_gets_it,
         sim::Duration visitor_attempt)
      : explorer(settings),
        story(scenario, catalogue, explorer, is_asked(options, "recoverable") ? probe : ExploredStory::Probe::none) {
    if (!first_comer_gets_it) story.nobody_gets_it();
    story.allow_attempt(visitor_attempt);
    if (options.alter_search) options.alter_search(explorer, finder);
  }
  Explorer explorer;
  ExploredStory story;
  checker::ViolationFinder finder;
};

class Search {
 public:
  Search(const Scenario& scenario, const models::locks::Catalogue& catalogue, const ExplorationOptions& options,
         checker::ExplorerOptions settings, ExploredStory::Probe probe)
      : scenario_(scenario),
        catalogue_(catalogue),
        options_(options),
        settings_(std::move(settings)),
        parameters_(judged_parameters(settings_.faults, options.parameter)),
        probe_(probe),
        first_comer_gets_it_(first_comer_gets_lock(scenario, catalogue)),
        visitor_attempt_(scenario.lock.own.entry ? visitor_attempt(scenario, catalogue) : sim::Duration()) {
    settings_.gives_up = [this] { return gives_up(); };
    workers_.resize(options.threads != nullptr ? options.threads->size() : std::max(1U, options.jobs));
    workers_.front().emplace(scenario, catalogue, settings_, options, probe_, first_comer_gets_it_, visitor_attempt_);
    total_.emplace(new_judge(*workers_.front()));
  }

  /// Nothing: an execution has more events than one may have.
  std::optional<std::variant<Exploration, Diagnostic>> operator()() {
    if (!options_.resume_from.empty()) {
      if (std::optional<Diagnostic> problem = resume()) return std::move(*problem);
    }
    if (!stack_.is_done()) result_.bound = bound_reached(stack_.counts());
    saved_ = now();
    if (!stack_.is_done() && result_.bound.empty()) {
      in_all_threads([this](std::size_t number, Worker& worker) { work(number, worker); });
    }
    if (is_too_long_) return std::nullopt;
    if (result_.bound.empty() && !stack_.is_done()) result_.bound = bound_reached(stack_.counts());
    if (stack_.is_done()) result_.bound = "";
    if (options_.save) options_.save(checkpoint());
    conclude();
    return std::move(result_);
  }

 private:
  TraceJudge new_judge(Worker& worker) const {
    TraceJudge judge(worker.story, worker.finder, settings_.faults, parameters_);
    judge.ask([this](std::string_view property) { return is_asked(options_, property); });
    if (options_.worst) judge.ask_how_long();
    return judge;
  }
  double now() const { return options_.stopwatch ? options_.stopwatch() : 0; }

  /// Which bound of the whole this is too much for, if any.
  std::string_view bound_reached(const checker::ExplorerCounts& counts) const {
    if (options_.max_traces != 0 && counts.traces >= options_.max_traces) return "max-traces";
    if (options_.max_events != 0 && counts.events >= options_.max_events) return "max-events";
    return "";
  }

  /// How far a branch may go when this is what the ones before it have taken. Requires: no bound is reached.
  BranchLimits limits_after(const checker::ExplorerCounts& counts, const Branch& branch) const {
    BranchLimits limits{.traces = 0, .events = branch.events};
    if (options_.max_traces != 0) limits.traces = options_.max_traces - counts.traces;
    if (options_.max_events != 0) limits.events = std::min(limits.events, options_.max_events - counts.events);
    return limits;
  }

  /// Whether these two are more than the bounds allow together.
  bool are_too_much(const checker::ExplorerCounts& counts, const checker::ExplorerCounts& more) const {
    return (options_.max_traces != 0 && counts.traces + more.traces > options_.max_traces) ||
           (options_.max_events != 0 && counts.events + more.events > options_.max_events);
  }

  /// What real time and people say: whether the exploration ends here.
  std::string_view bound_hit() const {
    if (options_.interrupted && options_.interrupted()) return "interrupted";
    if (options_.max_seconds > 0 && now() - *options_.began >= options_.max_seconds) return "max-seconds";
    return "";
  }

  /// What somebody found in a branch.
  struct Found {
    BranchOutcome outcome;
    TraceJudge judge;
    bool is_within_bounds;  ///< it was known what the branches before it have taken
  };

  /// Each thread does this, with a world of its own.
  void in_all_threads(const std::function<void(std::size_t, Worker&)>& work) {
    const auto begin = [&](std::size_t number) {
      if (!workers_[number])
        workers_[number].emplace(scenario_, catalogue_, settings_, options_, probe_, first_comer_gets_it_,
                                 visitor_attempt_);
      work(number, *workers_[number]);
    };
    if (options_.threads != nullptr) {
      options_.threads->run(begin);
    } else {
      Threads(workers_.size()).run(begin);
    }
  }

  /// Explores branches until nothing is left or a bound is hit.
  void work(std::size_t number, Worker& worker) {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      const std::shared_ptr<Branch> branch = ahead_.begin_next(stack_);
      if (!branch) {
        changed_.wait(lock);
        continue;
      }
      // Until it has been taken in, nothing else is.
      const bool is_its_turn = branch == stack_.branches().back();
      const BranchLimits limits = limits_after(is_its_turn ? stack_.counts() : checker::ExplorerCounts(), *branch);
      lock.unlock();
      std::optional<Found> found;
      try {
        found = explore_branch(worker, *branch, limits, is_its_turn);
      } catch (const sim::Stopped&) {
        lock.lock();
        is_over_ = true;
        changed_.notify_all();
        throw;
      }
      lock.lock();
      if (found) {
        ahead_.hand_in(*branch, *std::move(found));
        take_in(worker);
        is_over_ = is_over_ || stack_.is_done() || is_too_long_ || !bound_reached(stack_.counts()).empty();
      }
      if (const std::string_view bound = bound_hit(); !bound.empty() && !is_over_) {
        is_over_ = true;
        result_.bound = bound;
      }
      if (number == 0) tell();
      changed_.notify_all();
    }
  }

  /// Takes in what has been found, in the order of the stack, as far as it goes and the bounds allow. Whoever began one
  /// before its turn did not know how much those before it would take: one that is too much is explored once more, as
  /// far as the bounds allow.
  void take_in(Worker& worker) {
    while (bound_reached(stack_.counts()).empty()) {
      std::optional<Found> found = ahead_.next(stack_);
      if (!found) return;
      if (!found->is_within_bounds && are_too_much(stack_.counts(), found->outcome.counts)) {
        const Branch& branch = *stack_.branches().back();
        found = explore_branch(worker, branch, limits_after(stack_.counts(), branch), true);
        if (!found) return;
      }
      if (found->outcome.too_long) {
        is_too_long_ = true;
        return;
      }
      total_->merge(found->judge);
      stack_.take_in(std::move(found->outcome));
    }
  }

  /// Those who wait, and who keeps checkpoints.
  void tell() {
    if (options_.progress) tell_progress();
    constexpr double kBetweenCheckpoints = 2;
    if (!options_.save || now() - saved_ <= kBetweenCheckpoints) return;
    options_.save(checkpoint());
    saved_ = now();
  }

  /// Whether a bound was hit so long ago that a branch that still goes on is not waited for.
  bool gives_up() {
    if (!options_.stopwatch || bound_hit().empty()) return false;
    double first = 0;
    if (hit_at_.compare_exchange_strong(first, now())) return false;
    return now() - first >= kPatienceSeconds;
  }

  /// As much of it as the limits allow, and what a new judge says of that; nothing if it was given up.
  std::optional<Found> explore_branch(Worker& worker, const Branch& branch, BranchLimits limits,
                                      bool is_within_bounds) const {
    TraceJudge judge = new_judge(worker);
    const bool is_first = !branch.from && !branch.at_root;
    worker.story.begin_branch(is_first);
    BranchOutcome outcome = worker.explorer.explore(worker.story, branch, limits, [&](Explorer& at_end) {
      judge.look(at_end);
      worker.story.end_trace();
      return true;
    });
    if (outcome.given_up) return std::nullopt;
    return Found{std::move(outcome), std::move(judge), is_within_bounds};
  }

  void tell_progress() const {
    ExplorationProgress progress;
    progress.counts = stack_.counts();
    progress.seconds = now() - *options_.began;
    if (stack_.share_done() > 0) {
      progress.estimated_traces = static_cast<double>(progress.counts.traces) *  // tidy: not deciding
                                  (static_cast<double>(checker::kWholeSearch) /  // tidy: not deciding
                                   static_cast<double>(stack_.share_done()));    // tidy: not deciding
    }
    options_.progress(progress);
  }

  // --- Checkpoints.

  std::uint64_t identity() const {
    const bool is_all = !options_.reduction;
    return identity_of_checkpoint(scenario_, options_.parameter +
                                                 (is_all              ? " all"
                                                  : options_.thorough ? " thorough"
                                                                      : " reduced") +
                                                 (options_.worst ? " worst" : ""));
  }

  std::string checkpoint() const {
    std::ostringstream out;
    out << kCheckpointBegin << '\n' << identity() << '\n';
    stack_.write(out);
    total_->write(out);
    const std::string body = std::move(out).str();
    return body + end_of_checkpoint(body);
  }

  std::optional<Diagnostic> resume() {
    std::istringstream in(options_.resume_from);
    if (auto problem = read_begin(in, options_.resume_name, identity(), scenario_.file)) return problem;
    std::string last;
    if (!is_whole_checkpoint(options_.resume_from) || !stack_.read(in) || !total_->read(in) || !(in >> last) ||
        last != "end") {
      return Diagnostic{options_.resume_name, {3, 1}, "this checkpoint is damaged; leave out --resume to begin anew"};
    }
    return std::nullopt;
  }

  /// All executions were looked at, and no script ended one of them.
  bool is_whole() const { return result_.counts.complete && !total_->script_mistake() && !total_->script_trouble(); }

  void conclude() {
    result_.counts = stack_.counts();
    result_.alike = alike_names(scenario_, catalogue_);
    result_.marks = total_->marks().marks();
    if (is_whole()) result_.idle = total_->marks().idle();
    conclude_properties();
    result_.seconds = now() - *options_.began;
  }

  /// Several witnesses take several threads: they are a tenth of what a search of some milliseconds takes.
  void conclude_properties() {
    const std::span<const PropertyTally> tallies = total_->tallies();
    result_.properties.resize(tallies.size());
    const auto is_to_show = [](const PropertyTally& tally) { return !tally.best.empty() || !tally.suspects.empty(); };
    tell_script_mistakes();
    result_.mistake = total_->script_mistake().value_or("");
    if (std::count_if(tallies.begin(), tallies.end(), is_to_show) < 2) {
      for (std::size_t i = 0; i < tallies.size(); ++i) result_.properties[i] = conclude(tallies[i], *workers_.front());
    } else {
      std::atomic<std::size_t> next = 0;
      in_all_threads([&](std::size_t, Worker& worker) {
        for (std::size_t i = next++; i < tallies.size(); i = next++)
          result_.properties[i] = conclude(tallies[i], worker);
      });
    }
    // Where a run shows that a property is broken, it does not matter which other traces break it, too; what is said of
    // margins does.
    result_.unconfirmed = not_shown_;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      const ExploredProperty& property = result_.properties[i];
      expect_evidence(property, {.is_whole = is_whole(),
                                 .is_seen = tallies[i].is_seen,
                                 .may_be_broken = tallies[i].violating_traces + tallies[i].unconfirmed > 0});
      // Where a run leaves it open, there is no violation that one could confirm.
      if (property.verdict == Verdict::unknown && !property.unconfirmed.empty())
        result_.unconfirmed = std::max(result_.unconfirmed, tallies[i].unconfirmed);
    }
  }

  /// Whether somebody of this story is to take the lock.
  bool uses_lock() const {
    return !scenario_.market && std::any_of(scenario_.clients.begin(), scenario_.clients.end(),
                                            [](const ClientSpec& client) { return client.commands.empty(); });
  }

  /// Which thread met one is chance.
  void tell_script_mistakes() {
    std::set<std::string> all;
    for (const std::optional<Worker>& worker : workers_) {
      if (!worker) continue;
      for (std::string& one : worker->story.deployment().script_mistakes()) all.insert(std::move(one));
    }
    result_.script_mistakes.assign(all.begin(), all.end());
  }

  ExploredProperty conclude(const PropertyTally& tally, Worker& worker) {
    ExploredProperty explored;
    explored.name = tally.name;
    explored.violating_traces = tally.violating_traces;
    const Deployment& deployment = workers_.front()->story.deployment();
    explored.applies = deployment.can_be_claimed(tally.name) && is_asked(options_, tally.name);
    const auto not_judged = [&](std::string_view why) {
      explored.verdict = Verdict::not_judged;
      explored.why = why;
      return explored;
    };
    if (const std::string_view why = deployment.why_not_judged(tally.name); !why.empty()) return not_judged(why);
    if (!is_asked(options_, tally.name)) return not_judged("not asked");
    const std::optional<std::string>& trouble =
        total_->script_mistake() ? total_->script_mistake() : total_->script_trouble();
    if (!tally.best.empty() || !tally.suspects.empty()) {
      const bool is_all = result_.counts.complete && parameters_.size() == 1 && !trouble;
      // Of a length: clocks are off to both sides.
      if (is_all && !sim::moves_clock(*sim::kind_of_parameter(parameters_.front().name)))
        explored.least_possible = tally.least_possible();
      show(tally, explored, worker);
      // In the executions that nobody could follow anything may happen: also a violation from a smaller length on.
      for (Threshold& threshold : explored.thresholds) threshold.is_exact = threshold.is_exact && !trouble;
      explored.is_region_exact = explored.is_region_exact && !trouble;
      if (trouble && explored.verdict != Verdict::violated) explored.why = *trouble;
      return explored;
    }
    if (trouble) {
      explored.why = *trouble;
      return explored;
    }
    if (!result_.counts.complete) {
      explored.why = kNotBrokenSoFar;
      return explored;
    }
    if (!tally.is_seen) {
      explored.applies = explored.applies && uses_lock();
      return not_judged(checker::property_named(tally.name).unseen);
    }
    explored.verdict = Verdict::holds;
    explored.why = result_.counts.traces == 1
                       ? "the one execution, with all its delays, keeps it"
                       : fmt::format("all {} executions, each with all its delays, keep it", result_.counts.traces);
    return explored;
  }

  /// Explores the best traces once more, one after the other, until one makes a witness. If nothing is violated for
  /// certain, a replay can still tell.
  void show(const PropertyTally& tally, ExploredProperty& explored, Worker& worker) {
    std::optional<Unconfirmed> first;
    for (const std::vector<BestTrace>* traces : {&tally.best, &tally.suspects}) {
      for (const BestTrace& trace : *traces) {
        TraceJudge judge = new_judge(worker);
        auto [shown, is_large] = witness_of(trace, tally.name, world_of(worker), judge);
        if (auto* witness = std::get_if<Witness>(&shown)) {
          tell(tally, *witness, explored);
          if (options_.worst)
            explored.worst = worst_case(tally, world_of(worker), judge, *explored.witness, is_whole());
          // A run shows it broken far beyond the least value, and not there: where it begins is not known.
          if (is_large || first) explored.thresholds.clear(), explored.frontier.clear();
          if (explored.thresholds.empty() && explored.least_possible)
            explored.tell_at_most(parameters_.front().name, parameters_.front().range);
          return;
        }
        if (!first) first = std::get<Unconfirmed>(std::move(shown));
      }
    }
    const bool is_certain = !tally.best.empty();
    if (first->is_left_open && !is_certain) {
      explored.why = first->reason;
      return;
    }
    const std::string_view lead =
        !is_certain ? "a possible violation could not be reproduced, so it is not known whether there is one: "
        : first->has_close_moments ? "a violation was found that a replay does not show; it needs moments less than a "
                                     "millisecond apart, and what a run stores are whole milliseconds, so this may be "
                                     "an error of lockstep or none: "
                                   : "an error of lockstep: a violation was found that a replay does not show: ";
    explored.why = std::string(lead) + first->reason;
    explored.unconfirmed = std::move(first->text);
    if (is_certain) not_shown_ += tally.violating_traces;
  }

  TraceWorld world_of(Worker& worker) const { return {scenario_, catalogue_, worker.explorer, worker.story}; }

  void tell(const PropertyTally& tally, Witness& shown, ExploredProperty& explored) {
    explored.verdict = Verdict::violated;
    explored.by = std::move(shown.by);
    explored.waits = std::move(shown.waits);
    explored.witness = std::move(shown.scenario);
    explored.why = std::move(shown.why);
    if (tally.best.empty()) return;  // its margin is not known
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const checker::ThresholdFold& threshold = tally.thresholds[p];
      const bool is_exact = result_.counts.complete && !threshold.is_undercut_by(tally.possible[p]);
      const std::array sides{threshold.upward(), threshold.downward()};
      for (const std::optional<checker::Extent>& extent : sides) {
        if (!extent) continue;
        const bool is_downward = &extent != &sides[0];
        const bool is_known =
            std::any_of(explored.thresholds.begin(), explored.thresholds.end(), [&](const Threshold& t) {
              return t.parameter == parameters_[p].name && t.infimum == *extent &&
                     (extent->attained || t.is_downward == is_downward);
            });
        if (is_known) continue;
        Threshold& found = explored.thresholds.emplace_back(
            Threshold{parameters_[p].name, *extent, is_exact, {}, {}, parameters_[p].range});
        if (!is_exact && !is_downward) found.least_possible = explored.least_possible;
        const std::span<const checker::ValueInterval> values = tally.values[p].intervals();
        found.values.assign(values.begin(), values.end());
        checker::ValueSet all = tally.values[p];
        all.merge(tally.possible_values[p]);
        found.is_exact = found.is_exact && all == tally.values[p];
        found.is_downward = is_downward && extent->value <= sim::Duration::zero() && *extent != kNothing;
        if (parameters_.size() < 2) continue;
        found.alone = is_downward ? tally.alone[p].downward() : tally.alone[p].upward();
        // 0 is on both sides; alone it may break on the other one.
        if (*extent == kNothing && !found.alone) {
          found.alone = tally.alone[p].downward();
          found.is_downward = found.alone.has_value();
        }
        if (found.alone == *extent && tally.alone_values[p] == tally.values[p]) continue;
        for (const JudgedParameter& other : parameters_) {
          if (other.name != found.parameter) found.together_with.push_back(other.name);
        }
      }
    }
    if (const std::optional<checker::Frontier> region = joint_region(tally.frontiers, parameters_))
      explored.tell(*region, result_.counts.complete && are_covered(tally.possible_frontiers, tally.frontiers));
  }

  const Scenario& scenario_;
  const models::locks::Catalogue& catalogue_;
  const ExplorationOptions& options_;
  checker::ExplorerOptions settings_;
  std::vector<JudgedParameter> parameters_;
  const ExploredStory::Probe probe_;
  const bool first_comer_gets_it_;             ///< the lock
  const sim::Duration visitor_attempt_;        ///< `RecoverableQuestion::visitor_attempt`
  std::deque<std::optional<Worker>> workers_;  ///< they do not move; all but the first are made by their threads
  std::optional<TraceJudge> total_;
  Exploration result_;
  double saved_ = 0;                          // tidy: not deciding
  std::atomic<std::uint64_t> not_shown_ = 0;  ///< violating traces of properties that no replay shows broken
  std::atomic<double> hit_at_ = 0;            ///< when a worker first found that a bound was hit; 0: not yet

  // Of all threads, behind the mutex.
  std::mutex mutex_;
  std::condition_variable changed_;
  BranchStack stack_;
  checker::BranchesAhead<Found> ahead_;
  bool is_over_ = false;
  bool is_too_long_ = false;
};

/// A world that does not end is not small. Most that do have far fewer events than the first bound; one that has more,
/// and does not turn out to be endless, is searched again with a larger one.
std::variant<Exploration, Diagnostic> search(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                             const ExplorationOptions& options, checker::ExplorerOptions settings,
                                             ExploredStory::Probe probe) {
  settings.max_steps = 1'000;
  if (auto found = Search(scenario, catalogue, options, settings, probe)()) return *std::move(found);
  if (auto endless = endless_exploration(scenario, catalogue)) return *std::move(endless);
  settings.max_steps = 16'000;
  if (auto found = Search(scenario, catalogue, options, settings, probe)()) return *std::move(found);
  if (probe == ExploredStory::Probe::none || !is_asked(options, "recoverable"))
    return too_long_to_explore(scenario, settings.max_steps);
  // A client that tries again and again to get what never comes back may be what makes it long.
  ExplorationOptions others = options;
  others.save = nullptr, others.resume_from.clear();
  others.asks = [&](std::string_view property) { return property != "recoverable" && is_asked(options, property); };
  if (auto found = Search(scenario, catalogue, others, settings, ExploredStory::Probe::none)())
    return without_probe(*std::move(found), settings.max_steps);
  return too_long_to_explore(scenario, settings.max_steps);
}

/// Once more, with a visitor that comes while servers still wait for the ends of sessions.
void ask_early(const Scenario& scenario, const models::locks::Catalogue& catalogue, const ExplorationOptions& options,
               const checker::ExplorerOptions& settings, Exploration& known) {
  ExploredProperty& recovery = known.properties[checker::position_of_property("recoverable")];
  if (recovery.verdict != Verdict::holds) return;
  ExplorationOptions again = options;
  again.asks = [](std::string_view property) { return property == "recoverable"; };
  again.save = nullptr, again.resume_from.clear();
  const auto result = search(scenario, catalogue, again, settings, ExploredStory::Probe::when_clients_are_done);
  const auto* early = std::get_if<Exploration>(&result);
  if (early == nullptr) return;
  const ExploredProperty& found = early->properties[checker::position_of_property("recoverable")];
  if (found.verdict != Verdict::holds && found.verdict != Verdict::not_judged) recovery = found;
  known.unconfirmed += early->unconfirmed;
}

}  // namespace

bool can_be_explored(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  return first_program(scenario) == nullptr && !sentinels_look_for_ever(scenario) &&
         why_not_explored(scenario, catalogue).empty();
}

std::variant<Exploration, Diagnostic> explore(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                              const ExplorationOptions& given) {
  ExplorationOptions options = given;
  options.began = given.begin();
  if (auto refusal = refusal_of_programs(scenario, "check cannot take; `lockstep run` and `lockstep fuzz` can"))
    return *std::move(refusal);
  if (const std::string_view why = why_not_explored(scenario, catalogue); !why.empty()) return not_explored(why);
  if (sentinels_look_for_ever(scenario)) {
    return Diagnostic{scenario.file, scenario.sentinels_at,
                      "sentinels look for ever, so they cannot be explored; add played = \"one\" to [sentinels]"};
  }
  auto budgets = fault_budgets(scenario);
  if (auto* problem = std::get_if<Diagnostic>(&budgets)) return std::move(*problem);
  checker::ExplorerOptions settings;
  settings.reduction = options.reduction;
  settings.goes_back = options.goes_back;
  settings.thorough = options.thorough;
  settings.faults = std::get<std::vector<checker::FaultBudget>>(std::move(budgets));
  if (options.reduction && options.exchanges_names) settings.alike = alike_processes(scenario, catalogue);
  auto result = search(scenario, catalogue, options, settings, ExploredStory::Probe::when_all_is_over);
  const auto& kind = server_kind_of(*find_entry(scenario.lock, catalogue));
  // Redis waits for nothing by itself: it looks whether a key is over when somebody asks.
  const bool may_come_early =
      scenario.lock.own.entry != nullptr && !kind.is_redis() && is_asked(options, "recoverable");
  if (auto* known = std::get_if<Exploration>(&result); known != nullptr && may_come_early)
    ask_early(scenario, catalogue, options, settings, *known);
  return result;
}

}  // namespace lockstep::scenarios
