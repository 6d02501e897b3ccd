#pragma once

// Every order and every real-valued delay of a small world. Start here for `check`.
//
// Stateless search: the world runs under a list of decisions, the search backs up, the world runs again; or, if it lies in a region of its own
// (`Explorable::region`), goes back to a saved moment and runs what is new. Both give the same, trace by trace.
//
// - Each executed event has a time variable. Its delay range, the order of what depends on each other, first-in-first-out order and the
//   answers to `has_reached` are difference constraints. One explored trace stands for all delays that satisfy them.
// - Only events of one process are ordered, and of a server only those of which one changes what the other reads or changes. Source-DPOR
//   (Abdulla, Aronis, Jonsson, Sagonas 2014) looks for races, that is, pairs of dependent events that could as well have happened the other
//   way round, and schedules the reversal; sleep sets keep equivalent orders from being explored twice.
// - Dependence is what events really did, in the state in which they did it (`World::access`): a SET NX that found the key taken only read
//   it. What a sleeping event did is known, since it was executed from that very state; it wakes when something that it depends on happens.
// - At clients likewise, where a reply says what it does with the client's state, as one of several answers that are only counted
//   (`models/redis/client/gather.cpp`): which of them comes last matters, and not in which order the others come.
// - A timer that an event cancels never runs, so it is in no trace that could show its race with that event. The canceller
//   and the cancelled are therefore a race by themselves.
// - Two events that causes and delays alone put into one order are no race: a reply that is there after 20ms at the latest comes
//   before the timeout of 50ms in every execution. Without this each timeout doubles the search for nothing. Only what holds in
//   every execution may be used; that a pair is ordered by the constraints of *this* trace says nothing about the others.
// - An event that time does not allow here is no part of any trace that begins like this one. The constraints say which events do not allow it, and it is
//   tried in place of each of them: docs/argument/exploring.md, "What time does not allow", and explorer/conflicts.cpp.
// - Who crashes, whose clock jumps or is off is decided before the first event; a crash is then an event of that process like others,
//   at any time. Pauses and losses are decided where they strike. Budgets are counts, so they do not depend on the order of events.
// - Ticks repeat for ever. A trace is over when nothing else is pending and none of them can be due before an event that
//   happened and is not itself of a tick: all that could still follow, follows after the story.
// - Processes that are alike come in the order of their names (`ExplorerOptions::alike`): an execution in which they do not is
//   one in which they do, with other names. It is a rule of the world that is explored, as first in, first out is, and not of the reduction.
//
// A search can be cut into branches that are explored apart (`Branch`, `branches.hpp`): on several threads, or after an interruption.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "checker/explorer/counts.hpp"
#include "checker/explorer/explored.hpp"
#include "checker/explorer/fault_budget.hpp"
#include "checker/explorer/footprint.hpp"
#include "checker/explorer/positions.hpp"
#include "checker/time/difference_constraints.hpp"
#include "checker/time/parametric.hpp"
#include "sim/coroutines/region.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/scheduler.hpp"
#include "sim/worlds/faults.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker {

/// A world that can begin again as often as the explorer likes.
class Explorable {
 public:
  virtual ~Explorable() = default;
  /// Its decisions and its scheduler are the explorer.
  virtual sim::World& world() = 0;
  /// Emits what happens by itself. Called after `World::restart`.
  virtual void begin() = 0;
  /// Everything has come to rest. Messages of what comes then take the least delay: it asks how things stand, not how the network
  /// is. May emit events that are to come at least the returned time after everything else: they belong to
  /// the trace, but are no part of the races, and no pause strikes then. Nothing: the trace is over. `is_due`: the trace goes on
  /// as one before it did, which had a coda; so it must have one, too.
  virtual std::optional<sim::Duration> begin_coda(bool is_due) {
    static_cast<void>(is_due);
    return std::nullopt;
  }
  /// The memory in which all of this world lies that an event may change, `begin` and `begin_coda` included; null: it can only begin again. The
  /// explorer is inside whenever it lets the world do something.
  virtual sim::Region* region() { return nullptr; }
};

class Explorer;

/// Sees the world between two events of a trace, while the search goes on.
class ExplorationObserver {
 public:
  /// A trace begins: nothing has been executed yet.
  virtual void began(const Explorer& explorer) = 0;
  /// The event at this position has been executed and is feasible so far; the trace may still turn out not to be.
  /// `is_replay`: as in the trace before, with the same state after it.
  virtual void executed(const Explorer& explorer, std::uint32_t position, bool is_replay) = 0;

