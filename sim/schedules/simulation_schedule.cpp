// How a simulation keeps to a schedule. Apart from the rest: a run without a schedule passes through none of this.

#include <algorithm>

#include "sim/schedules/simulation.hpp"

namespace lockstep::sim {

void Simulation::schedule(std::vector<ScheduledEvent> events) {
  schedule_ = std::make_unique<Schedule>(world_, std::move(events));
}

std::uint64_t Simulation::choose(Decisions& decisions, std::uint64_t options, EventId event) {
  const std::optional<std::uint64_t> planned = schedule_ ? schedule_->planned_choice(options) : std::nullopt;
  return planned ? *planned : Scheduler::choose(decisions, options, event);
}

std::optional<Schedule::Failure> Simulation::schedule_failure() const {
  return schedule_ ? schedule_->failure_at_end() : std::nullopt;
}

/// At each moment first what is listed for it, in the order of the list; then what is not, by the rules of
/// `pick_among_simultaneous`; then what had to be looked at, since its delay reaches no further. So a timeout that
/// nobody lists does not fire if the reply comes at that very moment. Faults, and whatever a listed event cannot
/// overtake, come before it.
bool Simulation::step_on_schedule(Duration until) {
  while (!heap_.empty() && heap_.front().at() <= until && !schedule_->failure()) {
    const Duration now = heap_.front().at();
    if (pace_ != nullptr && !pace_->wait_until(Instant::at(now))) [[unlikely]]
      continue;
    if (schedule_->is_overdue(now)) return false;
    take_simultaneous(pop());
    const auto has_before = [&](std::uint32_t position, const auto& comes_before) {
      const Event& event = world_.event(simultaneous_[position]);
      return std::any_of(simultaneous_.begin(), simultaneous_.end(), [&](std::uint32_t slot) {
        const Event& other = world_.event(slot);
        const bool is_first_on_channel =
            other.channel == event.channel && event.channel != Event::kNoChannel && other.sequence < event.sequence;
        return is_first_on_channel || comes_before(other, slot, event);
      });
    };

    std::optional<std::uint32_t> listed;
    candidates_.clear();
    for (std::uint32_t i = 0; i < simultaneous_.size(); ++i) {
      const std::uint32_t slot = simultaneous_[i];
      if (!schedule_->is_listed(slot)) {
        const bool must_wait = has_before(i, [&](const Event& other, std::uint32_t other_slot, const Event& event) {
          return !schedule_->is_listed(other_slot) && other.process == event.process &&
                 other.sequence < event.sequence && other.arrived < event.arrived;
        });
        if (!must_wait) candidates_.push_back(i);
      } else if (schedule_->is_next(slot) && schedule_->time_of(slot) == now) {
        const bool must_wait = has_before(i, [&](const Event& other, std::uint32_t other_slot, const Event& event) {
          if (schedule_->is_listed(other_slot)) return false;
          // A pause that begins as another ends begins before what waits for that end.
          return other.kind == EventKind::fault || (event.kind != EventKind::fault && other.process == event.process &&
                                                    other.arrived < schedule_->arrival_of(slot));
        });
        if (!must_wait) listed = i;
      }
    }
    std::optional<std::uint32_t> chosen = listed;
    if (!chosen && !candidates_.empty()) {
      const EventId first = world_.event(simultaneous_.front()).id;
      const bool is_open = candidates_.size() > 1;
      chosen = candidates_[is_open ? world_.decisions().choose(Choice::order, candidates_.size(), first) : 0];
    }
    const bool is_turn_of_another =
        !chosen && std::any_of(simultaneous_.begin(), simultaneous_.end(), [&](std::uint32_t slot) {
          return schedule_->is_listed(slot) && schedule_->time_of(slot) == now;
        });
    // A run that ends here leaves every event where it can still be cancelled, by programs that end with their world.
    const auto end = [this] {
      for (const std::uint32_t left : simultaneous_) push(left);
      return false;
    };
    if (is_turn_of_another) {
      schedule_->fail_next();
      return end();
    }
    if (!chosen) {
      // What is not listed and may not come now stands behind something that is, and comes when that does at the
      // earliest.
      Duration last_look = now;
      for (const std::uint32_t waiting : simultaneous_) {
        if (!schedule_->is_listed(waiting)) continue;
        const std::optional<Duration> look = schedule_->next_look(waiting, now);
        if (!look) return end();
        world_.event(waiting).at = *look;
        last_look = std::max(last_look, *look);
      }
      for (const std::uint32_t waiting : simultaneous_) {
        if (!schedule_->is_listed(waiting)) world_.event(waiting).at = last_look;
        push(waiting);
      }
      continue;
    }
    const std::uint32_t slot = simultaneous_[*chosen];
    for (std::uint32_t i = 0; i < simultaneous_.size(); ++i) {
      if (chosen != i) push(simultaneous_[i]);
    }
    if (!listed) {
      if (put_off(slot)) {
        push(slot);
        continue;
      }
      const Event& event = world_.event(slot);
      if (event.kind != EventKind::fault) schedule_->note_arrival(event.process, now, event.arrived);
    } else if (!schedule_->admit(slot)) {
      push(slot);
      return false;
    }
    world_.execute(slot, Instant::at(now));
    schedule_->handled();
    return true;
  }
  return false;
}

}  // namespace lockstep::sim
