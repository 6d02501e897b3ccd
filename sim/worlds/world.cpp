#include "sim/worlds/world.hpp"

#include <cassert>
#include <memory>
#include <new>

#include "sim/invariant.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::sim {
namespace {

/// The identity of the beginning of every world.
constexpr EventId kOrigin{0x4c6f636b73746570ULL};

/// Whether what this event makes is upkeep too. A deadline that has come is the end of keeping something up.
bool makes_upkeep(const Event& event) {
  if (event.kind == EventKind::message) return event.upkeep && !event.background;
  return event.kind == EventKind::timer &&
         (event.is_tick() || (event.upkeep && event.timer_kind == TimerKind::timeout));
}

/// Whether a timer that is set because of a tick is upkeep.
bool is_of_upkeep(TimerKind kind, const ProcessState& setter) {
  return kind == TimerKind::timeout || (kind == TimerKind::deadline && setter.is_service);
}

std::string_view name_of(TimerKind kind) {
  switch (kind) {
    case TimerKind::sleep: return "sleep";
    case TimerKind::work: return "work";
    case TimerKind::timeout:
    case TimerKind::deadline: return "timeout";
    case TimerKind::tick: return "tick";
  }
  return "?";
}

}  // namespace

// --- Processes.

void Process::receive(Message&, ConnectionId) { assert(false && "this process serves nobody"); }
void Process::closed(ConnectionId) {}
void Process::notified(Message&, ConnectionId) {}
void Process::returned(Message&, ConnectionId) {}
const std::string& Process::name() const { return world_->name(self_); }
const Clock& Process::clock() const { return world_->state(id_).wall; }
const Clock& Process::monotonic() const { return world_->state(id_).monotonic; }
Executor& Process::executor() const { return world_->executor(); }

Process::~Process() {
  tasks_.clear();
  if (world_ != nullptr) world_->state(self_).process = nullptr;
}

void Process::spawn(Task<void> task) {
  std::erase_if(tasks_, [](const Task<void>& t) { return t.done(); });
  tasks_.push_back(std::move(task));
  tasks_.back().start();
}

// --- Building.

World::~World() {
  drop_events();
  for (ProcessState& state : processes_) {
    if (state.process == nullptr) continue;
    state.process->reset();
    state.process->world_ = nullptr;
  }
}

ProcessId World::add(Process& process, std::string name, ClockSettings clock) {
  const ProcessId id{static_cast<std::uint16_t>(processes_.size())};
  ProcessState state;
  state.process = &process;
  state.name = std::move(name);
  state.initial_offset = clock.offset;
  state.drift_ppb = clock.drift_ppb;
  state.wall = Clock(*this, clock.offset, clock.drift_ppb);
  state.initial_uptime = clock.uptime;
  state.monotonic = Clock(*this, clock.uptime, clock.drift_ppb);
  processes_.push_back(std::move(state));
  process.world_ = this;
  process.id_ = process.self_ = id;
  processes_.back().describes_accesses = process.describes_accesses();
  processes_.back().is_service = process.is_service();
  current_ = kOrigin;
  return id;
}

ProcessId World::add_part(Process& part, ProcessId host, std::string name) {
  const ProcessState& whole = state(host);
  const ProcessId id =
      add(part, std::move(name),
          {.offset = whole.initial_offset, .drift_ppb = whole.drift_ppb, .uptime = whole.initial_uptime});
  // Its clocks are its process's: nothing may read these.
  state(id).drift_ppb = 0;
  state(id).host = host;
  part.id_ = host;
  history_.parts.push_back({id, host});
  return id;
}

/// All that act in its name: itself, and if it is no part, its parts.
std::vector<ProcessId> World::with_parts(ProcessId process) const {
  std::vector<ProcessId> all{process};
  for (const Part& part : history_.parts) {
    if (part.host == process) all.push_back(part.part);
  }
  return all;
}

ConnectionId World::connect(ProcessId client, ProcessId server, DurationRange latency) {
  connections_.push_back({client, server, latency, {}});
  return {static_cast<std::uint32_t>(connections_.size() - 1)};
}

void World::plan(PlannedFault fault) {
  if (!fault.at) state(fault.process).has_step_faults = guards_messages_ = true;
  faults_.push_back({std::move(fault), 0});
}

