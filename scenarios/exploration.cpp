#include "scenarios/exploration.hpp"

#include <algorithm>
#include <vector>

#include "checker/ownership.hpp"
#include "scenarios/deployment.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Belief;
using checker::Constraint;
using checker::Explorer;
using checker::Extent;

class Subject final : public checker::Explorable {
 public:
  Subject(const Scenario& scenario, const models::locks::Catalogue& catalogue, Explorer& explorer)
      : deployment_(scenario, catalogue, explorer, Deployment::Faults::none) {}
  sim::World& world() override { return deployment_.world(); }
  void begin() override { deployment_.begin(); }

 private:
  Deployment deployment_;
};

/// One way in which a belief can still be alive at an instant: all of its constraints hold.
struct StillBelieved {
  std::vector<Constraint> constraints;
  bool is_widened = false;
};

/// What must hold so that `belief` has not ended at `moment`. It ends with the first of its events, or when its deadline is
/// noticed, which a pause puts off to its end.
std::vector<StillBelieved> believed_at(const Belief& belief, sim::Instant moment,
                                       std::span<const checker::ExploredPause> pauses) {
  StillBelieved before_event;
  // The endings by events are of one process, so their steps say which came first.
  const checker::Ending* first = nullptr;
  for (const auto* ending : {&belief.released, &belief.lost, &belief.crashed}) {
    if (*ending && (first == nullptr || (*ending)->step < first->step)) first = &**ending;
  }
  if (first != nullptr) before_event.constraints.push_back(Constraint::less_than(moment, first->at));
  if (!belief.deadline) return {before_event};

  std::vector<StillBelieved> ways;
  StillBelieved in_time = before_event;
  in_time.constraints.push_back(Constraint::less_than(moment, belief.deadline->at));
  ways.push_back(std::move(in_time));
  for (const checker::ExploredPause& pause : pauses) {
    if (pause.process != belief.process) continue;
    // The deadline fell into the pause. For work, `from` is the latest moment at which the pause can have begun; that it began
    // earlier, and the deadline lies before `from`, cannot be said with differences and is widened.
    StillBelieved noticed_late = before_event;
    noticed_late.constraints.push_back(Constraint::less_than(moment, pause.until));
    noticed_late.constraints.push_back(Constraint::less_than(belief.deadline->at, pause.until));
    StillBelieved widened = noticed_late;
    noticed_late.constraints.push_back(Constraint::at_most(pause.from, belief.deadline->at));
    widened.is_widened = true;
    ways.push_back(std::move(noticed_late));
    ways.push_back(std::move(widened));
  }
  return ways;
}

bool is_less(const Extent& a, const Extent& b) {
  return a.value != b.value ? a.value < b.value : a.attained && !b.attained;
}

class Judge {
 public:
  explicit Judge(Exploration& result) : result_(result) {}

  void operator()(Explorer& explorer) {
    const std::vector<Belief> beliefs = checker::collect_beliefs(explorer.world().history());
    bool is_violated = false;
    bool is_suspected = false;
    for (std::size_t i = 0; i < beliefs.size(); ++i) {
      for (std::size_t j = i + 1; j < beliefs.size(); ++j) {
        if (beliefs[i].process == beliefs[j].process || beliefs[i].object != beliefs[j].object) continue;
        for (const StillBelieved& one : believed_at(beliefs[i], beliefs[j].from, explorer.pauses())) {
          for (const StillBelieved& other : believed_at(beliefs[j], beliefs[i].from, explorer.pauses())) {
            if (!can_be(explorer, one, other)) continue;
            (one.is_widened || other.is_widened ? is_suspected : is_violated) = true;
          }
        }
      }
    }
    if (is_violated) ++result_.violating_traces;
    if (!is_violated && is_suspected) ++result_.unconfirmed;
  }

 private:
  bool can_be(Explorer& explorer, const StillBelieved& one, const StillBelieved& other) {
    checker::DifferenceConstraints& constraints = explorer.constraints();
    const auto mark = constraints.mark();
    const bool feasible = constraints.add_all(one.constraints) && constraints.add_all(other.constraints);
    if (feasible && !one.is_widened && !other.is_widened) note_threshold(explorer);
    constraints.undo(mark);
    return feasible;
  }

  void note_threshold(Explorer& explorer) {
    // With several pauses the longest of them counts; with one, the question is a shortest path.
    if (explorer.pauses().size() > 1) return;
    Extent least{sim::Duration::zero(), true};
    for (const checker::ExploredPause& pause : explorer.pauses()) {
      least = *explorer.constraints().least_difference(pause.from.anchor(), pause.until.anchor());
    }
    if (!result_.pause_threshold || is_less(least, *result_.pause_threshold)) result_.pause_threshold = least;
  }

  Exploration& result_;
};

}  // namespace

std::variant<Exploration, Diagnostic> explore(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                              const ExplorationOptions& options) {
  checker::ExplorerOptions settings;
  settings.reduction = options.reduction;
  settings.max_traces = options.max_traces;
  for (const ClientSpec& client : scenario.clients) {
    if (client.clock.drift_ppm == 0) continue;
    return Diagnostic{scenario.file, client.at, "exploration does not know drifting clocks yet; leave drift_ppm out"};
  }
  std::vector<std::string> who;
  for (const MaySpec& may : scenario.may) {
    if (may.kind != MaySpec::Kind::pause || settings.pauses.times != 0) {
      return Diagnostic{scenario.file, may.at, "exploration knows one [[may]] of kind \"pause\" so far"};
    }
    settings.pauses.length = may.length;
    settings.pauses.times = static_cast<std::uint32_t>(may.times);
    who = may.who;
  }
  for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
    if (!who.empty() && std::find(who.begin(), who.end(), scenario.clients[i].name) == who.end()) continue;
    settings.pauses.who.push_back(sim::ProcessId{static_cast<std::uint16_t>(i)});
  }

  Exploration result;
  Explorer explorer(settings);
  Subject subject(scenario, catalogue, explorer);
  Judge judge(result);
  result.counts = explorer.explore(subject, [&](Explorer& at_end) {
    judge(at_end);
    return true;
  });
  if (result.violating_traces > 0) {
    result.mutual_exclusion = checker::Verdict::violated;
  } else if (result.counts.complete && result.unconfirmed == 0) {
    result.mutual_exclusion = checker::Verdict::holds;
  }
  if (settings.pauses.times == 0) result.pause_threshold.reset();
  return result;
}

}  // namespace lockstep::scenarios
