#include "checker/linearizability/linearizability.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "checker/linearizability/model/specification.hpp"
#include "checker/linearizability/near_linear/lock_sweep.hpp"
#include "checker/linearizability/near_linear/mutex.hpp"
#include "checker/linearizability/near_linear/queue_order.hpp"
#include "checker/linearizability/near_linear/register_zones.hpp"
#include "checker/linearizability/search/conflict.hpp"
#include "checker/linearizability/search/search.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
using Positions = std::span<const Position>;

/// In a longer history one question costs more than a smaller conflict tells.
constexpr std::size_t operations_to_minimize_max = 200'000;

/// What is known of the operations of one key.
struct Part {
  Verdict verdict = Verdict::unknown;
  SearchBound bound = SearchBound::none;
  std::vector<Position> order;  ///< holds: of all; violated: of the prefix
  std::vector<Position> conflict;
  bool is_minimal = false;
  std::optional<Stretch> stretch;
  std::int64_t at = 0;
  Position culprit = 0;
};

class Check {
 public:
  Check(const OperationHistory& history, const Model& model, const LinearizabilityOptions& options)
      : history_(history), model_(model), options_(options) {}

  LinearizabilityResult run() {
    std::vector<Position> positions(history_.operations.size());
    std::iota(positions.begin(), positions.end(), 0);
    const bool by_argument = model_.splits_by_argument(history_);
    const auto object = [&](Position i) {
      const HistoryOperation& o = history_.operations[i];
      return std::pair(model_.splits_by_key() ? o.key : 0, by_argument ? o.a : 0);
    };
    const auto is_before = [&](Position a, Position b) { return std::pair(object(a), a) < std::pair(object(b), b); };
    if (!std::is_sorted(positions.begin(), positions.end(), is_before)) {
      std::sort(positions.begin(), positions.end(), is_before);
    }
    result_.verdict = Verdict::holds;
    for (std::size_t begin = 0, end = 0; begin < positions.size(); begin = end) {
      while (end < positions.size() && object(positions[end]) == object(positions[begin])) ++end;
      ++result_.statistics.keys;
      Part part = check(Positions(positions).subspan(begin, end - begin));
      const std::uint32_t key = history_.operations[positions[begin]].key;
      std::vector<std::uint32_t>& unknown = result_.unknown_keys;
      if (part.verdict == Verdict::unknown && (unknown.empty() || unknown.back() != key)) unknown.push_back(key);
      add(std::move(part));
    }
    if (result_.verdict != Verdict::holds) result_.order.clear();
    sort_violated_keys();
    return std::move(result_);
  }

 private:
  void add(Part part) {
    if (part.verdict == Verdict::holds) {
      if (result_.verdict != Verdict::holds) return;
      if (result_.order.empty()) {
        result_.order = std::move(part.order);
      } else {
        result_.order.insert(result_.order.end(), part.order.begin(), part.order.end());
      }
    } else if (part.verdict == Verdict::violated) {
      result_.violated_keys.push_back({history_.operations[part.culprit].key, part.at, part.culprit});
      if (is_later(part)) return;
      result_.verdict = Verdict::violated;
      result_.bound = SearchBound::none;
      result_.at = part.at;
      result_.culprit = part.culprit;
      result_.key = history_.operations[part.culprit].key;
      result_.prefix = std::move(part.order);
      result_.conflict = std::move(part.conflict);
      result_.is_minimal = part.is_minimal;
      result_.stretch = part.stretch;
    } else if (result_.verdict == Verdict::holds) {
      result_.verdict = Verdict::unknown;
      result_.bound = part.bound;
    }
  }

  /// Another key fails before, and so this one is not explained.
  bool is_later(const Part& part) const { return result_.at && *result_.at <= part.at; }