 protected:
  ~ExplorationObserver() = default;
};

struct ExplorerOptions {
  bool reduction = true;  ///< false: all interleavings
  std::vector<FaultBudget> faults;
  /// Processes whose names can be exchanged in every execution, faults included, and what comes of it is an execution. Nobody is in two
  /// lists. Only executions are explored in which they come in the order of their list: the first request of each, on its first connection,
  /// is handled no earlier than that of the one before it, and not at all if that never is. Where a crash or a loss may take
  /// requests away they are started in this order instead: that event is in every execution.
  std::vector<std::vector<sim::ProcessId>> alike;
  std::uint64_t max_traces = 0;             ///< 0: no bound
  std::uint64_t max_steps = 1'000;          ///< of one trace: a world that does not end is not small
  ExplorationObserver* observer = nullptr;  ///< outlives the exploration
  /// Asked now and then: true ends the branch where it is, and nothing that was found in it counts. Null: never.
  std::function<bool()> gives_up;
  bool goes_back = true;  ///< false: each trace runs from its beginning, for comparison
  /// Without asking why an event is infeasible: it is executed all the same, and the trace goes on to its end, ignoring time and forking nowhere. All that is
  /// run there and can come in place of that event is tried there. For comparison; that may take very long.
  bool thorough = false;
  /// For tests alone: a search that is broken on purpose, and must be found out.
  enum class Mutant : std::uint8_t {
    none,
    cut_infeasible,
    forget_races,
    forget_cancelled,
    never_wake,
    forget_readers,  ///< a change does not come after those who read before
    forget_forks,    ///< what a sleeping event did with one answer is taken for what it does with all
    forget_last,     ///< going back, it no longer knows who came last at each process
    no_late_ticks,  ///< a trace is over when nothing but ticks is pending, though they may be due before what has happened
    strictly_alike,    ///< those who are alike never come at the same time
    forget_conflicts,  ///< an infeasible event is not tried in place of those that do not allow it
    sleep_unasked,     ///< nor is what would wake somebody, if only it came in time
    picks_once,        ///< nobody else is picked where who was picked turns out to sleep
    miscount,          ///< what comes after an answer is taken for another answer to the same question
    forget_timeouts,   ///< an answer is taken to come first whatever timer is on its way to its client
    doze,              ///< who sleeps with some answers alone stands for all that begins with him
    one_pause_each,    ///< no two pauses strike at one place
  } mutant = Mutant::none;
};

/// A question of the world, or of the explorer itself, while one event was executed, and the answer that is being tried.
struct Answer {
  std::uint32_t options = 1;
  std::uint32_t index = 0;
  bool operator==(const Answer&) const = default;
};

/// An event that need not be tried here with these answers: it has been, or is being, and nothing since depends on what it then does.
/// A SET NX that found the key taken only read it, so it sleeps on while others read; the same command, had it found the key expired,
/// wakes up. Without this difference clients that poll would multiply each other's traces.
struct Sleeping {
  sim::EventId id;
  sim::ProcessId process;
  Footprint footprint;          ///< with these answers
  std::vector<Answer> answers;  ///< meaningless if it is the only variant
  bool is_impossible = false;   ///< with these answers, as long as it sleeps
  std::uint32_t variants = 1;   ///< how many there are, each with other answers: when all of them sleep, the event does
};

/// Whether there is nothing left to try of this event.
bool is_asleep(std::span<const Sleeping> sleep, sim::EventId event);

struct Scheduled {
  sim::EventId id;
  sim::ProcessId process;
};

/// What is to be tried in place of an event that was executed: one of several, any of which will do.
struct Reversal {
  std::vector<Scheduled> candidates;
  std::vector<sim::EventId> then;  ///< what follows the first candidate, if that is chosen, as long as it can
};

/// An event that is to be tried, and what follows it then.
struct Wakeup : Scheduled {
  std::vector<sim::EventId> then;
};

/// Whether some event is in both.
template <class Some, class Others>
bool have_common(const Some& some, const Others& others) {
  return std::any_of(some.begin(), some.end(), [&](const auto& one) {
    return std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.id == one.id; });
  });
}
/// Whether there is nothing left to try of one of them.
bool is_one_asleep(std::span<const Sleeping> sleep, std::span<const Scheduled> candidates);

