#pragma once

// The same as pairwise_beliefs.hpp, of what servers see.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "checker/properties/evidence.hpp"
#include "checker/properties/server/fair.hpp"
#include "checker/properties/server/no_lost_wakeup.hpp"
#include "checker/properties/time_spans.hpp"
#include "checker/properties/verdict.hpp"
#include "checker/testing/pairwise_beliefs.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker::pairwise {

namespace wakeups {

constexpr std::string_view kNoLostWakeup = "no-lost-wakeup";
using sim::Duration;

/// When whoever waits stops waiting; nothing: never.
inline std::optional<sim::Instant> end_of(const sim::History& history, const sim::Operation& wait) {
  if (wait.phase != sim::Phase::invoke) return wait.completed;
  std::optional<sim::Instant> end;
  for (const sim::Interruption& i : history.interruptions) {
    const bool ends = kills(i.kind) && i.process == wait.process && i.step >= wait.invoked_in;
    if (ends && (!end || compare(i.from, *end) < 0)) end = i.from;
  }
  return end;
}

inline Finding no_lost_wakeup(const sim::History& history, const Names& names, const WakeupQuestion& question) {
  Finding finding{.property = kNoLostWakeup, .view = View::server, .verdict = Verdict::unknown};
  if (!question.server.is_valid()) {
    finding.why = "the lock is kept at several servers: when it is free, no single one says";
    return finding;
  }
  const LockObjects locks(history.operations, history.effects, history);
  std::optional<Duration> longest;
  std::size_t waits = 0;
  for (std::size_t i = 0; i < history.effects.size(); ++i) {
    const sim::Effect& freed = history.effects[i];
    const auto is_here = [&](const sim::Effect& effect) {
      return effect.server == question.server && locks.contains(question.object, effect.object);
    };
    if (freed.kind != sim::Effect::Kind::remove || !is_here(freed)) continue;
    const auto taken =
        std::find_if(history.effects.begin() + static_cast<std::ptrdiff_t>(i), history.effects.end(),
                     [&](const sim::Effect& e) { return e.kind == sim::Effect::Kind::write && is_here(e); });
    const Duration free_to =
        end_or_never(taken == history.effects.end() ? std::nullopt : std::optional(taken->at), question.end);
    for (const sim::Operation& wait : history.operations) {
      if (wait.function != "acquire" || wait.object != question.object) continue;
      const TimeSpan both{std::max(freed.at.offset(), wait.invoked.offset()),
                          std::min(free_to, end_or_never(end_of(history, wait), question.end))};
      if (both.length() <= Duration::zero()) continue;
      Duration waited;
      for (const TimeSpan& span : pairwise::running(history, wait.process, both)) waited = waited + span.length();
      if (waited <= Duration::zero()) continue;
      ++waits;
      if (!longest || waited > *longest) longest = waited;
      if (waited <= question.within) continue;
      const sim::Instant at = sim::Instant::at(both.from + question.within);
      if (finding.verdict == Verdict::violated && compare(at, *finding.at) >= 0) continue;
      finding.verdict = Verdict::violated;
      finding.by = {wait.process};
      finding.at = at;
      finding.evidence = sorted_evidence({freed.step, wait.invoked_in});
      finding.why =
          fmt::format("{} waited {} for a lock that was free from {} on ({} allowed)", name_of(names, wait.process),
                      both.to == Duration::forever() ? "for ever" : sim::to_string(waited), time_text(freed.at),
                      sim::to_string(question.within));
    }
  }
  if (finding.verdict == Verdict::violated) return finding;
  finding.verdict = Verdict::holds;
  finding.why = waits == 0
                    ? "nobody waited for a lock that was free"
                    : fmt::format("nobody waited longer than {} for a lock that was free", sim::to_string(*longest));
  return finding;
}
}  // namespace wakeups

namespace turns {

/// The acquire whose place the effect gives back; 0: none.
inline sim::OperationId gives_back(const sim::Effect& effect, std::span<const sim::Operation> operations) {
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

inline Finding fair(const sim::History& history, const Names& names, std::int64_t overtakings) {
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
}  // namespace turns

}  // namespace lockstep::checker::pairwise
