#include "scenarios/trace_judge.hpp"

#include <algorithm>
#include <istream>
#include <ostream>

#include "checker/branches.hpp"
#include "checker/parametric.hpp"
#include "checker/properties.hpp"

namespace lockstep::scenarios {
namespace {

using checker::ExploredFault;
using checker::Explorer;
using checker::FaultBudget;
using Kind = ExploredFault::Kind;

}  // namespace

std::string_view parameter_of(const FaultBudget& budget) {
  switch (budget.kind) {
    case Kind::pause: return budget.range.is_exact() ? "" : "pause";
    case Kind::jump: return budget.range.is_exact() ? "" : "jump";
    case Kind::skew: return budget.range.is_exact() ? "" : "skew";
    case Kind::crash: return !budget.restart_after || budget.restart_after->is_exact() ? "" : "restart_after";
    case Kind::lose: return "";
  }
  return "";
}

std::vector<JudgedParameter> judged_parameters(std::span<const FaultBudget> budgets, std::string_view only) {
  std::vector<JudgedParameter> parameters;
  for (const FaultBudget& budget : budgets) {
    const std::string_view name = parameter_of(budget);
    if (name.empty() || (!only.empty() && name != only)) continue;
    const sim::DurationRange range = budget.kind == Kind::crash ? *budget.restart_after : budget.range;
    const auto known = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const JudgedParameter& parameter) { return parameter.name == name; });
    if (known == parameters.end()) {
      parameters.push_back({std::string(name), range});
    } else {
      known->range = {std::min(known->range.lo, range.lo), std::max(known->range.hi, range.hi)};
    }
  }
  return parameters;
}

TraceJudge::TraceJudge(const ExploredStory& story, checker::ViolationFinder& finder, std::size_t clients,
                       std::span<const FaultBudget> budgets, std::span<const JudgedParameter> parameters)
    : story_(&story),
      finder_(&finder),
      budgets_(budgets),
      parameters_(parameters),
      resources_(story.deployment().resources()),
      marks_(clients) {
  finder.ask({.places = story.deployment().places(), .overtakings = story.deployment().overtakings()});
  const std::span<const checker::Property> properties = checker::properties();
  tallies_.reserve(properties.size());
  for (const checker::Property& property : properties) {
    PropertyTally& tally = tallies_.emplace_back();
    tally.name = property.name;
    is_judged_.push_back(story.deployment().why_not_explored(property.name).empty());
    for (const JudgedParameter& parameter : parameters) tally.thresholds.emplace_back(parameter.range);
  }
}

/// What the probe did is no part of the story; whether it got the lock is what `recoverable` asks.
std::span<const checker::Violation> TraceJudge::ways_of(Explorer& explorer) {
  const sim::History& history = explorer.world().history();
  const std::optional<sim::Duration> lasting = story_->deployment().deadlock_bound();
  const checker::WakeupQuestion wakeup = story_->deployment().wakeup_question();
  if (!story_->has_probed()) return finder_->find(history, explorer.faults(), resources_, nullptr, lasting, &wakeup);
  const checker::RecoverableQuestion question = story_->question(explorer);
  return finder_->find(history, explorer.faults(), resources_, &question, lasting, &wakeup);
}

/// Requires: the way's constraints have been added. Then `intervals_` says for which parameters.
TraceJudge::Feasible TraceJudge::is_feasible(const checker::Violation& way, Explorer& explorer) {
  intervals_.clear();
  if (!explorer.parameters().empty()) {
    std::vector<sim::DurationRange> ranges;
    for (const checker::ExploredParameter& parameter : explorer.parameters()) ranges.push_back(parameter.range);
    const auto found = checker::several_parameters(explorer.constraints(), explorer.parametric(), ranges);
    // With more than one parameter, that none was found proves nothing.
    if (!found) return ranges.size() == 1 ? Feasible::no : Feasible::perhaps;
    intervals_ = found->intervals;
  }
  return way.is_widened || explorer.is_widened() ? Feasible::perhaps : Feasible::yes;
}

