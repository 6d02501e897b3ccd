#include "checker/explorer/trace/trace.hpp"

#include <algorithm>

namespace lockstep::checker::explorer {

using sim::Duration;

void Trace::lay_out(std::uint32_t length) {
  sim::invariant(built_ <= length, "what stands is the beginning of what is laid out");
  length_ = length;
  if (steps_.size() < length_) steps_.resize(length_);
}

bool Trace::is_caused_by(std::uint32_t event, std::uint32_t earlier) const {
  const std::array<std::uint32_t, 3> causes = causes_of(steps_[event]);
  return std::any_of(causes.begin(), causes.end(),
                     [&](std::uint32_t cause) { return cause != kNone && has_bit(steps_[cause].past, earlier); });
}

bool Trace::is_always_before(std::uint32_t event, std::uint32_t cause, Duration least_delay) const {
  constexpr Duration no_bound = Duration::seconds(1'000'000);
  Duration longest = steps_[event].delay.hi;
  Duration least = least_delay;
  std::uint32_t from = steps_[event].cause;
  // Causes have lower positions, and the beginning counts as lowest: the higher of the two is never what both come from.
  while (from != cause) {
    if (cause != kNone && (from == kNone || cause > from)) {
      least += steps_[cause].delay.lo;
      cause = steps_[cause].cause;
    } else {
      if (longest >= no_bound || faults_.may_pause(steps_[from].process)) return false;
      longest += steps_[from].delay.hi;
      from = steps_[from].cause;
    }
  }
  return longest < least;
}

bool Trace::comes_next(std::uint32_t position) const {
  const Step& next = steps_[position];
  if (!next.is_alone) return false;
  // Somebody may have kept an answer back.
  return std::none_of(steps_.begin(), steps_.begin() + position, [&](const Step& step) {
    const bool is_sent = step.is(sim::EventKind::message) && !step.event.is_reply;
    return is_sent && step.event.from == next.process && !step.is_answered;
  });
}

bool Trace::is_past_closed(std::uint32_t position) const {
  const Positions& past = steps_[position].past;
  for (std::uint32_t i = 0; i < past.size() * 64; ++i) {
    if (!has_bit(past, i)) continue;
    if (i > position) return false;
    Positions both = past;
    join(both, steps_[i].past);
    if (both != past) return false;
  }
  return has_bit(past, position);
}

std::vector<ExploredEvent> Trace::explored() const {
  std::vector<ExploredEvent> events;
  for (std::uint32_t i = 0; i < length_; ++i) {
    const Step& step = steps_[i];
    ExploredEvent& event = events.emplace_back(step.event);
    event.id = step.chosen;
    event.process = step.process;
    event.channel = step.channel;
    event.cause = step.cause;
    event.arrived = step.arrived;
    event.at = step.at;
  }
  return events;
}

}  // namespace lockstep::checker::explorer
