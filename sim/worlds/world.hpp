#pragma once

// The world: processes, their connections, the events that are pending, and how an event is executed. Start here.
//
// A process's state changes only when it handles an event. An event has one process, one cause and a delay range after
// its cause. Which pending event comes next, and when, is not the world's business but its scheduler's: `Simulation`
// puts them on a line of virtual time, an explorer tries them all.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/coroutines/executor.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/scheduler.hpp"
#include "sim/time/clock.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/faults.hpp"
#include "sim/worlds/history.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/message.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/trace.hpp"

namespace lockstep::sim {

/// What set a timer is called when it fires, unless it was cancelled.
class TimerOwner {
 public:
  virtual void timer_fired() = 0;

 protected:
  ~TimerOwner() = default;
};

/// What waits for a reply gets exactly one of the two calls, unless it withdrew.
class ReplyOwner {
 public:
  virtual void reply_arrived(Message& reply) = 0;
  /// The other side is dead or restarted: this call will never be answered.
  virtual void connection_lost() = 0;

 protected:
  ~ReplyOwner() = default;
};

/// What a timer is for.
enum class TimerKind : std::uint8_t {
  sleep,     ///< wall time: a pause does not move it, but it is noticed only when the pause is over
  work,      ///< processor time: a pause lengthens it
  timeout,   ///< as sleep: a client waits no longer for the answer to a request
  deadline,  ///< as sleep: the end of a wait for something that answers no request, such as a published message
  tick       ///< as sleep, of something that repeats for ever: a story is over when nothing but ticks is pending
};

struct TimerRef {
  std::uint32_t slot = 0xffffffff;
  EventId id;
};

/// One pending event. Plain data; fields of a scheduler are marked. Ordered so that there is no padding: there are many
/// events, and an explorer copies them.
struct Event {
  EventId id;
  MessagePtr message;
  TimerOwner* timer = nullptr;
  const PlannedFault* fault = nullptr;
  Instant base;            ///< when it leaves: at its cause, or at the end of the pause in which its cause left it
  DurationRange delay;     ///< after `base`
  Duration at;             ///< scheduler: when it is due
  Duration arrived;        ///< scheduler: when it was due before a pause of its process put it off
  Duration paused_before;  ///< work: pauses of its process so far that it already counts
  Step cause = no_step;
  std::uint32_t incarnation = 0;  ///< of starts and timers: of `process`, when it was emitted
  std::uint32_t channel = kNoChannel;
  std::uint32_t sequence = 0;  ///< scheduler: order of emission
  std::uint32_t pin = kNoPin;  ///< scheduler
  ProcessId process;
  ProcessId from;
  EventKind kind = EventKind::start;
  TimerKind timer_kind = TimerKind::sleep;
  bool bounced = false;      ///< a message that comes back because its receiver is gone
  bool is_anchored = false;  ///< `base` is a moment that does not depend on its cause
  bool frozen = false;       ///< emitted during a pause of its emitter, so it leaves only when that is over
  bool background = false;   ///< a tick, or see `World::set_background_timer`
  bool upkeep = false;       ///< background, or see `World::has_only_upkeep`

  static constexpr std::uint32_t kNoChannel = 0xffffffff;
  static constexpr std::uint32_t kNoPin = 0xffffffff;

  bool is_tick() const { return kind == EventKind::timer && timer_kind == TimerKind::tick; }
  /// The end of what a client does while it holds a lock.
  bool is_work() const { return kind == EventKind::timer && timer_kind == TimerKind::work; }
  bool is_crash() const { return kind == EventKind::fault && kills(fault->kind); }
};
static_assert(sizeof(Event) <= 128, "larger than this, a copy is a call");

class World {
 public:
  /// Requires: `decisions` outlives the world.
  explicit World(Decisions& decisions) : decisions_(&decisions) {}
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // --- Building. The order of these calls is part of the world's identity.

