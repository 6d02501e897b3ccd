#include "checker/properties/server/fair.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"

namespace lockstep::checker {
namespace {

/// The acquire whose place the effect gives back; 0: none.
sim::OperationId gives_back(const sim::Effect& effect, std::span<const sim::Operation> operations) {
  const bool changes = effect.kind == sim::Effect::Kind::write || effect.kind == sim::Effect::Kind::remove;
  const sim::Operation* operation = changes ? find_operation(operations, effect.operation) : nullptr;
  return operation != nullptr && operation->function == "release" ? operation->of : 0;
}

/// Some of a fixed set of effects, added one by one: how many of them come before another effect. Fenwick 1994.
class CountedEffects {
 public:
  /// `all`: ascending.
  explicit CountedEffects(std::vector<std::size_t> all) : all_(std::move(all)), sums_(all_.size() + 1, 0) {}
  void add(std::size_t effect) {
    for (std::size_t i = rank(effect) + 1; i < sums_.size(); i += i & (~i + 1)) ++sums_[i];
  }
  std::size_t before(std::size_t effect) const {
    std::size_t sum = 0;
    for (std::size_t i = rank(effect); i > 0; i -= i & (~i + 1)) sum += sums_[i];
    return sum;
  }

 private:
  std::size_t rank(std::size_t effect) const {
    return static_cast<std::size_t>(std::lower_bound(all_.begin(), all_.end(), effect) - all_.begin());
  }
  std::vector<std::size_t> all_;
  std::vector<std::size_t> sums_;
};

/// Who stood in line for one lock.
class Line {
 public:
  void add(const Arrival& arrival) { arrivals_.push_back(&arrival); }

  /// `given_back`: by acquire, the first effect that does; those who never do have none.
  void find_limits(const sim::History& history, const std::vector<std::optional<std::size_t>>& given_back) {
    limits_.assign(arrivals_.size(), history.effects.size());
    for (const Arrival* arrival : arrivals_) {
      if (is_granted(*arrival)) granted_.push_back(arrival);
    }
    std::sort(granted_.begin(), granted_.end(),
              [](const Arrival* a, const Arrival* b) { return a->granted < b->granted; });
    // Until when each holder has its place, as effects; the first on top.
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ends;
    std::size_t next = 0;
    for (std::size_t y = 0; y < arrivals_.size(); ++y) {
      const Arrival& arrival = *arrivals_[y];
      for (; next < granted_.size() && granted_[next]->granted < arrival.arrived; ++next) {
        const sim::Operation& holder = *granted_[next]->attempt;
        std::size_t end = history.effects.size();
        if (given_back[holder.id]) end = *given_back[holder.id] + 1;
        if (holder.lease_until) {
          const auto over =
              std::partition_point(history.effects.begin(), history.effects.end(),
                                   [&](const sim::Effect& e) { return compare(e.at, *holder.lease_until) < 0; });
          end = std::min(end, static_cast<std::size_t>(over - history.effects.begin()));
        }
        ends.push(end);
      }
      while (!ends.empty() && ends.top() <= arrival.arrived) ends.pop();
      if (is_granted(arrival)) {
        limits_[y] = arrival.granted;
      } else if (!ends.empty()) {
        limits_[y] = ends.top();
      }
    }
  }

  /// By arrival: how many have overtaken it before this effect.
  std::vector<std::size_t> overtakings_before(std::size_t effect) const {
    std::vector<std::size_t> all;
    std::map<sim::ProcessId, std::vector<std::size_t>> of_process;
    for (const Arrival* arrival : granted_) {
      all.push_back(arrival->granted);
      of_process[arrival->attempt->process].push_back(arrival->granted);
    }
    CountedEffects later(std::move(all));
    std::map<sim::ProcessId, CountedEffects> own;
    for (auto& [process, grants] : of_process) own.try_emplace(process, std::move(grants));
    std::vector<std::size_t> counts(arrivals_.size(), 0);
    for (std::size_t y = arrivals_.size(); y-- > 0;) {
      const std::size_t limit = std::min(limits_[y], effect);
      const auto mine = own.find(arrivals_[y]->attempt->process);
      counts[y] = later.before(limit) - (mine == own.end() ? 0 : mine->second.before(limit));
      if (!is_granted(*arrivals_[y])) continue;
      later.add(arrivals_[y]->granted);
      mine->second.add(arrivals_[y]->granted);
    }
    return counts;
  }

