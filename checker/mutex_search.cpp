#include "checker/mutex_search.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
using Timed = std::pair<sim::Duration, Position>;
constexpr std::uint32_t none = 0xffffffff;

/// What is left of an order once its past is forgotten, but for the unknown operations that it used.
struct State {
  std::uint32_t holder = none;    ///< process; 0 if the specification does not care who
  std::vector<Position> ordered;  ///< certain operations that are ordered and not completed, ascending
  auto operator<=>(const State&) const = default;
};

/// One way to a state.
struct Way {
  std::vector<std::uint32_t> used;  ///< how many unknown operations of each class took effect
  std::uint32_t trace = none;       ///< position of the last operation among the traces
};

/// The last operation of an order, and where the rest of it is.
struct Trace {
  std::uint32_t before = none;
  Position operation = none;
};

using Frontier = std::map<State, std::vector<Way>>;

bool is_as_good_as(const Way& a, const Way& b) {
  return std::equal(a.used.begin(), a.used.end(), b.used.begin(), std::less_equal<>());
}

/// Keeps only the ways that use fewest unknown operations: whatever follows another one follows them as well, because
/// what they have left was invoked no later. Was the way added?
bool add(Frontier& frontier, const State& state, const Way& way) {
  std::vector<Way>& ways = frontier[state];
  if (std::any_of(ways.begin(), ways.end(), [&way](const Way& w) { return is_as_good_as(w, way); })) return false;
  std::erase_if(ways, [&way](const Way& w) { return is_as_good_as(way, w); });
  ways.push_back(way);
  return true;
}

class Search {
 public:
  Search(std::span<const MutexOperation> operations, MutexSpecification specification, std::size_t limit)
      : operations_(operations), has_owner_(specification == MutexSpecification::owner_mutex), limit_(limit) {
    std::map<std::pair<std::uint32_t, MutexFunction>, std::vector<Timed>> classes;
    for (Position i = 0; i < operations.size(); ++i) {
      const MutexOperation& o = operations[i];
      if (o.is_certain()) {
        by_completion_.emplace_back(o.completed, i);
        by_invocation_.emplace_back(o.invoked, i);
      } else if (o.is_possible()) {
        classes[{has_owner_ ? o.process : 0, o.function}].emplace_back(o.invoked, i);
      }
    }
    std::sort(by_completion_.begin(), by_completion_.end());
    std::sort(by_invocation_.begin(), by_invocation_.end());
    for (auto& [key, members] : classes) {
      std::sort(members.begin(), members.end());
      unknown_.push_back(std::move(members));
    }
  }

  MutexResult run() {
    Frontier frontier;
    add(frontier, State{}, Way{std::vector<std::uint32_t>(unknown_.size(), 0), none});
    std::size_t invoked = 0;
    for (const auto& [now, x] : by_completion_) {
      while (invoked < by_invocation_.size() && by_invocation_[invoked].first <= now) {
        pending_.insert(by_invocation_[invoked++].second);
      }
      Frontier next = complete(frontier, x, now);
      if (traces_.size() > limit_) return {.searched = true};
      if (next.empty()) return violated(frontier, x, now);
      frontier = std::move(next);
      pending_.erase(x);
    }
    MutexResult result{.verdict = Verdict::holds, .searched = true};
    for (std::uint32_t at = frontier.begin()->second.front().trace; at != none; at = traces_[at].before) {
      result.order.push_back(traces_[at].operation);
    }
    std::reverse(result.order.begin(), result.order.end());
    return result;
  }

 private:
  /// All states in which x has just been ordered, or had been before.
  Frontier complete(const Frontier& frontier, Position x, sim::Duration now) {
    Frontier done;
    Frontier seen = frontier;
    std::deque<std::pair<State, Way>> open;  // first in, first out: the ways that use little come first
    for (const auto& [state, ways] : frontier) {
      for (const Way& way : ways) open.emplace_back(state, way);
    }
    while (!open.empty() && traces_.size() <= limit_) {
      auto [state, way] = std::move(open.front());
      open.pop_front();
      if (const auto it = std::lower_bound(state.ordered.begin(), state.ordered.end(), x);
          it != state.ordered.end() && *it == x) {
        state.ordered.erase(it);
        add(done, state, way);
        continue;
      }
      const auto visit = [&](const State& next_state, std::vector<std::uint32_t> used, Position operation) {
        const Way next{std::move(used), static_cast<std::uint32_t>(traces_.size())};
        if (!add(seen, next_state, next)) return;
        traces_.push_back({way.trace, operation});
        open.emplace_back(next_state, next);
      };
      for (const Position i : pending_) {
        const auto it = std::lower_bound(state.ordered.begin(), state.ordered.end(), i);
        if (!fits(state, i) || (it != state.ordered.end() && *it == i)) continue;
        State next = applied(state, i);
        next.ordered.insert(next.ordered.begin() + (it - state.ordered.begin()), i);
        visit(next, way.used, i);
      }
      for (std::size_t c = 0; c < unknown_.size(); ++c) {
        if (way.used[c] == unknown_[c].size()) continue;
        const auto [invoked, i] = unknown_[c][way.used[c]];
        if (invoked > now || !fits(state, i)) continue;
        std::vector<std::uint32_t> used = way.used;
        ++used[c];
        visit(applied(state, i), std::move(used), i);
      }
    }
    return done;
  }

  bool fits(const State& state, Position i) const {
    const MutexOperation& o = operations_[i];
    if (o.function == MutexFunction::acquire) return state.holder == none;
    return state.holder != none && (!has_owner_ || state.holder == o.process);
  }

  State applied(const State& state, Position i) const {
    const MutexOperation& o = operations_[i];
    State next = state;
    next.holder = o.function == MutexFunction::release ? none : (has_owner_ ? o.process : 0);
    return next;
  }

  /// x, and whoever may have held the lock when x could not be ordered.
  MutexResult violated(const Frontier& frontier, Position x, sim::Duration now) const {
    MutexResult result{.verdict = Verdict::violated, .searched = true};
    result.at = now;
    std::set<Position> conflict{x};
    for (const auto& [state, ways] : frontier) {
      if (state.holder == none) continue;
      for (const Way& way : ways) conflict.insert(traces_[way.trace].operation);
    }
    result.conflict.assign(conflict.begin(), conflict.end());
    return result;
  }

  std::span<const MutexOperation> operations_;
  bool has_owner_;
  std::size_t limit_;
  std::vector<Timed> by_completion_;
  std::vector<Timed> by_invocation_;
  std::vector<std::vector<Timed>> unknown_;  ///< by class, then by invocation
  std::set<Position> pending_;               ///< certain, invoked, not completed
  std::vector<Trace> traces_;
};

}  // namespace

MutexResult search_mutex(std::span<const MutexOperation> operations, MutexSpecification specification,
                         std::size_t limit) {
  return Search(operations, specification, limit).run();
}

}  // namespace lockstep::checker