/// A state from which several branches start: what leads there from the state before, and what has been given to branches.
struct BranchPoint {
  std::shared_ptr<BranchPoint> before;  ///< null for the beginning
  sim::EventId chosen;                  ///< the event that leads here; meaningless for the beginning
  std::vector<Answer> answers;  ///< with these answers; of the beginning: to what is decided before the first event
  std::vector<Scheduled> backtrack;  ///< tried, or given to a branch, when the point was made

  // What has become of it since. Those who explore its branches, on any thread, do not look at it.
  std::vector<Scheduled> given_later;  ///< to a branch
  std::vector<Sleeping> sleep;         ///< in the branch that is made next
  std::size_t number = 0;              ///< while a search is written down
};

/// The points from the beginning to this one; null: none.
std::vector<BranchPoint*> way_to(const std::shared_ptr<BranchPoint>& point);

/// The unit of `Branch::share`: so many are the whole search.
inline constexpr std::uint64_t kWholeSearch = std::uint64_t{1} << 60;

/// How long branches are: the first is cut soon, so that others have something to do, and what comes of a branch is twice as long,
/// up to the most. At the end of a small search nobody then waits long for somebody else's branch.
inline constexpr std::uint64_t kFirstEvents = 100;
inline constexpr std::uint64_t kMostEvents = 20'000;

/// A part of a search: all traces that begin with the events to `from`, then this one with these answers.
struct Branch {
  std::shared_ptr<BranchPoint> from;  ///< null: all traces
  bool at_root = false;               ///< `answers` are those of the beginning, and no event is chosen yet
  sim::EventId chosen;
  std::vector<Answer> answers;  ///< the first of those that will be asked
  std::vector<Sleeping> sleep;
  std::vector<sim::EventId> then;       ///< what follows it, as long as it can
  std::uint64_t events = kFirstEvents;  ///< it is to be cut after so many, as `ExplorerCounts::events`
  std::uint64_t share = kWholeSearch;   ///< of the whole search, as far as anybody can tell

  std::uint64_t events_of_parts() const { return std::min(2 * events, kMostEvents); }
};

/// How much of a branch is explored; 0: no limit.
struct BranchLimits {
  std::uint64_t traces = 0;
  std::uint64_t events = 0;  ///< as `ExplorerCounts::events`; the run that reaches it is ended first
};

/// What became of a branch.
struct BranchOutcome {
  ExplorerCounts counts;  ///< `complete`: nothing of this branch was left out
  bool stopped = false;   ///< the visitor had enough
  bool too_long = false;  ///< a trace had more than `max_steps` events
  bool given_up = false;  ///< see `ExplorerOptions::gives_up`
  /// Reversals that begin before the branch, and how many-th event of the trace is to be replaced.
  std::vector<std::pair<std::uint32_t, Reversal>> reversals;
  /// What the branch's first event does, with each of its answers; empty if not all of these are the branch's own.
  std::vector<Sleeping> first;
  /// The branch was larger than its limit: the rest of it, what comes next last. `share` is not known yet.
  std::vector<std::shared_ptr<Branch>> rest;
};

/// One parameter of the present trace: a skew or a jump by a length that is not known.
struct ExploredParameter {
  std::size_t budget = 0;
  sim::ProcessId process;
  sim::DurationRange range;
};

class Explorer final : public sim::Scheduler, public sim::Decisions {
 public:
  /// Called at the end of every complete feasible trace, while its world and constraints stand. False: stop.
  using Visitor = std::function<bool(Explorer&)>;

  explicit Explorer(ExplorerOptions options);

  /// Requires: `subject`'s world has this explorer as decisions.
  ExplorerCounts explore(Explorable& subject, const Visitor& visit);
  /// One branch of a search, as far as the limits allow. Depends on these alone, not on what was explored before. Requires: whoever else has let
  /// the subject's world run since the last branch has claimed its region.
  BranchOutcome explore(Explorable& subject, const Branch& branch, BranchLimits limits, const Visitor& visit);

  // --- For the visitor.

