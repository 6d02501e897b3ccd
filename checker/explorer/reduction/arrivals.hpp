#pragma once

// What is known of events that are on their way: which can come next, from when on, and until when in every execution.

#include <array>
#include <cstdint>
#include <optional>

#include "checker/explorer/trace/alike_order.hpp"
#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

inline bool is_request(const sim::Event& event) {
  return event.kind == sim::EventKind::message && !event.bounced && !event.message->is_reply && !event.message->is_fin;
}

class Arrivals {
 public:
  Arrivals(const SearchRules& rules, const Trace& trace, const Moment& moment, const Timing& timing,
           const AlikeOrder& alike)
      : rules_(rules), trace_(trace), moment_(moment), timing_(timing), alike_(alike) {}

  /// Whether nothing has to come first, whatever time says.
  bool is_enabled(std::uint32_t slot) const {
    return !alike_.keeps_waiting(moment_.event(slot)) && moment_.first_on_channel(slot) == slot;
  }
  /// What it follows wherever it comes: `Trace::causes_of`, of an event that is on its way.
  std::array<std::uint32_t, 3> causes_of(const sim::Event& event) const {
    return {Trace::cause_of(event), moment_.last_on(event.channel), alike_.position_before(event, trace_.length())};
  }
  /// How long after its cause, or the beginning, it comes.
  sim::DurationRange delay_of(const sim::Event& event) const;
  /// A lower bound of its time, to pick by.
  sim::Duration due(const sim::Event& event) const;
  /// When it has arrived at the latest, and whatever its process handles after that, it handles after it. Nothing:
  /// never, or not known.
  std::optional<sim::Instant> latest(const sim::Event& event) const;
  /// When the answer to a request that is on its way has arrived at the latest.
  std::optional<sim::Instant> latest_answer(const sim::Event& event) const;
  bool is_answered_at_once(const sim::Event& event) const;
  /// Whether nothing else that might come first is on its way to the process of a client's event, nor to where it would
  /// be answered. It is the present event.
  bool is_alone(const sim::Event& event) const;

 private:
  const SearchRules& rules_;
  const Trace& trace_;
  const Moment& moment_;
  const Timing& timing_;
  const AlikeOrder& alike_;
};

}  // namespace lockstep::checker::explorer
