#include "sim/schedules/linear_simulation.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace lockstep::sim {

LinearSimulation::LinearSimulation(World& world, Settings settings) : world_(world), settings_(std::move(settings)) {
  world.set_scheduler(*this);
  numbers_[Slope{}] = 0;
  paused_.resize(world.process_count());
  restart_.resize(world.process_count());
  settings_.latencies.resize(world.connection_count());
  settings_.clocks.resize(world.process_count());
  for (std::size_t i = 0; i < settings_.clocks.size(); ++i) {
    if (settings_.clocks[i].is_flat()) continue;
    world.state(ProcessId{static_cast<std::uint16_t>(i)}).wall.set_scale(scale_of(settings_.clocks[i]));
  }
  pin_taken_.assign(settings_.pins.size(), false);
  pin_seen_.assign(settings_.pins.size(), 0);
}

// --- Slopes and bounds.

std::uint32_t LinearSimulation::number_of(Slope slope) {
  const auto [known, is_new] = numbers_.try_emplace(slope, static_cast<std::uint32_t>(slopes_.size()));
  if (is_new) slopes_.push_back(slope);
  return known->second;
}

Scale LinearSimulation::scale_of(Slope slope) {
  if (slope.is_flat()) return 0;
  const auto known = std::find(scales_.begin() + 1, scales_.end(), slope);
  if (known != scales_.end()) return static_cast<Scale>(known - scales_.begin());
  assert(scales_.size() < 256 && "more clocks than scales");
  scales_.push_back(slope);
  return static_cast<Scale>(scales_.size() - 1);
}

Instant LinearSimulation::tilted(Instant instant, Slope more) {
  if (more.is_flat()) return instant;
  const std::uint32_t anchor = number_of(slopes_[instant.variable()] + more);
  return Instant(anchor, instant.offset()).on_scale(instant.scale());
}

/// Of two bounds of one slope the closer one says what the other does.
void LinearSimulation::note(std::int64_t value, Slope slope, bool strict) {
  if (slope.is_flat()) return;
  const auto [known, is_new] = bound_of_.try_emplace(slope, bounds_.size());
  if (is_new) {
    bounds_.push_back({value, slope, strict});
    return;
  }
  LinearBound& bound = bounds_[known->second];
  if (value < bound.value || (value == bound.value && strict)) bound = {value, slope, strict};
}

void LinearSimulation::note_order(Instant a, Instant b) {
  const std::int64_t ahead = (a.offset() - b.offset()).count_ns();
  const Slope slope = this->slope(a) - this->slope(b);
  if (ahead >= 0) note(ahead, slope, ahead > 0);
  if (ahead <= 0) note(-ahead, -slope, ahead < 0);
}

bool LinearSimulation::is_at_or_after(Instant a, Instant b) {
  const std::int64_t ahead = (a.offset() - b.offset()).count_ns();
  const Slope slope = this->slope(a) - this->slope(b);
  if (ahead >= 0) {
    note(ahead, slope, false);
  } else {
    note(-ahead, -slope, true);
  }
  return ahead >= 0;
}

Instant LinearSimulation::sum(Instant a, Instant plus, Instant minus) {
  return tilted(a + (plus.offset() - minus.offset()), slope(plus) - slope(minus));
}

std::optional<std::int64_t> LinearSimulation::whole_units(Instant from, Instant until, Duration unit) {
  const std::int64_t length = (until.offset() - from.offset()).count_ns();
  const Slope slope = this->slope(until) - this->slope(from);
  std::int64_t whole = length / unit.count_ns();
  if (length % unit.count_ns() < 0) --whole;
  const std::int64_t rest = length - whole * unit.count_ns();
  note(rest, slope, false);
  note(unit.count_ns() - rest, -slope, true);
  return whole;
}

// --- Faults.

Slope LinearSimulation::fault_slope(const PlannedFault& fault) const {
  return fault.number < settings_.faults.size() ? settings_.faults[fault.number] : Slope{};
}