  sim::World& world() { return *world_; }
  const sim::World& world() const { return *world_; }
  /// Events that are still to come, as slots of the world, in order of emission.
  std::span<const std::uint32_t> pending() const { return pending_; }
  /// Further constraints may be added between a mark and its undo.
  DifferenceConstraints& constraints() { return constraints_; }
  std::vector<ExploredEvent> trace() const;
  /// The branch that consists of this trace alone: its first trace, whenever it is explored.
  Branch here() const;
  const ExploredEvent& event_at(std::uint32_t position) const { return nodes_[position].event; }
  sim::Instant time_at(std::uint32_t position) const { return nodes_[position].at; }
  std::uint32_t trace_length() const { return static_cast<std::uint32_t>(depth_); }
  /// Where the coda begins: how many events the story has.
  std::uint32_t story_length() const { return static_cast<std::uint32_t>(coda_from_.value_or(depth_)); }
  sim::ProcessId process_at(std::uint32_t position) const { return nodes_[position].process; }
  /// In the order in which they were met.
  std::span<const ExploredFault> faults() const { return faults_; }
  std::span<const ExploredParameter> parameters() const { return parameters_; }
  std::span<const ParametricBound> parametric() const { return parametric_; }
  /// Whether a comparison of this trace was widened in a way that `parametric` does not say, because a clock drifts.
  bool is_widened() const { return widened_ != 0; }

  // --- sim::Scheduler and sim::Decisions.

  void emitted(std::uint32_t slot) override;
  void cancelled(std::uint32_t slot) override;
  void postponed(std::uint32_t slot, sim::Duration by) override;
  bool explores() const override { return true; }
  void accessed(std::uint64_t part, bool changes) override;
  void accessed_all() override;
  void counted(std::uint64_t question) override;
  bool loses(sim::Event& message) override;
  void held_up(sim::Instant until) override;
  void approximated() override;
  sim::Instant sum(sim::Instant a, sim::Instant plus, sim::Instant minus) override;
  bool is_at_or_after(sim::Instant a, sim::Instant b) override;
  sim::Instant later_of(sim::Instant a, sim::Instant b) override;
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override;

 private:
  static constexpr std::uint32_t kNone = ExploredEvent::no_cause;

  /// The state before a step, and the event that is being tried there.
  struct Node {
    sim::EventId chosen;
    std::vector<Wakeup> backtrack;  ///< to be tried, in this order; the chosen one and those done are among them
    std::vector<Sleeping> sleep;    ///< explored already, here or before and independent of all since
    std::vector<Answer> answers;
    std::size_t own_answers =
        0;                ///< the first of them were the explorer's own questions; a replay does not ask them again
    Footprint footprint;  ///< of the chosen event, with these answers
    std::uint64_t question = 0;  ///< to which it is one of the answers that are only counted; 0: it is no such answer
    bool has_tried = false;      ///< an event that did not sleep with the answers that it was given
    bool tried_before = false;   ///< likewise, before the chosen one with these answers
    std::vector<Sleeping> done;  ///< the chosen event, with the answers before
    std::optional<sim::Instant> latest;  ///< see `Explorer::latest`
    bool is_alone = false;               ///< nothing else was on its way to its process, nor an answer to that
    bool is_answered = false;            ///< a request that is answered at once
    bool is_impossible = false;          ///< with the present answers
    bool may_live = false;      ///< with some answers it is feasible, or something that is still to come may make it so
    bool lived_before = false;  ///< likewise, with the answers before the present ones
    std::vector<std::uint32_t> conflict;  ///< if not: who does not allow it
    std::vector<Reversal> reversals;      ///< of what comes before the branch: somebody else is to be told of them
    std::vector<sim::Instant> sums;       ///< that the world asked for, in this order: a replay gives the same
    std::vector<Variable> partitions;     ///< the ends that messages waited for which it sent
    sim::ProcessId process;
    ExploredEvent event;  ///< all but its times
    std::uint32_t cause = kNone;
    std::uint32_t fifo_before = kNone;     ///< the last event on the same channel
    std::uint32_t process_before = kNone;  ///< the last event of the same process
    std::uint32_t alike_before = kNone;    ///< the same event of the process that is alike and comes before
    sim::DurationRange delay;              ///< from its cause to its arrival, if its cause held nothing back
    std::uint32_t channel = sim::Event::kNoChannel;
    Positions past;            ///< what happens before it, and itself
    Positions past_by_causes;  ///< after the first infeasible event alone: likewise, but in between by causes only
    DifferenceConstraints::Mark mark{};
    std::size_t raised_before = 0;
    std::size_t faults_before = 0;
    std::size_t parametric_before = 0;
    std::uint32_t widened_before = 0;
    sim::Instant at;            ///< when it was handled
    sim::Instant arrived;       ///< when it could have been handled, had its process not been frozen
    sim::Instant process_free;  ///< when its process can handle the next event
    bool is_of_tick = false;    ///< a tick, or caused by one
    sim::Duration due;          ///< of what is of a tick: a lower bound, to pick by
    bool is_late = false;       ///< a pause began before it was handled
    bool is_held_back = false;  ///< a pause began when it had been handled
    sim::Instant frozen_from;   ///< if `frees_late`: when that pause began
    bool frees_late = false;    ///< `process_free` is the end of a pause, in which other events may have arrived
  };
  /// A fault that was decided on before the first event.
  struct Armed {
    sim::PlannedFault fault;
    std::size_t budget = 0;
    std::optional<std::uint32_t> parameter;
  };
  /// Who has to come before a process that is alike.
  struct AlikeBefore {
    sim::ProcessId process;  ///< invalid: nobody
    bool by_start = false;   ///< it is their starts that are in order, and not their first requests
    std::uint32_t channel = sim::Event::kNoChannel;  ///< of first requests: those of `process`
    std::uint32_t own_channel = sim::Event::kNoChannel;
  };
  /// An event that cannot come in time.
  struct Wanted {
    Scheduled event;
    std::uint32_t cause;
    sim::Duration least_delay;  ///< after its cause
    const Positions* past;      ///< what happens before it, and itself if it has been executed
    bool is_failed;             ///< with the constraint that has failed last
  };
  struct Cancelled {
    Scheduled timer;
    std::uint32_t cause;
    sim::Duration least_delay;
  };

