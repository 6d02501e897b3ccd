#include "scenarios/exploring/trace_judge.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <ostream>

#include "checker/explorer/branches.hpp"
#include "checker/properties/properties.hpp"
#include "checker/time/parametric.hpp"
#include "scenarios/exploring/judging/how_long.hpp"
#include "sim/stop.hpp"

namespace lockstep::scenarios {
namespace {

using checker::ExploredFault;
using checker::Explorer;
using checker::FaultBudget;

constexpr sim::DurationRange kUpward{sim::Duration::zero(), checker::kLongestLength};

/// Keeps the first by text: which of several comes first is a matter of how the search went.
void keep_first(std::optional<std::string>& known, const std::optional<std::string>& other) {
  if (other && (!known || *other < *known)) known = other;
}

}  // namespace

TraceJudge::TraceJudge(const ExploredStory& story, checker::ViolationFinder& finder,
                       std::span<const FaultBudget> budgets, std::span<const JudgedParameter> parameters)
    : story_(&story),
      finder_(&finder),
      budgets_(budgets),
      parameters_(parameters),
      resources_(story.deployment().resources()),
      marks_(story.deployment().scenario(), story.deployment().places().has_value(), budgets) {
  finder.ask({.places = story.deployment().places(),
              .overtakings = story.deployment().overtakings(),
              .lock = story.deployment().wakeup_question().object});
  const std::span<const checker::Property> properties = checker::properties();
  tallies_.reserve(properties.size());
  for (const checker::Property& property : properties) {
    PropertyTally& tally = tallies_.emplace_back();
    tally.name = property.name;
    tally.frontiers = frontiers_of(parameters);
    tally.possible_frontiers = tally.frontiers;
    is_judged_.push_back(story.deployment().why_not_judged(property.name).empty());
    for (const JudgedParameter& parameter : parameters) {
      tally.thresholds.emplace_back(parameter.range);
      tally.alone.emplace_back(parameter.range);
      tally.possible.emplace_back(parameter.range);
      tally.values.emplace_back();
      tally.alone_values.emplace_back();
      tally.possible_values.emplace_back();
    }
  }
}

void TraceJudge::ask(const std::function<bool(std::string_view)>& is_asked) {
  for (std::size_t i = 0; i < tallies_.size(); ++i) is_judged_[i] = is_judged_[i] && is_asked(tallies_[i].name);
}

/// What the probe did is no part of the story; whether it got the lock is what `recoverable` asks.
std::span<const checker::Violation> TraceJudge::ways_of(Explorer& explorer) {
  const sim::History& history = explorer.world().history();
  const std::optional<sim::Duration> lasting = story_->deployment().deadlock_bound();
  const checker::WakeupQuestion wakeup = story_->deployment().wakeup_question();
  checker::ProgressQuestion progress = story_->deployment().progress_question();
  progress.delays = &explorer.constraints();
  finder_->ask(progress);
  if (!story_->has_probed()) return finder_->find(history, explorer.faults(), resources_, nullptr, lasting, &wakeup);
  const checker::RecoverableQuestion question = story_->question(explorer);
  return finder_->find(history, explorer.faults(), resources_, &question, lasting, &wakeup);
}

/// Requires: the way's constraints have been added. Then `interval_` or `space_` says for which parameters, if there
/// are any.
TraceJudge::Feasible TraceJudge::is_feasible(const checker::Violation& way, Explorer& explorer) {
  interval_.reset();
  space_.reset();
  bounds_.assign(explorer.parametric().begin(), explorer.parametric().end());
  ranges_.clear();
  for (const checker::ExploredParameter& parameter : explorer.parameters()) ranges_.push_back(parameter.range);
  if (finder_->mutant() == checker::JudgingMutant::one_clock_is_right && ranges_.size() > 1)
    ranges_.back() = sim::DurationRange::exactly(sim::Duration::zero());
  checker::add_parametric(way.sums, bounds_, ranges_);
  if (ranges_.size() == 1) {
    interval_ = checker::feasible_parameter(explorer.constraints(), bounds_, ranges_.front());
    if (!interval_) return Feasible::no;
  } else if (ranges_.size() > 1) {
    space_.emplace(explorer.constraints(), bounds_, ranges_);
    if (space_->is_empty()) return Feasible::no;
  }
  return way.is_widened || explorer.is_widened() ? Feasible::perhaps : Feasible::yes;
}

void TraceJudge::look(Explorer& explorer) {
  const std::optional<std::string> trouble = story_->deployment().trouble_of_scripts();
  keep_first(script_trouble_, trouble);
  const std::optional<std::string> mistake = story_->deployment().mistake();
  keep_first(script_mistake_, mistake);
  if (mistake) return;
  // What such a trace reached, nobody may ever reach; what it breaks, a replay has to show.
  if (!trouble) marks_.look(explorer, explorer.world());
  const std::span<const checker::Violation> ways = ways_of(explorer);
  if (!trouble) note_seen();
  if (ways.empty()) return;
  size_.reset();

  checker::DifferenceConstraints& constraints = explorer.constraints();
  std::vector<Feasible> found(tallies_.size(), Feasible::no);
  std::size_t property = 0;
  std::optional<checker::Constraint> impossible;  // what the last way began with that failed at once: many begin alike
  for (const checker::Violation& way : ways) {
    sim::Stop::ask();
    if (way.property != tallies_[property].name) property = checker::position_of_property(way.property);
    if (!is_judged_[property]) continue;
    // Without a threshold to find, one feasible way is enough, but for how long it lasts.
    const bool is_first_enough = finder_->mutant() == checker::JudgingMutant::first_way;
    if (found[property] == Feasible::yes && (parameters_.empty() || is_first_enough)) {
      if (!is_first_enough) look_how_long(tallies_[property], way, explorer);
      continue;
    }
    if (!way.constraints.empty()) {
      const checker::Constraint& first = way.constraints.front();
      if (impossible == first) continue;
      if (!constraints.is_feasible_with(first)) {
        impossible = first;
        continue;
      }
    }
    const checker::DifferenceConstraints::Mark mark = constraints.mark();
    if (constraints.add_all(way.constraints)) {
      const Feasible feasible = is_feasible(way, explorer);
      found[property] = std::max(found[property], feasible);
      PropertyTally& tally = tallies_[property];
      if (feasible == Feasible::yes) fold(tally.thresholds, tally.values, explorer);
      if (feasible == Feasible::perhaps) fold(tally.possible, tally.possible_values, explorer);
      if (feasible == Feasible::yes && parameters_.size() > 1) fold_alone(tally, explorer);
      for (checker::Frontier& frontier : tally.frontiers) {
        if (feasible == Feasible::yes) fold_frontier(frontier, explorer);
      }
      for (checker::Frontier& frontier : tally.possible_frontiers) {
        if (feasible == Feasible::perhaps) fold_frontier(frontier, explorer);
      }
    }
    constraints.undo(mark);
    if (found[property] != Feasible::no) look_how_long(tallies_[property], way, explorer);
  }

  bool is_violating = false;
  bool is_suspected = false;
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    PropertyTally& tally = tallies_[i];
    if (found[i] == Feasible::yes) {
      is_violating = true;
      ++tally.violating_traces;
      keep(tally.best, explorer);
    } else if (found[i] == Feasible::perhaps) {
      is_suspected = true;
      ++tally.unconfirmed;
      keep(tally.suspects, explorer);
    }
  }
  if (is_suspected && !is_violating) ++unconfirmed_;
}

