#include "scenarios/exploring/oracles/second_opinion.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "scenarios/exploring/judging/how_long.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/random_run.hpp"
#include "scenarios/witness/witness.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Verdict;
using sim::Duration;
using sim::DurationRange;

constexpr std::uint64_t kRunsMin = 600;
constexpr std::uint64_t kRunsMax = 1'000;
/// Where single runs are long: so many at least, and then no more events than these or those of the search.
constexpr std::uint64_t kLongRunsMin = 48;
constexpr std::uint64_t kEventsMin = 300'000;
/// In which runs it is asked whether the lock comes back: that takes longer than the run itself.
constexpr std::uint64_t kRecoveryEvery = 8;
constexpr Duration kJust = Duration::microseconds(1);

/// Of the story as it is explored, so that other expectations, comments and texts give the same runs.
std::uint64_t seed_of(const Scenario& scenario) {
  Scenario explored = without_positions(scenario);
  explored.expect_run.clear();
  explored.expect_check.clear();
  explored.expect_traces.reset();
  explored.title = explored.story = explored.lesson = {};
  explored.faults.clear();
  explored.pin.clear();
  explored.schedule.clear();
  std::uint64_t seed = 0x6f70696e696f6e;
  for (const char c : identity_of(explored)) seed = sim::combine64(seed, static_cast<unsigned char>(c));
  return seed;
}

class SecondOpinion {
 public:
  SecondOpinion(const Scenario& scenario, const models::locks::Catalogue& catalogue, const ExplorationOptions& options,
                Exploration& exploration, Effort effort)
      : scenario_(scenario),
        catalogue_(catalogue),
        options_(options),
        begin_(options.begin()),
        effort_(effort),
        result_(exploration),
        runs_(scenario, catalogue),
        seed_(seed_of(scenario)) {
    for (const ExploredProperty& property : result_.properties) {
      is_asked_.push_back(is_asked(property));
      if (is_asked_.back()) runs_.ask(property.name);
      is_recovery_asked_ = is_recovery_asked_ || (property.name == "recoverable" && is_asked_.back());
    }
  }

  void operator()() {
    if (std::none_of(is_asked_.begin(), is_asked_.end(), [](bool asked) { return asked; })) return;
    std::uint64_t events = 0;
    const bool until_the_bound = result_.bound == "max-seconds";
    for (std::uint64_t i = 0; (until_the_bound || i < effort_.of(kRunsMax)) && !is_over(); ++i) {
      if (!until_the_bound && is_enough(i, events)) return;
      ++result_.random_runs;
      const bool asks = is_recovery_asked_ && i % kRecoveryEvery == 0;
      if (const auto findings = runs_.run(sim::combine64(seed_, i), limit_of(i), asks)) look(*findings, asks);
      events += runs_.events();
      if (runs_.is_only_one()) return;
    }
  }

 private:
  bool is_enough(std::uint64_t runs, std::uint64_t events) const {
    const std::uint64_t of_search = result_.counts.events;
    if (runs >= effort_.of(kRunsMin)) return events >= effort_.of(of_search);
    return runs >= effort_.of(kLongRunsMin) && events >= effort_.of(std::max(of_search, kEventsMin));
  }

  /// Whether a run can tell something new.
  bool is_asked(const ExploredProperty& property) const {
    // Between what a search found to be too late by little and a run there may be an attempt more; where it found it
    // kept, there is none.
    if (property.name == "recoverable" && property.verdict == Verdict::violated) return false;
    if (!runs_.deployment().why_not_judged(property.name).empty()) return false;
    if (options_.asks && !options_.asks(property.name)) return false;
    return property.verdict != Verdict::violated || !property.thresholds.empty() || property.worst;
  }

  bool is_over() const {
    if (options_.interrupted && options_.interrupted()) return true;
    return options_.max_seconds > 0 && options_.stopwatch() - begin_ >= options_.max_seconds;
  }

  /// Runs that are free look for what breaks properties that were said to hold; those just below a margin, for less
  /// than it. In some of these the faults may go just beyond it, where something else may begin.
  std::optional<FaultLimit> limit_of(std::uint64_t run) const {
    std::vector<FaultLimit> below;
    std::vector<FaultLimit> beyond;
    bool is_any_kept = false;
    for (std::size_t i = 0; i < result_.properties.size(); ++i) {
      if (!is_asked_[i]) continue;
      is_any_kept = is_any_kept || result_.properties[i].verdict != Verdict::violated;
      for (const Threshold& threshold : result_.properties[i].thresholds) {
        const Duration value = std::max(threshold.infimum.value, -threshold.infimum.value);
        const Duration most = threshold.infimum.attained ? value - kJust : value;
        if (most >= Duration::zero()) below.push_back({threshold.parameter, {-most, most}});
        beyond.push_back({threshold.parameter, {-value - kJust, value + kJust}});
      }
    }
    if (run % (is_any_kept ? 2 : 8) == 0) return std::nullopt;
    const std::vector<FaultLimit>& limits = below.empty() || run % 8 == 1 ? beyond : below;
    if (limits.empty()) return std::nullopt;
    return limits[sim::mix64(run) % limits.size()];
  }