Instant LinearSimulation::moved(Instant at, const PlannedFault& fault, bool later) {
  const Slope slope = fault_slope(fault);
  return later ? tilted(at + fault.length, slope) : tilted(at - fault.length, -slope);
}

void LinearSimulation::about_to_strike(const PlannedFault& fault) {
  const Slope slope = fault_slope(fault);
  ProcessState& victim = world_.state(fault.process);
  switch (entry_of(fault.kind).length) {
    case FaultLength::lasts: {
      if (strikes_message(fault.kind)) {
        delayed_ = delayed_.value_or(Slope{}) + slope;
        return;
      }
      const Instant until = moved(world_.now(), fault, true);
      Slope added = slope;
      // Two pauses that overlap are one longer pause.
      if (victim.was_paused && !is_at_or_after(world_.now(), victim.frozen_until)) {
        const bool is_longer = is_at_or_after(until, victim.frozen_until);
        added = is_longer ? this->slope(until) - this->slope(victim.frozen_until) : Slope{};
      }
      paused_[fault.process.index] = paused_[fault.process.index] + added;
      return;
    }
    case FaultLength::moves:
      if (!slope.is_flat()) victim.wall.set_scale(scale_of(scales_[victim.wall.now().scale()] + slope));
      return;
    case FaultLength::comes_back: restart_[fault.process.index] = slope; return;
    case FaultLength::none: return;
  }
}

// --- What is pending. The rules are those of `Simulation`, whose file gives the reasons.

Slope LinearSimulation::delay_slope(const Event& event) {
  if (event.kind == EventKind::message) {
    const Slope more = event.bounced || event.message->is_fin ? Slope{} : std::exchange(delayed_, {}).value_or(Slope{});
    return settings_.latencies[event.channel / 2] + more;
  }
  if (event.kind != EventKind::start || event.incarnation == 0) return {};
  return std::exchange(restart_[event.process.index], Slope{});
}

void LinearSimulation::emitted(std::uint32_t slot) {
  Event& event = world_.event(slot);
  if (!settings_.pins.empty()) assign_pin(event);
  event.sequence = sequence_++;
  Duration delay = event.delay.lo;
  if (!event.delay.is_exact() && event.pin == Event::kNoPin && settings_.delay) delay = settings_.delay(event);
  const Instant own = tilted(event.base + delay, delay_slope(event));
  Instant at = own;
  if (event.channel != Event::kNoChannel) {
    if (event.channel >= channel_floor_.size()) channel_floor_.resize(event.channel + 1);
    channel_floor_[event.channel] = at = later_of(at, channel_floor_[event.channel]);
  }
  if (slot >= of_slot_.size()) of_slot_.resize(slot + 1);
  of_slot_[slot] = {at, at, own, event.base, paused_[event.process.index]};
  pending_.push_back(slot);
}

void LinearSimulation::lost(const Event&) { delayed_.reset(); }

void LinearSimulation::cancelled(std::uint32_t slot) {
  remove(slot);
  const std::uint32_t channel = world_.event(slot).channel;
  if (channel != Event::kNoChannel) channel_floor_[channel] = latest_arrival(channel, sequence_);
}

void LinearSimulation::postponed(std::uint32_t slot, Duration) {
  const Event& event = world_.event(slot);
  Pending& known = of_slot_[slot];
  known.at = known.own = sum(known.own, event.base, known.base);
  known.base = event.base;
  known.paused_before = paused_[event.process.index];
  if (event.channel != Event::kNoChannel) {
    known.at = later_of(known.at, latest_arrival(event.channel, event.sequence));
    channel_floor_[event.channel] = later_of(channel_floor_[event.channel], known.at);
  }
  known.arrived = known.at;
}

void LinearSimulation::crashed(ProcessId process) {
  for (const std::uint32_t slot : pending_) {
    const Event& event = world_.event(slot);
    Pending& known = of_slot_[slot];
    if (event.process != process || event.kind == EventKind::fault) continue;
    const Instant due = later_of(known.arrived, world_.now());
    if (!is_at_or_after(due, known.at)) known.at = due;
  }
}

