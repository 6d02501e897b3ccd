#include "sim/schedules/simulation.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "sim/invariant.hpp"
#include "sim/stop.hpp"

namespace lockstep::sim {
namespace {

/// Delays are chosen in steps of a microsecond: fine enough for any order of events, and still readable.
constexpr Duration kDelayGrain = Duration::microseconds(1);

}  // namespace

Simulation::Simulation(World& world) : world_(world) { world.set_scheduler(*this); }

Duration Simulation::concrete_delay(const Event& event) {
  const DurationRange range = event.delay;
  // A pinned command makes haste, so that it is there when its turn comes.
  if (range.is_exact() || event.pin != Event::kNoPin) return range.lo;
  if (tick_) {
    const Ticks ticks(range, *tick_);
    return ticks[world_.decisions().choose(Choice::delay, ticks.count(), event.id)];
  }
  const std::int64_t width = (range.hi - range.lo).count_ns();
  const std::int64_t steps = (width + kDelayGrain.count_ns() - 1) / kDelayGrain.count_ns();
  const std::uint64_t chosen =
      world_.decisions().choose(Choice::delay, static_cast<std::uint64_t>(steps) + 1, event.id);
  return std::min(range.lo + kDelayGrain * static_cast<std::int64_t>(chosen), range.hi);
}

void Simulation::emitted(std::uint32_t slot) {
  Event& event = world_.event(slot);
  if (fate_ != nullptr && event.kind == EventKind::message) [[unlikely]] {
    const Duration late = fate_->late_by(event);
    event.delay = {event.delay.lo + late, event.delay.hi + late};
  }
  if (!pins_.empty()) [[unlikely]]
    assign_pin(event);
  event.sequence = sequence_++;
  const std::uint32_t channel = event.channel;
  const bool has_channel = channel != Event::kNoChannel;
  Duration floor;
  if (has_channel) {
    if (channel >= channel_floor_.size()) [[unlikely]] {
      channel_floor_.resize(channel + 1, Duration::zero());
      turn_of_channel_.resize(channel + 1);
    }
    floor = channel_floor_[channel];
  }
  Duration at;
  if (schedule_ && schedule_->emitted(slot, channel_floor(event, floor))) [[unlikely]] {
    at = schedule_->next_look(slot, -Duration::forever()).value();
  } else {
    at = event.base.offset() + (event.delay.is_exact() ? event.delay.lo : concrete_delay(event));
  }
  if (has_channel) channel_floor_[channel] = at = std::max(at, floor);
  event.at = event.arrived = at;
  push(slot);
}

void Simulation::lost(const Event& message) {
  if (schedule_) schedule_->lost(message);
}

void Simulation::cancelled(std::uint32_t slot) {
  if (schedule_) schedule_->cancelled(slot);
  const auto held = std::find(held_.begin(), held_.end(), slot);
  if (held != held_.end()) {
    held_.erase(held);
  } else {
    remove(heap_position_[slot]);
  }
  // What comes later need not wait behind what never comes.
  const std::uint32_t channel = world_.event(slot).channel;
  if (channel != Event::kNoChannel) channel_floor_[channel] = latest_arrival(channel, sequence_);
}

void Simulation::postponed(std::uint32_t slot, Duration by) {
  Event& event = world_.event(slot);
  remove(heap_position_[slot]);
  // What had to wait for a message before it has taken longer than it ever could; and it need not wait that long again.
  const Duration took = event.at - (event.base.offset() - by);
  event.at = event.base.offset() + std::min(took, event.delay.hi);
  if (schedule_ && schedule_->is_listed(slot)) {
    const bool has_channel = event.channel != Event::kNoChannel;
    const Duration latest = has_channel ? latest_arrival(event.channel, event.sequence) : Duration::zero();
    schedule_->postponed(slot, channel_floor(event, latest));
    event.at = std::max(event.base.offset(), schedule_->next_look(slot, -Duration::forever()).value());
  }
  if (event.channel != Event::kNoChannel) {
    event.at = std::max(event.at, latest_arrival(event.channel, event.sequence));
    channel_floor_[event.channel] = std::max(channel_floor_[event.channel], event.at);
  }
  event.arrived = event.at;
  push(slot);
}

/// What has been put off until the end of the pause comes now; or when it arrives, where it was put off before that.
void Simulation::crashed(ProcessId process) {
  const Duration now = world_.now().offset();
  const auto due = [&](const Event& event) { return std::max(event.arrived, now); };
  std::vector<std::uint32_t> put_off;
  for (const Key& key : heap_) {
    const Event& event = world_.event(key.slot);
    const bool is_listed = schedule_ && schedule_->is_listed(key.slot);
    if (event.process == process && event.kind != EventKind::fault && event.at > due(event) && !is_listed)
      put_off.push_back(key.slot);
  }
  for (const std::uint32_t slot : put_off) {
    remove(heap_position_[slot]);
    Event& event = world_.event(slot);
    event.at = due(event);
    push(slot);
  }
}

/// When the last of those pending events of a channel arrives that were emitted before the given one.
template <typename ArrivalOf>
Duration Simulation::latest_before(std::uint32_t channel, std::uint32_t sequence, const ArrivalOf& arrival_of) const {
  Duration latest;
  const auto look_at = [&](std::uint32_t slot) {
    const Event& event = world_.event(slot);
    if (event.channel == channel && event.sequence < sequence) latest = std::max(latest, arrival_of(slot));
  };
  for (const Key& key : heap_) look_at(key.slot);
  for (const std::uint32_t slot : held_) look_at(slot);
  return latest;
}

Duration Simulation::latest_arrival(std::uint32_t channel, std::uint32_t before_sequence) const {
  return latest_before(channel, before_sequence, [&](std::uint32_t slot) { return world_.event(slot).arrived; });
}

/// When that arrives behind which the event waits on its channel, at `latest` if the decisions and the list are asked.
/// But the list does not say when that arrived which a process handles as it wakes from a pause: perhaps as early as
/// its delay allows.
DurationRange Simulation::channel_floor(const Event& event, Duration latest) const {
  if (event.channel == Event::kNoChannel) return DurationRange::exactly(latest);
  const auto earliest_of = [&](std::uint32_t slot) {
    return schedule_->is_listed(slot) ? schedule_->earliest(slot) : world_.event(slot).arrived;
  };
  return {std::min(latest, latest_before(event.channel, event.sequence, earliest_of)), latest};
}

bool Simulation::is_at_or_after(Instant a, Instant b) {
  assert(a.anchor() == 0 && b.anchor() == 0);
  return a.offset() >= b.offset();
}

Instant Simulation::later_of(Instant a, Instant b) { return a.offset() >= b.offset() ? a : b; }

std::optional<Instant> Simulation::next_due() const {
  if (heap_.empty()) return std::nullopt;
  return Instant::at(heap_.front().at());
}

Simulation::End Simulation::run(Instant until, std::uint64_t max_events) {
  for (std::uint64_t events = 0; events < max_events; ++events) {
    Stop::ask();
    if (!world_.has_only_background() && !world_.has_only_upkeep()) {
      background_since_.reset();
      patience_ended_.reset();
    } else if (is_only_background_for_long() && (!schedule_ || !schedule_->is_expecting())) {
      return End::quiet;
    }
    if (step_until(until.offset())) continue;
    if (failure_) return End::pin_impossible;
    if (schedule_ && schedule_->failure()) return End::schedule_impossible;
    if (!heap_.empty()) return End::time_is_up;
    return held_.empty() ? End::quiet : End::pin_impossible;
  }
  return End::too_many_events;
}

/// Whoever still waits for an answer, e.g. a WAIT without a timeout, may get it from what services do by themselves;
/// but not if that has not come within a minute, and each deadline that was pending then has been put off since: so
/// nobody has died whom a service has still to notice.
bool Simulation::is_only_background_for_long() {
  constexpr Duration kPatience = Duration::seconds(60);
  if (!world_.has_foreground()) return true;
  const Duration now = world_.now().offset();
  if (!background_since_) background_since_ = now;
  if (heap_.empty()) return true;
  if (heap_.front().at() - *background_since_ <= kPatience) return false;
  if (!patience_ended_) patience_ended_ = sequence_;
  return std::none_of(heap_.begin(), heap_.end(), [&](const Key& key) {
    const Event& event = world_.event(key.slot);
    return event.kind == EventKind::timer && event.timer_kind == TimerKind::deadline &&
           event.sequence < *patience_ended_;
  });
}

bool Simulation::step() { return step_until(Duration::forever()); }

bool Simulation::step_until(Duration until) {
  if (schedule_) return step_on_schedule(until);
  // What is due in time may be put off until later, so each turn looks anew.
  while (!heap_.empty() && heap_.front().at() <= until) {
    if (pace_ != nullptr && !pace_->wait_until(Instant::at(heap_.front().at()))) [[unlikely]]
      continue;
    // It is pending until it happens: programs that end with their world, and a crash, may still cancel it. And what is
    // taken out and put back costs twice.
    const std::uint32_t slot = heap_.size() == 1 ? heap_.front().slot : pick_among_simultaneous();
    const Event& event = world_.event(slot);
    if (!held_.empty() && !failure_) {
      failure_ = overdue_pin(event.at);
      if (failure_) return false;
    }
    if (may_be_put_off(event) && put_off(slot)) {
      remove(heap_position_[slot]);
      push(slot);
      continue;
    }
    if (!pins_.empty() && hold_back(slot)) {
      remove(heap_position_[slot]);
      continue;
    }
    const bool was_pinned = event.pin != Event::kNoPin;
    const Duration at = event.at;
    const Fate::Answer answer = fate_ == nullptr ? Fate::Answer::happens : fate_->of(slot, Instant::at(at));
    if (answer == Fate::Answer::look_again) continue;
    invariant(heap_[heap_position_[slot]].slot == slot, "a pending event stands where the heap says it stands");
    remove(heap_position_[slot]);
    if (answer == Fate::Answer::lost) {
      world_.lose(slot);
      continue;
    }
    world_.execute(slot, Instant::at(at));
    if (was_pinned) pinned_event_happened();
    return true;
  }
  return false;
}

/// The earliest event of the heap, which stays there. Where several are due at the same moment, which one comes first
/// is a decision, except that nothing overtakes on its own channel, and that a process which wakes from a pause handles
/// what waited for it in the order of arrival.
std::uint32_t Simulation::pick_among_simultaneous() {
  const std::uint32_t first = heap_.front().slot;
  if (!has_simultaneous() || world_.decisions().always_first()) return first;

  find_simultaneous();
  candidates_.clear();
  ++turn_;
  for (const Key& key : together_) {
    const Event& event = world_.event(key.slot);
    if (!must_wait(event)) candidates_.push_back(key.slot);
  }
  std::uint64_t answer = 0;
  if (candidates_.size() > 1) {
    answer = world_.decisions().choose(Choice::order, candidates_.size(), world_.event(first).id);
  }
  return candidates_[answer];
}

/// Whether one of those that were asked for before, since the turn began, has to come before this one. There may be a
/// hundred, so none is compared with each of the others.
bool Simulation::must_wait(const Event& event) {
  bool waits = false;
  if (event.channel != Event::kNoChannel) waits = std::exchange(turn_of_channel_[event.channel], turn_) == turn_;
  // That of no process comes first.
  const auto process = static_cast<std::uint16_t>(event.process.index + 1);
  if (process >= first_arrival_.size()) [[unlikely]]
    first_arrival_.resize(process + std::size_t{1});
  Arrival& first = first_arrival_[process];
  if (first.turn != turn_) {
    first = {turn_, event.arrived};
    return waits;
  }
  waits = waits || first.at < event.arrived;
  first.at = std::min(first.at, event.arrived);
  return waits;
}

/// Whether something is due together with the first. It would be a child of the first: nothing in a heap comes before
/// its parent.
bool Simulation::has_simultaneous() const {
  const Duration at = heap_.front().at();
  const std::size_t end = std::min<std::size_t>(heap_.size(), 5);
  for (std::size_t child = 1; child < end; ++child) {
    if (heap_[child].at() == at) return true;
  }
  return false;
}

/// All that is due together with the first, in the order of the heap, where it stays: with each its parent is due, too,
/// so nothing else is looked at but their children.
void Simulation::find_simultaneous() {
  const Duration at = heap_.front().at();
  positions_.assign(1, 0);
  together_.assign(1, heap_.front());
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const std::uint32_t first = 4 * positions_[i] + 1;
    const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(first + 4, heap_.size()));
    for (std::uint32_t child = first; child < end; ++child) {
      if (heap_[child].at() != at) continue;
      positions_.push_back(child);
      together_.push_back(heap_[child]);
    }
  }
  std::sort(together_.begin(), together_.end(), [](const Key& a, const Key& b) { return a.before(b); });
}