  /// A moment that the world can go back to.
  struct Saved {
    std::uint32_t position = 0;  ///< of the event that comes next
    sim::Region::Copy world;
    std::vector<std::uint32_t> pending;
    std::vector<std::uint32_t> last_at;
    std::vector<std::uint32_t> last_on;
    std::optional<std::size_t> coda_from;
    sim::Duration coda_after;
  };

  void start(Explorable& subject);
  void forget_from(std::size_t position);
  void undo(const Node& node);
  void lower_to(std::size_t mark);
  std::uint32_t go_back();
  void begin_again();
  void save(std::uint32_t position);
  bool is_worth_saving(std::uint32_t position) const;
  bool is_open(const Node& node) const;
  void follow_wakeup(const Node& node);
  std::optional<std::uint32_t> next_to_follow(const Node& node);
  void decide_beforehand();
  bool run_way();
  bool go_on();
  bool advance(const Visitor& visit);
  bool begin_coda(std::size_t position, bool is_due);
  void follow(const Branch& branch);
  std::size_t common_with(const std::vector<BranchPoint*>& way) const;
  std::vector<std::shared_ptr<BranchPoint>> points_of(const Branch& branch) const;
  std::vector<std::shared_ptr<Branch>> rest_of(const Branch& branch);
  void tell_others(BranchOutcome& outcome);
  void execute(std::uint32_t position, bool is_replay);
  void begin_node(Node& node, const sim::Event& event);
  void note_fault(const Node& node, const sim::Event& event);
  void place_in_time(Node& node, const sim::Event& event);
  void place_late(Node& node, const sim::Event& event, std::size_t budget, sim::Instant free, bool waits);
  void come_after_all(const Node& node, const Footprint& known);
  static bool fixes(const Node& before, const Node& node, const Footprint& known);
  void come_after_alike(const Node& node);
  sim::DurationRange delay_of(const sim::Event& event) const;
  void break_silence();
  std::optional<std::size_t> ask_for_pause(sim::ProcessId process, bool of_work, std::size_t first_budget = 0,
                                           bool is_afterwards = false);
  // explorer/conflicts.cpp
  std::optional<sim::Instant> latest(const sim::Event& event) const;
  std::optional<sim::Instant> latest_answer(const sim::Event& event) const;
  bool is_answered_at_once(const sim::Event& event) const;
  bool is_alone(const sim::Event& event) const;
  bool comes_next(std::uint32_t position) const;
  void come_before_pending(const Node& node);
  std::optional<Scheduled> first_on_channel(std::uint32_t slot) const;
  void come_after_last(const sim::Event& event);
  void fail(const Constraint& failed);
  void explain(const Constraint& failed, std::uint32_t end);
  void note_conflict(std::uint32_t end);
  void note_owners(std::uint32_t executed);
  bool is_among(std::uint32_t constraint, std::uint32_t position, const Positions& set) const;
  Wanted wanted(const sim::Event& event);
  Wanted wanted(Scheduled event, std::uint32_t cause, std::uint32_t fifo_before, sim::Duration least_delay);
  void find_conflicts(const Wanted& wanted, std::uint32_t end);
  bool is_in_conflict(const Wanted& wanted, std::uint32_t other) const;
  void try_in_place_of(std::uint32_t position, const Positions& past, Scheduled event);
  void deny(const Constraint& failed);
  void find_denied(std::uint32_t position);
  void note_redundant(std::uint32_t position);
  bool has_failed(std::uint32_t position);
  void give_up(const Node& node);
  bool is_too_late(std::uint32_t earlier, std::uint32_t later);
  bool sleeps_for_good(const Node& node);

