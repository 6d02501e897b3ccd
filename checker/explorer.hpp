#pragma once

// Every order and every real-valued delay of a small world. Start here for `check`.
//
// Stateless search by re-execution: the world runs under a list of decisions, the search backs up, the world runs again.
//
// - Each executed event has a time variable. Its delay range, the order at its process, first-in-first-out order and the answers to
//   `has_reached` are difference constraints. One explored trace stands for all delays that satisfy them.
// - Only events of one process are ordered. Source-DPOR (Abdulla, Aronis, Jonsson, Sagonas 2014) looks for races, that is,
//   pairs of events at one process that could as well have happened the other way round, and schedules the reversal; sleep
//   sets keep equivalent orders from being explored twice.
// - A timer that an event cancels never runs, so it is in no trace that could show its race with that event. The canceller
//   and the cancelled are therefore a race by themselves.
// - Two events that causes and delays alone put into one order are no race: a reply that is there after 20ms at the latest comes
//   before the timeout of 50ms in every execution. Without this each timeout doubles the search for nothing. Only what holds in
//   every execution may be used; that a pair is ordered by the constraints of *this* trace says nothing about the others.
// - A trace whose constraints become infeasible is not cut off: the events that it has not run yet may hold the race that leads
//   to a feasible one. It runs on to its end, ignoring time and forking nowhere, only to find races; then it is dropped.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "checker/difference_constraints.hpp"
#include "sim/decisions.hpp"
#include "sim/scheduler.hpp"
#include "sim/world.hpp"

namespace lockstep::checker {

/// A world that can begin again as often as the explorer likes.
class Explorable {
 public:
  virtual ~Explorable() = default;
  /// Its decisions and its scheduler are the explorer.
  virtual sim::World& world() = 0;
  /// Emits what happens by itself. Called after `World::restart`.
  virtual void begin() = 0;
};

/// Pauses that might happen: at any suspension point of these processes, of any length in the range.
struct PauseBudget {
  std::vector<sim::ProcessId> who;
  sim::DurationRange length;
  std::uint32_t times = 0;
};

/// A pause of the present trace: its length is the difference of two instants.
struct ExploredPause {
  sim::ProcessId process;
  sim::Instant from;  ///< of processor time, the last moment at which it can have begun
  sim::Instant until;
};

/// What is known of one executed event.
struct ExploredEvent {
  sim::EventId id;
  sim::ProcessId process;
  sim::Instant at;      ///< its time variable
  std::uint32_t cause;  ///< position of its cause in the trace; `no_cause` for beginnings
  /// A pause began when it had been handled: what it sent left only then.
  std::optional<sim::Instant> held_back_until;
  static constexpr std::uint32_t no_cause = 0xffffffff;
};

struct ExplorerOptions {
  bool reduction = true;  ///< false: all interleavings
  PauseBudget pauses;
  std::uint64_t max_traces = 0;      ///< 0: no bound
  std::uint64_t max_steps = 10'000;  ///< of one trace: a world that does not end is not small
  /// For tests alone: a search that is broken on purpose, and must be found out.
  enum class Mutant : std::uint8_t {
    none,
    cut_infeasible,
    forget_races,
    forget_cancelled,
    never_wake
  } mutant = Mutant::none;
};

struct ExplorerCounts {
  std::uint64_t traces = 0;      ///< complete and feasible
  std::uint64_t blocked = 0;     ///< given up since all that was enabled slept
  std::uint64_t infeasible = 0;  ///< run to the end only to find races
  std::uint64_t events = 0;      ///< executed, replayed ones included
  bool complete = false;         ///< nothing was left out
};

class Explorer final : public sim::Scheduler, public sim::Decisions {
 public:
  /// Called at the end of every complete feasible trace, while its world and constraints stand. False: stop.
  using Visitor = std::function<bool(Explorer&)>;

  explicit Explorer(ExplorerOptions options) : options_(std::move(options)) {}

  /// Requires: `subject`'s world has this explorer as decisions.
  ExplorerCounts explore(Explorable& subject, const Visitor& visit);

  // --- For the visitor.

  sim::World& world() { return *world_; }
  /// Further constraints may be added between a mark and its undo.
  DifferenceConstraints& constraints() { return constraints_; }
  std::vector<ExploredEvent> trace() const;
  std::span<const ExploredPause> pauses() const { return pauses_; }

  // --- sim::Scheduler and sim::Decisions.

