// The faults of a world: where they strike, and what pauses, crashes and restarts do.

#include <algorithm>
#include <cassert>

#include "sim/worlds/world.hpp"

namespace lockstep::sim {
namespace {

/// The last that comes from a client that has died: its machine closes its connections.
class Fin final : public Message {
 public:
  Fin() { is_fin = true; }
  std::string_view name() const override { return "FIN"; }
  std::string describe() const override { return "connection closed"; }
  std::uint64_t digest() const override { return 0x636c6f7365ULL; }
};

bool contains(const std::vector<ProcessId>& processes, ProcessId process) {
  return std::find(processes.begin(), processes.end(), process) != processes.end();
}

}  // namespace

Instant Scheduler::moved(Instant at, const PlannedFault& fault, bool later) {
  return later ? at + fault.length : at - fault.length;
}

Activity activity_of(std::string_view function) {
  if (function == "acquire" || function == "reenter") return Activity::acquire;
  if (function == "release" || function == "leave") return Activity::release;
  return function == "renew" ? Activity::renewal : Activity::anything;
}

std::string_view ranged_parameter(FaultKind kind, const DurationRange* length) {
  return length == nullptr || length->is_exact() ? "" : entry_of(kind).parameter;
}

void World::reach_planned(ProcessId process, std::string_view step_name, Moment moment) {
  for (FaultState& planned : faults_) {
    const PlannedFault& fault = planned.fault;
    const bool of_messages = strikes_message(fault.kind);
    if (of_messages || fault.at || fault.process != process || fault.moment != moment || fault.step != step_name)
      continue;
    if (++planned.seen == fault.occurrence) strike(fault);
  }
}

/// The planned faults of messages that wait for this one of `client`. Whether it is lost.
bool World::strike_message(Event& event, ProcessId client, std::string_view step_name) {
  const bool is_request = !event.message->is_reply;
  bool is_lost = false;
  for (FaultState& planned : faults_) {
    const PlannedFault& fault = planned.fault;
    const bool of_messages = strikes_message(fault.kind);
    if (!of_messages || fault.process != client || fault.of_reply == is_request || fault.step != step_name) continue;
    if (++planned.seen != fault.occurrence) continue;
    scheduler_->about_to_strike(fault);
    if (loses_message(fault.kind)) is_lost = true;
    event.delay = {event.delay.lo + fault.length, event.delay.hi + fault.length};
  }
  return is_lost;
}

/// Puts a message's departure off until no partition is in its way; false: it is lost.
bool World::pass_partitions(Event& message) const {
  const ProcessId a = message.from;
  const ProcessId b = message.process;
  // Whoever waits for one partition to heal may then meet another, planned before or after it.
  for (std::size_t passed = 0, i = 0; passed < partitions_.size(); ++passed, i = (i + 1) % partitions_.size()) {
    const Partition& partition = partitions_[i];
    const Sides& sides = partition.sides;
    const bool is_between =
        (contains(sides.left, a) && contains(sides.right, b)) || (contains(sides.left, b) && contains(sides.right, a));
    if (!is_between || !is_at_or_after(message.base, partition.from)) continue;
    if (!partition.until) return false;
    if (is_at_or_after(message.base, *partition.until)) continue;
    message.base = *partition.until;
    if (explored_) scheduler_->held_up(message.base);
    passed = 0;
  }
  return true;
}

void World::plan(Partition partition) {
  partitions_.push_back(std::move(partition));
  guards_messages_ = true;
  // An explorer plans before anything is sent.
  if (!explored_) hold_up_pending();
}

/// What a pause or another partition still keeps from leaving leaves into the partition that was planned last.
void World::hold_up_pending() {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < events_.size(); ++slot) {
    const Event& event = events_[slot];
    if (event.id == EventId{} || event.kind != EventKind::message || is_at_or_after(now_, event.base)) continue;
    slots.push_back(slot);
  }
  leave_later(slots, std::nullopt);
}

/// Pending events that have not left yet: not before `until`, if that is said, and not into a partition.
void World::leave_later(std::vector<std::uint32_t>& slots, std::optional<Instant> until) {
  // As they were emitted, so that none overtakes another.
  std::sort(slots.begin(), slots.end(),
            [&](std::uint32_t a, std::uint32_t b) { return events_[a].sequence < events_[b].sequence; });
  for (const std::uint32_t slot : slots) {
    Event& event = events_[slot];
    const Instant before = event.base;
    if (until) event.base = scheduler_->later_of(event.base, *until);
    if (event.kind == EventKind::message && !pass_partitions(event)) {
      scheduler_->cancelled(slot);
      release(slot);
    } else if (!event.base.identical(before)) {
      scheduler_->postponed(slot, event.base.offset() - before.offset());
    }
  }
}