Instant LinearSimulation::latest_arrival(std::uint32_t channel, std::uint32_t before_sequence) {
  Instant latest;
  for (const std::vector<std::uint32_t>* slots : {&pending_, &held_}) {
    for (const std::uint32_t slot : *slots) {
      const Event& event = world_.event(slot);
      if (event.channel == channel && event.sequence < before_sequence)
        latest = later_of(latest, of_slot_[slot].arrived);
    }
  }
  return latest;
}

void LinearSimulation::remove(std::uint32_t slot) {
  std::erase(pending_, slot);
  std::erase(held_, slot);
}

// --- Which event is next.

bool LinearSimulation::comes_before(std::uint32_t a, std::uint32_t b) const {
  const auto key = [&](std::uint32_t slot) {
    const Pending& known = of_slot_[slot];
    return std::tuple(known.at.offset(), known.arrived.offset(), world_.event(slot).sequence);
  };
  return key(a) < key(b);
}

std::uint32_t LinearSimulation::earliest() const {
  return *std::min_element(pending_.begin(), pending_.end(),
                           [&](std::uint32_t a, std::uint32_t b) { return comes_before(a, b); });
}

/// Notes that `first` comes before `other`: earlier, or at the same time if it then arrived earlier, or was emitted
/// earlier.
void LinearSimulation::note_first(std::uint32_t first, std::uint32_t other) {
  const Pending& a = of_slot_[first];
  const Pending& b = of_slot_[other];
  const std::int64_t ahead = (b.at.offset() - a.at.offset()).count_ns();
  const Slope more = slope(b.at) - slope(a.at);
  if (more.is_flat()) {
    // They are due at the same time, or never are.
    if (ahead == 0) note_order(a.arrived, b.arrived);
    return;
  }
  const bool are_punctual = a.at.identical(a.arrived) && b.at.identical(b.arrived);
  if (are_punctual) {
    note(ahead, more, world_.event(first).sequence > world_.event(other).sequence);
  } else if (ahead > 0) {
    note(ahead, more, true);
  } else {
    note_order(a.at, b.at);
    note_order(a.arrived, b.arrived);
  }
}

void LinearSimulation::note_first(std::uint32_t first) {
  for (const std::uint32_t other : pending_) {
    if (other != first) note_first(first, other);
  }
}

bool LinearSimulation::put_off(std::uint32_t slot) {
  Event& event = world_.event(slot);
  if (event.kind == EventKind::fault) return false;
  const ProcessState& process = world_.state(event.process);
  Pending& known = of_slot_[slot];
  Instant at = known.at;
  Instant arrived = known.arrived;
  Slope paused_before = known.paused_before;
  Duration counted = event.paused_before;
  if (event.is_work()) {
    at = tilted(at + (process.paused_total - counted), paused_[event.process.index] - paused_before);
    counted = process.paused_total;
    paused_before = paused_[event.process.index];
    arrived = at;
  }
  if (process.was_paused && process.alive) at = later_of(at, process.frozen_until);
  if (at.identical(known.at)) return false;
  // That it is looked at now matters only to what might change whether its process is paused.
  for (const std::uint32_t other : pending_) {
    const Event& rival = world_.event(other);
    if (other != slot && (rival.kind == EventKind::fault || rival.process == event.process)) note_first(slot, other);
  }
  event.paused_before = counted;
  known = {at, arrived, known.own, known.base, paused_before};
  return true;
}

bool LinearSimulation::step() {
  while (!pending_.empty()) {
    const std::uint32_t slot = earliest();
    const Instant at = of_slot_[slot].at;
    if (!held_.empty() && is_overdue(at)) {
      note_first(slot);
      return false;
    }
    if (put_off(slot)) continue;
    note_first(slot);
    if (!settings_.pins.empty() && hold_back(slot)) continue;
    const bool was_pinned = world_.event(slot).pin != Event::kNoPin;
    remove(slot);
    world_.execute(slot, at);
    if (was_pinned) pinned_event_happened();
    return true;
  }
  return false;
}

