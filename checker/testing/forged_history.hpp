#pragma once

// Histories made by hand, for the tests of the checkers: a violation, and beside it the nearest innocent history.
// Steps are numbered in the order of the calls, so what happens later is said later.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

using sim::Duration;
using sim::Phase;
using Did = sim::Effect::Kind;

inline constexpr sim::ProcessId A{0};
inline constexpr sim::ProcessId B{1};
inline constexpr sim::ProcessId C{2};
inline constexpr sim::ProcessId D{3};
inline constexpr sim::ProcessId server{4};
inline constexpr sim::ProcessId second_server{5};
inline constexpr sim::ProcessId resource{6};

inline Names forged_names() { return {"A", "B", "C", "D", "S1", "S2", "R"}; }

class ForgedHistory {
 public:
  sim::OperationId operation(sim::ProcessId who, std::string_view function, Duration invoked, Duration completed,
                             Phase phase = Phase::ok, sim::OperationId of = 0, std::string object = "lock") {
    sim::Operation o;
    o.id = static_cast<sim::OperationId>(history_.operations.size() + 1);
    o.process = who;
    o.function = function;
    o.object = std::move(object);
    o.invoked = sim::Instant::at(invoked);
    o.invoked_in = next_step_++;
    o.phase = phase;
    o.of = of;
    if (phase != Phase::invoke) {
      o.completed = sim::Instant::at(completed);
      o.completed_in = next_step_++;
    }
    history_.operations.push_back(std::move(o));
    return history_.operations.back().id;
  }

  /// A hold: an acquire that was granted in no time and completed at `at`.
  sim::OperationId acquire(sim::ProcessId who, Duration at, std::optional<Duration> valid_until = {}) {
    const sim::OperationId id = operation(who, "acquire", at, at);
    if (valid_until) of(id).valid_until = sim::Instant::at(*valid_until);
    return id;
  }
  sim::OperationId release(sim::ProcessId who, sim::OperationId hold, Duration at) {
    return operation(who, "release", at, at, Phase::ok, hold);
  }

  void pause(sim::ProcessId who, Duration from, std::optional<Duration> until) {
    interrupt(sim::Interruption::Kind::pause, who, from, until);
  }
  void crash(sim::ProcessId who, Duration at, std::optional<Duration> restart = {}) {
    interrupt(sim::Interruption::Kind::crash, who, at, restart);
  }

  void doze(sim::OperationId during, Duration from, Duration until) {
    history_.dozes.push_back({during, sim::Instant::at(from), sim::Instant::at(until)});
  }

  sim::Effect& effect(Did kind, sim::ProcessId where, sim::ProcessId by, sim::OperationId operation, Duration at,
                      std::string object = "lock") {
    sim::Effect e;
    e.kind = kind;
    e.server = where;
    e.object = std::move(object);
    e.by = by;
    e.operation = operation;
    e.at = sim::Instant::at(at);
    e.step = next_step_++;
    e.first_member = static_cast<std::uint32_t>(history_.members.size());
    history_.effects.push_back(std::move(e));
    return history_.effects.back();
  }

  /// Of the object of the last effect.
  void member(std::string name, sim::MemberChange::Kind kind = sim::MemberChange::Kind::written) {
    history_.members.push_back({std::move(name), kind});
    ++history_.effects.back().members;
  }

  sim::Operation& of(sim::OperationId id) { return history_.operations[id - 1]; }
  const sim::History& history() const { return history_; }

 private:
  void interrupt(sim::Interruption::Kind kind, sim::ProcessId who, Duration from, std::optional<Duration> until) {
    sim::Interruption i;
    i.kind = kind;
    i.process = who;
    i.from = sim::Instant::at(from);
    i.step = next_step_++;
    if (until) i.until = sim::Instant::at(*until);
    history_.interruptions.push_back(i);
  }

  sim::History history_;
  sim::Step next_step_ = 1;
};

/// Who takes the lock at this moment; the server knows it a millisecond before.
inline sim::OperationId grant(ForgedHistory& h, sim::ProcessId who, Duration at, Did did = Did::write) {
  const sim::OperationId id = h.operation(who, "acquire", at - sim::Duration::milliseconds(2), at);
  h.effect(did, server, who, id, at - sim::Duration::milliseconds(1));
  return id;
}

}  // namespace lockstep::checker
