#include "checker/linearizability/near_linear/mutex.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "checker/linearizability/near_linear/mutex_paths.hpp"
#include "checker/linearizability/near_linear/mutex_search.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"

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

MutexHistory mutex_history(const sim::History& history, std::string_view object, bool with_inner) {
  MutexHistory result;
  const std::vector<Belief> beliefs = collect_beliefs(history);
  // By id of the acquire: which operation gives its hold back.
  std::map<sim::OperationId, std::size_t> release_of;
  for (const sim::Operation& operation : history.operations) {
    if (operation.object != object) continue;
    const bool takes = operation.function == "acquire" || (with_inner && operation.function == "reenter");
    const bool gives = operation.function == "release" || (with_inner && operation.function == "leave");
    if (!takes && !gives) continue;
    const bool ended = operation.phase != sim::Phase::invoke;
    compare(operation.invoked, ended ? operation.completed : operation.invoked);  // true times, or it is our bug
    if (operation.function == "release" && operation.phase != sim::Phase::fail) {
      release_of.try_emplace(operation.of, result.operations.size());
    }
    result.operations.push_back({.process = operation.process.index,
                                 .function = takes ? MutexFunction::acquire : MutexFunction::release,
                                 .phase = operation.phase,
                                 .invoked = operation.invoked.offset(),
                                 .completed = ended ? operation.completed.offset() : operation.invoked.offset()});
    result.ids.push_back(operation.id);
  }

  const Pauses pauses(history);
  for (const Belief& belief : beliefs) {
    if (belief.object != object) continue;
    const std::optional<Ending> noticed = noticed_deadline(belief, pauses.of(belief.process));
    const auto release = release_of.find(belief.acquire);
    if (noticed && compare(noticed->at, belief.from) <= 0) {
      for (std::size_t i = 0; i < result.ids.size(); ++i) {
        const sim::Operation& o = history.operations[result.ids[i] - 1];
        if (o.id == belief.acquire || o.of == belief.acquire) result.operations[i].phase = sim::Phase::fail;
      }
      continue;
    }
    if (noticed && release != release_of.end()) {
      sim::Duration& invoked = result.operations[release->second].invoked;
      invoked = std::min(invoked, noticed->at.offset());
    }
    // Of what ends a belief in one step, a release comes first.
    const std::optional<Ending>* first = &belief.released;
    for (const auto* ending : {&belief.lost, &belief.crashed}) {
      if (*ending && (!*first || (*ending)->step < (*first)->step)) first = ending;
    }
    std::optional<sim::Duration> given_up;
    if (first != &belief.released) given_up = (*first)->at.offset();
    if (noticed && (given_up || release == release_of.end())) {
      given_up = std::min(given_up.value_or(noticed->at.offset()), noticed->at.offset());
    }
    if (!given_up) continue;
    std::size_t times = 1;
    for (std::size_t i = 0; with_inner && i < history.operations.size(); ++i) {
      const sim::Operation& o = history.operations[i];
      if (o.of == belief.acquire && o.function == "reenter" && o.phase != sim::Phase::fail) ++times;
    }
    for (; times > 0; --times) {
      result.operations.push_back({.process = belief.process.index,
                                   .function = MutexFunction::release,
                                   .phase = sim::Phase::info,
                                   .invoked = *given_up,
                                   .completed = *given_up});
      result.ids.push_back(belief.acquire);
    }
  }
  return result;
}

}  // namespace lockstep::checker
