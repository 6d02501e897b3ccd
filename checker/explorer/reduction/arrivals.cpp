#include "checker/explorer/reduction/arrivals.hpp"

#include <algorithm>

namespace lockstep::checker::explorer {

using sim::Duration;
using sim::DurationRange;
using sim::Instant;

DurationRange Arrivals::delay_of(const sim::Event& event) const {
  // Nothing is known of that.
  if (event.is_anchored) return {Duration::zero(), Duration::forever()};
  const bool may_be_late = rules_.faults.may_be_late() && event.kind == sim::EventKind::message;
  // Whether it left at its cause or at the end of the pause that held it back, the anchor is where it left.
  const Duration left = event.cause == 0 ? Duration::zero() : trace_[event.cause - 1].at.offset();
  const DurationRange delay{event.base.offset() + event.delay.lo - left, event.base.offset() + event.delay.hi - left};
  return {delay.lo, may_be_late ? Duration::forever() : delay.hi};
}

/// Where time means nothing any more, all instants are the origin. Ticks would then come before everything that is
/// still to come, for ever: so what comes of them is counted on from the tick before.
Duration Arrivals::due(const sim::Event& event) const {
  const std::uint32_t cause = Trace::cause_of(event);
  const bool is_timeless = timing_.is_infeasible() && cause != kNone && cause >= *timing_.infeasible_from();
  if (is_timeless && trace_[cause].is_of_tick) return trace_[cause].due + event.delay.lo;
  return timing_.earliest(event.base) + event.delay.lo;
}

std::optional<Instant> Arrivals::latest(const sim::Event& event) const {
  if (moment_.is_coda() || !rules_.asks_why()) return std::nullopt;
  if (event.is_anchored || event.delay.hi >= Duration::forever() || event.kind == sim::EventKind::fault ||
      event.is_tick())
    return std::nullopt;
  // Who is frozen does not handle what has arrived; and what a pause holds back, a crash keeps from leaving.
  const PossibleFaults& faults = rules_.faults;
  if (faults.may_pause(event.process)) return std::nullopt;
  // Behind one that is delayed it waits for that.
  const bool is_message = event.kind == sim::EventKind::message;
  if (is_message && faults.may_delay()) return std::nullopt;
  if (is_message && faults.may_crash() && faults.may_pause_anywhere(event.from)) return std::nullopt;
  return event.base + event.delay.hi;
}

std::optional<Instant> Arrivals::latest_answer(const sim::Event& event) const {
  const PossibleFaults& faults = rules_.faults;
  if (faults.may_lose() || faults.may_be_late() || faults.may_pause(event.from) || !is_answered_at_once(event))
    return std::nullopt;
  const std::optional<Instant> handled = latest(event);
  if (!handled) return std::nullopt;
  return *handled + moment_.world().latency_of(sim::ConnectionId{event.channel / 2}).hi;
}

bool Arrivals::is_answered_at_once(const sim::Event& event) const {
  return is_request(event) && moment_.world().state(event.process).process->answers_at_once(*event.message);
}

bool Arrivals::is_alone(const sim::Event& event) const {
  const sim::Process& process = *moment_.world().state(event.process).process;
  if (process.describes_accesses() || process.hears_unasked()) return false;
  return std::none_of(moment_.pending().begin(), moment_.pending().end(), [&](std::uint32_t slot) {
    const sim::Event& other = moment_.event(slot);
    if (other.id == event.id) return false;
    if (other.process != event.process) return other.kind == sim::EventKind::message && other.from == event.process;
    const bool is_timeout = other.kind == sim::EventKind::timer;
    if (is_timeout && rules_.mutant == SearchMutant::forget_timeouts) return false;
    return !is_timeout || !trace_.is_always_before(trace_.position(), Trace::cause_of(other), delay_of(other).lo);
  });
}

}  // namespace lockstep::checker::explorer