  void add_pause(const Node& node, std::size_t budget, ExploredFault::Place place, sim::Instant from,
                 sim::Instant until, bool is_further = false);
  sim::Instant add_further_pauses(const Node& node, std::size_t last, ExploredFault::Place place, sim::Instant from,
                                  sim::Instant until);
  std::uint32_t spent(std::size_t budget) const;
  void separate(std::size_t budget, std::size_t side, std::size_t number, bool is_new);
  bool has_idle_partition() const;
  std::vector<std::size_t> message_faults(const sim::Event& message) const;
  bool is_void(std::uint32_t position) const;
  void put_off(sim::Event& message);
  bool is_behind(const sim::Event& event, const Node* earlier);
  void arrive_after(sim::Instant arrival, const sim::Event& event, const Node* earlier, bool waits);
  void arrive_within(sim::Instant arrival, const sim::Event& event);
  bool is_raced(std::uint32_t position) const;
  void fill_past(std::uint32_t position);
  void find_races(std::uint32_t position);
  bool is_always_before(std::uint32_t event, std::uint32_t cause, sim::Duration least_delay) const;
  void follow_to(std::uint32_t later);
  bool needs_no_reversal(std::uint32_t position) const;
  bool is_last_by_chance(std::uint32_t earlier, std::uint32_t later) const;
  void find_races(std::uint32_t position, std::uint32_t last);
  void add_reversal(std::uint32_t earlier, std::uint32_t later, std::uint32_t last);
  void begin_with_past_of(std::uint32_t position);
  void reverse(std::uint32_t position);
  bool try_next_answer(std::vector<Answer>& answers, std::size_t fixed);
  bool back_up();
  bool leads_nowhere(std::uint32_t position);
  bool is_redundant(const Node& node) const;
  bool is_quiet();
  bool can_come_first(const sim::Event& tick);
  sim::Duration due(const sim::Event& event) const;
  bool comes_after_all_sleepers(const Node& node, const sim::Event& tick);
  sim::Duration longest_pause(sim::ProcessId process) const;
  std::optional<std::uint32_t> pick(Node& node);
  bool is_pending(sim::EventId id) const;
  std::uint32_t slot_of(sim::EventId id) const;
  bool is_enabled(std::uint32_t slot) const;
  void put_alike_in_order();
  const AlikeBefore* alike_before(const sim::Event& event) const;
  bool waits_for_alike(const sim::Event& event) const;
  std::uint32_t position_of_alike(const sim::Event& event) const;
  static std::array<std::uint32_t, 3> causes_of(const Node& node);
  bool is_caused_by(std::uint32_t event, std::uint32_t earlier) const;
  const Positions& past_of(std::uint32_t position, std::uint32_t last) const;
  bool may_pause(sim::ProcessId process) const {
    return process.index < may_pause_.size() && may_pause_[process.index];
  }
  bool may_pause_anywhere(sim::ProcessId process) const {
    return process.index < may_pause_anywhere_.size() && may_pause_anywhere_[process.index];
  }
  std::vector<Answer>& answers() { return position_ == kNone ? root_answers_ : nodes_[position_].answers; }
  std::uint64_t ask(std::uint64_t options);
  /// Asks only if both answers are feasible: `yes` and `no` are tried on the constraints.
  template <class Yes, class No>
  bool decide(const Yes& yes, const No& no);
  bool is_widely_at_or_after(sim::Instant a, sim::Instant b);
  sim::DurationRange surplus(sim::Instant reading) const;
  sim::Instant fresh();
  bool add(const Constraint& constraint);
  void at_most(sim::Instant a, sim::Instant b);
  void between(sim::Instant from, sim::Instant to, sim::DurationRange length);
  const Node* node_at(std::uint32_t position) const { return position == kNone ? nullptr : &nodes_[position]; }