void World::start(ProcessId process, DurationRange delay) {
  const std::uint32_t slot = free_slot();
  Event& event = events_[slot];
  event.kind = EventKind::start;
  event.process = process;
  event.incarnation = state(process).incarnation;
  event.base = Instant::origin();
  event.delay = delay;
  emit(slot);
}

void World::start_now(ProcessId process) {
  const std::uint32_t slot = free_slot();
  Event& event = events_[slot];
  event.kind = EventKind::start;
  event.process = process;
  event.incarnation = state(process).incarnation;
  event.base = now_;
  emit(slot);
}

void World::arm(const PlannedFault& fault, DurationRange delay) {
  const std::uint32_t slot = free_slot();
  Event& event = events_[slot];
  event.kind = EventKind::fault;
  event.process = fault.process;
  event.base = Instant::origin();
  event.delay = delay;
  event.fault = &fault;
  emit(slot);
}

void World::arm_faults() {
  for (const FaultState& state : faults_) {
    if (state.fault.at) arm(state.fault, DurationRange::exactly(*state.fault.at));
  }
}

// --- Events.

/// A slot that holds nothing, and no message.
std::uint32_t World::take_slot() {
  if (free_events_.empty()) [[unlikely]] {
    events_.emplace_back();
    return static_cast<std::uint32_t>(events_.size() - 1);
  }
  const std::uint32_t slot = free_events_.back();
  free_events_.pop_back();
  return slot;
}

/// Where the next event is put together. It is not pending before `emit`.
std::uint32_t World::free_slot() {
  const std::uint32_t slot = take_slot();
  std::construct_at(&events_[slot]);
  return slot;
}

void World::emit(std::uint32_t slot) {
  Event& event = events_[slot];
  event.id = EventId{combine64(current_.value, ++emitted_by_current_)};
  event.cause = step_;
  if (event.is_tick()) [[unlikely]]
    ++ticks_;
  make_pending(slot);
}

void World::make_pending(std::uint32_t slot) {
  ++pending_;
  if (events_[slot].upkeep) [[unlikely]] {
    ++upkeep_pending_;
    if (events_[slot].background) ++background_pending_;
  }
  scheduler_->emitted(slot);
}

void World::release(std::uint32_t slot) {
  Event& event = events_[slot];
  if (event.is_tick()) [[unlikely]]
    --ticks_;
  event.message.reset();
  retire(slot);
}

/// The slot is free again. Requires: its message has been taken, and it is no tick.
void World::retire(std::uint32_t slot) {
  Event& event = events_[slot];
  if (event.upkeep) [[unlikely]] {
    --upkeep_pending_;
    if (event.background) --background_pending_;
  }
  event.id = EventId{};
  free_events_.push_back(slot);
  --pending_;
}

/// What is emitted now leaves now, or when the pause of its emitter is over.
void World::set_departure(Event& event, ProcessId emitter) const {
  const ProcessState& sender = state(emitter);
  event.frozen = sender.was_paused && !is_at_or_after(now_, sender.frozen_until);
  event.base = event.frozen ? sender.frozen_until : now_;
}

TimerRef World::set_timer(ProcessId process, DurationRange delay, TimerKind kind, TimerOwner& owner) {
  return emit_timer(process, delay, kind, owner, false);
}

TimerRef World::set_background_timer(ProcessId process, DurationRange delay, TimerOwner& owner) {
  assert(!explored_ && "an exploration would not end");
  return emit_timer(process, delay, TimerKind::sleep, owner, true);
}

TimerRef World::emit_timer(ProcessId process, DurationRange delay, TimerKind kind, TimerOwner& owner, bool background) {
  const ProcessState& setter = state(process);
  if (setter.doomed || !setter.alive) return {};
  const std::uint32_t slot = free_slot();
  Event& event = events_[slot];
  event.kind = EventKind::timer;
  event.timer_kind = kind;
  event.process = process;
  event.incarnation = setter.incarnation;
  set_departure(event, process);
  event.delay = delay;
  event.timer = &owner;
  event.background = background || kind == TimerKind::tick;
  event.upkeep = event.background || (is_by_tick_ && is_of_upkeep(kind, setter));
  event.paused_before = setter.paused_total;
  emit(slot);
  return {slot, events_[slot].id};
}