/// Requires: the finder has looked at the trace.
void TraceJudge::note_seen() {
  const checker::OrderedHistory story = finder_->story();
  const std::span<const checker::Property> properties = checker::properties();
  for (std::size_t i = 0; i < tallies_.size(); ++i)
    tallies_[i].is_seen = tallies_[i].is_seen || (is_judged_[i] && checker::is_seen(properties[i], story));
}

/// Requires: the constraints of a way stand, and it is feasible.
void TraceJudge::fold(std::vector<checker::ThresholdFold>& thresholds, std::vector<checker::ValueSet>& values,
                      Explorer& explorer) {
  for (std::size_t p = 0; p < parameters_.size(); ++p) fold_one(p, thresholds, values, explorer);
}

void TraceJudge::fold_one(std::size_t p, std::vector<checker::ThresholdFold>& thresholds,
                          std::vector<checker::ValueSet>& values, Explorer& explorer) {
  const std::string_view name = parameters_[p].name;
  if (moves_clock(*sim::kind_of_parameter(name))) {
    fold_offset(thresholds[p], parameters_[p], explorer);
  } else {
    fold_length(thresholds[p], name, explorer);
  }
  if (may_come_back(*sim::kind_of_parameter(name))) fold_values(values[p], parameters_[p], explorer);
}