void TraceJudge::look(Explorer& explorer) {
  const std::optional<std::string> trouble = story_->deployment().trouble_of_scripts();
  note_trouble(trouble);
  // What such a trace reached, nobody may ever reach; what it breaks, a replay has to show.
  if (!trouble) marks_.look(explorer, explorer.world().history());
  const std::span<const checker::Violation> ways = ways_of(explorer);
  if (ways.empty()) return;
  size_.reset();

  checker::DifferenceConstraints& constraints = explorer.constraints();
  std::vector<Feasible> found(tallies_.size(), Feasible::no);
  std::size_t property = 0;
  std::optional<checker::Constraint> impossible;  // what the last way began with that failed at once: many begin alike
  for (const checker::Violation& way : ways) {
    if (way.property != tallies_[property].name) {
      const auto is_it = [&](const PropertyTally& tally) { return tally.name == way.property; };
      property = static_cast<std::size_t>(std::find_if(tallies_.begin(), tallies_.end(), is_it) - tallies_.begin());
    }
    if (!is_judged_[property]) continue;
    // Without a threshold to find, one feasible way is enough.
    if (found[property] == Feasible::yes && (parameters_.empty() || way.is_widened)) continue;
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
      if (feasible == Feasible::yes) fold(tallies_[property], explorer);
    }
    constraints.undo(mark);
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
      keep(tally.suspect, explorer);
    }
  }
  if (is_suspected && !is_violating) ++unconfirmed_;
}

/// Requires: the constraints of a way stand, and `intervals_` are its parameters'.
void TraceJudge::fold(PropertyTally& tally, Explorer& explorer) {
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const std::string_view name = parameters_[p].name;
    checker::ThresholdFold& threshold = tally.thresholds[p];
    if (name == "jump" || name == "skew") {
      bool is_met = false;
      for (std::size_t i = 0; i < explorer.parameters().size(); ++i) {
        if (parameter_of(budgets_[explorer.parameters()[i].budget]) != name) continue;
        threshold.add(intervals_[i]);
        is_met = true;
      }
      if (!is_met) threshold.add_without();
      continue;
    }
    lengths_.clear();
    for (const ExploredFault& fault : explorer.faults()) {
      const bool is_meant = name == "pause" ? fault.kind == Kind::pause : fault.kind == Kind::crash && fault.restarts;
      if (is_meant && parameter_of(budgets_[fault.budget]) == name) lengths_.push_back({fault.from, fault.until});
    }
    if (lengths_.empty()) {
      threshold.add_without();
    } else {
      threshold.add(explorer.constraints(), lengths_);
    }
  }
}

/// Requires: the trace is a candidate.
void TraceJudge::keep(std::optional<BestTrace>& best, Explorer& explorer) {
  const auto faults = static_cast<std::uint32_t>(explorer.faults().size());
  if (best && std::pair(faults, explorer.story_length()) > std::pair(best->size.faults, best->size.events)) return;
  if (!size_) {
    std::vector<checker::ExploredEvent> events = explorer.trace();
    events.resize(explorer.story_length());
    size_ = checker::witness_size(events, explorer.faults());
  }
  if (!best || *size_ < best->size) best = BestTrace{*size_, explorer.here()};
}

std::optional<TraceJudge::Way> TraceJudge::way_to_break(std::string_view property, Explorer& explorer) {
  std::optional<Way> best;
  checker::DifferenceConstraints& constraints = explorer.constraints();
  for (const checker::Violation& way : ways_of(explorer)) {
    if (way.property != property || (best && (best->is_certain || way.is_widened))) continue;
    const checker::DifferenceConstraints::Mark mark = constraints.mark();
    if (constraints.add_all(way.constraints)) {
      const Feasible feasible = is_feasible(way, explorer);
      if (feasible != Feasible::no) {
        best = Way{way.constraints, way.by, feasible == Feasible::yes, {}};
        for (const checker::ParameterInterval& interval : intervals_) {
          const sim::Duration zero = sim::Duration::zero();
          const checker::Extent least = interval.least_whole();
          const checker::Extent greatest = interval.greatest_whole();
          const sim::Duration grain = sim::Duration::nanoseconds(1);
          const sim::Duration from = least.attained ? least.value : least.value + grain;
          const sim::Duration to = greatest.attained ? greatest.value : greatest.value - grain;
          best->parameters.push_back(interval.contains(zero) ? zero : from > zero ? from : to);
        }
      }
    }
    constraints.undo(mark);
  }
  return best;
}

