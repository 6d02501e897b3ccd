#include "checker/mutex_search.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
using Timed = std::pair<sim::Duration, Position>;
constexpr std::uint32_t none = 0xffffffff;

/// What is left of an order once its past is forgotten.
struct Configuration {
  std::uint32_t holder = none;      ///< process; any number if the specification does not care
  std::vector<std::uint32_t> used;  ///< how many unknown operations of each class took effect
  std::vector<Position> ordered;    ///< certain operations that are ordered and not completed, ascending
  auto operator<=>(const Configuration&) const = default;
};

/// The last operation of an order, and where the rest of it is.
struct Trace {
  std::uint32_t before = none;
  Position operation = none;
};

using Frontier = std::map<Configuration, std::uint32_t>;  ///< to a position in the traces

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
    Frontier frontier{{Configuration{none, std::vector<std::uint32_t>(unknown_.size(), 0), {}}, none}};
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
    for (std::uint32_t at = frontier.begin()->second; at != none; at = traces_[at].before) {
      result.order.push_back(traces_[at].operation);
    }
    std::reverse(result.order.begin(), result.order.end());
    return result;
  }

 private:
  /// All configurations in which x has just been ordered, or had been before.
  Frontier complete(const Frontier& frontier, Position x, sim::Duration now) {
    Frontier done;
    Frontier seen = frontier;
    std::vector<std::pair<Configuration, std::uint32_t>> open(frontier.begin(), frontier.end());
    while (!open.empty() && traces_.size() <= limit_) {
      auto [configuration, trace] = std::move(open.back());
      open.pop_back();
      if (const auto it = std::lower_bound(configuration.ordered.begin(), configuration.ordered.end(), x);
          it != configuration.ordered.end() && *it == x) {
        configuration.ordered.erase(it);
        done.emplace(std::move(configuration), trace);
        continue;
      }
      const auto visit = [&](Configuration&& reached, Position operation) {
        const auto [it, is_new] = seen.emplace(std::move(reached), static_cast<std::uint32_t>(traces_.size()));
        if (!is_new) return;
        traces_.push_back({trace, operation});
        open.emplace_back(it->first, it->second);
      };
      for (const Position i : pending_) {
        if (!fits(configuration, i)) continue;
        const auto it = std::lower_bound(configuration.ordered.begin(), configuration.ordered.end(), i);
        if (it != configuration.ordered.end() && *it == i) continue;
        Configuration reached = applied(configuration, i);
        reached.ordered.insert(reached.ordered.begin() + (it - configuration.ordered.begin()), i);
        visit(std::move(reached), i);
      }
      for (std::size_t c = 0; c < unknown_.size(); ++c) {
        const std::uint32_t used = configuration.used[c];
        if (used == unknown_[c].size() || unknown_[c][used].first > now) continue;
        const Position i = unknown_[c][used].second;
        if (!fits(configuration, i)) continue;
        Configuration reached = applied(configuration, i);
        ++reached.used[c];
        visit(std::move(reached), i);
      }
    }
    return done;
  }

  bool fits(const Configuration& configuration, Position i) const {
    const MutexOperation& o = operations_[i];
    if (o.function == MutexFunction::acquire) return configuration.holder == none;
    return configuration.holder != none && (!has_owner_ || configuration.holder == o.process);
  }

  Configuration applied(const Configuration& configuration, Position i) const {
    const MutexOperation& o = operations_[i];
    Configuration reached = configuration;
    reached.holder = o.function == MutexFunction::release ? none : (has_owner_ ? o.process : 0);
    return reached;
  }

  /// x, and whoever may have held the lock when x could not be ordered.
  MutexResult violated(const Frontier& frontier, Position x, sim::Duration now) const {
    MutexResult result{.verdict = Verdict::violated, .searched = true};
    result.at = now;
    std::set<Position> conflict{x};
    for (const auto& [configuration, trace] : frontier) {
      if (configuration.holder != none) conflict.insert(traces_[trace].operation);
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
