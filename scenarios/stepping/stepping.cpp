#include "scenarios/stepping/stepping.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "checker/explorer/explorer.hpp"
#include "scenarios/exploring/endless.hpp"
#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/witness/explored_trace.hpp"
#include "scenarios/witness/witness.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Answer;
using checker::Branch;
using checker::BranchOutcome;
using checker::BranchPoint;
using checker::ExploredEvent;
using checker::ExploredFault;
using checker::Explorer;
using checker::Extent;
using checker::OrderInTime;
using sim::EventId;

constexpr std::size_t kWaysMax = 64;
constexpr std::uint64_t kStepsMax = 2'000;

// A search that finds no execution is given up when it was asked so often, each after 64 runs or 4096 events.
constexpr unsigned kAsksMax = 32;
// How often the end of an event's times is moved outwards.
constexpr unsigned kExtensions = 16;

/// What is on its way at a place, and can come: on each connection, first in first out.
class Pending final : public checker::ExplorationObserver {
 public:
  void look_at(std::uint32_t events) { events_ = events; }
  const std::vector<EventId>& events() const { return pending_; }

  void began(const Explorer& explorer) override {
    if (events_ == 0) look(explorer);
  }
  void executed(const Explorer& explorer, std::uint32_t position, bool) override {
    if (position + 1 == events_) look(explorer);
  }

 private:
  void look(const Explorer& explorer) {
    pending_.clear();
    std::vector<std::uint32_t> channels;
    for (const std::uint32_t slot : explorer.pending()) {
      const sim::Event& event = explorer.world().event(slot);
      const bool waits = std::find(channels.begin(), channels.end(), event.channel) != channels.end();
      if (event.channel != sim::Event::kNoChannel) channels.push_back(event.channel);
      if (!waits) pending_.push_back(event.id);
    }
  }

  std::uint32_t events_ = 0;
  std::vector<EventId> pending_;
};

/// The branch that begins like this.
Branch branch_to(const std::shared_ptr<BranchPoint>& way) {
  Branch branch;
  branch.from = way->before;
  branch.at_root = way->before == nullptr;
  branch.chosen = way->chosen;
  branch.answers = way->answers;
  return branch;
}

bool is_later(const Extent& a, const Extent& b) {
  return a.value > b.value || (a.value == b.value && a.attained && !b.attained);
}
bool is_earlier(const Extent& a, const Extent& b) {
  return a.value < b.value || (a.value == b.value && a.attained && !b.attained);
}

/// What tells the same event with other answers apart; and crashes, which are called alike whomever they strike, by
/// that, and by what allows them.
using Key = std::pair<EventId, std::vector<std::size_t>>;

Key key_of(const ExploredEvent& event, const std::vector<Answer>& answers, const std::vector<ExploredFault>& faults) {
  Key key{event.id, {event.process.index}};
  if (event.kind == sim::EventKind::fault) key.second.push_back(faults.front().budget);
  for (const Answer& answer : answers) key.second.push_back(answer.index);
  return key;
}

class Stepping {
 public:
  Stepping(const Scenario& scenario, const models::locks::Catalogue& catalogue,
           std::vector<checker::FaultBudget> budgets)
      : scenario_(scenario),
        catalogue_(catalogue),
        explorer_(settings(std::move(budgets))),
        story_(scenario, catalogue, explorer_, ExploredStory::Probe::none) {}