void TraceJudge::note_trouble(const std::optional<std::string>& trouble) {
  if (trouble && (!script_trouble_ || *trouble < *script_trouble_)) script_trouble_ = trouble;
}

void TraceJudge::merge(const TraceJudge& other) {
  const auto take_better = [](std::optional<BestTrace>& mine, const std::optional<BestTrace>& theirs) {
    if (theirs && (!mine || theirs->size < mine->size)) mine = theirs;
  };
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    tallies_[i].violating_traces += other.tallies_[i].violating_traces;
    tallies_[i].unconfirmed += other.tallies_[i].unconfirmed;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      tallies_[i].thresholds[p].merge(other.tallies_[i].thresholds[p]);
    }
    take_better(tallies_[i].best, other.tallies_[i].best);
    take_better(tallies_[i].suspect, other.tallies_[i].suspect);
  }
  marks_.merge(other.marks_);
  unconfirmed_ += other.unconfirmed_;
  note_trouble(other.script_trouble_);
}

// --- Checkpoints.

void TraceJudge::write(std::ostream& out) const {
  const auto write_extent = [&](const std::optional<checker::Extent>& extent) {
    out << ' ' << extent.has_value();
    if (extent) out << ' ' << extent->value.count_ns() << ' ' << extent->attained;
  };
  const auto write_best = [&](const std::optional<BestTrace>& best) {
    out << best.has_value() << '\n';
    if (!best) return;
    out << best->size.faults << ' ' << best->size.events << ' ' << best->size.switches << ' ' << best->size.tie << '\n';
    checker::BranchStack(best->branch).write(out);
  };
  const std::string trouble = script_trouble_.value_or("");
  out << trouble.size() << ' ' << trouble << '\n' << unconfirmed_;
  for (const std::uint64_t count : marks_.counts()) out << ' ' << count;
  out << '\n';
  for (const PropertyTally& tally : tallies_) {
    out << tally.violating_traces << ' ' << tally.unconfirmed << ' ' << tally.thresholds.size();
    for (const checker::ThresholdFold& threshold : tally.thresholds) {
      write_extent(threshold.upward());
      write_extent(threshold.downward());
    }
    out << '\n';
    write_best(tally.best);
    write_best(tally.suspect);
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
  const auto read_best = [&](std::optional<BestTrace>& best) {
    bool is_there = false;
    in >> is_there;
    best.reset();
    if (!is_there || !in) return;
    checker::WitnessSize size;
    in >> size.faults >> size.events >> size.switches >> size.tie;
    checker::BranchStack stack;
    if (!stack.read(in) || stack.branches().size() != 1) {
      in.setstate(std::ios::failbit);
      return;
    }
    best = BestTrace{size, *stack.branches().front()};
  };
  std::array<std::uint64_t, TraceMarks::kCount> counts{};
  constexpr std::size_t kLongestTrouble = 100'000;
  std::size_t length = 0;
  in >> length;
  if (!in || length > kLongestTrouble || in.get() != ' ') return false;
  std::string trouble(length, ' ');
  in.read(trouble.data(), static_cast<std::streamsize>(length));
  script_trouble_ = length == 0 ? std::nullopt : std::optional(trouble);
  in >> unconfirmed_;
  for (std::uint64_t& count : counts) in >> count;
  marks_.set_counts(counts);
  for (PropertyTally& tally : tallies_) {
    std::size_t thresholds = 0;
    in >> tally.violating_traces >> tally.unconfirmed >> thresholds;
    if (!in || thresholds != tally.thresholds.size()) return false;
    for (checker::ThresholdFold& threshold : tally.thresholds) {
      const std::optional<checker::Extent> upward = read_extent();
      threshold.restore(upward, read_extent());
    }
    read_best(tally.best);
    read_best(tally.suspect);
  }
  return static_cast<bool>(in);
}

}  // namespace lockstep::scenarios