TimerRef World::set_timer_after(ProcessId process, Instant base, DurationRange delay, TimerKind kind,
                                TimerOwner& owner) {
  const ProcessState& setter = state(process);
  if (setter.doomed || !setter.alive) return {};
  const std::uint32_t slot = free_slot();
  Event& event = events_[slot];
  event.kind = EventKind::timer;
  event.timer_kind = kind;
  event.process = process;
  event.incarnation = setter.incarnation;
  event.is_anchored = true;
  event.base = base;
  event.delay = delay;
  event.timer = &owner;
  event.paused_before = setter.paused_total;
  emit(slot);
  return {slot, events_[slot].id};
}

void World::cancel_pending(TimerRef timer) {
  if (timer.slot >= events_.size() || events_[timer.slot].id != timer.id) return;
  if (scheduler_ != nullptr) scheduler_->cancelled(timer.slot);
  release(timer.slot);
}

void World::send_request(ConnectionId connection, MessagePtr request) {
  Connection& c = connections_[connection.index];
  c.has_session = c.has_session || request->opens_session;
  transmit(connection, c.client, c.server, std::move(request));
}

void World::send_reply(ConnectionId connection, const Message& request, MessagePtr reply) {
  const Connection& c = connections_[connection.index];
  reply->is_reply = true;
  reply->call = request.call;
  reply->operation = request.operation;
  reply->origin = request.origin;
  transmit(connection, c.server, c.client, std::move(reply));
}

void World::send_push(ConnectionId connection, MessagePtr message) {
  const Connection& c = connections_[connection.index];
  message->is_reply = message->is_push = true;
  message->session = c.seen_ended;
  transmit(connection, c.server, c.client, std::move(message));
}

void World::transmit(ConnectionId connection, ProcessId from, ProcessId to, MessagePtr message) {
  const ProcessState& sender = state(from);
  if (sender.doomed) return;
  const Connection& c = connections_[connection.index];
  const bool is_reply = message->is_reply;
  const bool guarded = guards_messages_ || sender.was_paused;
  if (guarded && !is_reply) [[unlikely]] {
    if (state(c.client).has_step_faults) reach(from, message->name(), Moment::before);
    if (sender.doomed) return;
  }

  const bool is_background = is_background_ && sender.is_service && state(to).is_service;
  const std::uint32_t slot = take_slot();
  Event& event = events_[slot];
  // Where it lies, and not moved there: what is moved in pieces, whoever reads it next waits for.
  new (&event) Event{.id = EventId{combine64(current_.value, ++emitted_by_current_)},
                     .message = std::move(message),
                     .base = now_,
                     .delay = c.latency,
                     .cause = step_,
                     .channel = connection.index * 2 + (is_reply ? 1 : 0),
                     .process = to,
                     .from = from,
                     .kind = EventKind::message,
                     .background = is_background,
                     .upkeep = is_background || is_by_tick_};
  if (guarded) [[unlikely]] {
    transmit_guarded(slot);
  } else {
    make_pending(slot);
  }
}

/// What a fault, a partition, a pause or an explorer has to say about a message that is about to leave.
void World::transmit_guarded(std::uint32_t slot) {
  Event& event = events_[slot];
  const ProcessId from = event.from;
  const bool is_request = !event.message->is_reply;
  const ProcessId client = is_request ? from : event.process;
  const bool watched = state(client).has_step_faults;
  const std::string_view step_name = watched ? event.message->name() : std::string_view();
  set_departure(event, from);
  bool is_lost = watched && strike_message(event, client, step_name);
  if (!partitions_.empty() && !pass_partitions(event)) is_lost = true;
  if (explored_ && !is_lost) is_lost = scheduler_->loses(event);

  if (is_lost) [[unlikely]] {
    if (tracing_) record(event, true);
    scheduler_->lost(event);
    event = Event{};
    free_events_.push_back(slot);
  } else {
    make_pending(slot);
  }
  if (watched && is_request) reach(from, step_name, Moment::sent);
}

