#include "checker/mutex.hpp"

#include <algorithm>
#include <limits>

#include "checker/evidence.hpp"
#include "checker/mutex_paths.hpp"
#include "checker/mutex_search.hpp"
#include "checker/ownership.hpp"

namespace lockstep::checker {

sim::Duration MutexOperation::deadline() const {
  return is_certain() ? completed : sim::Duration::nanoseconds(std::numeric_limits<std::int64_t>::max());
}

MutexResult check_mutex(std::span<const MutexOperation> operations, MutexSpecification specification) {
  if (specification == MutexSpecification::mutex) return check_anonymous_mutex(operations);
  OwnerPath path = check_owner_mutex(operations);
  if (path.is_exact) return std::move(path.result);
  return search_mutex(operations, specification);
}

MutexHistory mutex_history(const sim::History& history, std::string_view object) {
  MutexHistory result;
  for (const sim::Operation& operation : history.operations) {
    if (operation.object != object) continue;
    if (operation.function != "acquire" && operation.function != "release") continue;
    const bool ended = operation.phase != sim::Phase::invoke;
    compare(operation.invoked, ended ? operation.completed : operation.invoked);  // true times, or it is our bug
    result.operations.push_back(
        {.process = operation.process.index,
         .function = operation.function == "acquire" ? MutexFunction::acquire : MutexFunction::release,
         .phase = operation.phase,
         .invoked = operation.invoked.offset(),
         .completed = ended ? operation.completed.offset() : operation.invoked.offset()});
    result.ids.push_back(operation.id);
  }
  for (const OwnershipInterval& hold : ownership_intervals(history)) {
    const bool was_given_up = hold.end == BeliefEnd::crashed || hold.end == BeliefEnd::lost;
    if (!was_given_up || hold.object != object) continue;
    result.operations.push_back({.process = hold.process.index,
                                 .function = MutexFunction::release,
                                 .phase = sim::Phase::info,
                                 .invoked = hold.to->offset(),
                                 .completed = hold.to->offset()});
    result.ids.push_back(hold.acquire);
  }
  return result;
}

}  // namespace lockstep::checker