  /// The grant that is one too many, and whom it overtakes; nothing: there is none.
  struct OneTooMany {
    std::size_t grant;
    std::size_t overtaken;
  };
  std::optional<OneTooMany> one_too_many(std::size_t allowed) const {
    const auto first_overtaken = [&](std::size_t effect) {
      const std::vector<std::size_t> counts = overtakings_before(effect);
      return static_cast<std::size_t>(
          std::find_if(counts.begin(), counts.end(), [&](std::size_t count) { return count > allowed; }) -
          counts.begin());
    };
    const auto grant = std::partition_point(granted_.begin(), granted_.end(), [&](const Arrival* x) {
      return first_overtaken(x->granted + 1) == arrivals_.size();
    });
    if (grant == granted_.end()) return std::nullopt;
    return OneTooMany{(*grant)->granted, first_overtaken((*grant)->granted + 1)};
  }

  const Arrival& arrival(std::size_t y) const { return *arrivals_[y]; }
  /// Who overtakes it, in the order in which they got it.
  std::vector<const Arrival*> faster_than(std::size_t y) const {
    std::vector<const Arrival*> faster;
    for (const Arrival* x : granted_) {
      const bool is_another = x->attempt->process != arrivals_[y]->attempt->process;
      if (is_another && x->arrived > arrivals_[y]->arrived && x->granted < limits_[y]) faster.push_back(x);
    }
    return faster;
  }

 private:
  static bool is_granted(const Arrival& arrival) { return arrival.attempt->phase == sim::Phase::ok; }

  std::vector<const Arrival*> arrivals_;  ///< in their order
  std::vector<const Arrival*> granted_;   ///< in the order of their grants
  std::vector<std::size_t> limits_;       ///< by arrival: who is granted a place before this effect was faster
};

}  // namespace

void collect_arrivals(std::span<const sim::Operation> operations, std::span<const sim::Effect> effects,
                      std::vector<Arrival>& arrivals) {
  arrivals.clear();
  constexpr std::size_t no_arrival = static_cast<std::size_t>(-1);
  std::vector<std::size_t> arrival_of(operations.size(), no_arrival);
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const sim::Effect& effect = effects[i];
    if (effect.kind != sim::Effect::Kind::write || effect.operation == 0 || effect.operation > operations.size())
      continue;
    const sim::Operation& operation = operations[effect.operation - 1];
    if (operation.function != "acquire") continue;
    if (operation.phase != sim::Phase::ok && operation.phase != sim::Phase::fail) continue;
    std::size_t& arrival = arrival_of[effect.operation - 1];
    if (arrival != no_arrival) {
      arrivals[arrival].granted = i;
    } else {
      arrival = arrivals.size();
      arrivals.push_back({&operation, i, i});
    }
  }
}

std::optional<std::size_t> place_given_back(sim::OperationId acquire, std::span<const sim::Operation> operations,
                                            std::span<const sim::Effect> effects) {
  for (std::size_t i = 0; i < effects.size(); ++i) {
    if (gives_back(effects[i], operations) == acquire) return i;
  }
  return std::nullopt;
}

