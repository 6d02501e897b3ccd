#include "checker/properties/server/recoverable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {

bool was_given_back(std::span<const sim::Operation> operations, const sim::Operation& acquire) {
  return std::any_of(operations.begin(), operations.end(), [&](const sim::Operation& operation) {
    return operation.of == acquire.id && is_successful(operation, "release");
  });
}

namespace {

/// To three digits: how long somebody tried in vain is no figure of the lock.
sim::Duration rounded(sim::Duration length) {
  std::int64_t unit = 1;
  while (length.count_ns() / unit >= 1'000) unit *= 10;
  return sim::Duration::nanoseconds((length.count_ns() + unit / 2) / unit * unit);
}

/// The first acquire of the probe that succeeded, or null.
const sim::Operation* first_success(const sim::History& history, sim::ProcessId probe) {
  const sim::Operation* got = nullptr;
  for (const sim::Operation& operation : history.operations) {
    if (operation.process != probe || !is_successful(operation, "acquire")) continue;
    if (got == nullptr || compare(operation.completed, got->completed) < 0) got = &operation;
  }
  return got;
}

/// Requires: concrete times.
bool is_in_time(const sim::Operation& got, const RecoverableQuestion& question) {
  const sim::Instant bound = question.quiescent + question.within;
  if (!question.visitor_attempt) return compare(got.completed, bound) <= 0;
  return compare(got.completed, bound + *question.visitor_attempt) <= 0 ||
         compare(got.completed, got.invoked + *question.visitor_attempt) <= 0;
}

}  // namespace

sim::Instant probed_until(std::span<const sim::Operation> operations, sim::ProcessId probe, sim::Instant bound) {
  sim::Instant until = bound;
  for (const sim::Operation& operation : operations) {
    if (operation.process == probe && operation.phase != sim::Phase::invoke) until = operation.invoked;
    if (operation.process == probe && operation.phase == sim::Phase::invoke) until = bound;
  }
  return until;
}

std::optional<sim::Instant> decisive_attempt(const sim::History& history, const RecoverableQuestion& question) {
  const sim::Operation* got = first_success(history, question.probe);
  const sim::Instant bound = question.quiescent + question.within;
  if (got == nullptr || question.visitor_attempt || compare(got->completed, bound) <= 0) return std::nullopt;
  // Whoever begins before an attempt that fails, fails as well.
  const sim::Operation* failed = nullptr;
  for (const sim::Operation& operation : history.operations) {
    if (operation.process != question.probe || operation.phase != sim::Phase::fail) continue;
    if (compare(operation.invoked, got->invoked) < 0) failed = &operation;
  }
  const sim::Instant latest = bound - (got->completed.offset() - got->invoked.offset());
  if (failed == nullptr || compare(failed->invoked, latest) >= 0) return std::nullopt;
  return latest;
}

Finding recoverable(const sim::History& history, const Names& names, const RecoverableQuestion& question) {
  Finding finding{.property = "recoverable", .view = View::server, .verdict = Verdict::unknown};
  if (!question.probe.is_valid() || question.probe.index >= names.size()) {
    finding.why = "nobody tried to get the lock after everything had come to rest";
    return finding;
  }
  const std::string probe = name_of(names, question.probe);
  const sim::Instant bound = question.quiescent + question.within;

  const sim::Operation* got = first_success(history, question.probe);
  if (got != nullptr && is_in_time(*got, question)) {
    finding.verdict = Verdict::holds;
    const sim::Duration waited = got->completed.offset() - question.quiescent.offset();
    finding.why =
        question.visitor_attempt
            ? fmt::format("{} came at {} and got the lock {} later ({} allowed)", probe, time_text(question.quiescent),
                          sim::to_string(waited), sim::to_string(question.within))
        : waited <= sim::Duration::zero()
            ? fmt::format("{} got the lock at {}, before everything had come to rest at {}", probe,
                          time_text(got->completed), time_text(question.quiescent))
            : fmt::format("{} got the lock {} after everything had come to rest at {} ({} allowed)", probe,
                          sim::to_string(waited), time_text(question.quiescent), sim::to_string(question.within));
    return finding;
  }
  if (got == nullptr && compare(question.probed_until, bound) < 0) {
    finding.why = fmt::format("{} had not got the lock when the probing ended at {}, before the bound of {}", probe,
                              time_text(question.probed_until), time_text(bound));
    return finding;
  }

  if (const std::optional<sim::Instant> open = decisive_attempt(history, question)) {
    finding.why = fmt::format(
        "{} got the lock only at {} (allowed: until {}), but whoever had begun at {} might have had it in time", probe,
        time_text(got->completed), time_text(bound), time_text(*open));
    return finding;
  }

  std::vector<bool> given_back(history.operations.size() + 1, false);
  for (const sim::Operation& operation : history.operations) {
    if (is_successful(operation, "release") && operation.of < given_back.size()) given_back[operation.of] = true;
  }
  const sim::Operation* last = nullptr;
  for (const sim::Operation& operation : history.operations) {
    if (operation.process == question.probe || !is_successful(operation, "acquire")) continue;
    if (compare(operation.completed, bound) > 0 || given_back[operation.id]) continue;
    if (last == nullptr || compare(operation.completed, last->completed) >= 0) last = &operation;
  }
  sim::invariant(got == nullptr || compare(got->completed, bound) > 0, "who gets the lock in time is no violation");
  finding.verdict = Verdict::violated;
  finding.at = bound;
  finding.evidence = sorted_evidence(
      {last != nullptr ? last->completed_in : sim::no_step, got != nullptr ? got->completed_in : sim::no_step});
  if (last != nullptr) finding.by = {last->process};
  if (got != nullptr) {
    finding.why =
        fmt::format("{} got the lock only at {}, {} after everything had come to rest at {} ({} allowed)", probe,
                    time_text(got->completed), sim::to_string(got->completed.offset() - question.quiescent.offset()),
                    time_text(question.quiescent), sim::to_string(question.within));
  } else if (question.visitor_attempt) {
    finding.why = fmt::format(
        "{} came at {}, when everybody was done or dead, tried again and again as its program does, and did not get "
        "the lock, not within {} ({} allowed)",
        probe, time_text(question.quiescent),
        sim::to_string(question.probed_until.offset() - question.quiescent.offset()), sim::to_string(question.within));
  } else {
    finding.why = fmt::format("{} still could not get the lock {} after all others had ended at {} ({} allowed)", probe,
                              sim::to_string(rounded(question.probed_until.offset() - question.quiescent.offset())),
                              time_text(question.quiescent), sim::to_string(question.within));
  }
  if (last != nullptr) {
    finding.why += fmt::format("; the last to hold it and not give it back was {}, from {} on",
                               name_of(names, last->process), time_text(last->completed));
  }
  return finding;
}

Property entries::recoverable() {
  return {
      .name = "recoverable",
      .view = View::server,
      .meaning =
          "When all holders are done or dead and every lease is over, a fresh client gets the lock in bounded time.",
      .meaning_zh = "所有持有者结束或崩溃、所有租约到期之后，新的客户端能在限定时间内拿到锁。",
      .question = "Does a fresh client get the lock in time when all others are done or dead? It is tried: `probe`.",
      .decided_by = DecidedBy::lengths,
      .is_seen = [](const OrderedHistory&) { return true; },  // a probe asks, whatever the story does
      .judge = [](const JudgedRun& run) { return checker::recoverable(run.all, run.names, run.recoverable); },
      .headline = [](const BothLanguages&, std::size_t) -> BothLanguages {
        return {"The lock stays taken when everybody is done", "所有人都结束以后，锁仍被占用"};
      }};
}

}  // namespace lockstep::checker