  void look(const std::vector<checker::Finding>& findings, bool is_probed) {
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (!is_asked_[i] || findings[i].verdict != Verdict::violated) continue;
      ExploredProperty& property = result_.properties[i];
      if (property.name == "recoverable" && !is_probed) continue;
      if (property.verdict == Verdict::violated) {
        look_at_margins(property);
        if (property.worst) look_at_worst(property);
      } else {
        is_asked_[i] = false;
        found_broken(property);
      }
    }
  }

  void found_broken(ExploredProperty& property) {
    std::variant<Witness, Unconfirmed> shown = confirm(runs_.story(), scenario_, catalogue_, property.name, {});
    const auto* unshown = std::get_if<Unconfirmed>(&shown);
    // Who leaves it open contradicts nobody.
    const bool was_kept = property.verdict == Verdict::holds && (unshown == nullptr || !unshown->is_left_open);
    const std::string_view disagreement = was_kept ? "a disagreement: the search called it kept; " : "";
    if (was_kept) dispute(property);
    if (auto* witness = std::get_if<Witness>(&shown)) {
      property.verdict = Verdict::violated;
      property.why = fmt::format("{}{}", disagreement, witness->why);
      take(*witness, property);
      for (const std::string& parameter : parameters())
        property.thresholds.push_back({parameter, {value_of(parameter), true}, false, property.least_possible});
      return;
    }
    Unconfirmed& unconfirmed = std::get<Unconfirmed>(shown);
    property.verdict = Verdict::unknown;
    property.why = fmt::format("{}a run breaks it, and as a file it does not: {}", disagreement, unconfirmed.reason);
    property.unconfirmed = std::move(unconfirmed.text);
  }

  void dispute(ExploredProperty& property) {
    ++result_.disagreements;
    property.is_disputed = true;
  }

  void take(Witness& witness, ExploredProperty& property) {
    property.by = std::move(witness.by);
    property.waits = std::move(witness.waits);
    property.witness = std::move(witness.scenario);
  }

  /// A run broke what is known to break, perhaps with less.
  void look_at_margins(ExploredProperty& property) {
    std::string disagreement;
    const auto disagree = [&](std::string text) {
      if (!result_.counts.complete) return;
      dispute(property);
      disagreement = std::move(text);
    };
    bool is_better = false;
    for (Threshold& threshold : property.thresholds) {
      if (!is_below(threshold.parameter, threshold.infimum)) continue;
      is_better = true;
      const std::optional<checker::Extent> bound = threshold.is_exact ? threshold.infimum : threshold.least_possible;
      if (bound && is_below(threshold.parameter, *bound)) {
        disagree(fmt::format("the search found nothing below a {} of {}", threshold.parameter,
                             sim::to_string(bound->value)));
      }
      threshold.infimum = {value_of(threshold.parameter), true};
      threshold.is_exact = false;
    }
    for (Threshold& threshold : property.thresholds) {
      const std::optional<Duration> beyond = beyond_of(threshold);
      if (!beyond) continue;
      is_better = true;
      if (threshold.is_exact) {
        disagree(fmt::format("the search found nothing above a {} of {}", threshold.parameter,
                             sim::to_string(threshold.greatest().value)));
      }
      checker::ValueSet values;
      for (const checker::ValueInterval& interval : threshold.values) values.add(interval);
      values.add({{*beyond, true}, {*beyond, true}});
      threshold.values.assign(values.intervals().begin(), values.intervals().end());
      threshold.is_exact = false;
    }
    for (const std::string& name : unknown_sides(property)) {
      is_better = true;
      disagree(fmt::format("the search found nothing with a {} of {}", name, sim::to_string(value_of(name))));
      property.thresholds.push_back({name, {value_of(name), true}, false});
    }
    if (!is_better) return;
    if (!disagreement.empty()) property.why = "a disagreement: " + disagreement;
    std::variant<Witness, Unconfirmed> shown = confirm(runs_.story(), scenario_, catalogue_, property.name, {});
    if (auto* witness = std::get_if<Witness>(&shown)) {
      take(*witness, property);
    } else {
      Unconfirmed& unconfirmed = std::get<Unconfirmed>(shown);
      property.why += fmt::format("; as a file the run that does does not break it: {}", unconfirmed.reason);
      property.unconfirmed = std::move(unconfirmed.text);
    }
  }

  /// A run broke it for longer than any may.
  void look_at_worst(ExploredProperty& property) {
    WorstCase& worst = *property.worst;
    const Deployment& deployment = runs_.deployment();
    const Duration shown =
        longest_together(deployment.world().history(), too_many(deployment.places()), deployment.probe());
    if (shown <= worst.longest) return;
    if (worst.is_exact) {
      dispute(property);
      property.why = fmt::format("a disagreement: it lasts {} in a run, and the search found no more than {}",
                                 sim::to_string(shown), sim::to_string(worst.longest));
    }
    worst = {shown, false, shown, runs_.story()};
  }

  /// Whether the present run has less than that.
  bool is_below(std::string_view parameter, const checker::Extent& extent) const {
    const Duration value = value_of(parameter);
    const Duration limit = extent.value;
    // Of a margin on one side, a run on the other says nothing.
    if (limit < Duration::zero() ? value > Duration::zero() : value < Duration::zero()) return false;
    const Duration magnitude = std::max(value, -value);
    const Duration bound = std::max(limit, -limit);
    return magnitude < bound || (magnitude == bound && !extent.attained);
  }

  /// What the present run has, with one fault of the parameter, if that is more than any value that is known to break
  /// it.
  std::optional<Duration> beyond_of(const Threshold& threshold) const {
    if (threshold.values.empty()) return std::nullopt;
    const auto struck = runs_.faults().struck();
    const auto is_it = [&](const auto& fault) { return fault.first == threshold.parameter; };
    const Duration value = value_of(threshold.parameter);
    const checker::Extent& greatest = threshold.greatest();
    const bool is_beyond = value > greatest.value || (value == greatest.value && !greatest.attained);
    return is_beyond && std::count_if(struck.begin(), struck.end(), is_it) == 1 ? std::optional(value) : std::nullopt;
  }

  /// The parameters of which a run shows a side that no margin speaks of.
  std::vector<std::string> unknown_sides(const ExploredProperty& property) const {
    std::vector<std::string> names;
    for (const std::string& name : parameters()) {
      const bool is_down = value_of(name) < Duration::zero();
      const auto is_of_side = [&](const Threshold& threshold) {
        const Duration value = threshold.infimum.value;
        return threshold.parameter == name && (value == Duration::zero() || (value < Duration::zero()) == is_down);
      };
      if (std::none_of(property.thresholds.begin(), property.thresholds.end(), is_of_side)) names.push_back(name);
    }
    return names;
  }

  /// With how much of it the present run broke something: what is largest, negative if all of it is. Of clocks of which
  /// several may be off, to both sides, the magnitude. Without such a fault, what is nearest to it.
  Duration value_of(std::string_view parameter) const {
    Duration up;
    Duration down;
    bool has_struck = false;
    for (const auto& [name, value] : runs_.faults().struck()) {
      if (name != parameter) continue;
      has_struck = true;
      up = std::max(up, value);
      down = std::min(down, value);
    }
    if (!has_struck) return nearest_to_none(parameter);
    if (is_of_magnitudes(parameter)) return std::max(up, -down);
    return up > Duration::zero() ? up : down;
  }

  Duration nearest_to_none(std::string_view parameter) const {
    std::optional<Duration> nearest;
    for (const MaySpec& may : scenario_.may) {
      if (parameter_of(may) != parameter) continue;
      const DurationRange range = *length_of(may);
      const Duration own = std::clamp(Duration::zero(), range.lo, range.hi);
      if (!nearest || std::max(own, -own) < std::max(*nearest, -*nearest)) nearest = own;
    }
    return nearest.value_or(Duration::zero());
  }

  /// As `judged_parameters` has it, which no code is shared with.
  bool is_of_magnitudes(std::string_view parameter) const {
    std::size_t clocks = 0;
    bool has_up = false;
    bool has_down = false;
    for (const AllowedFaults::Budget& budget : runs_.faults().budgets()) {
      if (parameter_of(*budget.may) != parameter) continue;
      clocks += std::min(static_cast<std::size_t>(budget.may->times), budget.who.size());
      has_up = has_up || length_of(*budget.may)->hi > Duration::zero();
      has_down = has_down || length_of(*budget.may)->lo < Duration::zero();
    }
    return clocks > 1 && has_up && has_down;
  }

  std::vector<std::string> parameters() const {
    std::vector<std::string> names;
    for (const MaySpec& may : scenario_.may) {
      const std::string name(parameter_of(may));
      if (name.empty() || (!options_.parameter.empty() && name != options_.parameter)) continue;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  }

  const Scenario& scenario_;
  const models::locks::Catalogue& catalogue_;
  const ExplorationOptions& options_;
  double begin_;  // tidy: not deciding
  Effort effort_;
  Exploration& result_;
  RandomRuns runs_;
  std::uint64_t seed_;
  std::vector<bool> is_asked_;  ///< by property
  bool is_recovery_asked_ = false;
};

}  // namespace

void second_opinion(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                    const ExplorationOptions& options, Exploration& exploration, Effort effort) {
  SecondOpinion(scenario, catalogue, options, exploration, effort)();
}

}  // namespace lockstep::scenarios