  ExplorerOptions options_;
  std::vector<bool> may_pause_;            ///< by process: sometime
  std::vector<bool> may_pause_anywhere_;   ///< by process: not only during its work
  std::vector<AlikeBefore> alike_before_;  ///< by process; empty if nobody is alike
  bool may_lose_ = false;
  bool may_crash_ = false;
  bool may_delay_ = false;  ///< a message, alone
  bool may_be_late_ =
      false;  ///< a message has no longest delay that is known beforehand: it may be delayed, or wait for the end of a partition
  bool asks_afterwards_ =
      false;  ///< whether what a process is at when it has handled an event allows the pause that begins there
  Explorable* subject_ = nullptr;
  sim::World* world_ = nullptr;
  DifferenceConstraints constraints_;
  ExplorerCounts counts_;
  BranchOutcome* outcome_ = nullptr;

  std::vector<Answer> root_answers_;
  std::vector<Node> nodes_;
  std::size_t depth_ = 0;     ///< nodes in use
  std::size_t built_ = 0;     ///< of these, the first whose constraints stand
  bool picks_again_ = false;  ///< the last node, which is no more in use, is to get another event
  std::size_t own_from_ = 0;  ///< the nodes before belong to others
  std::size_t fixed_answers_ =
      0;  ///< the first answers of the node before `own_from_`, or of the root, that do so, too
  sim::Region* region_ = nullptr;  ///< the world's memory, if it has its own
  bool goes_back_ = false;         ///< false: each trace runs from its beginning
  std::vector<Saved> saved_;       ///< by position; those that are not in use keep their memory
  std::size_t saved_count_ = 0;
  std::vector<std::uint32_t> pending_;  ///< slots, in order of emission
  std::vector<std::uint32_t> last_at_;  ///< by process: position of its last event
  std::vector<std::uint32_t> last_on_;  ///< by channel
  std::vector<ExploredFault> faults_;
  std::vector<ExploredParameter> parameters_;
  std::vector<ParametricBound> parametric_;
  std::uint32_t widened_ = 0;
  std::vector<sim::Duration> earliest_;                     ///< by variable: a lower bound, to pick by
  std::vector<std::pair<Variable, sim::Duration>> raised_;  ///< what `earliest_` was before, in the order of changes
  std::vector<Armed> armed_;                                ///< room for all that the budgets allow
  std::size_t armed_count_ = 0;

  // While one event is executed.
  std::uint32_t position_ = kNone;
  std::size_t next_answer_ = 0;
  std::size_t next_sum_ = 0;
  bool is_replay_ = false;
  bool is_silent_ = false;                   ///< a reply that has not said yet what it reads and changes
  std::optional<std::uint32_t> ghost_from_;  ///< the first position that is infeasible in time
  std::uint32_t ghost_questions_ = 0;        ///< questions of time since then
  std::optional<std::size_t> coda_from_;     ///< the first position after everything has come to rest
  sim::Duration coda_after_;
  sim::Instant held_back_until_;
  bool is_held_back_ = false;
  std::uint32_t emissions_ = 0;
  bool has_answered_ = false;  ///< the request that it handles
  std::vector<Cancelled> cancelled_here_;
  // What does not allow an event.
  Constraint failed_{0, 0, Bound::always()};
  std::vector<std::uint32_t> why_;        ///< constraints
  std::vector<std::uint32_t> conflict_;   ///< positions
  std::vector<std::uint32_t> denied_by_;  ///< likewise, of answers that time does not leave to the present event
  std::vector<std::uint32_t> owner_of_variable_;  ///< positions
  std::vector<std::uint32_t> owner_of_constraint_;
  bool is_certain_ = false;                 ///< the constraints that are added now hold whatever happens before
  bool is_asking_ = false;                  ///< which answers are feasible: not why
  bool has_failed_for_good_ = false;        ///< nothing that can still happen would make the present event feasible
  std::optional<Scheduled> overdue_;        ///< an event that has to come before the present one
  std::optional<std::uint32_t> dead_from_;  ///< no execution begins with the events up to this one
  Positions past_;
  Positions first_;
  std::vector<std::uint32_t> races_;
  std::vector<std::uint32_t> part_;
  Reversal reversal_;
  std::vector<sim::EventId> follows_;  ///< what is to be executed next, as long as it can, what comes first last
};

}  // namespace lockstep::checker