/// The same of each parameter where faults of the others have no length and no clock is off: a margin that hangs on
/// them is none of this parameter. What is no larger than with their help need not be asked again.
void TraceJudge::fold_alone(PropertyTally& tally, Explorer& explorer) {
  const std::vector<sim::DurationRange> ranges = ranges_;
  const std::optional<checker::ParameterInterval> interval = interval_;
  checker::DifferenceConstraints& constraints = explorer.constraints();
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (!tally.alone[p].is_undercut_by(tally.thresholds[p]) && tally.alone_values[p] == tally.values[p]) continue;
    const checker::DifferenceConstraints::Mark mark = constraints.mark();
    interval_.reset();
    if (forbid_others(p, explorer)) fold_one(p, tally.alone, tally.alone_values, explorer);
    constraints.undo(mark);
    ranges_ = ranges;
    interval_ = interval;
  }
}

/// False: then it is not possible any more. Requires: an undo of the constraints follows.
bool TraceJudge::forbid_others(std::size_t parameter, Explorer& explorer) {
  for (std::size_t other = 0; other < parameters_.size(); ++other) {
    const std::string& name = parameters_[other].name;
    if (other == parameter) continue;
    if (moves_clock(*sim::kind_of_parameter(name))) {
      for (const std::size_t offset : offsets_of(name, explorer)) {
        sim::DurationRange& range = ranges_[offset];
        if (range.lo > sim::Duration::zero() || range.hi < sim::Duration::zero()) return false;
        range = sim::DurationRange::exactly(sim::Duration::zero());
      }
      continue;
    }
    collect_lengths(name, explorer);
    // A server that comes back at once has been away all the same.
    if (may_come_back(*sim::kind_of_parameter(name)) && !lengths_.empty()) return false;
    for (const checker::Length& length : lengths_) {
      if (!explorer.constraints().add_at_most(length.until, length.from)) return false;
    }
  }
  return ranges_.empty() || !checker::ParameterSpace(explorer.constraints(), bounds_, ranges_).is_empty();
}

void TraceJudge::collect_lengths(std::string_view name, Explorer& explorer) {
  lengths_.clear();
  for (const ExploredFault& fault : explorer.faults()) {
    const bool has_length = lasts(fault.kind) || (may_come_back(fault.kind) && fault.restarts);
    const FaultBudget& budget = budgets_[fault.budget];
    if (has_length && parameter_of(budget) == name)
      lengths_.push_back({fault.from + budget.restart_delay, fault.until});
  }
}

std::vector<std::size_t> TraceJudge::offsets_of(std::string_view name, const Explorer& explorer) const {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < explorer.parameters().size(); ++i) {
    if (parameter_of(budgets_[explorer.parameters()[i].budget]) == name) offsets.push_back(i);
  }
  return offsets;
}

/// Of the trace's parameters and the way's. Requires: its constraints stand.
checker::ParameterSpace TraceJudge::space_of(Explorer& explorer) const {
  return {explorer.constraints(), bounds_, ranges_};
}

