#pragma once

// The near-linear path of a queue whose enqueued values are all different: each dequeue then names its enqueue.
//
// Claim. Give each value an interval for its enqueue and one for its dequeue (none: after everything), and cut off what
// cannot be: an enqueue takes effect no later than its dequeue returns, a dequeue no earlier than its enqueue is
// invoked. The history is linearizable if and only if
//   (1) no value is dequeued twice, or before its enqueue was invoked;
//   (2) there are no x and y such that x was enqueued before y and y dequeued before x, both in real time;
//   (3) each dequeue that found nothing has a moment at which no value is in the queue for sure: one that does not lie
//       strictly between the return of the enqueue and the invocation of the dequeue of any value.
// Only if: clear. If: cut time at the moments of (3). Each value can have both its operations between two neighbouring
// cuts, and cutting off the rest of the intervals puts no two operations of the same stretch into a new order. Within a
// stretch, let x go before y if x's enqueue or x's dequeue returns before y's is invoked. A shortest cycle of that
// alternates, enqueues x1 < x2, dequeues x2 < x3, enqueues x3 < x4, dequeues x4 < ..; and as intervals are never two
// pairs apart, x1 < x4 or x3 < x2 among the enqueues, which is a shorter cycle, or (2). So there is an order of the
// values. Let each operation take effect in it, as early as its interval, the one before it and, for a dequeue, its
// enqueue permit. None comes too late: what it waited for was invoked at that moment, and would have to go after it.
// (Conditions: Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability proofs", 2013.)
//
// Of unknown outcomes, an enqueue happened if its value was dequeued. A dequeue may have taken anything: it is guessed
// to have taken a value that (2) misses. If that does not help, the answer is unknown.

#include <cstdint>
#include <span>
#include <vector>

#include "checker/linearizability/model/operation_history.hpp"
#include "checker/linearizability/model/options.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

struct QueueOrderResult {
  Verdict verdict = Verdict::unknown;
  std::vector<std::uint32_t> order;     ///< holds: a linearization; violated: one of what returned before `at`
  std::vector<std::uint32_t> conflict;  ///< violated: as in LinearizabilityResult
  bool is_minimal = false;
  std::int64_t at = 0;
  std::uint32_t culprit = 0;
};

/// Positions of one key. unknown: a value is enqueued twice, nobody knows what a dequeue has returned, or the guess
/// did not help. O(n log n) if it holds, O(n log^2 n) if it does not.
QueueOrderResult order_queue(const OperationHistory& history, std::span<const std::uint32_t> positions,
                             const LinearizabilityOptions& options);

}  // namespace lockstep::checker