void World::execute(std::uint32_t slot, Instant at) {
  Event& next = events_[slot];
  invariant(at.anchor() != 0 || now_.anchor() != 0 || at.offset() >= now_.offset(), "true time never goes back");
  now_ = at;
  ++step_;
  current_ = next.id;
  emitted_by_current_ = 0;
  is_background_ = next.background;
  is_by_tick_ = makes_upkeep(next);
  if (!explored_) {
    digest_ = combine64(digest_ + static_cast<std::uint64_t>(at.offset().count_ns()), next.id.value);
    if (next.message) digest_ = combine64(digest_, next.message->digest());
  }
  if (tracing_) record(next, false);

  // It lives until everybody waits again.
  MessagePtr message;
  if (next.kind == EventKind::message) [[likely]] {
    message = std::move(next.message);
    deliver_message(slot, message);
  } else {
    const Event event = std::move(next);
    release(slot);
    deliver(event);
  }
  executor_.drain();

  // Destroying a program may wake nobody, so this cannot add to the list while it is walked.
  for (std::size_t i = 0; i < doomed_.size(); ++i) crash_now(doomed_[i]);
  doomed_.clear();
}

void World::deliver(const Event& event) {
  const ProcessState& receiver = state(event.process);
  switch (event.kind) {
    case EventKind::start:
      if (receiver.incarnation != event.incarnation) return;
      if (!receiver.alive) revive(event.process);
      reach(event.process, "start", Moment::after);
      for (const ProcessId process : with_parts(event.process)) state(process).process->start();
      return;
    case EventKind::timer:
      if (!receiver.alive || receiver.incarnation != event.incarnation) return;
      reach(event.process, name_of(event.timer_kind), Moment::after);
      event.timer->timer_fired();
      return;
    case EventKind::fault: strike(*event.fault); return;
    case EventKind::message: return;
  }
}

/// Takes of the event what it needs, a word each: copying all of it would wait for what was written to it just before.
void World::deliver_message(std::uint32_t slot, MessagePtr& message) {
  Event& event = events_[slot];
  const ProcessId to = event.process;
  const ProcessState& receiver = state(to);
  const ConnectionId connection{event.channel / 2};
  const bool bounced = event.bounced;
  if (message->is_reply || bounced) {
    retire(slot);
    // What an earlier incarnation had asked, nobody waits for any more.
    if (receiver.alive) answer_call(*message, to, connection, bounced);
  } else if (!receiver.alive || is_of_lost_connection(event)) {
    const Event lost = std::move(event);
    retire(slot);
    if (message->is_fin) {
      ++connections_[connection.index].seen_ended;
    } else {
      bounce(lost, std::move(message));
    }
  } else {
    const ProcessId from = event.from;
    retire(slot);
    if (receiver.has_step_faults) [[unlikely]]
      reach(to, state(from).name + "." + std::string(message->name()), Moment::after);
    if (message->is_fin) [[unlikely]] {
      ++connections_[connection.index].seen_ended;
      receiver.process->closed(connection);
    } else {
      receiver.process->receive(*message, connection);
    }
  }
}

/// Its server has crashed since it was sent. This asks for times and not for incarnations, because whether somebody
/// else's crash has been executed when a message leaves depends on the order of execution, and is no fact of the world.
bool World::is_of_lost_connection(const Event& message) const {
  const ProcessState& receiver = state(message.process);
  return receiver.incarnation != 0 && !is_at_or_after(message.base, receiver.crashed_at);
}

// --- Calls.

CallRef World::open_call(ReplyOwner& owner, ProcessId caller) {
  std::uint32_t slot;
  if (free_calls_.empty()) {
    slot = static_cast<std::uint32_t>(calls_.size());
    calls_.emplace_back();
  } else {
    slot = free_calls_.back();
    free_calls_.pop_back();
  }
  calls_[slot].owner = &owner;
  calls_[slot].is_of_program = !state(caller).is_service;
  if (calls_[slot].is_of_program) ++open_calls_;
  return {slot, calls_[slot].generation};
}

void World::close_call(CallRef call) {
  CallSlot& slot = calls_[call.slot];
  if (slot.generation != call.generation) return;
  if (slot.is_of_program) --open_calls_;
  ++slot.generation;
  slot.owner = nullptr;
  free_calls_.push_back(call.slot);
}