  void emitted(std::uint32_t slot) override;
  void cancelled(std::uint32_t slot) override;
  void postponed(std::uint32_t slot, sim::Duration by) override;
  bool is_at_or_after(sim::Instant a, sim::Instant b) override;
  sim::Instant later_of(sim::Instant a, sim::Instant b) override;
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override;

 private:
  /// A question that the world asked while it executed one event, and the answer that is being tried.
  struct Answer {
    std::uint64_t options = 1;
    std::uint64_t index = 0;
  };
  struct Sleeping {
    sim::EventId id;
    sim::ProcessId process;
  };
  /// How a pause meets the event.
  enum class PauseKind : std::uint8_t { none, late, held_back };

  /// The state before a step, and the event that is being tried there.
  struct Node {
    sim::EventId chosen;
    std::vector<sim::EventId> backtrack;  ///< to be tried, in this order; the chosen one and those done are among them
    std::vector<Sleeping> sleep;          ///< explored already, here or before and independent of all since
    std::vector<Answer> answers;
    std::size_t own_answers =
        0;  ///< the first of them were the explorer's own questions; a replay does not ask them again
    sim::ProcessId process;
    std::uint32_t cause = ExploredEvent::no_cause;
    std::uint32_t fifo_before = ExploredEvent::no_cause;  ///< the last event on the same channel
    std::uint32_t process_before = ExploredEvent::no_cause;
    sim::DurationRange delay;  ///< from its cause to its arrival, if its cause held nothing back
    std::uint32_t channel = sim::Event::kNoChannel;
    std::vector<std::uint64_t> past;  ///< bit set of the positions that happen before it, and its own
    DifferenceConstraints::Mark mark;
    std::size_t pauses_before = 0;
    sim::Instant at;            ///< when it was handled
    sim::Instant arrived;       ///< when it could have been handled, had its process not been frozen
    sim::Instant process_free;  ///< when its process can handle the next event
    PauseKind pause = PauseKind::none;
    sim::Instant frozen_from;  ///< if `frees_late`: when that pause began
    bool frees_late = false;   ///< `process_free` is the end of a pause, in which other events may have arrived
  };

  void begin_again();
  bool advance(const Visitor& visit);
  void execute(std::uint32_t position, bool is_replay);
  void place_in_time(Node& node, const sim::Event& event);
  void note_earliest(sim::Instant instant);
  void arrive_within(sim::Instant arrival, const sim::Event& event);
  void find_races(std::uint32_t position);
  bool is_always_before(std::uint32_t event, std::uint32_t cause, sim::Duration least_delay) const;
  void add_reversal(std::uint32_t earlier, std::uint32_t later);
  void schedule(Node& node, sim::EventId event);
  bool back_up();
  std::optional<std::uint32_t> pick(Node& node);
  std::uint32_t slot_of(sim::EventId id) const;
  bool is_enabled(std::uint32_t slot) const;
  bool happens_before(std::uint32_t a, std::uint32_t b) const;
  bool may_pause(sim::ProcessId process) const;
  std::uint64_t ask(std::uint64_t options);
  /// Asks only if both answers are feasible: `yes` and `no` are tried on the constraints.
  bool decide(const std::function<bool()>& yes, const std::function<bool()>& no);
  sim::Instant fresh();
  void at_most(sim::Instant a, sim::Instant b);
  void between(sim::Instant from, sim::Instant to, sim::DurationRange length);
  const Node* node_at(std::uint32_t position) const {
    return position == ExploredEvent::no_cause ? nullptr : &nodes_[position];
  }

  ExplorerOptions options_;
  Explorable* subject_ = nullptr;
  sim::World* world_ = nullptr;
  DifferenceConstraints constraints_;
  ExplorerCounts counts_;

  std::vector<Node> nodes_;
  std::size_t depth_ = 0;               ///< nodes in use
  std::vector<std::uint32_t> pending_;  ///< slots, in order of emission
  std::vector<std::uint32_t> last_at_;  ///< by process: position of its last event
  std::vector<std::uint32_t> last_on_;  ///< by channel
  std::vector<ExploredPause> pauses_;
  std::vector<sim::Duration> earliest_;  ///< by variable

  // While one event is executed.
  std::uint32_t position_ = 0;
  std::size_t next_answer_ = 0;
  bool is_replay_ = false;
  std::optional<std::uint32_t> ghost_from_;  ///< the first position that is infeasible in time
  sim::Instant held_back_until_;
  bool is_held_back_ = false;
  struct Cancelled {
    sim::EventId id;
    std::uint32_t cause;
    sim::Duration least_delay;
  };
  std::vector<Cancelled> cancelled_here_;
};

}  // namespace lockstep::checker