/// The least that the longest of the faults of this name must be.
void TraceJudge::fold_length(checker::ThresholdFold& threshold, std::string_view name, Explorer& explorer) {
  collect_lengths(name, explorer);
  if (lengths_.empty()) {
    threshold.add_without();
    return;
  }
  if (bounds_.empty()) {
    threshold.add(explorer.constraints(), lengths_);
    return;
  }
  if (!threshold.can_improve(explorer.constraints(), lengths_)) return;
  checker::ParameterSpace space = space_of(explorer);
  std::vector<std::int64_t> factors(space.add_longest(lengths_, kUpward) + 1, 0);
  factors.back() = 1;
  if (const auto least = space.least(factors)) threshold.add_upward(least->whole());
}

/// Where each of these faults takes equally long: for which lengths.
void TraceJudge::fold_values(checker::ValueSet& values, const JudgedParameter& parameter, Explorer& explorer) {
  collect_lengths(parameter.name, explorer);
  if (lengths_.empty()) {
    values.add({{parameter.range.lo, true}, {parameter.range.hi, true}});
    return;
  }
  checker::ParameterSpace feasible = space_of(explorer);
  std::vector<std::int64_t> factors(feasible.add_length(lengths_, parameter.range) + 1, 0);
  factors.back() = 1;
  const auto least = feasible.least(factors);
  factors.back() = -1;
  const auto greatest = feasible.least(factors);
  if (!least || !greatest) return;
  const checker::Extent end = greatest->whole();
  values.add({least->whole(), {-end.value, end.attained}});
}

/// By how much the clocks of this name must be off; of several the largest counts.
void TraceJudge::fold_offset(checker::ThresholdFold& threshold, const JudgedParameter& parameter, Explorer& explorer) {
  const std::vector<std::size_t> offsets = offsets_of(parameter.name, explorer);
  if (offsets.empty()) {
    threshold.add_without();
    return;
  }
  if (interval_ && !parameter.is_magnitude) {
    threshold.add(*interval_);
    return;
  }
  const auto least_largest = [&](bool up, bool down) -> std::optional<checker::Extent> {
    checker::ParameterSpace space = space_of(explorer);
    std::vector<std::int64_t> factors(space.add_largest(offsets, up, down, kUpward) + 1, 0);
    factors.back() = 1;
    const auto least = space.least(factors);
    if (!least) return std::nullopt;
    return least->whole();
  };
  if (parameter.is_magnitude) {
    if (const auto least = least_largest(true, true)) threshold.add_upward(*least);
    return;
  }
  if (const auto least = least_largest(true, false)) threshold.add_upward(*least);
  if (const auto least = least_largest(false, true)) threshold.add_downward({-least->value, least->attained});
}

/// Requires: the constraints of a way stand.
void TraceJudge::fold_frontier(checker::Frontier& frontier, Explorer& explorer) {
  checker::ParameterSpace space = space_of(explorer);
  std::vector<std::size_t> numbers;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const JudgedParameter& parameter = parameters_[p];
    const checker::FrontierAxis& axis = frontier.axes()[p];
    if (moves_clock(*sim::kind_of_parameter(parameter.name))) {
      const bool up = !axis.is_below, down = axis.is_below || parameter.is_magnitude;
      numbers.push_back(space.add_largest(offsets_of(parameter.name, explorer), up, down, axis.range));
      continue;
    }
    collect_lengths(parameter.name, explorer);
    numbers.push_back(axis.is_upward ? space.add_longest(lengths_, axis.range)
                                     : space.add_length(lengths_, axis.range));
  }
  if (!space.is_empty()) frontier.add(space, numbers);
}