  struct ClockSettings {
    Duration offset;             ///< of the wall clock
    std::int64_t drift_ppb = 0;  ///< of both clocks
    Duration uptime;             ///< what the monotonic clock shows at the origin
  };
  /// The world does not own its processes. Requires: `process` outlives the last event.
  ProcessId add(Process& process, std::string name, ClockSettings clock);
  /// A thread of `host`, or another part that acts under a name of its own: its programs run as events of `host`, and
  /// live and die with it. A fault of the part alone stops its programs at their own steps (`reach`), and nothing else
  /// of the process.
  ProcessId add_part(Process& part, ProcessId host, std::string name);
  ConnectionId connect(ProcessId client, ProcessId server, DurationRange latency);
  /// Traces and histories name `part` as the client of this connection, instead of its process.
  void assign(ConnectionId connection, ProcessId part) { connections_[connection.index].part = part; }
  /// The server of the connection hears of its client's death, as if that had sent something that opens a session. In
  /// the beginning of each run.
  void open_session(ConnectionId connection) { connections_[connection.index].has_session = true; }
  void plan(PlannedFault fault);
  /// Also in the middle of a run, if it begins after the present moment: it applies to all that leaves from then on.
  void plan(Partition partition);
  /// Ends all partitions.
  void reunite() { partitions_.clear(); }
  /// Lets `process` begin within `delay` after the origin.
  void start(ProcessId process, DurationRange delay);
  /// The same, from the event that is being handled, or at the present time between two events.
  void start_now(ProcessId process);
  /// Lets a fault strike within `delay` after the origin. Requires: `fault` outlives the world's events.
  void arm(const PlannedFault& fault, DurationRange delay);
  /// Emits the events of the faults that strike at a given time. Call once, after `plan` and before running.
  void arm_faults();

  /// Writes a record of every executed event. Costs memory and time: for people only. `keeps_origins`: and of each
  /// request where in its program it comes from.
  void enable_trace(bool keeps_origins = true) {
    tracing_ = true;
    keeps_origins_ = keeps_origins;
  }
  /// Cheaper, for comparisons of thousands of runs: without the places in programs, and only until `last` acts.
  void enable_brief_trace(ProcessId last) {
    tracing_ = true;
    traced_until_ = last;
  }
  /// What messages say is not written down: for traces that nobody reads, which ask who, when and the names of steps.
  void trace_without_texts() { traces_texts_ = false; }
  /// For the trace: the place in the program that is about to send the request. Does nothing without a trace.
  void note_origin(Message& request, const CodeFrame* frame) {
    if (keeps_origins_) [[unlikely]]
      keep_origin(request, frame);
  }
  /// Decides when events happen and in which order. Requires: set before anything is emitted, and outlives the world.
  void set_scheduler(Scheduler& scheduler) {
    scheduler_ = &scheduler;
    explored_ = scheduler.explores();
    guards_messages_ = guards_messages_ || explored_;
  }
  /// A destroyed scheduler unregisters itself. It is not told of what is cancelled afterwards.
  void leave(const Scheduler& scheduler) {
    if (scheduler_ == &scheduler) scheduler_ = nullptr;
  }

  // --- For processes and their programs.

  Executor& executor() { return executor_; }
  Arena& arena() { return executor_.arena(); }
  /// True time of the event that is being handled.
  Instant now() const { return now_; }
  /// The step of the event that is being handled.
  Step step() const { return step_; }

  template <class T, class... Args>
  MessagePtrOf<T> make(Args&&... args) {
    return make_message<T>(arena(), std::forward<Args>(args)...);
  }
  /// From the client of a connection to its server.
  void send_request(ConnectionId connection, MessagePtr request);
  /// From the server of a connection to its client; answers `request`.
  void send_reply(ConnectionId connection, const Message& request, MessagePtr reply);

  /// An unsolicited message, from the server of a connection to its client; it arrives after what was sent before.
  void send_push(ConnectionId connection, MessagePtr message);

  /// `caller`: the process that waits.
  CallRef open_call(ReplyOwner& owner, ProcessId caller);
  void close_call(CallRef call);

  TimerRef set_timer(ProcessId process, DurationRange delay, TimerKind kind, TimerOwner& owner);
  /// For what a service does for ever: heartbeats, acknowledgements. A story ends without waiting for it, or for what
  /// one service sends another because of it; but not while a program waits for an answer (`has_foreground`). Requires:
  /// this is no exploration, which would not end.
  TimerRef set_background_timer(ProcessId process, DurationRange delay, TimerOwner& owner);
  /// In an exploration: a timer that is due `delay` after `base`, another moment than the present, but not before now.
  TimerRef set_timer_after(ProcessId process, Instant base, DurationRange delay, TimerKind kind, TimerOwner& owner);
  /// Does nothing if it has fired already.
  void cancel_timer(TimerRef timer) {
    if (timer.id != EventId{}) cancel_pending(timer);
  }

