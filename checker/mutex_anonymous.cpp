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
//
// A try that failed needs the lock held at one moment, and changes nothing. So it is ordered as soon as the lock is held
// after its invocation. If that has not been by its deadline, some acquire must come first, and it is G for the same reasons:
// every order of what is left begins with an acquire before the try, and swapping operations of one kind changes no state.

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "checker/mutex_paths.hpp"

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
using Timed = std::pair<std::int64_t, Position>;  ///< a time in ns, an operation

constexpr std::size_t kAcquire = 0;

constexpr std::size_t kind_of(const MutexOperation& operation) {
  return operation.function == MutexFunction::acquire ? kAcquire : 1;
}

bool is_try(const MutexOperation& operation) { return !operation.is_possible(); }

struct Overfull {
  std::vector<Position> members;
  std::optional<Stretch> stretch;  ///< nothing: there is none that ends with X
};

/// The operations that are invoked and not yet ordered, by deadline, one heap for each kind. Failed ones are none.
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
      if (!operations_[i].is_certain()) ++unknown_[kind_of(operations_[i])];
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

  /// All that are invoked, in this order.
  std::span<const Timed> invoked() const { return std::span(by_invocation_).first(next_); }
  /// How many of them have an unknown outcome.
  std::size_t unknown(std::size_t kind) const { return unknown_[kind]; }

 private:
  std::span<const MutexOperation> operations_;
  const std::vector<char>& is_ordered_;
  std::vector<Timed> by_invocation_;
  std::size_t next_ = 0;
  std::array<std::vector<Timed>, 2> heaps_;
  std::array<std::size_t, 2> unknown_{};
};

/// Tries that failed, by invocation.
class Tries {
 public:
  explicit Tries(std::span<const MutexOperation> operations) {
    for (Position i = 0; i < operations.size(); ++i) {
      if (is_try(operations[i]) && kind_of(operations[i]) == kAcquire) {
        by_invocation_.emplace_back(operations[i].invoked.count_ns(), i);
      }
    }
    if (!std::is_sorted(by_invocation_.begin(), by_invocation_.end())) {
      std::sort(by_invocation_.begin(), by_invocation_.end());
    }
  }
  Tries() = default;

  std::span<const Timed> all() const { return by_invocation_; }

  /// The lock is held at this moment: whatever is invoked by now has its place.
  template <class Put>
  void place(std::int64_t now, Put put) {
    for (; next_ < by_invocation_.size() && by_invocation_[next_].first <= now; ++next_)
      put(by_invocation_[next_].second);
  }

 private:
  std::vector<Timed> by_invocation_;
  std::size_t next_ = 0;
};

/// When X's opposite had run out at X's deadline: the shortest stretch of time [s, deadline] that holds too many of X's
/// kind, and those that it holds. A try that found no lock to be taken asks for as much as one release more, behind those
/// that returned before it. `by_deadline`: the certain operations, and tries.
Overfull overfull_stretch(std::span<const MutexOperation> operations, Position x, std::span<const Timed> by_deadline,
                          const Available& available) {
  const std::size_t kind = is_try(operations[x]) ? 1 - kAcquire : kind_of(operations[x]);
  const std::int64_t end = operations[x].completed.count_ns();
  const std::int64_t inside_end = is_try(operations[x]) ? operations[x].invoked.count_ns() - 1 : end;
  Overfull result;
  Stretch stretch{.last = x, .of_acquires = kind == kAcquire, .between = available.unknown(1 - kind)};
  auto next = by_deadline.rbegin();  // the other kind: it reaches into the stretch when that begins by its deadline
  const auto reach_back_to = [&](std::int64_t begin) {
    for (; next != by_deadline.rend() && next->first >= begin; ++next) {
      const MutexOperation& o = operations[next->second];
      if (kind_of(o) != kind && !is_try(o) && o.invoked.count_ns() <= end) ++stretch.between;
    }
  };
  if (is_try(operations[x])) result.members.push_back(x);
  const std::span<const Timed> invoked = available.invoked();
  for (auto at = invoked.rbegin(); at != invoked.rend() && !stretch.first; ++at) {
    const MutexOperation& o = operations[at->second];
    if (kind_of(o) != kind || !o.is_certain() || o.completed.count_ns() > inside_end) continue;
    reach_back_to(at->first);
    result.members.push_back(at->second);
    stretch.inside = result.members.size();
    if (stretch.inside >= stretch.between + 2) stretch.first = at->second;
  }
  stretch.inside = result.members.size();
  if (!stretch.first) reach_back_to(std::numeric_limits<std::int64_t>::min());
  if (stretch.between < stretch.needed()) {
    result.stretch = stretch;
    std::reverse(result.members.begin(), result.members.end());
    if (!std::is_sorted(result.members.begin(), result.members.end())) {
      std::sort(result.members.begin(), result.members.end());
    }
  }
  return result;
}

}  // namespace

MutexResult check_anonymous_mutex(std::span<const MutexOperation> operations, bool check_failed) {
  Tries tries;
  if (check_failed) tries = Tries(operations);
  std::vector<Timed> by_deadline;
  by_deadline.reserve(operations.size());
  for (Position i = 0; i < operations.size(); ++i) {
    const bool counts =
        operations[i].is_certain() || (check_failed && is_try(operations[i]) && kind_of(operations[i]) == kAcquire);
    if (counts) by_deadline.emplace_back(operations[i].completed.count_ns(), i);
  }
  if (!std::is_sorted(by_deadline.begin(), by_deadline.end())) std::sort(by_deadline.begin(), by_deadline.end());

  std::vector<char> is_ordered(operations.size(), 0);
  Available available(operations, is_ordered);
  MutexResult result;
  result.order.reserve(operations.size());
  std::size_t next_kind = kAcquire;  // the lock is free
  std::int64_t now = 0;
  const auto put_tries = [&] {
    if (next_kind == kAcquire) return;
    tries.place(now, [&](Position i) {
      is_ordered[i] = 1;
      result.order.push_back(i);
    });
  };
  const auto put = [&](Position i) {
    is_ordered[i] = 1;
    result.order.push_back(i);
    next_kind = 1 - next_kind;
    put_tries();
  };

  for (const auto& [deadline, x] : by_deadline) {
    if (is_ordered[x]) continue;
    now = deadline;
    available.advance_to(deadline);
    put_tries();
    if (is_ordered[x]) continue;
    if (is_try(operations[x]) || kind_of(operations[x]) != next_kind) {
      const std::optional<Position> other = available.take(next_kind);
      if (!other) {
        result.verdict = Verdict::violated;
        result.at = operations[x].completed;
        result.prefix = std::move(result.order);
        result.order.clear();
        result.culprit = x;
        Overfull overfull = overfull_stretch(operations, x, by_deadline, available);
        if (overfull.stretch) {
          result.conflict = std::move(overfull.members);
          // Of releases, one fewer may still be too many for those that come before some of them.
          result.is_minimal = overfull.stretch->of_acquires || result.conflict.size() == 1;
          if (!is_try(operations[x])) result.stretch = overfull.stretch;
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
    if (is_ordered[x] == 0) put(x);
  }
  result.verdict = Verdict::holds;
  return result;
}

}  // namespace lockstep::checker
