#include "checker/properties/belief/mutex_history.hpp"

#include <algorithm>
#include <map>

#include "checker/properties/evidence.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {

namespace {

constexpr std::uint16_t kAcquires = 0;
constexpr std::uint16_t kReleases = 1;

}  // namespace

MutexHistories::MutexHistories(const sim::History& history)
    : pauses_(history), reentries_(history.operations.size() + 1, 0) {
  for (const sim::Operation& operation : history.operations) {
    Object& object = objects_[operation.object];
    object.operations.push_back(&operation);
    const bool is_inner = operation.function == "reenter" || operation.function == "leave";
    object.is_taken_again = object.is_taken_again || is_inner;
    object.is_locked = object.is_locked || operation.function == "acquire" || operation.function == "release";
    const bool may_count = operation.function == "reenter" && operation.phase != sim::Phase::fail;
    if (may_count && operation.of < reentries_.size()) ++reentries_[operation.of];
  }
  for (const Belief& belief : collect_beliefs(history)) objects_[belief.object].beliefs.push_back(belief);
}

std::vector<std::string_view> MutexHistories::objects() const {
  std::vector<std::string_view> names;
  for (const auto& [name, object] : objects_) {
    if (object.is_locked) names.push_back(name);
  }
  return names;
}

bool MutexHistories::is_taken_again(std::string_view object) const {
  const auto found = objects_.find(object);
  return found != objects_.end() && found->second.is_taken_again;
}

MutexHistory MutexHistories::of(std::string_view name, bool with_inner) const {
  MutexHistory result;
  const auto found = objects_.find(name);
  if (found == objects_.end()) return result;
  const Object& object = found->second;
  std::vector<HistoryOperation>& operations = result.operations.operations;
  // By id of the acquire: which operation gives its hold back; and all that is about the hold.
  std::map<sim::OperationId, std::size_t> release_of;
  std::map<sim::OperationId, std::vector<std::size_t>> about;
  for (const sim::Operation* each : object.operations) {
    const sim::Operation& operation = *each;
    const bool takes = operation.function == "acquire" || (with_inner && operation.function == "reenter");
    const bool gives = operation.function == "release" || (with_inner && operation.function == "leave");
    if (!takes && !gives) continue;
    const bool ended = operation.phase != sim::Phase::invoke;
    compare(operation.invoked, ended ? operation.completed : operation.invoked);  // true times, or it is our bug
    if (operation.function == "release" && operation.phase != sim::Phase::fail) {
      release_of.try_emplace(operation.of, operations.size());
    }
    about[operation.function == "acquire" ? operation.id : operation.of].push_back(operations.size());
    operations.push_back({.invoked = operation.invoked.offset().count_ns(),
                          .returned = (ended ? operation.completed : operation.invoked).offset().count_ns(),
                          .process = operation.process.index,
                          .function = takes ? kAcquires : kReleases,
                          .phase = operation.phase});
    result.ids.push_back(operation.id);
  }

  for (const Belief& belief : object.beliefs) {
    const std::optional<Ending> noticed = noticed_deadline(belief, pauses_.of(belief.process));
    const auto release = release_of.find(belief.acquire);
    if (noticed && compare(noticed->at, belief.from) <= 0) {
      for (const std::size_t i : about[belief.acquire]) operations[i].phase = sim::Phase::fail;
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
    for (std::size_t times = with_inner ? 1 + reentries_[belief.acquire] : 1; times > 0; --times) {
      operations.push_back({.invoked = given_up->count_ns(),
                            .returned = given_up->count_ns(),
                            .process = belief.process.index,
                            .function = kReleases,
                            .phase = sim::Phase::info});
      result.ids.push_back(belief.acquire);
    }
  }
  sim::costly_invariant(
      [&] {
        return result.ids.size() == operations.size() &&
               std::all_of(operations.begin(), operations.end(), [](const HistoryOperation& o) {
                 return o.phase == sim::Phase::invoke || o.invoked <= o.returned;
               });
      },
      "an operation has a number, and ends after it began");
  return result;
}

}  // namespace lockstep::checker