bool World::prints_alike(Instant a, Instant b, Duration unit) {
  const bool is_first_later = is_at_or_after(a, b);
  if (is_first_later && is_at_or_after(b, a)) return true;
  if (!explored_) return false;
  const bool is_apart = is_first_later ? is_at_or_after(a, b + unit) : is_at_or_after(b, a + unit);
  if (is_apart || choose(Choice::comparison, 2) == 0) return false;
  note_approximation(WholeUnits{Instant::origin(), is_first_later ? b : a, unit});
  return true;
}

bool World::is_working(ProcessId process) const {
  return std::any_of(events_.begin(), events_.end(), [&](const Event& event) {
    return event.id != EventId{} && event.process == process && event.is_work();
  });
}

bool World::is_at(ProcessId process, Activity activity) const {
  if (activity == Activity::anything) return true;
  const auto is_his = [&](const Operation& operation) { return history_.host_of(operation.process) == process; };
  if (activity != Activity::work) {
    return std::any_of(history_.operations.begin(), history_.operations.end(), [&](const Operation& operation) {
      return operation.phase == Phase::invoke && activity_of(operation.function) == activity && is_his(operation);
    });
  }
  // It has got a lock that it has not begun to give back.
  return std::any_of(history_.operations.begin(), history_.operations.end(), [&](const Operation& acquire) {
    if (acquire.function != "acquire" || acquire.phase != Phase::ok || !is_his(acquire)) return false;
    return std::none_of(history_.operations.begin(), history_.operations.end(), [&](const Operation& end) {
      return end.of == acquire.id && (end.function == "release" || end.function == "lost");
    });
  });
}

bool World::is_of(const Message& message, Activity activity) const {
  if (activity == Activity::anything) return true;
  return message.operation != 0 && activity_of(history_.operations[message.operation - 1].function) == activity;
}

void World::strike(const PlannedFault& fault) {
  ProcessState& victim = state(fault.process);
  if (!victim.alive || victim.doomed) return;
  if (fault.during != Activity::anything && !is_at(fault.process, fault.during)) return;
  if (tracing_) {
    TraceRecord note;
    note.step = step_;
    note.id = current_;
    note.cause = step_;
    note.kind = EventKind::fault;
    note.process = fault.process;
    note.from = fault.process;
    note.sent = note.at = now_;
    note.local = victim.wall.reading_at(now_);
    note.name = name_of(fault.kind);
    const bool has_length = lasts(fault.kind) || moves_clock(fault.kind);
    note.text = has_length ? note.name + " " + to_string(fault.length) : note.name;
    // A fault at a given time is an event of its own, and has its record already.
    if (!fault.at)
      trace_.records.push_back(std::move(note));
    else
      trace_.records.back().text = note.text;
  }
  scheduler_->about_to_strike(fault);
  switch (fault.kind) {
    case PlannedFault::Kind::pause: pause(fault); return;
    case PlannedFault::Kind::crash:
      victim.doomed = true;
      victim.doom = &fault;
      doomed_.push_back(fault.process);
      return;
    case PlannedFault::Kind::jump: {
      victim.wall.jump(fault.length);
      // What the process will notice by this clock, it notices that much earlier.
      const auto advance = [&](std::optional<Instant>& deadline) {
        if (!deadline || is_at_or_after(now_, *deadline)) return;
        deadline = scheduler_->later_of(now_, scheduler_->moved(*deadline, fault, false));
      };
      for (Effect& effect : history_.effects) {
        if (effect.server == fault.process) advance(effect.lives_until);
      }
      for (Operation& operation : history_.operations) {
        if (operation.process != fault.process) continue;
        if (operation.valid_on_wall_clock) advance(operation.valid_until);
        advance(operation.lease_until);
      }
      return;
    }
    case PlannedFault::Kind::lose:
    case PlannedFault::Kind::delay: return;
    case PlannedFault::Kind::skew:
    case PlannedFault::Kind::partition: break;
  }
}

void World::strike_now(const PlannedFault& fault, Instant at) {
  now_ = at;
  strike(fault);
  for (const ProcessId process : doomed_) crash_now(process);
  doomed_.clear();
}

void World::pause(const PlannedFault& fault) {
  const ProcessId process = fault.process;
  ProcessState& victim = state(process);
  const Instant until = scheduler_->moved(now_, fault, true);
  if (until.identical(now_)) return;  // it is over when it begins
  Duration added = fault.length;
  bool overlaps = false;
  if (victim.was_paused && !is_at_or_after(now_, victim.frozen_until)) {
    // Two pauses that overlap are one longer pause.
    overlaps = true;
    const bool is_longer = is_at_or_after(until, victim.frozen_until);
    added = is_longer ? until.offset() - victim.frozen_until.offset() : Duration::zero();
  }
  if (!overlaps) victim.paused_in = step_;
  victim.frozen_until = victim.was_paused ? scheduler_->later_of(until, victim.frozen_until) : until;
  victim.was_paused = true;
  victim.paused_total += added;
  if (overlaps) postpone_frozen(process, victim.frozen_until);
  for (const ProcessId who : with_parts(process)) {
    history_.interruptions.push_back({Interruption::Kind::pause, who, now_, step_, until});
  }
}

