#include "checker/properties/server/fair.hpp"

#include <algorithm>

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

class Line {
 public:
  explicit Line(const sim::History& history) : history_(history) {
    collect_arrivals(history.operations, history.effects, arrivals_);
    given_back_.resize(history.operations.size() + 1);
    for (std::size_t i = 0; i < history.effects.size(); ++i) {
      const sim::OperationId acquire = gives_back(history.effects[i], history.operations);
      if (acquire < given_back_.size() && !given_back_[acquire]) given_back_[acquire] = i;
    }
  }

  std::span<const Arrival> arrivals() const { return arrivals_; }
  sim::Instant at(std::size_t effect) const { return history_.effects[effect].at; }

  /// Who overtakes `y`, in the order in which they got it.
  std::vector<const Arrival*> faster_than(const Arrival& y) const {
    // They are in the order in which they came, and only who came before y had it then.
    const auto number = static_cast<std::size_t>(&y - arrivals_.data());
    std::vector<const Arrival*> holders;  // when y came
    for (std::size_t z = 0; z < number && y.attempt->phase != sim::Phase::ok; ++z) {
      if (holds_at(arrivals_[z], y.arrived, y)) holders.push_back(&arrivals_[z]);
    }
    std::vector<const Arrival*> faster;
    for (std::size_t x = number + 1; x < arrivals_.size(); ++x) {
      if (overtakes(arrivals_[x], y, holders)) faster.push_back(&arrivals_[x]);
    }
    std::sort(faster.begin(), faster.end(), [](const Arrival* a, const Arrival* b) { return a->granted < b->granted; });
    return faster;
  }

 private:
  /// Whether x did, who came later.
  bool overtakes(const Arrival& x, const Arrival& y, const std::vector<const Arrival*>& holders) const {
    const bool got_it = y.attempt->phase == sim::Phase::ok;
    if (got_it && x.granted >= y.granted) return false;
    if (x.attempt->phase != sim::Phase::ok || x.attempt->process == y.attempt->process) return false;
    if (x.attempt->object != y.attempt->object) return false;
    return got_it || std::all_of(holders.begin(), holders.end(),
                                 [&](const Arrival* z) { return z == &x || holds_at(*z, x.granted, y); });
  }

  /// Whether z has one of the places when the effect happens.
  bool holds_at(const Arrival& z, std::size_t effect, const Arrival& y) const {
    if (z.granted >= effect || z.attempt->phase != sim::Phase::ok || z.attempt->object != y.attempt->object)
      return false;
    const std::optional<std::size_t>& given_back = given_back_[z.attempt->id];
    if (given_back && *given_back < effect) return false;
    return !z.attempt->lease_until || compare(at(effect), *z.attempt->lease_until) < 0;
  }

  const sim::History& history_;
  std::vector<Arrival> arrivals_;
  std::vector<std::optional<std::size_t>> given_back_;  ///< by acquire: the first effect that does
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
  const Line line(history);
  Finding finding{.property = "fair", .view = View::server, .verdict = Verdict::holds};
  std::size_t most = 0;
  std::optional<std::size_t> earliest;
  for (const Arrival& y : line.arrivals()) {
    std::vector<const Arrival*> faster = line.faster_than(y);
    most = std::max(most, faster.size());
    if (faster.size() <= static_cast<std::size_t>(overtakings)) continue;
    faster.resize(static_cast<std::size_t>(overtakings) + 1);
    const Arrival& last = *faster.back();
    if (earliest && *earliest <= last.granted) continue;
    earliest = last.granted;
    finding.verdict = Verdict::violated;
    finding.at = line.at(last.granted);
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
        "{} came at {}, {} at {}; {} got it at {}, {}", name_of(names, y.attempt->process),
        time_text(line.at(y.arrived)), name_of(names, last.attempt->process), time_text(line.at(last.arrived)),
        name_of(names, last.attempt->process), time_text(line.at(last.granted)),
        y.attempt->phase == sim::Phase::ok
            ? fmt::format("{} only at {}", name_of(names, y.attempt->process), time_text(line.at(y.granted)))
            : fmt::format("{} was turned away, though nothing had become free", name_of(names, y.attempt->process)));
  }
  if (finding.verdict == Verdict::holds) {
    finding.why =
        line.arrivals().empty() ? "nobody stood in line"
        : most == 0
            ? fmt::format("{}, none overtaken", counted(line.arrivals().size(), "attempt", "attempts"))
            : fmt::format("{}, none overtaken more than {}", counted(line.arrivals().size(), "attempt", "attempts"),
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
          .needs_a_holder = false,
          .why_not_judged = [](const Circumstances& story) -> std::string_view {
            return !story.promises_turns ? "nobody is promised a turn in this story" : "";
          },
          .judge = [](const JudgedRun& run) { return checker::fair(run.story, run.names, run.overtakings); }};
}

}  // namespace lockstep::checker
