#pragma once

// Who believes to hold what, and when.
//
// One belief per acquire that ended ok. It begins when the acquire completed: while the reply travels, the server may
// already have granted the lock, but the client does not know. It ends with the earliest of
//   - the invocation of its release (not the completion: whoever asks to give it back has stopped working),
//   - the client learning that it lost the lock (an operation "lost" of the same hold),
//   - its own validity deadline, unless it cannot look at its clock just then: a deadline inside a pause [from, until)
//     is noticed at `until`, or never. The pause contains its first moment (a process that is stopped from the
//     deadline on does not see it come) but not its last (at `until` it runs again and looks),
//   - the crash of the process,
// and otherwise never. Intervals are half-open, [from, to): a lock given back at 20ms and taken at 20ms was never held
// twice. A hold that ends where it begins is empty and overlaps nothing.
//
// Two stages, because an explorer asks the same questions of instants that cannot be compared: `collect_beliefs` only
// reads the history and compares no instants; `resolve` decides, for true times, which ending came first.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "checker/properties/interruptions.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// How a belief ends. `never` is for the hold that is still open when the story ends.
enum class BeliefEnd : std::uint8_t { released, lost, deadline, crashed, never };

/// One thing that would end a belief, if nothing else did so before.
struct Ending {
  sim::Instant at;
  sim::Step step = sim::no_step;  ///< no_step for a deadline: nothing happens when it passes
};

/// A belief before any comparison of instants: where it begins, and what may end it.
struct Belief {
  sim::OperationId acquire = 0;
  sim::ProcessId process;
  std::string_view object;  ///< belongs to the history
  sim::Instant from;
  sim::Step from_step = sim::no_step;
  bool is_shared = false;          ///< others who share may believe at the same time
  std::optional<Ending> released;  ///< the first release of this hold
  std::optional<Ending> lost;      ///< the first notice of its loss
  std::optional<Ending> deadline;  ///< by its own clock; before pauses are considered
  std::optional<Ending> crashed;   ///< the first crash of the process after the acquire, in order of execution
};

/// By id of the acquire. The result points into `history`, which must outlive it.
std::vector<Belief> collect_beliefs(const sim::History& history);
/// The same into vectors that are used again; `belief_of`: by id of the acquire, the position of its belief.
void collect_beliefs(const sim::History& history, std::vector<Belief>& beliefs, std::vector<std::size_t>& belief_of);

/// A belief in true time: [from, to), or from `from` on for ever.
struct OwnershipInterval {
  sim::OperationId acquire = 0;
  sim::ProcessId process;
  std::string_view object;
  sim::Instant from;
  sim::Step from_step = sim::no_step;
  std::optional<sim::Instant> to;
  sim::Step to_step = sim::no_step;  ///< what ended it; for a deadline met in a pause, the step that began the pause
  BeliefEnd end = BeliefEnd::never;
  bool is_shared = false;

  bool is_empty() const { return to && to->offset() <= from.offset(); }
  bool contains(sim::Instant t) const { return from.offset() <= t.offset() && (!to || t.offset() < to->offset()); }
};

/// Requires: instants are true times; `pauses` are those of the belief's process, as `Pauses` has them.
OwnershipInterval resolve(const Belief& belief, std::span<const sim::Interruption> pauses);

/// When the client notices the belief's deadline, whatever else has ended it: the deadline, or the end of the pause
/// that hides it. Nothing: there is none, or it never runs again. The same requirement.
std::optional<Ending> noticed_deadline(const Belief& belief, std::span<const sim::Interruption> pauses);

/// All of them, by id of the acquire; empty ones included. Points into `history`.
std::vector<OwnershipInterval> ownership_intervals(const sim::History& history);

}  // namespace lockstep::checker