/// Collects all that is due together with `first`, which is out of the heap already, in the order of the heap.
void Simulation::take_simultaneous(std::uint32_t first) {
  const Duration at = world_.event(first).at;
  simultaneous_.assign(1, first);
  while (!heap_.empty() && heap_.front().at() == at) simultaneous_.push_back(pop());
}

bool Simulation::may_be_put_off(const Event& event) const {
  if (event.kind == EventKind::fault) return false;
  return world_.state(event.process).was_paused || event.is_work();
}

/// Whether the event is due later than that: a frozen process handles nothing; work that a pause interrupted takes that
/// much longer.
bool Simulation::put_off(std::uint32_t slot) {
  Event& event = world_.event(slot);
  const ProcessState& process = world_.state(event.process);
  Duration at = event.at;
  if (event.is_work()) {
    at += process.paused_total - event.paused_before;
    event.paused_before = process.paused_total;
    event.arrived = at;
  }
  if (process.was_paused && process.alive) at = std::max(at, process.frozen_until.offset());
  if (at == event.at) return false;
  event.at = at;
  return true;
}

void Simulation::restart() {
  world_.restart();
  heap_.clear();
  held_.clear();
  std::fill(channel_floor_.begin(), channel_floor_.end(), Duration::zero());
  sequence_ = 0;
  background_since_.reset();
  patience_ended_.reset();
  next_pin_ = 0;
  failure_.reset();
  pin(std::move(pins_));
  if (schedule_) schedule_->restart();
}

