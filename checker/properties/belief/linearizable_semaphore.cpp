#include <algorithm>

#include <fmt/format.h>

#include "checker/linearizability/linearizability.hpp"
#include "checker/properties/belief/linearizable.hpp"
#include "checker/properties/evidence.hpp"

namespace lockstep::checker {
namespace {

/// The acquires and releases of an object, with a release of unknown outcome where a hold was given up: see mutex.hpp.
OperationHistory permits_of(const MutexHistory& mutex) {
  OperationHistory permits;
  for (const MutexOperation& o : mutex.operations) {
    HistoryOperation operation;
    operation.invoked = o.invoked.count_ns();
    operation.returned = o.completed.count_ns();
    operation.process = o.process;
    operation.function = o.function == MutexFunction::acquire ? 0 : 1;
    operation.phase = o.phase;
    permits.operations.push_back(operation);
  }
  return permits;
}

Finding violated(const sim::History& history, const Names& names, const MutexHistory& mutex,
                 const LinearizabilityResult& result, const std::string& what) {
  Finding finding{.property = "linearizable", .view = View::belief, .verdict = Verdict::violated};
  finding.at = sim::Instant::at(sim::Duration::nanoseconds(*result.at));
  std::string list;
  for (std::size_t i = 0; i < result.conflict.size(); ++i) {
    const sim::Operation& o = *find_operation(history, mutex.ids[result.conflict[i]]);
    if (std::find(finding.by.begin(), finding.by.end(), o.process) == finding.by.end()) finding.by.push_back(o.process);
    if (o.completed_in != sim::no_step) finding.evidence.push_back(o.completed_in);
    if (i != 0) list += i + 1 == result.conflict.size() ? " and " : ", ";
    list += fmt::format("{}'s {} ({} to {})", name_of(names, o.process), o.function, time_text(o.invoked),
                        o.phase == sim::Phase::ok ? time_text(o.completed) : "unknown");
  }
  std::sort(finding.evidence.begin(), finding.evidence.end());
  finding.evidence.erase(std::unique(finding.evidence.begin(), finding.evidence.end()), finding.evidence.end());
  finding.why = fmt::format("{} cannot {}be what {} did", list, result.conflict.size() > 1 ? "all " : "", what);
  return finding;
}

Finding judged_by(std::string_view model, const sim::History& history, const Names& names, const MutexHistory& mutex,
                  const LinearizabilityOptions& options, const std::string& what) {
  Finding finding{.property = "linearizable", .view = View::belief, .verdict = Verdict::holds};
  const LinearizabilityResult result = check_linearizable(permits_of(mutex), *find_model(model), options);
  if (result.verdict == Verdict::violated) return violated(history, names, mutex, result, what);
  finding.verdict = result.verdict;
  if (result.verdict == Verdict::unknown) {
    finding.why = "too many operations have an unknown outcome to try all orders";
  } else if (result.order.empty()) {
    finding.why = "no acquire or release took effect";
  } else {
    finding.why =
        fmt::format("{} in an order that {} allows", counted(result.order.size(), "operation", "operations"), what);
  }
  return finding;
}

}  // namespace

Finding linearizable_semaphore(const sim::History& history, const Names& names, std::string_view object,
                               std::int64_t places) {
  LinearizabilityOptions options;
  options.permits = places;
  return judged_by("semaphore", history, names, mutex_history(history, object), options,
                   "a semaphore of " + counted(static_cast<std::size_t>(places), "place", "places"));
}

Finding linearizable_reentrant(const sim::History& history, const Names& names, std::string_view object) {
  return judged_by("reentrant-mutex", history, names, mutex_history(history, object, true), {},
                   "a mutex that its owner may take again");
}

}  // namespace lockstep::checker