  std::uint64_t choose(Choice choice, std::uint64_t options) {
    if (options < 2) return 0;
    if (choice == Choice::model) return scheduler_->choose(*decisions_, options, current_);
    return decisions_->choose(choice, options, current_);
  }

  /// `a >= b` for two readings of comparable clocks. In exploration this may fork.
  bool is_at_or_after(Instant a, Instant b) const {
    if (a.anchor() == b.anchor()) return a.offset() >= b.offset();
    return scheduler_->is_at_or_after(a, b);
  }

  /// `a + (plus - minus)`, on the scale of `a`. In an exploration perhaps only an approximation.
  Instant sum(Instant a, Instant plus, Instant minus) const {
    if (plus.anchor() == minus.anchor()) return a + (plus.offset() - minus.offset());
    if (a.anchor() == minus.anchor()) return plus + (a.offset() - minus.offset());
    return scheduler_->sum(a, plus, minus);
  }

  /// `later - earlier`, of two true times. In an exploration a range: see `Scheduler::apart`.
  DurationRange apart(Instant later, Instant earlier, DurationRange usual) const {
    if (later.anchor() == earlier.anchor()) return DurationRange::exactly(later.offset() - earlier.offset());
    return scheduler_->apart(later, earlier, usual);
  }

  /// Whole units from one reading to another, rounded down. Nothing: these instants have no numbers.
  std::optional<std::int64_t> whole_units(Instant from, Instant until, Duration unit) const {
    return scheduler_->whole_units(from, until, unit);
  }

  /// Tells an explorer what the event that is being handled reads or changes of its process's state, before it does so.
  /// Parts have numbers. Two events are independent if neither changes a part that the other reads or changes.
  void access(std::uint64_t part, bool changes) {
    if (explored_) scheduler_->accessed(part, changes);
  }
  void access_all() {
    if (explored_) scheduler_->accessed_all();
  }
  /// Tells an explorer, before what it accesses, that the event is one of several answers to a question of its process,
  /// and that it only matters which of them comes last. Questions of one process have numbers from 1.
  void count_answer(std::uint64_t question) {
    if (explored_) scheduler_->counted(question);
  }
  bool is_explored() const { return explored_; }
  /// Tells an explorer that it knows a length of time only as a range, on which hangs what happens now: see
  /// `Scheduler::approximated`.
  void note_approximation(const std::optional<WholeUnits>& shown_by = {}) { scheduler_->approximated(shown_by); }
  /// Whether two readings print as the same number of units. A symbolic one has no digits, but the same moment prints
  /// alike; and of two that are less than a unit apart an explorer tries both. That they print alike rests on more than
  /// it knows then (where the unit begins), so a replay has to show what follows.
  bool prints_alike(Instant a, Instant b, Duration unit);
  /// Tells an explorer that what happens now depends on digits, which a symbolic instant does not have: this execution
  /// proves nothing. `why` outlives the world.
  void give_up(const char* why) {
    if (given_up_ == nullptr) given_up_ = why;
    scheduler_->approximated({});
  }
  /// Null: `give_up` was not called since the last restart.
  const char* given_up() const { return given_up_; }

  /// Tells that a program of the story ran into an error of its own, which nobody handles: what follows says nothing of
  /// the program that was meant. `what` outlives the world.
  void note_mistake(const char* what) {
    if (mistake_ == nullptr) mistake_ = what;
  }
  /// The first one since the last restart, or null.
  const char* mistake() const { return mistake_; }

  /// Whether this push is for the present life of the process that it comes to.
  bool is_heard(const Event& push) const { return push.message->session == connections_[push.channel / 2].ended; }
  /// Whether somebody still waits for the answer to this call.
  bool is_awaited(CallRef call) const {
    return call.generation != 0 && calls_[call.slot].generation == call.generation;
  }