void World::answer_call(Message& message, ProcessId caller, ConnectionId connection, bool bounced) {
  if (message.is_push && !bounced) {
    // What was for an earlier life of it, that has not heard, and this one does not.
    if (message.session != connections_[connection.index].ended) return;
    if (state(caller).has_step_faults) [[unlikely]]
      reach(caller, message.name(), Moment::after);
    state(caller).process->notified(message, connection);
    return;
  }
  if (message.call.generation == 0) {
    if (bounced) state(caller).process->returned(message, connection);
    return;
  }
  const CallSlot& slot = calls_[message.call.slot];
  if (slot.generation != message.call.generation) return;  // it gave up before
  ReplyOwner& owner = *slot.owner;
  if (state(caller).has_step_faults) [[unlikely]]
    reach(caller, bounced ? "reset" : message.name(), Moment::after);
  close_call(message.call);
  if (bounced) {
    owner.connection_lost();
  } else {
    owner.reply_arrived(message);
  }
}

// --- The trace.

void World::record(const Event& event, bool lost) {
  if (traced_until_.is_valid() && event.process == traced_until_) {
    tracing_ = false;
    return;
  }
  TraceRecord& note = trace_.records.emplace_back();
  note.step = step_;
  note.id = event.id;
  note.cause = event.cause;
  note.kind = event.kind;
  note.process = event.process;
  note.from = event.from;
  if (event.kind == EventKind::message && connections_[event.channel / 2].part.is_valid()) {
    const Connection& connection = connections_[event.channel / 2];
    (event.process == connection.client ? note.process : note.from) = connection.part;
  }
  note.sent = event.base;
  note.at = lost ? event.base + event.delay.lo : now_;
  note.local = state(event.process).wall.reading_at(note.at);
  note.lost = lost;
  switch (event.kind) {
    case EventKind::start:
      note.name = state(event.process).alive ? "start" : "restart";
      note.text = note.name;
      return;
    case EventKind::timer:
      note.name = name_of(event.timer_kind);
      note.text = note.name;
      return;
    case EventKind::fault: note.name = name_of(event.fault->kind); return;
    case EventKind::message:
      note.name = event.message->name();
      if (traces_texts_) note.text = event.bounced ? "connection reset" : event.message->describe();
      note.is_reply = event.message->is_reply || event.bounced;
      if (event.message->origin != 0) note.code = origins_[event.message->origin - 1];
      return;
  }
}

// --- Starting over.

void World::drop_events() {
  // Without events no timer is left to cancel, so the scheduler, which may be gone, is not asked.
  events_.clear();
  for (ProcessState& state : processes_) {
    if (state.process != nullptr) state.process->tasks_.clear();
  }
  free_events_.clear();
  pending_ = background_pending_ = upkeep_pending_ = 0;
  open_calls_ = 0;
  is_background_ = is_by_tick_ = false;
  ticks_ = 0;
  calls_.clear();
  free_calls_.clear();
}

void World::restart() {
  drop_events();
  given_up_ = nullptr;
  mistake_ = nullptr;
  for (ProcessState& state : processes_) {
    state.wall = Clock(*this, state.initial_offset, state.drift_ppb);
    state.monotonic = Clock(*this, state.initial_uptime, state.drift_ppb);
    state.alive = true;
    state.doomed = false;
    state.was_paused = false;
    state.incarnation = 0;
    state.died_paused = false;
    state.crashed_at = Instant::origin();
    state.frozen_until = Instant::origin();
    state.paused_in = 0;
    state.paused_total = Duration::zero();
    state.doom = nullptr;
    // It may hold messages, so it comes before the arena.
    state.process->reset();
  }
  executor_.reset();
  for (FaultState& state : faults_) state.seen = 0;
  for (Connection& connection : connections_) {
    connection.has_session = false;
    connection.ended = connection.seen_ended = 0;
  }
  doomed_.clear();
  now_ = Instant::origin();
  step_ = 0;
  current_ = kOrigin;
  emitted_by_current_ = 0;
  digest_ = 0;
  history_.clear();
  trace_.records.clear();
  origins_.clear();
}

}  // namespace lockstep::sim
