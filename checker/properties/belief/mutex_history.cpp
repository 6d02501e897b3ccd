#include "checker/properties/belief/mutex_history.hpp"

#include <algorithm>
#include <map>

#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"

namespace lockstep::checker {

namespace {

constexpr std::uint16_t kAcquires = 0;
constexpr std::uint16_t kReleases = 1;

}  // namespace

MutexHistory mutex_history(const sim::History& history, std::string_view object, bool with_inner) {
  MutexHistory result;
  std::vector<HistoryOperation>& operations = result.operations.operations;
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
      release_of.try_emplace(operation.of, operations.size());
    }
    operations.push_back({.invoked = operation.invoked.offset().count_ns(),
                          .returned = (ended ? operation.completed : operation.invoked).offset().count_ns(),
                          .process = operation.process.index,
                          .function = takes ? kAcquires : kReleases,
                          .phase = operation.phase});
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
        if (o.id == belief.acquire || o.of == belief.acquire) operations[i].phase = sim::Phase::fail;
      }
      continue;
    }
    if (noticed && release != release_of.end()) {
      std::int64_t& invoked = operations[release->second].invoked;
      invoked = std::min(invoked, noticed->at.offset().count_ns());
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
      operations.push_back({.invoked = given_up->count_ns(),
                            .returned = given_up->count_ns(),
                            .process = belief.process.index,
                            .function = kReleases,
                            .phase = sim::Phase::info});
      result.ids.push_back(belief.acquire);
    }
  }
  return result;
}

}  // namespace lockstep::checker