  /// A program comes to a step that is no message ("acquire", "release"): planned faults may strike there.
  void reach(ProcessId process, std::string_view step, Moment moment) {
    if (state(process).has_step_faults) [[unlikely]]
      reach_planned(process, step, moment);
  }

  // --- History, for the checkers.

  OperationId invoke(ProcessId process, std::string_view function, std::string_view object);
  /// The record of an operation, to be filled while it ends.
  Operation& operation(OperationId id) { return history_.operations[id - 1]; }
  /// Whether a process, or a part of it, is engaged in this activity now.
  bool is_at(ProcessId process, Activity activity) const;
  /// Whether a request or a reply belongs to this activity.
  bool is_of(const Message& message, Activity activity) const;
  void complete(OperationId id, Phase phase);
  void record_effect(Effect::Kind kind, ProcessId server, std::string_view object, ProcessId by, OperationId operation,
                     std::optional<std::int64_t> token = std::nullopt);
  /// Of the object of the last effect.
  void record_member(std::string_view member, MemberChange::Kind kind) {
    history_.members.push_back({std::string(member), kind});
    ++history_.effects.back().members;
  }
  void record_end(Instant lives_until) { history_.effects.back().lives_until = lives_until; }
  History& history() { return history_; }
  const History& history() const { return history_; }

  // --- For schedulers.

  /// Executes a pending event at a true time: its process handles it, and runs until all its programs wait again.
  void execute(std::uint32_t slot, Instant at);
  /// Strikes at a true time between two events, not before the last one. `fault.at`, `step` and `moment` mean nothing
  /// here.
  void strike_now(const PlannedFault& fault, Instant at);
  /// Removes a pending message: it never arrives. The scheduler is not notified, since it is the caller.
  void lose(std::uint32_t slot) { release(slot); }
  Event& event(std::uint32_t slot) { return events_[slot]; }
  const Event& event(std::uint32_t slot) const { return events_[slot]; }
  std::uint32_t pending_count() const { return pending_; }
  /// Whether anything is pending that is no background, or a program waits for an answer.
  bool has_foreground() const { return pending_ > background_pending_ || open_calls_ > 0; }
  /// Whether something is pending, and all of it is background.
  bool has_only_background() const { return pending_ > 0 && pending_ == background_pending_; }
  /// Whether something is pending, and all of it is background or what ticks made: their messages and the replies, the
  /// timers that bound the wait for these, and deadlines that a service put off because of one. Sessions are kept alive
  /// for ever, so this is no sign that anything else will happen.
  bool has_only_upkeep() const { return pending_ > 0 && pending_ == upkeep_pending_; }
  /// Whether a work of this process is pending. Looks at everything: for oracles.
  bool is_working(ProcessId process) const;
  /// Whether anything is pending but ticks. In an exploration nothing else is background.
  bool is_busy() const { return pending_ != ticks_; }
  Decisions& decisions() { return *decisions_; }
  /// How many processes, and what they are called.
  std::size_t process_count() const { return processes_.size(); }
  const std::string& name(ProcessId process) const { return processes_[process.index].name; }
  ProcessState& state(ProcessId process) { return processes_[process.index]; }
  const ProcessState& state(ProcessId process) const { return processes_[process.index]; }
  std::uint32_t connection_count() const { return static_cast<std::uint32_t>(connections_.size()); }
  DurationRange latency_of(ConnectionId c) const { return connections_[c.index].latency; }
  ProcessId client_of(ConnectionId c) const { return connections_[c.index].client; }
  ProcessId server_of(ConnectionId c) const { return connections_[c.index].server; }

  // --- Results.

  /// Which of the planned faults, by order of `plan`, never struck: the step did not come, or not so often.
  std::vector<std::size_t> faults_that_never_struck() const;

  /// A hash over every executed event: its identity, its time, and what its message said.
  std::uint64_t digest() const { return digest_; }
  const Trace& trace() const { return trace_; }
  /// What it has been until now; nothing is left of it.
  Trace take_trace() { return std::exchange(trace_, {}); }
  /// Likewise. Requires: nothing happens any more.
  History take_history() { return std::exchange(history_, {}); }
  std::uint64_t events_executed() const { return step_; }

  /// Drops coroutines, events, history and trace, and sets the clocks back, so that the same processes, connections and
  /// faults can run again. Calls `Process::reset` of each. With a `Simulation`, call its `restart` instead.
  void restart();

