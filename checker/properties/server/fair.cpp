#include "checker/properties/server/fair.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"

namespace lockstep::checker {
namespace {

class Line {
 public:
  explicit Line(const sim::History& history) : history_(history) {
    collect_arrivals(history.operations, history.effects, arrivals_);
    for (const Arrival& arrival : arrivals_)
      given_back_.push_back(place_given_back(arrival.attempt->id, history.operations, history.effects));
  }

  std::span<const Arrival> arrivals() const { return arrivals_; }
  sim::Instant at(std::size_t effect) const { return history_.effects[effect].at; }

  /// Who overtakes `y`, in the order in which they got it.
  std::vector<const Arrival*> faster_than(const Arrival& y) const {
    std::vector<std::size_t> holders;  // when y came
    for (std::size_t z = 0; z < arrivals_.size() && y.attempt->phase != sim::Phase::ok; ++z) {
      if (holds_at(z, y.arrived, y)) holders.push_back(z);
    }
    std::vector<const Arrival*> faster;
    for (const Arrival& x : arrivals_) {
      if (overtakes(x, y, holders)) faster.push_back(&x);
    }
    std::sort(faster.begin(), faster.end(), [](const Arrival* a, const Arrival* b) { return a->granted < b->granted; });
    return faster;
  }

 private:
  bool overtakes(const Arrival& x, const Arrival& y, const std::vector<std::size_t>& holders) const {
    if (x.attempt->phase != sim::Phase::ok || x.attempt->process == y.attempt->process) return false;
    if (x.attempt->object != y.attempt->object || x.arrived < y.arrived) return false;
    if (y.attempt->phase == sim::Phase::ok) return x.granted < y.granted;
    return std::all_of(holders.begin(), holders.end(),
                       [&](std::size_t z) { return &arrivals_[z] == &x || holds_at(z, x.granted, y); });
  }

  /// Whether this one has one of the places when the effect happens.
  bool holds_at(std::size_t number, std::size_t effect, const Arrival& y) const {
    const Arrival& z = arrivals_[number];
    if (z.attempt->phase != sim::Phase::ok || z.attempt->object != y.attempt->object || z.granted >= effect)
      return false;
    if (given_back_[number] && *given_back_[number] < effect) return false;
    return !z.attempt->lease_until || compare(at(effect), *z.attempt->lease_until) < 0;
  }

  const sim::History& history_;
  std::vector<Arrival> arrivals_;
  std::vector<std::optional<std::size_t>> given_back_;  ///< by arrival: the effect
};

}  // namespace

void collect_arrivals(std::span<const sim::Operation> operations, std::span<const sim::Effect> effects,
                      std::vector<Arrival>& arrivals) {
  arrivals.clear();
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const sim::Effect& effect = effects[i];
    if (effect.kind != sim::Effect::Kind::write || effect.operation == 0 || effect.operation > operations.size())
      continue;
    const sim::Operation& operation = operations[effect.operation - 1];
    if (operation.function != "acquire") continue;
    if (operation.phase != sim::Phase::ok && operation.phase != sim::Phase::fail) continue;
    const auto known =
        std::find_if(arrivals.begin(), arrivals.end(), [&](const Arrival& a) { return a.attempt == &operation; });
    if (known != arrivals.end()) {
      known->granted = i;
    } else {
      arrivals.push_back({&operation, i, i});
    }
  }
}

std::optional<std::size_t> place_given_back(sim::OperationId acquire, std::span<const sim::Operation> operations,
                                            std::span<const sim::Effect> effects) {
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const sim::Effect& effect = effects[i];
    const bool changes = effect.kind == sim::Effect::Kind::write || effect.kind == sim::Effect::Kind::remove;
    if (!changes || effect.operation == 0 || effect.operation > operations.size()) continue;
    const sim::Operation& operation = operations[effect.operation - 1];
    if (operation.function == "release" && operation.of == acquire) return i;
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

}  // namespace lockstep::checker