namespace {

/// What lasts as long as it did lasts longer than this.
sim::Duration just_below(sim::Duration longest) {
  return longest == sim::Duration::forever() ? checker::kLongestLength - sim::Duration::nanoseconds(1)
                                             : longest - sim::Duration::nanoseconds(1);
}

bool lasts_better(const LongestTrace& a, const LongestTrace& b) {
  return a.longest != b.longest ? a.longest > b.longest : a.trace.size < b.trace.size;
}

/// Keeps the best of them in order.
void insert(std::vector<BestTrace>& kept, BestTrace trace) {
  const auto place =
      std::find_if(kept.begin(), kept.end(), [&](const BestTrace& other) { return trace.size < other.size; });
  kept.insert(place, std::move(trace));
  if (kept.size() > PropertyTally::kKept) kept.pop_back();
}

}  // namespace

/// Requires: the trace is a candidate.
void TraceJudge::keep(std::vector<BestTrace>& kept, Explorer& explorer) {
  const auto faults = static_cast<std::uint32_t>(explorer.faults().size());
  const bool is_full = kept.size() == PropertyTally::kKept;
  if (is_full &&
      std::pair(faults, explorer.story_length()) > std::pair(kept.back().size.faults, kept.back().size.events))
    return;
  if (!is_full || size_of(explorer) < kept.back().size) insert(kept, BestTrace{size_of(explorer), explorer.here()});
}

const checker::WitnessSize& TraceJudge::size_of(Explorer& explorer) {
  if (!size_) {
    std::vector<checker::ExploredEvent> events = explorer.trace();
    events.resize(explorer.story_length());
    size_ = checker::witness_size(events, explorer.faults());
  }
  return *size_;
}

/// Requires: the constraints of no way stand.
void TraceJudge::look_how_long(PropertyTally& tally, const checker::Violation& way, Explorer& explorer) {
  if (!way.lasts || !is_length_asked_) return;
  const sim::Duration known = tally.longest ? tally.longest->longest : sim::Duration::zero();
  if (way.is_widened || explorer.is_widened()) {
    const sim::Duration possibly = std::max(known, tally.possibly_longest);
    if (possibly < sim::Duration::forever() && lasts_longer(way, possibly, explorer))
      tally.possibly_longest = longest_of(way, explorer);
    return;
  }
  if (known < sim::Duration::forever() && lasts_longer(way, known, explorer)) {
    tally.longest = LongestTrace{longest_of(way, explorer), {size_of(explorer), explorer.here()}};
    return;
  }
  if (!tally.longest) return;
  BestTrace& best = tally.longest->trace;
  const auto faults = static_cast<std::uint32_t>(explorer.faults().size());
  if (std::pair(faults, explorer.story_length()) > std::pair(best.size.faults, best.size.events)) return;
  if (size_of(explorer) < best.size && lasts_longer(way, just_below(known), explorer))
    best = {size_of(explorer), explorer.here()};
}

