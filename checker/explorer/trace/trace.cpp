#include "checker/explorer/trace/trace.hpp"

#include <algorithm>

namespace lockstep::checker::explorer {

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
  for (std::uint32_t i = 0; i < position; ++i) {
    if (has_bit(past, i) && !contains(past, steps_[i].past)) return false;
  }
  for (std::uint32_t i = position + 1; i < past.size() * 64; ++i) {
    if (has_bit(past, i)) return false;
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