// --- Pins.

void Simulation::pin(std::vector<Pin> order) {
  pins_ = std::move(order);
  pin_taken_.assign(pins_.size(), false);
  pin_seen_.assign(pins_.size(), 0);
}

/// A client's commands match its entries of the order one after the other, and commands in between are free; an entry
/// that says "#n" matches just that command of the client, wherever it stands.
void Simulation::assign_pin(Event& event) {
  if (event.kind != EventKind::message || event.message->is_reply || event.bounced) return;
  const auto matches = [&](const Pin& pin) {
    return pin.client == event.from && pin.step == event.message->name() &&
           (!pin.server.is_valid() || pin.server == event.process);
  };
  for (std::size_t i = 0; i < pins_.size(); ++i) {
    if (matches(pins_[i])) ++pin_seen_[i];
  }
  bool is_next_known = false;
  for (std::size_t i = 0; i < pins_.size(); ++i) {
    const Pin& pin = pins_[i];
    if (pin.client != event.from || pin_taken_[i]) continue;
    if (!pin.occurrence && std::exchange(is_next_known, true)) continue;
    if (!matches(pin) || (pin.occurrence && pin_seen_[i] != *pin.occurrence)) continue;
    event.pin = static_cast<std::uint32_t>(i);
    pin_taken_[i] = true;
    return;
  }
}