Finding fair(const sim::History& history, const Names& names, std::int64_t overtakings) {
  std::vector<Arrival> arrivals;
  collect_arrivals(history.operations, history.effects, arrivals);
  std::vector<std::optional<std::size_t>> given_back(history.operations.size() + 1);
  for (std::size_t i = 0; i < history.effects.size(); ++i) {
    const sim::OperationId acquire = gives_back(history.effects[i], history.operations);
    if (acquire < given_back.size() && !given_back[acquire]) given_back[acquire] = i;
  }
  std::map<std::string_view, Line> lines;
  for (const Arrival& arrival : arrivals) lines[arrival.attempt->object].add(arrival);

  Finding finding{.property = "fair", .view = View::server, .verdict = Verdict::holds};
  const auto allowed = static_cast<std::size_t>(overtakings);
  const auto at = [&](std::size_t effect) { return history.effects[effect].at; };
  std::size_t most = 0;
  std::optional<std::size_t> earliest;
  for (auto& [object, line] : lines) {
    line.find_limits(history, given_back);
    const std::vector<std::size_t> counts = line.overtakings_before(history.effects.size());
    const std::size_t most_here = *std::max_element(counts.begin(), counts.end());
    most = std::max(most, most_here);
    if (most_here <= allowed) continue;
    const auto found = line.one_too_many(allowed);
    if (earliest && *earliest <= found->grant) continue;
    earliest = found->grant;
    const Arrival& y = line.arrival(found->overtaken);
    std::vector<const Arrival*> faster = line.faster_than(found->overtaken);
    faster.resize(allowed + 1);
    const Arrival& last = *faster.back();
    finding.verdict = Verdict::violated;
    finding.at = at(last.granted);
    finding.by = {y.attempt->process};
    finding.evidence = {history.effects[y.arrived].step};
    for (const Arrival* x : faster) {
      if (std::find(finding.by.begin(), finding.by.end(), x->attempt->process) == finding.by.end())
        finding.by.push_back(x->attempt->process);
      finding.evidence.push_back(history.effects[x->granted].step);
    }
    std::sort(finding.evidence.begin(), finding.evidence.end());
    finding.evidence.erase(std::unique(finding.evidence.begin(), finding.evidence.end()), finding.evidence.end());
    finding.why = fmt::format(
        "{} came at {}, {} at {}; {} got it at {}, {}", name_of(names, y.attempt->process), time_text(at(y.arrived)),
        name_of(names, last.attempt->process), time_text(at(last.arrived)), name_of(names, last.attempt->process),
        time_text(at(last.granted)),
        y.attempt->phase == sim::Phase::ok
            ? fmt::format("{} only at {}", name_of(names, y.attempt->process), time_text(at(y.granted)))
            : fmt::format("{} was turned away, though nothing had become free", name_of(names, y.attempt->process)));
  }
  if (finding.verdict == Verdict::holds) {
    finding.why = arrivals.empty() ? "nobody stood in line"
                  : most == 0
                      ? fmt::format("{}, none overtaken", counted(arrivals.size(), "attempt", "attempts"))
                      : fmt::format("{}, none overtaken more than {}", counted(arrivals.size(), "attempt", "attempts"),
                                    counted(most, "time", "times"));
  }
  return finding;
}

Property entries::fair() {
  return {.name = "fair",
          .view = View::server,
          .meaning =
              "Nobody who came earlier is overtaken more often than a stated bound, and nobody is turned away for a "
              "later one.",
          .meaning_zh = "先来者被超越的次数不会多于规定的界限，也不会为后来者而被拒绝。",
          .question = "Was somebody overtaken by one who came later, or turned away for him?",
          .decided_by = DecidedBy::counts,
          .is_seen =
              [](const OrderedHistory& history) {
                std::vector<Arrival> arrivals;
                collect_arrivals(history.operations, history.effects, arrivals);
                return !arrivals.empty();
              },
          .unseen = "nobody stood in line",
          .why_not_judged = [](const Circumstances& story) -> std::string_view {
            return !story.promises_turns ? "nobody is promised a turn in this story" : "";
          },
          .judge = [](const JudgedRun& run) { return checker::fair(run.story, run.names, run.overtakings); }};
}

}  // namespace lockstep::checker