std::vector<TraceJudge::Way> TraceJudge::ways_to_break(std::string_view property, Explorer& explorer, std::size_t most,
                                                       std::optional<sim::Duration> longer_than) {
  std::vector<Way> certain;
  std::vector<Way> others;
  checker::DifferenceConstraints& constraints = explorer.constraints();
  for (checker::Violation way : ways_of(explorer)) {
    if (way.property != property || certain.size() == most) continue;
    if (longer_than) way.last_longer_than(*longer_than);
    const checker::DifferenceConstraints::Mark mark = constraints.mark();
    if (constraints.add_all(way.constraints)) {
      const Feasible feasible = is_feasible(way, explorer);
      if (feasible != Feasible::no) {
        std::vector<Way>& list = feasible == Feasible::yes ? certain : others;
        for (const bool is_large : {false, true}) {
          if (is_large && explorer.parameters().empty()) continue;
          Way found{way.constraints, way.by, feasible == Feasible::yes, {}, way.pauses, is_large};
          settle(way, found, explorer);
          list.push_back(std::move(found));
        }
      }
    }
    constraints.undo(mark);
  }
  certain.insert(certain.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  if (certain.size() > most) certain.resize(most);
  return certain;
}

/// Chooses parameters; with its own, the sums of a way are differences.
void TraceJudge::settle(const checker::Violation& way, Way& found, Explorer& explorer) {
  if (ranges_.empty()) return;
  const std::size_t of_trace = explorer.parameters().size();
  const auto values =
      checker::ParameterSpace(explorer.constraints(), bounds_, ranges_).small_values(found.is_large ? of_trace : 0);
  if (!values) return;
  found.parameters.assign(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(of_trace));
  if (way.sums.empty()) return;
  std::vector<checker::ParametricBound> own;
  std::vector<sim::DurationRange> ranges(of_trace);
  checker::add_parametric(way.sums, own, ranges);
  for (const checker::ParametricBound& bound : own) {
    sim::Duration by;
    if (bound.plus != checker::ParametricBound::none) by += (*values)[bound.plus];
    if (bound.minus != checker::ParametricBound::none) by -= (*values)[bound.minus];
    found.constraints.push_back({bound.base.from, bound.base.to, bound.base.bound.shifted(by)});
  }
}

void TraceJudge::merge(const TraceJudge& other) {
  const auto take_better = [](std::vector<BestTrace>& mine, const std::vector<BestTrace>& theirs) {
    for (const BestTrace& trace : theirs) insert(mine, trace);
  };
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    tallies_[i].is_seen = tallies_[i].is_seen || other.tallies_[i].is_seen;
    tallies_[i].violating_traces += other.tallies_[i].violating_traces;
    tallies_[i].unconfirmed += other.tallies_[i].unconfirmed;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      tallies_[i].thresholds[p].merge(other.tallies_[i].thresholds[p]);
      tallies_[i].alone[p].merge(other.tallies_[i].alone[p]);
      tallies_[i].possible[p].merge(other.tallies_[i].possible[p]);
      tallies_[i].values[p].merge(other.tallies_[i].values[p]);
      tallies_[i].alone_values[p].merge(other.tallies_[i].alone_values[p]);
      tallies_[i].possible_values[p].merge(other.tallies_[i].possible_values[p]);
    }
    for (std::size_t side = 0; side < tallies_[i].frontiers.size(); ++side) {
      tallies_[i].frontiers[side].merge(other.tallies_[i].frontiers[side]);
      tallies_[i].possible_frontiers[side].merge(other.tallies_[i].possible_frontiers[side]);
    }
    take_better(tallies_[i].best, other.tallies_[i].best);
    take_better(tallies_[i].suspects, other.tallies_[i].suspects);
    const std::optional<LongestTrace>& longest = other.tallies_[i].longest;
    if (longest && (!tallies_[i].longest || lasts_better(*longest, *tallies_[i].longest)))
      tallies_[i].longest = longest;
    tallies_[i].possibly_longest = std::max(tallies_[i].possibly_longest, other.tallies_[i].possibly_longest);
  }
  marks_.merge(other.marks_);
  unconfirmed_ += other.unconfirmed_;
  keep_first(script_trouble_, other.script_trouble_);
  keep_first(script_mistake_, other.script_mistake_);
}

// --- Checkpoints.

void TraceJudge::write(std::ostream& out) const {
  const auto write_extent = [&](const std::optional<checker::Extent>& extent) {
    out << ' ' << extent.has_value();
    if (extent) out << ' ' << extent->value.count_ns() << ' ' << extent->attained;
  };
  const auto write_kept = [&](const std::vector<BestTrace>& kept) {
    out << kept.size() << '\n';
    for (const BestTrace& best : kept) {
      out << best.size.faults << ' ' << best.size.events << ' ' << best.size.switches << ' ' << best.size.tie << '\n';
      checker::BranchStack(best.branch).write(out);
    }
  };
  for (const auto* reason : {&script_trouble_, &script_mistake_}) {
    const std::string text = reason->value_or("");
    out << text.size() << ' ' << text << '\n';
  }
  out << unconfirmed_;
  marks_.write(out);
  for (const PropertyTally& tally : tallies_) {
    out << tally.is_seen << ' ' << tally.violating_traces << ' ' << tally.unconfirmed << ' ' << tally.thresholds.size();
    for (const auto* thresholds : {&tally.thresholds, &tally.alone, &tally.possible}) {
      for (const checker::ThresholdFold& threshold : *thresholds) {
        write_extent(threshold.upward());
        write_extent(threshold.downward());
      }
    }
    out << '\n';
    for (const auto* sets : {&tally.values, &tally.alone_values, &tally.possible_values}) {
      for (const checker::ValueSet& set : *sets) set.write(out);
    }
    for (const auto* frontiers : {&tally.frontiers, &tally.possible_frontiers}) {
      for (const checker::Frontier& frontier : *frontiers) frontier.write(out);
    }
    write_kept(tally.best);
    write_kept(tally.suspects);
    out << tally.possibly_longest.count_ns() << ' ' << (tally.longest ? tally.longest->longest.count_ns() : 0) << '\n';
    write_kept(tally.longest ? std::vector{tally.longest->trace} : std::vector<BestTrace>());
  }
}