bool Simulation::hold_back(std::uint32_t slot) {
  const Event& event = world_.event(slot);
  bool wait = event.pin != Event::kNoPin && event.pin != next_pin_;
  if (!wait && event.channel != Event::kNoChannel) {
    wait = std::any_of(held_.begin(), held_.end(),
                       [&](std::uint32_t other) { return world_.event(other).channel == event.channel; });
  }
  if (wait) held_.push_back(slot);
  return wait;
}

void Simulation::pinned_event_happened() {
  ++next_pin_;
  const Duration now = world_.now().offset();
  // Those that wait, and those that wait behind them, go back in their old order.
  std::vector<std::uint32_t> waiting;
  waiting.swap(held_);
  bool is_turn = false;
  for (const std::uint32_t slot : waiting) is_turn = is_turn || world_.event(slot).pin == next_pin_;
  for (const std::uint32_t slot : waiting) {
    Event& event = world_.event(slot);
    if (!is_turn) {
      held_.push_back(slot);
      continue;
    }
    event.at = std::max(event.at, now);
    push(slot);
  }
}

std::optional<Simulation::PinFailure> Simulation::overdue_pin(Duration at) const {
  for (const std::uint32_t slot : held_) {
    const Event& event = world_.event(slot);
    if (event.pin == Event::kNoPin) continue;
    // Behind a late message of its channel, or at a process that is frozen, it comes later than the network alone
    // allows.
    Duration latest = std::max(event.base.offset() + event.delay.hi, event.arrived);
    const ProcessState& receiver = world_.state(event.process);
    if (receiver.was_paused && receiver.alive) latest = std::max(latest, receiver.frozen_until.offset());
    if (at <= latest) continue;
    const Pin& predecessor = pins_[next_pin_];
    const Pin& pin = pins_[event.pin];
    return PinFailure{
        event.pin,
        fmt::format("{}.{} reaches {} at {} at the latest, and {}.{}, which is to come before it, has not happened "
                    "by then",
                    world_.name(pin.client), pin.step, world_.name(event.process), to_string(latest),
                    world_.name(predecessor.client), predecessor.step)};
  }
  return std::nullopt;
}

