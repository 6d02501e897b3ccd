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
// A try that failed needs the lock held at one moment, and changes nothing. So it is ordered as soon as the lock is
// held after its invocation. If that has not been by its deadline, some acquire must come first, and it is G for the
// same reasons: every order of what is left begins with an acquire before the try, and swapping operations of one kind
// changes no state.

#include "checker/linearizability/near_linear/mutex.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "checker/linearizability/near_linear/nearly_sorted.hpp"

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
    sort_nearly_sorted(by_invocation_);
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

/// MutexTries that failed, by invocation.
class MutexTries {
 public:
  explicit MutexTries(std::span<const MutexOperation> operations) {
    for (Position i = 0; i < operations.size(); ++i) {
      if (is_try(operations[i]) && kind_of(operations[i]) == kAcquire) {
        by_invocation_.emplace_back(operations[i].invoked.count_ns(), i);
      }
    }
    sort_nearly_sorted(by_invocation_);
  }
  MutexTries() = default;

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

/// What an operation can be counted as.
enum class Count : std::uint8_t { acquire, release, attempt, nothing };

Count count_of(const MutexOperation& operation) {
  if (operation.is_certain()) return kind_of(operation) == kAcquire ? Count::acquire : Count::release;
  return is_try(operation) && kind_of(operation) == kAcquire ? Count::attempt : Count::nothing;
}

/// When X's opposite had run out at X's deadline: the shortest stretch of time [s, deadline] that holds too many of X's
/// kind, and those that it holds. A try that found no lock to be taken asks for as much as one release more, behind
/// those that returned before it. `counts`: by operation; `by_deadline`: the certain operations, and tries.
Overfull overfull_stretch(std::span<const MutexOperation> operations, Position x, std::vector<Count> counts,
                          std::span<const Timed> by_deadline, const Available& available) {
  const bool of_acquires = counts[x] == Count::acquire;
  const Count inside = of_acquires ? Count::acquire : Count::release;
  const Count other = of_acquires ? Count::release : Count::acquire;
  const std::int64_t end = operations[x].completed.count_ns();
  const std::int64_t inside_end = is_try(operations[x]) ? operations[x].invoked.count_ns() - 1 : end;
  Overfull result;
  Stretch stretch{.last = x, .of_acquires = of_acquires, .between = available.unknown(of_acquires ? 1 : 0)};
  // A million operations are to take a few milliseconds, so the operations themselves are looked at only where they end
  // too late.
  auto next = by_deadline.rbegin();
  for (; next != by_deadline.rend() && next->first > inside_end; ++next) {
    Count& count = counts[next->second];
    if (count == other && operations[next->second].invoked.count_ns() <= end) ++stretch.between;
    if (count == inside) count = Count::nothing;
  }
  // Of the other kind is what reaches into the stretch, which begins by its deadline.
  const auto reach_back_to = [&](std::int64_t begin) {
    for (; next != by_deadline.rend() && next->first >= begin; ++next) {
      stretch.between += counts[next->second] == other ? 1U : 0U;
    }
  };
  const std::span<const Timed> invoked = available.invoked();
  result.members.resize(1024);
  if (is_try(operations[x])) result.members[stretch.inside++] = x;
  for (auto at = invoked.rbegin(); at != invoked.rend() && !stretch.first; ++at) {
    if (stretch.inside == result.members.size()) result.members.resize(2 * stretch.inside);
    // No branch depends on the kinds, which take turns without a pattern.
    result.members[stretch.inside] = at->second;
    stretch.inside += counts[at->second] == inside ? 1U : 0U;
    reach_back_to(at->first);
    if (stretch.inside >= stretch.between + 2) stretch.first = at->second;
  }
  result.members.resize(stretch.inside);
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

sim::Duration MutexOperation::deadline() const {
  return is_certain() ? completed : sim::Duration::nanoseconds(std::numeric_limits<std::int64_t>::max());
}

MutexResult alternate(std::span<const MutexOperation> operations, bool check_failed) {
  MutexTries tries;
  if (check_failed) tries = MutexTries(operations);
  std::vector<Timed> by_deadline;
  by_deadline.reserve(operations.size());
  std::vector<Count> counts(operations.size());
  for (Position i = 0; i < operations.size(); ++i) {
    counts[i] = count_of(operations[i]);
    if (counts[i] == Count::attempt && !check_failed) counts[i] = Count::nothing;
    if (counts[i] != Count::nothing) by_deadline.emplace_back(operations[i].completed.count_ns(), i);
  }
  sort_nearly_sorted(by_deadline);

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
        Overfull overfull = overfull_stretch(operations, x, std::move(counts), by_deadline, available);
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