 private:
  struct Connection {
    ProcessId client;
    ProcessId server;
    DurationRange latency;
    ProcessId part = {};  ///< of the client, if it is not the client itself
    // The first two change with the client's events, the last with the server's: neither knows what the other has done
    // before it hears of it.
    bool has_session = false;      ///< the client has sent something that opens a session
    std::uint32_t ended = 0;       ///< sessions that ended with their client
    std::uint32_t seen_ended = 0;  ///< those of them that the server knows of
  };
  struct CallSlot {
    ReplyOwner* owner = nullptr;
    std::uint32_t generation = 1;
    bool is_of_program = false;  ///< the caller is no service
  };
  struct FaultState {
    PlannedFault fault;
    std::int64_t seen = 0;  ///< steps so far that it might have struck at
  };

  TimerRef emit_timer(ProcessId process, DurationRange delay, TimerKind kind, TimerOwner& owner, bool background);
  std::uint32_t take_slot();
  std::uint32_t free_slot();
  void emit(std::uint32_t slot);
  void make_pending(std::uint32_t slot);
  void release(std::uint32_t slot);
  void retire(std::uint32_t slot);
  void cancel_pending(TimerRef timer);
  void reach_planned(ProcessId process, std::string_view step, Moment moment);
  void transmit(ConnectionId connection, ProcessId from, ProcessId to, MessagePtr message);
  void transmit_guarded(std::uint32_t slot);
  void bounce(const Event& event, MessagePtr message);
  void close_connections(ProcessId client);
  void emit_unguarded(std::uint32_t slot);
  bool is_of_lost_connection(const Event& message) const;
  void deliver(const Event& event);
  void deliver_message(std::uint32_t slot, MessagePtr& message);
  void answer_call(Message& message, ProcessId caller, ConnectionId connection, bool bounced);
  bool strike_message(Event& event, ProcessId client, std::string_view step_name);
  bool pass_partitions(Event& message) const;
  void hold_up_pending();
  void strike(const PlannedFault& fault);
  void pause(const PlannedFault& fault);
  void postpone_frozen(ProcessId process, Instant until);
  void leave_later(std::vector<std::uint32_t>& slots, std::optional<Instant> until);
  bool is_held_back(const Event& event, ProcessId process) const;
  void crash_now(ProcessId process);
  void end_pause(ProcessId process);
  std::vector<ProcessId> with_parts(ProcessId process) const;
  void revive(ProcessId process);
  void drop_events();
  void set_departure(Event& event, ProcessId emitter) const;
  void keep_origin(Message& request, const CodeFrame* frame);
  void record(const Event& event, bool lost);

  Decisions* decisions_;
  Scheduler* scheduler_ = nullptr;
  Executor executor_;
  std::vector<ProcessState> processes_;
  std::vector<Connection> connections_;
  std::vector<CallSlot> calls_;
  std::vector<std::uint32_t> free_calls_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> free_events_;
  std::uint32_t pending_ = 0;
  std::uint32_t background_pending_ = 0;
  std::uint32_t upkeep_pending_ = 0;
  std::uint32_t open_calls_ = 0;  ///< of programs
  std::uint32_t ticks_ = 0;       ///< of those pending
  std::vector<FaultState> faults_;
  std::vector<Partition> partitions_;
  std::vector<ProcessId> doomed_;  ///< crash at the end of this event

  Instant now_;
  Step step_ = 0;
  EventId current_;
  std::uint64_t emitted_by_current_ = 0;
  std::uint64_t digest_ = 0;
  const char* given_up_ = nullptr;
  const char* mistake_ = nullptr;
  bool is_background_ = false;  ///< the event that is being handled is
  bool is_by_tick_ = false;     ///< it is a tick, or what one made
  bool explored_ = false;
  bool tracing_ = false;
  bool keeps_origins_ = false;
  bool traces_texts_ = true;
  ProcessId traced_until_;        ///< the trace ends when it acts; invalid: never
  bool guards_messages_ = false;  ///< a message may meet more on its way out than a pause of its sender
  History history_;
  Trace trace_;
  std::vector<std::vector<CodePlace>> origins_;  ///< by `Message::origin`, from 1
};

}  // namespace lockstep::sim