std::optional<Simulation::PinFailure> Simulation::pin_failure() const {
  if (failure_) return failure_;
  if (next_pin_ == pins_.size()) return std::nullopt;
  const Pin& pin = pins_[next_pin_];
  return PinFailure{next_pin_, fmt::format("{}.{} never comes: {} does not send it at this place of the order",
                                           world_.name(pin.client), pin.step, world_.name(pin.client))};
}

// --- A heap that knows where each event is, so that cancelling is cheap and leaves nothing behind. Four children each:
// half as deep as a binary one, and the children are neighbours in memory.

void Simulation::place(std::uint32_t position, Key key) {
  heap_[position] = key;
  heap_position_[key.slot] = position;
}

void Simulation::push(std::uint32_t slot) {
  const Event& event = world_.event(slot);
  if (slot >= heap_position_.size()) [[unlikely]]
    heap_position_.resize(slot + 1);
  const auto end = static_cast<std::uint32_t>(heap_.size());
  heap_position_[slot] = end;
  heap_.emplace_back(event, slot);
  if (end > 0) sift_up(end);
}

std::uint32_t Simulation::pop() {
  const std::uint32_t slot = heap_.front().slot;
  if (heap_.size() == 1) {
    heap_.clear();
  } else {
    remove(0);
  }
  return slot;
}

void Simulation::remove(std::uint32_t position) {
  const Key last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  place(position, last);
  sift_up(position);
  sift_down(heap_position_[last.slot]);
}

void Simulation::sift_up(std::uint32_t position) {
  const Key key = heap_[position];
  while (position > 0) {
    const std::uint32_t parent = (position - 1) / 4;
    if (!key.before(heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, key);
}

void Simulation::sift_down(std::uint32_t position) {
  const Key key = heap_[position];
  while (true) {
    std::uint32_t child = 4 * position + 1;
    if (child >= heap_.size()) break;
    const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(child + 4, heap_.size()));
    for (std::uint32_t other = child + 1; other < end; ++other) {
      child = heap_[other].before(heap_[child]) ? other : child;
    }
    if (!heap_[child].before(key)) break;
    place(position, heap_[child]);
    position = child;
  }
  place(position, key);
}

}  // namespace lockstep::sim
