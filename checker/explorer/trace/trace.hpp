#pragma once

// The trace that is being explored: its events, in the order in which they are executed, with what is known of each.
// Its moments are variables of `Timing`.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "checker/explorer/branch.hpp"
#include "checker/explorer/explored.hpp"
#include "checker/explorer/footprint.hpp"
#include "checker/explorer/trace/positions.hpp"
#include "checker/explorer/trace/possible_faults.hpp"
#include "checker/time/difference_constraints.hpp"
#include "sim/invariant.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

inline constexpr std::uint32_t kNone = ExploredEvent::no_cause;

/// What there was before an event was executed, to undo what that has added.
struct StepMark {
  DifferenceConstraints::Mark constraints{};
  std::size_t raised = 0;
  std::size_t faults = 0;
  std::size_t parameters = 0;
  std::size_t parametric = 0;
  std::size_t whole_units = 0;
  std::uint32_t widened = 0;
};

/// One event of a trace.
struct Step {
  sim::EventId chosen;
  std::vector<Answer> answers;
  /// The first of them were the explorer's own questions; a replay does not ask them again.
  std::size_t own_answers = 0;
  std::vector<sim::Instant> sums;    ///< that the world asked for, in this order: a replay gives the same
  std::vector<Variable> partitions;  ///< the ends that messages waited for which it sent

  // What it is.
  sim::ProcessId process;
  std::uint32_t channel = sim::Event::kNoChannel;
  ExploredEvent event;  ///< all but its times
  std::uint32_t cause = kNone;
  std::uint32_t fifo_before = kNone;     ///< the last event on the same channel
  std::uint32_t process_before = kNone;  ///< the last event of the same process
  std::uint32_t alike_before = kNone;    ///< the same event of the process that is alike and comes before
  sim::DurationRange delay;              ///< from its cause to its arrival, if its cause held nothing back
  std::optional<sim::Instant> latest;    ///< see `Arrivals::latest`
  bool is_alone = false;                 ///< nothing else was on its way to its process, nor an answer to that
  bool is_answered = false;              ///< a request that is answered at once
  bool is_of_tick = false;               ///< a tick, or caused by one
  sim::Duration due;                     ///< of what is of a tick: a lower bound, to pick by

  // What it does, with these answers.
  Footprint footprint;
  std::uint64_t question = 0;  ///< to which it is one of the answers that are only counted; 0: it is no such answer

  // When.
  sim::Instant at;                   ///< when it was handled
  sim::Instant arrived;              ///< when it could have been handled, had its process not been frozen
  sim::Instant process_free;         ///< when its process can handle the next event
  bool is_held_back = false;         ///< a pause began when it had been handled
  std::optional<sim::Instant> doom;  ///< if `is_held_back`: its process crashes in that pause, at this moment
  bool is_promised = false;          ///< a crash that cuts a pause short
  sim::Instant frozen_from;          ///< if `frees_late`: when that pause began
  bool frees_late = false;           ///< `process_free` is the end of a pause, in which other events may have arrived

  Positions past;            ///< what happens before it, and itself
  Positions past_by_causes;  ///< after the first infeasible event alone: likewise, but in between by causes only
  StepMark before;

  bool is(sim::EventKind kind) const { return event.kind == kind; }
};

class Trace {
 public:
  explicit Trace(const PossibleFaults& faults) : faults_(faults) {}

  /// How many events it has.
  std::uint32_t length() const { return length_; }
  /// Of how many of these, the first, all that they have added stands. What comes after is only chosen so far.
  std::uint32_t built() const { return built_; }
  /// Requires: position < length(), or it stood when the trace was longer and nothing has been added since.
  Step& operator[](std::uint32_t position) { return steps_[position]; }
  const Step& operator[](std::uint32_t position) const { return steps_[position]; }
  Step& last() { return steps_[length_ - 1]; }
  const Step& last() const { return steps_[length_ - 1]; }
  const Step* find(std::uint32_t position) const { return position == kNone ? nullptr : &steps_[position]; }