/// See `Simulation::is_only_background_for_long`.
bool LinearSimulation::is_a_deadline_older_than(std::uint32_t sequence) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](std::uint32_t slot) {
    const Event& event = world_.event(slot);
    return event.kind == EventKind::timer && event.timer_kind == TimerKind::deadline && event.sequence < sequence;
  });
}

LinearSimulation::End LinearSimulation::run(std::uint64_t max_events) {
  constexpr Duration kPatience = Duration::seconds(60);
  for (std::uint64_t events = 0; events < max_events; ++events) {
    if (!world_.has_only_background() && !world_.has_only_upkeep()) {
      background_since_.reset();
      patience_ended_.reset();
    } else {
      if (!world_.has_foreground()) return End::quiet;
      if (!background_since_) background_since_ = world_.now();
      if (pending_.empty()) return End::quiet;
      const Instant next = of_slot_[earliest()].at;
      const bool is_over = is_at_or_after(next, *background_since_ + kPatience + Duration::nanoseconds(1));
      if (is_over && !patience_ended_) patience_ended_ = sequence_;
      if (is_over && !is_a_deadline_older_than(*patience_ended_)) return End::quiet;
    }
    if (!step()) return held_.empty() ? End::quiet : End::pin_impossible;
  }
  return End::too_many_events;
}

// --- Pins.

void LinearSimulation::assign_pin(Event& event) {
  if (event.kind != EventKind::message || event.message->is_reply || event.bounced) return;
  const std::vector<Pin>& pins = settings_.pins;
  const auto matches = [&](const Pin& pin) {
    return pin.client == event.from && pin.step == event.message->name() &&
           (!pin.server.is_valid() || pin.server == event.process);
  };
  for (std::size_t i = 0; i < pins.size(); ++i) {
    if (matches(pins[i])) ++pin_seen_[i];
  }
  bool is_next_known = false;
  for (std::size_t i = 0; i < pins.size(); ++i) {
    const Pin& pin = pins[i];
    if (pin.client != event.from || pin_taken_[i]) continue;
    if (!pin.occurrence && std::exchange(is_next_known, true)) continue;
    if (!matches(pin) || (pin.occurrence && pin_seen_[i] != *pin.occurrence)) continue;
    event.pin = static_cast<std::uint32_t>(i);
    pin_taken_[i] = true;
    return;
  }
}

bool LinearSimulation::hold_back(std::uint32_t slot) {
  const Event& event = world_.event(slot);
  bool wait = event.pin != Event::kNoPin && event.pin != next_pin_;
  if (!wait && event.channel != Event::kNoChannel) {
    wait = std::any_of(held_.begin(), held_.end(),
                       [&](std::uint32_t other) { return world_.event(other).channel == event.channel; });
  }
  if (wait) {
    std::erase(pending_, slot);
    held_.push_back(slot);
  }
  return wait;
}

bool LinearSimulation::is_overdue(Instant at) {
  for (const std::uint32_t slot : held_) {
    const Event& event = world_.event(slot);
    if (event.pin == Event::kNoPin) continue;
    const Instant by_network =
        tilted(event.base + event.delay.hi,
               event.channel == Event::kNoChannel ? Slope{} : settings_.latencies[event.channel / 2]);
    Instant latest = later_of(by_network, of_slot_[slot].arrived);
    const ProcessState& receiver = world_.state(event.process);
    if (receiver.was_paused && receiver.alive) latest = later_of(latest, receiver.frozen_until);
    if (!is_at_or_after(latest, at)) return true;
  }
  return false;
}

void LinearSimulation::pinned_event_happened() {
  ++next_pin_;
  std::vector<std::uint32_t> waiting;
  waiting.swap(held_);
  const bool is_turn = std::any_of(waiting.begin(), waiting.end(),
                                   [&](std::uint32_t slot) { return world_.event(slot).pin == next_pin_; });
  for (const std::uint32_t slot : waiting) {
    if (!is_turn) {
      held_.push_back(slot);
      continue;
    }
    of_slot_[slot].at = later_of(of_slot_[slot].at, world_.now());
    pending_.push_back(slot);
  }
}

}  // namespace lockstep::sim
