// The mutex that anybody may release: acquires and releases must alternate.
//
// The path works off the certain operations by deadline, and takes operations only when it must. At the deadline of X,
// the earliest of those not yet ordered: if the lock is in the state that X needs, order X. Otherwise one operation
// of the other kind has to come first: of those invoked by then, take the one with the earliest deadline (an unknown
// one has none, and so comes last), then order X. If there is no such operation, the history is not linearizable.
//
// Why this is exact. Take any valid order S of what is left, and let d be X's deadline.
//   (1) Everything in S before X was invoked by d (or X would precede it). Everything has a deadline >= d.
//   (2) Suppose S begins with Y where the path takes G, both of one kind, G's deadline <= Y's. If S contains G, swap
//       them: G may come first, because nothing left has a deadline before G's invocation, which is <= d. Y may come
//       where G was: whatever Z stood between was invoked no later than G's deadline (Z came before G), hence no
//       later than Y's, so Y does not have to precede it. If S does not contain G, then G is an unknown operation, and
//       then Y, whose deadline is no earlier, is one as well: replace Y by G.
//   (3) With G = X when the state fits, and G = the path's choice followed by X when not, S begins as the path does.
// By induction the path finds an order whenever there is one. When all certain operations are ordered it stops:
// unknown ones that were not needed never happened.

#include <algorithm>
#include <array>
#include <utility>

#include "checker/mutex_paths.hpp"

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
using Timed = std::pair<std::int64_t, Position>;  ///< a time in ns, an operation

constexpr std::size_t kind_of(const MutexOperation& operation) {
  return operation.function == MutexFunction::acquire ? 0 : 1;
}

struct Overfull {
  std::vector<Position> members;
  std::optional<Stretch> stretch;  ///< nothing: there is none that ends with X
};

/// When X's opposite had run out at X's deadline: the shortest stretch of time [s, deadline] that holds too many of X's
/// kind, and those that it holds.
Overfull overfull_stretch(std::span<const MutexOperation> operations, Position x) {
  const std::size_t kind = kind_of(operations[x]);
  const std::int64_t end = operations[x].completed.count_ns();
  std::vector<Timed> inside;          // of X's kind, by invocation: they lie within [s, end] when s <= that
  std::vector<std::int64_t> between;  // of the other kind, deadlines: they reach into [s, end] when s <= that
  for (Position i = 0; i < operations.size(); ++i) {
    const MutexOperation& o = operations[i];
    if (!o.is_possible()) continue;
    if (kind_of(o) == kind && o.is_certain() && o.completed.count_ns() <= end) {
      inside.emplace_back(o.invoked.count_ns(), i);
    }
    if (kind_of(o) != kind && o.invoked.count_ns() <= end) between.push_back(o.deadline().count_ns());
  }
  std::sort(inside.rbegin(), inside.rend());
  std::sort(between.rbegin(), between.rend());

  Overfull result;
  Stretch stretch{.last = x, .of_acquires = kind == 0};
  for (const auto& [invoked, i] : inside) {
    while (stretch.between < between.size() && between[stretch.between] >= invoked) ++stretch.between;
    result.members.push_back(i);
    stretch.inside = result.members.size();
    if (stretch.inside >= stretch.between + 2) {
      stretch.first = i;
      break;
    }
  }
  if (!stretch.first) stretch.between = between.size();
  if (stretch.between < stretch.needed()) {
    result.stretch = stretch;
    std::sort(result.members.begin(), result.members.end());
  }
  return result;
}

/// The operations that are invoked and not yet ordered, by deadline, one heap for each kind.
class Available {
 public:
  Available(std::span<const MutexOperation> operations, const std::vector<char>& is_ordered)
      : operations_(operations), is_ordered_(is_ordered) {
    by_invocation_.reserve(operations.size());
    for (Position i = 0; i < operations.size(); ++i) {
      if (operations[i].is_possible()) by_invocation_.emplace_back(operations[i].invoked.count_ns(), i);
    }
    if (!std::is_sorted(by_invocation_.begin(), by_invocation_.end())) {
      std::sort(by_invocation_.begin(), by_invocation_.end());
    }
  }

  void advance_to(std::int64_t now) {
    while (next_ < by_invocation_.size() && by_invocation_[next_].first <= now) {
      const Position i = by_invocation_[next_++].second;
      std::vector<Timed>& heap = heaps_[kind_of(operations_[i])];
      heap.emplace_back(operations_[i].deadline().count_ns(), i);
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
  }

  std::optional<Position> take(std::size_t kind) {
    std::vector<Timed>& heap = heaps_[kind];
    while (!heap.empty()) {
      const Position i = heap.front().second;
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      heap.pop_back();
      if (!is_ordered_[i]) return i;
    }
    return std::nullopt;
  }

 private:
  std::span<const MutexOperation> operations_;
  const std::vector<char>& is_ordered_;
  std::vector<Timed> by_invocation_;
  std::size_t next_ = 0;
  std::array<std::vector<Timed>, 2> heaps_;
};

}  // namespace

MutexResult check_anonymous_mutex(std::span<const MutexOperation> operations) {
  std::vector<Timed> by_deadline;
  by_deadline.reserve(operations.size());
  for (Position i = 0; i < operations.size(); ++i) {
    if (operations[i].is_certain()) by_deadline.emplace_back(operations[i].completed.count_ns(), i);
  }
  if (!std::is_sorted(by_deadline.begin(), by_deadline.end())) std::sort(by_deadline.begin(), by_deadline.end());

  std::vector<char> is_ordered(operations.size(), 0);
  Available available(operations, is_ordered);
  MutexResult result;
  result.order.reserve(operations.size());
  std::size_t next_kind = 0;  // the lock is free: an acquire
  const auto put = [&](Position i) {
    is_ordered[i] = 1;
    result.order.push_back(i);
    next_kind = 1 - next_kind;
  };

  for (const auto& [deadline, x] : by_deadline) {
    if (is_ordered[x]) continue;
    available.advance_to(deadline);
    if (kind_of(operations[x]) != next_kind) {
      const std::optional<Position> other = available.take(next_kind);
      if (!other) {
        result.verdict = Verdict::violated;
        result.at = operations[x].completed;
        result.prefix = std::move(result.order);
        result.order.clear();
        result.culprit = x;
        Overfull overfull = overfull_stretch(operations, x);
        if (overfull.stretch) {
          result.conflict = std::move(overfull.members);
          result.stretch = overfull.stretch;
          // Of releases, one fewer may still be too many for those that come before some of them.
          result.is_minimal = overfull.stretch->of_acquires || result.conflict.size() == 1;
          return result;
        }
        for (const auto& [until, i] : by_deadline) {
          if (until <= deadline) result.conflict.push_back(i);
        }
        std::sort(result.conflict.begin(), result.conflict.end());
        return result;
      }
      put(*other);
    }
    put(x);
  }
  result.verdict = Verdict::holds;
  return result;
}

}  // namespace lockstep::checker