  /// Another event. What is known of one that was there before is still written there.
  Step& push() {
    if (steps_.size() == length_) steps_.emplace_back();
    return steps_[length_++];
  }
  /// The memory of events is kept. What those have added that it has no more goes when its last event is taken down.
  void shorten(std::uint32_t length) {
    sim::invariant(length <= length_, "a trace is made shorter by shortening it");
    length_ = length;
    built_ = std::min(built_, length);
  }
  /// So many events that are only chosen, beyond those that stand.
  void lay_out(std::uint32_t length);
  /// Now all that its events have added stands.
  void note_built() { built_ = length_; }
  /// The last event that stands does so no more; its caller takes away what it has added.
  Step& take_down() {
    sim::invariant(built_ > 0, "only what stands is taken down");
    return steps_[--built_];
  }

  // --- The event that is being executed.

  void begin(std::uint32_t position, bool is_replay) {
    position_ = position;
    is_replay_ = is_replay;
  }
  /// `kNone`: before the first event.
  std::uint32_t position() const { return position_; }
  bool is_replay() const { return is_replay_; }
  Step& present() { return steps_[position_]; }
  const Step& present() const { return steps_[position_]; }
  /// Its answers, or before the first event those to what is decided there.
  std::vector<Answer>& answers() { return position_ == kNone ? root_answers : steps_[position_].answers; }

  std::vector<Answer> root_answers;

  // --- What comes from what.

  /// Where the cause of an event stands.
  static std::uint32_t cause_of(const sim::Event& event) { return event.cause == 0 ? kNone : event.cause - 1; }
  /// What an event follows wherever it comes.
  static std::array<std::uint32_t, 3> causes_of(const Step& step) {
    return {step.cause, step.fifo_before, step.alike_before};
  }
  bool is_caused_by(std::uint32_t event, std::uint32_t earlier) const;
  /// What happens before the event and itself; after `last`, if there is one, only causes order events.
  const Positions& past_of(std::uint32_t position, std::uint32_t last) const {
    return position > last && last != kNone ? steps_[position].past_by_causes : steps_[position].past;
  }
  /// Whether `event` arrives, in every execution, before something that comes `least_delay` or more after `cause`: from
  /// the last thing that both come from (the beginning, if nothing else) the one takes less with its longest delays
  /// than the other with its shortest. What may be paused on the way has no longest; a pause where the two ways part
  /// puts both off.
  bool is_always_before(std::uint32_t event, std::uint32_t cause, sim::Duration least_delay) const;
  /// Whether the event is the next one of its process whatever is tried in its place: then nothing has to be.
  bool comes_next(std::uint32_t position) const;

  /// For checks: what happens before an event comes before it in the trace, with all that happens before that.
  bool is_past_closed(std::uint32_t position) const;

  std::vector<ExploredEvent> explored() const;

 private:
  const PossibleFaults& faults_;
  std::vector<Step> steps_;
  std::uint32_t length_ = 0;
  std::uint32_t built_ = 0;
  std::uint32_t position_ = kNone;
  bool is_replay_ = false;
};

inline bool Trace::is_always_before(std::uint32_t event, std::uint32_t cause, sim::Duration least_delay) const {
  constexpr sim::Duration no_bound = sim::Duration::seconds(1'000'000);
  sim::Duration longest = steps_[event].delay.hi;
  sim::Duration least = least_delay;
  std::uint32_t from = steps_[event].cause;
  // Causes have lower positions, and the beginning counts as lowest: the higher of the two is never what both come
  // from.
  while (from != cause) {
    if (cause != kNone && (from == kNone || cause > from)) {
      least += steps_[cause].delay.lo;
      cause = steps_[cause].cause;
    } else {
      if (longest >= no_bound || faults_.may_pause(steps_[from].process)) return false;
      longest += steps_[from].delay.hi;
      from = steps_[from].cause;
    }
  }
  return longest < least;
}

}  // namespace lockstep::checker::explorer
