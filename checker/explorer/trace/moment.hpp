#pragma once

// Where the world stands in the present trace: what is on its way, and what was executed last where.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checker/explorer/trace/trace.hpp"
#include "sim/last_words.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

class Moment {
 public:
  /// All of it but the world itself.
  struct State {
    std::vector<std::uint32_t> pending;  ///< slots, in order of emission
    std::vector<std::uint32_t> last_at;  ///< by process: position of its last event
    std::vector<std::uint32_t> last_on;  ///< by channel
    std::optional<std::uint32_t> coda_from;
    sim::Duration coda_after;
    bool coda_has_ticks = false;
  };

  void watch(sim::World& world) { world_ = &world; }
  sim::World& world() const { return *world_; }
  void begin() {
    state_.pending.clear();
    state_.last_at.assign(world_->process_count(), kNone);
    state_.last_on.clear();
    state_.coda_from.reset();
  }
  const State& state() const { return state_; }
  void go_back_to(const State& state) { state_ = state; }
  /// For a search that is broken on purpose.
  void forget_last() { state_.last_at.assign(state_.last_at.size(), kNone); }

  // --- What is on its way, as slots of the world, in order of emission.

  std::span<const std::uint32_t> pending() const { return state_.pending; }
  const sim::Event& event(std::uint32_t slot) const { return world_->event(slot); }
  std::optional<std::uint32_t> find(sim::EventId id) const {
    for (const std::uint32_t slot : state_.pending) {
      if (event(slot).id == id) return slot;
    }
    return std::nullopt;
  }
  /// An event that was there when the trace was run before.
  std::uint32_t slot_of(sim::EventId id) const {
    const std::optional<std::uint32_t> slot = find(id);
    if (!slot) sim::end_with_divergence();
    return *slot;
  }
  /// Whether a work of this process is among it.
  bool is_working(sim::ProcessId process) const {
    return std::any_of(state_.pending.begin(), state_.pending.end(),
                       [&](std::uint32_t slot) { return event(slot).process == process && event(slot).is_work(); });
  }
  void add(std::uint32_t slot) { state_.pending.push_back(slot); }
  void remove(std::uint32_t slot) {
    const auto found = std::find(state_.pending.begin(), state_.pending.end(), slot);
    sim::invariant(found != state_.pending.end(), "what is executed or taken back was on its way");
    state_.pending.erase(found);
  }
  /// What was sent first on the channel of an event that is on its way, as a slot: on each channel first in, first out.
  std::uint32_t first_on_channel(std::uint32_t slot) const {
    const std::uint32_t channel = event(slot).channel;
    if (channel == sim::Event::kNoChannel) return slot;
    for (const std::uint32_t other : state_.pending) {
      if (other == slot || event(other).channel == channel) return other;
    }
    return slot;
  }

  // --- What was executed last.

  std::uint32_t last_at(sim::ProcessId process) const { return state_.last_at[process.index]; }
  std::uint32_t last_on(std::uint32_t channel) const {
    return channel < state_.last_on.size() ? state_.last_on[channel] : kNone;
  }
  /// The event in this slot is the one at this position, and not on its way any more.
  void execute(std::uint32_t slot, std::uint32_t position) {
    const sim::Event& executed = event(slot);
    state_.last_at[executed.process.index] = position;
    if (executed.channel != sim::Event::kNoChannel) {
      if (executed.channel >= state_.last_on.size()) state_.last_on.resize(executed.channel + 1, kNone);
      state_.last_on[executed.channel] = position;
    }
    remove(slot);
  }

  // --- What the world does after everything has come to rest.

  /// The first position that is of it.
  const std::optional<std::uint32_t>& coda_from() const { return state_.coda_from; }
  bool is_coda() const { return state_.coda_from.has_value(); }
  /// It begins so long after all before.
  sim::Duration coda_after() const { return state_.coda_after; }
  /// Its ticks do not come.
  bool is_without_ticks() const { return is_coda() && !state_.coda_has_ticks; }
  void begin_coda(std::uint32_t from, sim::Duration after, bool has_ticks) {
    sim::invariant(!is_coda(), "a trace has one coda");
    state_.coda_from = from;
    state_.coda_after = after;
    state_.coda_has_ticks = has_ticks;
  }

 private:
  sim::World* world_ = nullptr;
  State state_;
};

}  // namespace lockstep::checker::explorer