bool TraceJudge::read(std::istream& in) {
  const auto read_extent = [&]() -> std::optional<checker::Extent> {
    bool is_there = false;
    std::int64_t ns = 0;
    bool attained = false;
    in >> is_there;
    if (!is_there) return std::nullopt;
    in >> ns >> attained;
    return checker::Extent{sim::Duration::nanoseconds(ns), attained};
  };
  const auto read_kept = [&](std::vector<BestTrace>& kept) {
    std::size_t count = 0;
    in >> count;
    kept.clear();
    if (count > PropertyTally::kKept) in.setstate(std::ios::failbit);
    for (std::size_t i = 0; i < count && in; ++i) {
      checker::WitnessSize size;
      in >> size.faults >> size.events >> size.switches >> size.tie;
      checker::BranchStack stack;
      if (!stack.read(in) || stack.branches().size() != 1) {
        in.setstate(std::ios::failbit);
        return;
      }
      kept.push_back(BestTrace{size, *stack.branches().front()});
    }
  };
  constexpr std::size_t kLongestReason = 100'000;
  for (auto* reason : {&script_trouble_, &script_mistake_}) {
    std::size_t length = 0;
    in >> length;
    if (!in || length > kLongestReason || in.get() != ' ') return false;
    std::string text(length, ' ');
    in.read(text.data(), static_cast<std::streamsize>(length));
    *reason = length == 0 ? std::nullopt : std::optional(text);
  }
  in >> unconfirmed_;
  if (!marks_.read(in)) return false;
  for (PropertyTally& tally : tallies_) {
    std::size_t thresholds = 0;
    in >> tally.is_seen >> tally.violating_traces >> tally.unconfirmed >> thresholds;
    if (!in || thresholds != tally.thresholds.size()) return false;
    for (auto* folds : {&tally.thresholds, &tally.alone, &tally.possible}) {
      for (checker::ThresholdFold& threshold : *folds) {
        const std::optional<checker::Extent> upward = read_extent();
        threshold.restore(upward, read_extent());
      }
    }
    for (auto* sets : {&tally.values, &tally.alone_values, &tally.possible_values}) {
      for (checker::ValueSet& set : *sets) {
        if (!set.read(in)) return false;
      }
    }
    for (auto* frontiers : {&tally.frontiers, &tally.possible_frontiers}) {
      for (checker::Frontier& frontier : *frontiers) {
        if (!frontier.read(in)) return false;
      }
    }
    read_kept(tally.best);
    read_kept(tally.suspects);
    std::int64_t possibly = 0, longest = 0;
    in >> possibly >> longest;
    std::vector<BestTrace> trace;
    read_kept(trace);
    tally.possibly_longest = sim::Duration::nanoseconds(possibly);
    tally.longest.reset();
    if (!trace.empty()) tally.longest = LongestTrace{sim::Duration::nanoseconds(longest), std::move(trace.front())};
  }
  return static_cast<bool>(in);
}

}  // namespace lockstep::scenarios
