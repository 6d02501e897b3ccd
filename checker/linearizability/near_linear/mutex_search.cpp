#include "checker/linearizability/near_linear/mutex_search.hpp"

#include <utility>

#include "checker/linearizability/conflict.hpp"
#include "checker/linearizability/search.hpp"
#include "checker/linearizability/specification.hpp"

namespace lockstep::checker {

MutexResult search_mutex(std::span<const MutexOperation> operations, MutexSpecification specification,
                         std::size_t limit) {
  const Model& model =
      specification == MutexSpecification::mutex ? specifications::mutex() : specifications::owner_mutex();
  const OperationHistory no_names;
  const std::unique_ptr<Specification> lock = model.specification(no_names, {}, {});
  std::vector<SearchOperation> all;
  all.reserve(operations.size());
  for (const MutexOperation& o : operations) {
    const HistoryOperation operation{
        .process = o.process,
        .function = o.function == MutexFunction::acquire ? std::uint16_t{0} : std::uint16_t{1},
        .phase = o.phase};
    all.push_back({.action = lock->action(operation),
                   .invoked = o.invoked.count_ns(),
                   .returned = o.is_certain() ? o.completed.count_ns() : never,
                   .is_required = o.is_certain()});
  }
  const SearchLimits limits{.max_configurations = limit};
  SearchResult searched = search_linearization(all, *lock, limits);
  MutexResult result{.verdict = searched.verdict, .searched = true};
  if (searched.verdict == Verdict::holds) result.order = std::move(searched.order);
  if (searched.verdict != Verdict::violated) return result;
  result.at = operations[searched.culprit].completed;
  result.culprit = searched.culprit;
  const std::vector<std::uint32_t> members = returned_by(all, searched.culprit);
  Conflict conflict = minimal_conflict(all, members, *lock, limits);
  result.conflict = std::move(conflict.operations);
  result.is_minimal = conflict.is_minimal;
  result.prefix = std::move(searched.order);
  return result;
}

}  // namespace lockstep::checker