  std::variant<StepsHere, Diagnostic> operator()(const StepPlace& place) {
    result_.place = place;
    if (place.ways.empty() && !find_ways())
      return Diagnostic{scenario_.file,
                        {},
                        "[[may]] allows more than 64 combinations of crashes, jumps, partitions and "
                        "clocks that are off; to choose event by event, allow fewer"};
    for (const std::shared_ptr<BranchPoint>& way : result_.place.ways) look_along(way);
    if (is_too_long_) return too_long_to_explore(scenario_, kStepsMax);
    std::vector<std::size_t> order(result_.next.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Extent &first = result_.next[a].earliest, &second = result_.next[b].earliest;
      return is_earlier(first, second) || (!is_earlier(second, first) && a < b);
    });
    std::vector<NextStep> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(result_.next[i]));
    result_.next = std::move(sorted);
    return std::move(result_);
  }

 private:
  checker::ExplorerOptions settings(std::vector<checker::FaultBudget> budgets) {
    checker::ExplorerOptions settings;
    settings.faults = std::move(budgets);
    settings.max_steps = kStepsMax;
    settings.observer = &pending_;
    settings.gives_up = [this] { return ++asked_ > kAsksMax; };
    return settings;
  }

  /// False: it was given up, or a trace is too long. `visit`: of one trace for each way to answer the first event.
  bool search(const Branch& branch, OrderInTime order, const std::function<void()>& visit) {
    asked_ = 0;
    explorer_.keep(order);
    const BranchOutcome outcome = explorer_.explore(story_, branch, {}, [&](Explorer&) {
      visit();
      explorer_.have_enough();
      return true;
    });
    is_too_long_ = is_too_long_ || outcome.too_long;
    return !outcome.given_up && !outcome.too_long;
  }

  /// What can be decided before the first event. False: there is too much of it.
  bool find_ways() {
    std::vector<std::shared_ptr<BranchPoint>>& ways = result_.place.ways;
    result_.is_all = search({}, {}, [&] {
      std::shared_ptr<BranchPoint> way = explorer_.here().from;
      while (way->before) way = way->before;
      ways.push_back(std::move(way));
    });
    return ways.size() <= kWaysMax;
  }

  void look_along(const std::shared_ptr<BranchPoint>& way) {
    const std::uint32_t events = result_.place.events;
    const bool is_first = way == result_.place.ways.front();
    pending_.look_at(events);
    const bool is_whole = search(branch_to(way), {.events = events}, [&] {
      result_.is_over = result_.is_over || explorer_.trace_length() == events;
      if (is_first) result_.run = run_of_trace(events);
    });
    result_.is_all = result_.is_all && is_whole;
    const std::vector<EventId> pending = pending_.events();
    for (const EventId event : pending) try_next(way, event);
  }

  /// The execution that stands, as a story. The first events were chosen.
  std::variant<SteppedRun, std::string> run_of_trace(std::uint32_t chosen) {
    const ExploredTrace trace = trace_of(explorer_);
    std::vector<checker::Constraint> apart;
    if (chosen > 0) {
      checker::DifferenceConstraints constraints = trace.constraints;
      for (std::size_t i = chosen; i < trace.events.size(); ++i) {
        const auto later = checker::Constraint::less_than(trace.events[chosen - 1].at, trace.events[i].at);
        if (constraints.add(later)) apart.push_back(later);
      }
    }
    auto made = scheduled(scenario_, catalogue_, trace, apart);
    if (auto* trouble = std::get_if<std::string>(&made)) return std::move(*trouble);
    Scheduled& run = std::get<Scheduled>(made);
    return SteppedRun{std::move(run.scenario), chosen > 0 ? run.at[chosen - 1] : sim::Duration::zero()};
  }

  void try_next(const std::shared_ptr<BranchPoint>& way, EventId event) {
    const std::uint32_t events = result_.place.events;
    Branch branch;
    branch.from = way;
    branch.chosen = event;
    std::vector<std::pair<std::size_t, std::shared_ptr<BranchPoint>>> found;
    const bool is_whole = search(branch, {.events = events + 1}, [&] {
      if (const auto step = take(way)) found.push_back(*step);
    });
    result_.is_all = result_.is_all && is_whole;
    for (const auto& [next, point] : found) extend(result_.next[next], branch_to(point));
  }

  /// What the trace that stands has next, and where it is in the result; nothing if nothing happens: whom a crash was
  /// to strike was dead, or at something else.
  std::optional<std::pair<std::size_t, std::shared_ptr<BranchPoint>>> take(const std::shared_ptr<BranchPoint>& way) {
    const std::uint32_t position = result_.place.events;
    std::vector<ExploredFault> faults;
    for (const ExploredFault& fault : explorer_.faults()) {
      const bool is_of_beginning = fault.event == ExploredEvent::no_cause && way != result_.place.ways.front();
      if (fault.event == position || is_of_beginning) faults.push_back(fault);
    }
    const ExploredEvent event = explorer_.trace()[position];
    if (event.kind == sim::EventKind::fault && faults.empty()) return std::nullopt;
    auto point = std::make_shared<BranchPoint>();
    point->before = way;
    point->chosen = event.id;
    point->answers = answers_at(position);
    const auto [known, is_new] = places_.try_emplace(key_of(event, point->answers, faults), result_.next.size());
    if (is_new) {
      NextStep& step = result_.next.emplace_back();
      step.place.events = position + 1;
      step.event = event;
      step.message = event.name;
      step.faults = std::move(faults);
      step.earliest = *explorer_.constraints().least_difference(0, event.at.variable());
      step.latest = step.earliest;
      step.run = run_of_trace(position + 1);
    }
    NextStep& step = result_.next[known->second];
    step.place.ways.push_back(point);
    widen(step, event.at);
    return std::pair(known->second, std::move(point));
  }

  std::vector<Answer> answers_at(std::uint32_t position) const {
    const Branch here = explorer_.here();
    if (position + 1 == explorer_.trace_length()) return here.answers;
    const BranchPoint* point = here.from.get();
    for (std::uint32_t i = explorer_.trace_length() - 1; i > position + 1; --i) point = point->before.get();
    return point->answers;
  }

  void widen(NextStep& step, sim::Instant at) {
    const Extent least = *explorer_.constraints().least_difference(0, at.variable());
    const std::optional<Extent> greatest = explorer_.constraints().greatest_difference(0, at.variable());
    if (is_earlier(least, step.earliest)) step.earliest = least;
    if (!greatest)
      step.latest.reset();
    else if (step.latest && is_later(*greatest, *step.latest))
      step.latest = greatest;
  }

  /// Its times are those of one execution so far: looks for others beyond both ends.
  void extend(NextStep& step, const Branch& branch) {
    const std::uint32_t position = result_.place.events;
    OrderInTime order{.events = position + 1};
    for (const bool is_later_end : {true, false}) {
      bool goes_on = true;
      for (unsigned i = 0; goes_on && i < kExtensions; ++i) {
        if (is_later_end && !step.latest) break;
        order.later_than = is_later_end ? step.latest : std::nullopt;
        order.earlier_than = is_later_end ? std::nullopt : std::optional(step.earliest);
        goes_on = false;
        const bool is_whole = search(branch, order, [&] {
          goes_on = true;
          widen(step, explorer_.time_at(position));
        });
        step.knows_times = step.knows_times && is_whole;
      }
      step.knows_times = step.knows_times && !goes_on;
    }
  }

  const Scenario& scenario_;
  const models::locks::Catalogue& catalogue_;
  Pending pending_;
  Explorer explorer_;
  ExploredStory story_;
  unsigned asked_ = 0;
  bool is_too_long_ = false;
  std::map<Key, std::size_t> places_;  ///< in the result
  StepsHere result_;
};

}  // namespace

void join(NextStep& step, const NextStep& other) {
  step.place.ways.insert(step.place.ways.end(), other.place.ways.begin(), other.place.ways.end());
  if (is_earlier(other.earliest, step.earliest)) step.earliest = other.earliest;
  if (!other.latest || (step.latest && is_later(*other.latest, *step.latest))) step.latest = other.latest;
  step.knows_times = step.knows_times && other.knows_times;
}

std::variant<StepsHere, Diagnostic> steps_at(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                             const StepPlace& place) {
  if (const std::string_view why = why_not_explored(scenario, catalogue); !why.empty())
    return Diagnostic{scenario.file, {}, "its executions cannot be followed event by event: " + std::string(why)};
  if (sentinels_look_for_ever(scenario)) {
    return Diagnostic{scenario.file, scenario.sentinels_at,
                      "sentinels look for ever, so their events cannot be chosen; add played = \"one\" to [sentinels]"};
  }
  auto budgets = fault_budgets(scenario);
  if (auto* problem = std::get_if<Diagnostic>(&budgets)) return std::move(*problem);
  return Stepping(scenario, catalogue, std::get<std::vector<checker::FaultBudget>>(std::move(budgets)))(place);
}

}  // namespace lockstep::scenarios
