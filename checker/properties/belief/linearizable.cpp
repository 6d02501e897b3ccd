#include "checker/properties/belief/linearizable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "checker/properties/evidence.hpp"

namespace lockstep::checker {
namespace {

std::string_view adjective(MutexSpecification specification) {
  return specification == MutexSpecification::mutex ? "a mutex" : "a mutex that only its owner releases";
}

Finding violated(const sim::History& history, const Names& names, const MutexHistory& mutex, const MutexResult& result,
                 MutexSpecification specification) {
  std::vector<const sim::Operation*> conflict;
  for (const std::uint32_t position : result.conflict) {
    conflict.push_back(find_operation(history, mutex.ids[position]));
  }
  std::sort(conflict.begin(), conflict.end(), [](const sim::Operation* a, const sim::Operation* b) {
    return std::pair(a->completed.offset(), a->id) < std::pair(b->completed.offset(), b->id);
  });
  Finding finding{.property = "linearizable", .view = View::belief, .verdict = Verdict::violated};
  finding.at = sim::Instant::at(*result.at);
  std::string list;
  constexpr std::size_t listed_max = 4;
  for (std::size_t i = 0; i < conflict.size(); ++i) {
    const sim::Operation& o = *conflict[i];
    if (std::find(finding.by.begin(), finding.by.end(), o.process) == finding.by.end()) {
      finding.by.push_back(o.process);
    }
    if (o.completed_in != sim::no_step) finding.evidence.push_back(o.completed_in);
    if (i == listed_max) list += fmt::format(" and {} more", conflict.size() - i);
    if (i >= listed_max) continue;
    if (i != 0) list += i + 1 == conflict.size() ? " and " : ", ";
    list += fmt::format("{}'s {} ({} to {})", name_of(names, o.process), o.function, time_text(o.invoked),
                        o.phase == sim::Phase::ok ? time_text(o.completed) : "unknown");
  }
  std::sort(finding.evidence.begin(), finding.evidence.end());
  finding.evidence.erase(std::unique(finding.evidence.begin(), finding.evidence.end()), finding.evidence.end());
  finding.why =
      fmt::format("{} cannot {}be what {} did", list, conflict.size() > 1 ? "all " : "", adjective(specification));
  return finding;
}

}  // namespace

Finding linearizable(const sim::History& history, const Names& names, MutexSpecification specification) {
  std::set<std::string_view> objects;
  for (const sim::Operation& o : history.operations) {
    if (o.function == "acquire" || o.function == "release") objects.insert(o.object);
  }
  Finding finding{.property = "linearizable", .view = View::belief, .verdict = Verdict::holds};
  if (std::any_of(history.operations.begin(), history.operations.end(),
                  [](const sim::Operation& o) { return o.is_shared; })) {
    finding.verdict = Verdict::unknown;
    finding.why = "a lock that some share is no mutex; mutual-exclusion judges it";
    return finding;
  }
  std::size_t ordered = 0;
  std::optional<sim::Duration> earliest;
  std::string nested_why;
  for (const std::string_view object : objects) {
    const bool is_nested = std::any_of(history.operations.begin(), history.operations.end(), [&](const auto& o) {
      return o.object == object && (o.function == "reenter" || o.function == "leave");
    });
    if (is_nested) {
      const Finding nested = linearizable_reentrant(history, names, object);
      const bool is_earlier = nested.at && (!earliest || nested.at->offset() < *earliest);
      if (nested.verdict == Verdict::violated && is_earlier) {
        earliest = nested.at->offset();
        finding = nested;
      } else if (nested.verdict == Verdict::unknown && !earliest) {
        finding = nested;
      } else if (nested.verdict == Verdict::holds) {
        nested_why = nested.why;
      }
      continue;
    }
    const MutexHistory mutex = mutex_history(history, object);
    const MutexResult result = check_mutex(mutex.operations, specification);
    ordered += result.order.size();
    if (result.verdict == Verdict::violated && (!earliest || *result.at < *earliest)) {
      earliest = result.at;
      finding = violated(history, names, mutex, result, specification);
    } else if (result.verdict == Verdict::unknown && !earliest) {
      finding.verdict = Verdict::unknown;
      finding.why = fmt::format("too many operations on {} have an unknown outcome to try all orders", object);
    }
  }
  if (finding.verdict == Verdict::holds && ordered == 0 && !nested_why.empty()) {
    finding.why = nested_why;
  } else if (finding.verdict == Verdict::holds) {
    finding.why = ordered == 0 ? "no acquire or release took effect"
                               : fmt::format("{} in an order that {} allows",
                                             counted(ordered, "operation", "operations"), adjective(specification));
  }
  return finding;
}

}  // namespace lockstep::checker