/// Whether the pause of its emitter that is going on keeps it from leaving. What an earlier one kept has left, however
/// long a partition holds it up since.
bool World::is_held_back(const Event& event, ProcessId process) const {
  if (event.id == EventId{} || !event.frozen) return false;
  const ProcessId emitter = event.kind == EventKind::message ? event.from : event.process;
  const ProcessState& paused = state(process);
  return emitter == process && paused.was_paused && event.cause >= paused.paused_in &&
         !is_at_or_after(now_, event.base);
}

/// What a process does after one pause, it does after both.
void World::postpone_frozen(ProcessId process, Instant until) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < events_.size(); ++slot) {
    if (!is_held_back(events_[slot], process)) continue;
    slots.push_back(slot);
    events_[slot].paused_before = state(process).paused_total;
  }
  leave_later(slots, until);
}

void World::crash_now(ProcessId process) {
  ProcessState& victim = state(process);
  const PlannedFault& fault = *victim.doom;
  const std::vector<ProcessId> all = with_parts(process);
  for (const ProcessId who : all) state(who).process->tasks_.clear();
  // What a pause had kept from leaving never leaves.
  for (std::uint32_t slot = 0; slot < events_.size(); ++slot) {
    if (events_[slot].kind != EventKind::message || !is_held_back(events_[slot], process)) continue;
    scheduler_->cancelled(slot);
    release(slot);
  }
  victim.doomed = false;
  victim.alive = false;
  victim.died_paused = victim.was_paused && is_at_or_after(victim.frozen_until, now_);
  victim.was_paused = false;
  victim.crashed_at = now_;
  ++victim.incarnation;
  for (const ProcessId who : all) {
    end_pause(who);
    history_.interruptions.push_back({Interruption::Kind::crash, who, now_, step_, std::nullopt});
    state(who).was_paused = false;
    state(who).process->crashed(fault.keep);
  }
  close_connections(process);
  scheduler_->crashed(process);
  if (fault.restart_after) {
    const std::uint32_t slot = free_slot();
    Event& event = events_[slot];
    event.kind = EventKind::start;
    event.process = process;
    event.incarnation = victim.incarnation;
    event.base = now_;
    event.delay = *fault.restart_after;
    emit(slot);
  }
}

/// Nobody is paused who is dead.
void World::end_pause(ProcessId process) {
  for (Interruption& pause : history_.interruptions) {
    if (!freezes(pause.kind) || pause.process != process || !pause.until) continue;
    if (!is_at_or_after(now_, *pause.until)) pause.until = now_;
  }
}

/// That a client has died is nothing that its servers know: they hear of it, after all that it has sent. Who has
/// nothing of it but its keys need not; and what services are to each other, they say in words of their own.
void World::close_connections(ProcessId client) {
  for (std::uint32_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = connections_[i];
    if (connection.client != client) continue;
    const bool may_wait = !state(client).is_service && state(connection.server).process->may_keep_waiting();
    if (!connection.has_session && !may_wait) continue;
    connection.has_session = false;
    ++connection.ended;
    const std::uint32_t slot = free_slot();
    Event& fin = events_[slot];
    fin.kind = EventKind::message;
    fin.process = connection.server;
    fin.from = client;
    fin.channel = i * 2;
    fin.base = now_;
    fin.delay = connection.latency;
    fin.message = make<Fin>();
    emit_unguarded(slot);
  }
}

/// What machines say to each other is neither lost nor kept back by a pause. A partition is in its way as in any
/// other's.
void World::emit_unguarded(std::uint32_t slot) {
  if (pass_partitions(events_[slot])) {
    emit(slot);
  } else {
    events_[slot] = Event{};
    free_events_.push_back(slot);
  }
}

/// The machine is there, but nobody has this connection any more: it is reset, as TCP would.
void World::bounce(const Event& event, MessagePtr message) {
  const std::uint32_t slot = free_slot();
  Event& answer = events_[slot];
  answer.kind = EventKind::message;
  answer.bounced = true;
  answer.process = event.from;
  answer.from = event.process;
  answer.channel = event.channel + 1;
  answer.base = now_;
  answer.delay = connections_[event.channel / 2].latency;
  answer.message = std::move(message);
  answer.background = event.background;
  answer.upkeep = event.upkeep;
  emit_unguarded(slot);
}

void World::revive(ProcessId process) {
  for (const ProcessId who : with_parts(process)) {
    state(who).alive = true;
    for (auto it = history_.interruptions.rbegin(); it != history_.interruptions.rend(); ++it) {
      if (it->process == who && kills(it->kind)) {
        it->until = now_;
        break;
      }
    }
  }
}

std::vector<std::size_t> World::faults_that_never_struck() const {
  std::vector<std::size_t> missed;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (!faults_[i].fault.at && faults_[i].seen < faults_[i].fault.occurrence) missed.push_back(i);
  }
  return missed;
}

}  // namespace lockstep::sim