  /// A set that is judged by element has a key several times: its first failure counts.
  void sort_violated_keys() {
    std::vector<ViolatedKey>& keys = result_.violated_keys;
    const auto by_key = [](const ViolatedKey& k) { return std::tuple(k.key, k.at, k.culprit); };
    std::sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) { return by_key(a) < by_key(b); });
    const auto is_same = [](const ViolatedKey& a, const ViolatedKey& b) { return a.key == b.key; };
    keys.erase(std::unique(keys.begin(), keys.end(), is_same), keys.end());
    const auto by_time = [&](const ViolatedKey& k) { return std::tuple(k.at, k.key != result_.key, k.key); };
    std::sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) { return by_time(a) < by_time(b); });
  }

  Part check(Positions positions) {
    Part part = decide(positions);
    sim::costly_invariant([&] { return part.verdict != Verdict::holds || is_linearization(positions, part.order); },
                          "an order that is given as proof is one: in real time, and as the specification allows");
    return part;
  }

  /// Asks nobody but the history and the specification, operation by operation.
  bool is_linearization(Positions positions, Positions order) const {
    const std::unique_ptr<Specification> specification = model_.specification(history_, positions, options_);
    std::vector<std::uint64_t> state(specification->words());
    specification->initial(state.data());
    std::vector<Position> placed(order.begin(), order.end());
    std::sort(placed.begin(), placed.end());
    // Each once, and of this object.
    if (std::adjacent_find(placed.begin(), placed.end()) != placed.end() ||
        !std::includes(positions.begin(), positions.end(), placed.begin(), placed.end())) {
      return false;
    }
    std::int64_t latest = std::numeric_limits<std::int64_t>::min();  // at which one so far can have taken effect
    for (const Position i : order) {
      const HistoryOperation& o = history_.operations[i];
      const bool has_returned = !o.is_unknown() && o.returned < latest;
      if (has_returned || !specification->step(state.data(), specification->action(o))) return false;
      latest = std::max(latest, o.invoked);
    }
    return std::all_of(positions.begin(), positions.end(), [&](Position i) {
      const HistoryOperation& o = history_.operations[i];
      return o.is_unknown() || std::binary_search(placed.begin(), placed.end(), i) ||
             specification->action(o).effect == Action::Effect::none;
    });
  }

  Part decide(Positions positions) {
    Part weaker;
    if (!options_.search_only) {
      Part part = check_quickly(positions, options_);
      if (part.verdict == Verdict::unknown && options_.check_failed) {
        // What is wrong even if failures say nothing is explained without them.
        LinearizabilityOptions without_failures = options_;
        without_failures.check_failed = false;
        weaker = check_quickly(positions, without_failures);
      }
      for (Part* found : {&part, &weaker}) {
        if (found->verdict == Verdict::violated && !found->is_minimal && !is_later(*found)) {
          make_smaller(*found, positions);
        }
      }
      if (part.verdict != Verdict::unknown) return part;
    }
    ++result_.statistics.searched_keys;
    return search(positions, weaker);
  }

  /// unknown: nothing is known.
  Part check_quickly(Positions positions, const LinearizabilityOptions& options) const {
    switch (model_.near_linear_path()) {
      case NearLinearPath::holds: {
        LockSweepResult sweep = sweep_lock(history_, positions, model_, options);
        return {.verdict = sweep.verdict,
                .order = std::move(sweep.order),
                .conflict = std::move(sweep.conflict),
                .is_minimal = sweep.is_minimal,
                .at = sweep.at,
                .culprit = sweep.culprit};
      }
      case NearLinearPath::alternation: return check_as_mutex(positions, options);
      case NearLinearPath::distinct_writes: {
        auto order = order_by_zones(history_, positions, options);
        if (!order) return {};
        return {.verdict = Verdict::holds, .order = std::move(*order)};
      }
      case NearLinearPath::distinct_enqueues: {
        QueueOrderResult queue = order_queue(history_, positions, options);
        return {.verdict = queue.verdict,
                .order = std::move(queue.order),
                .conflict = std::move(queue.conflict),
                .is_minimal = queue.is_minimal,
                .at = queue.at,
                .culprit = queue.culprit};
      }
      case NearLinearPath::none: break;
    }
    return {};
  }

  Part check_as_mutex(Positions positions, const LinearizabilityOptions& options) const {
    std::vector<MutexOperation> operations;
    operations.reserve(positions.size());
    for (const Position i : positions) {
      const HistoryOperation& o = history_.operations[i];
      operations.push_back({.process = o.process,
                            .function = o.function == 0 ? MutexFunction::acquire : MutexFunction::release,
                            .phase = o.phase,
                            .invoked = sim::Duration::nanoseconds(o.invoked),
                            .completed = sim::Duration::nanoseconds(o.is_unknown() ? o.invoked : o.returned)});
    }
    MutexResult mutex = alternate(operations, options.check_failed);
    Part part{.verdict = mutex.verdict, .order = translated(std::move(mutex.order), positions)};
    if (mutex.verdict == Verdict::holds) return part;
    part.order = translated(std::move(mutex.prefix), positions);
    part.conflict = translated(std::move(mutex.conflict), positions);
    part.at = mutex.at->count_ns();
    part.culprit = positions[mutex.culprit];
    part.is_minimal = mutex.is_minimal;
    part.stretch = mutex.stretch;
    if (part.stretch) {
      part.stretch->last = positions[part.stretch->last];
      if (part.stretch->first) part.stretch->first = positions[*part.stretch->first];
    }
    return part;
  }

  static std::vector<Position> translated(std::vector<std::uint32_t> indices, Positions positions) {
    for (std::uint32_t& i : indices) i = positions[i];
    return indices;
  }

  /// A conflict that a near-linear path has found, but cannot be sure that all of it is needed.
  void make_smaller(Part& part, Positions positions) const {
    if (!options_.minimize_conflict || positions.size() > operations_to_minimize_max) return;
    const std::unique_ptr<Specification> specification = model_.specification(history_, positions, options_);
    std::vector<std::uint32_t> members;
    for (const Position i : part.conflict) {
      const auto at = std::lower_bound(positions.begin(), positions.end(), i);
      members.push_back(static_cast<std::uint32_t>(at - positions.begin()));
    }
    Conflict conflict =
        minimal_conflict(search_operations(positions, *specification), members, *specification, search_limits());
    if (conflict.operations.size() < part.conflict.size()) part.stretch.reset();
    part.conflict = translated(std::move(conflict.operations), positions);
    part.is_minimal = conflict.is_minimal;
  }

  std::vector<SearchOperation> search_operations(Positions positions, const Specification& specification) const {
    std::vector<SearchOperation> operations;
    operations.reserve(positions.size());
    for (const Position i : positions) {
      const HistoryOperation& o = history_.operations[i];
      operations.push_back({.action = specification.action(o),
                            .invoked = o.invoked,
                            .returned = o.is_unknown() ? never : o.returned,
                            .is_required = !o.is_unknown()});
    }
    return operations;
  }

  SearchLimits search_limits() const {
    return {.max_memory = options_.max_memory,
            .is_out_of_time = options_.is_out_of_time,
            .looks_ahead = options_.looks_ahead};
  }

  /// `weaker`: what is known of the same operations without those that failed.
  Part search(Positions positions, const Part& weaker) {
    const std::unique_ptr<Specification> specification = model_.specification(history_, positions, options_);
    const std::vector<SearchOperation> operations = search_operations(positions, *specification);
    const SearchLimits limits = search_limits();
    const SearchResult searched = search_linearization(operations, *specification, limits);
    LinearizabilityStatistics& statistics = result_.statistics;
    statistics.configurations += searched.configurations;
    statistics.steps += searched.steps;
    statistics.search_bytes_max = std::max(statistics.search_bytes_max, searched.bytes);

    Part part{.verdict = searched.verdict,
              .bound = searched.bound,
              .order = translated(std::move(searched.order), positions)};
    if (searched.verdict != Verdict::violated) return part;
    part.culprit = positions[searched.culprit];
    part.at = history_.operations[part.culprit].returned;
    if (is_later(part)) return part;
    if (model_.near_linear_path() == NearLinearPath::alternation) {
      // Asked for the verdict alone it would not have been searched, and to count explains more than any number of
      // searches.
      Part counted = check_as_mutex(positions, options_);
      if (counted.verdict == Verdict::violated && counted.at == part.at) {
        if (!counted.is_minimal) make_smaller(counted, positions);
        return counted;
      }
    }
    if (weaker.verdict == Verdict::violated && weaker.at == part.at) {
      part.culprit = weaker.culprit;
      part.conflict = weaker.conflict;
      part.is_minimal = weaker.is_minimal;
      part.stretch = weaker.stretch;
    } else if (options_.minimize_conflict && positions.size() <= operations_to_minimize_max) {
      const std::vector<std::uint32_t> members = returned_by(operations, searched.culprit);
      Conflict conflict = minimal_conflict(operations, members, *specification, limits);
      part.conflict = translated(std::move(conflict.operations), positions);
      part.is_minimal = conflict.is_minimal;
    } else {
      for (const Position i : positions) {
        const HistoryOperation& o = history_.operations[i];
        if (!o.is_unknown() && o.returned <= part.at && specification->action(o).effect != Action::Effect::none) {
          part.conflict.push_back(i);
        }
      }
    }
    return part;
  }

  const OperationHistory& history_;
  const Model& model_;
  const LinearizabilityOptions& options_;
  LinearizabilityResult result_;
};

}  // namespace

LinearizabilityResult check_linearizable(const OperationHistory& history, const Model& model,
                                         const LinearizabilityOptions& options) {
  return Check(history, model, options).run();
}

std::vector<std::string> describe_states(const OperationHistory& history, const Model& model,
                                         std::span<const std::uint32_t> order, const LinearizabilityOptions& options) {
  const std::unique_ptr<Specification> specification = model.specification(history, order, options);
  std::vector<std::uint64_t> state(specification->words());
  specification->initial(state.data());
  std::vector<std::string> texts;
  texts.reserve(order.size());
  for (const std::uint32_t i : order) {
    specification->step(state.data(), specification->action(history.operations[i]));
    texts.push_back(specification->describe(state.data()));
  }
  return texts;
}

}  // namespace lockstep::checker
