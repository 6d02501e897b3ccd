#include "checker/properties/belief/linearizable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "checker/linearizability/linearizability.hpp"
#include "checker/properties/belief/mutex_history.hpp"
#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"

namespace lockstep::checker {
namespace {

/// Of memory, for the search of one object: what clients of a story do is short, and more would only take longer to
/// fail.
constexpr std::size_t object_memory_max = std::size_t{256} << 20;

/// An object, and the model that it is judged by.
struct JudgedObject {
  std::string_view model;
  std::string what;  ///< the model as sentences call it
  MutexHistory mutex;
};

Finding violated(const sim::History& history, const Names& names, const JudgedObject& judged,
                 const LinearizabilityResult& result) {
  std::vector<const sim::Operation*> conflict;
  for (const std::uint32_t position : result.conflict) {
    conflict.push_back(find_operation(history, judged.mutex.ids[position]));
  }
  std::sort(conflict.begin(), conflict.end(), [](const sim::Operation* a, const sim::Operation* b) {
    return std::pair(a->completed.offset(), a->id) < std::pair(b->completed.offset(), b->id);
  });
  Finding finding{.property = "linearizable", .view = View::belief, .verdict = Verdict::violated};
  finding.at = sim::Instant::at(sim::Duration::nanoseconds(*result.at));
  std::string list;
  constexpr std::size_t listed_max = 8;
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
  finding.why = fmt::format("{} cannot {}be what {} did", list, conflict.size() > 1 ? "all " : "", judged.what);
  return finding;
}

/// Why it holds.
std::string allowed(std::size_t ordered, std::string_view what) {
  if (ordered == 0) return "no acquire or release took effect";
  return fmt::format("{} in an order that {} allows", counted(ordered, "operation", "operations"), what);
}

struct Ordered {
  Finding finding;
  std::size_t ordered = 0;  ///< operations, if it holds
};

Ordered judge_object(const sim::History& history, const Names& names, const JudgedObject& judged,
                     std::int64_t permits = 1) {
  const LinearizabilityOptions options{.max_memory = object_memory_max, .permits = permits};
  const LinearizabilityResult result = check_linearizable(judged.mutex.operations, *find_model(judged.model), options);
  if (result.verdict == Verdict::violated) return {violated(history, names, judged, result)};
  Ordered answer{{.property = "linearizable", .view = View::belief, .verdict = result.verdict}, result.order.size()};
  answer.finding.why = result.verdict == Verdict::unknown
                           ? "too many operations have an unknown outcome to try all orders"
                           : allowed(answer.ordered, judged.what);
  return answer;
}

Finding judge_reentrant(const sim::History& history, const Names& names, MutexHistory mutex) {
  return judge_object(history, names, {"reentrant-mutex", "a mutex that its owner may take again", std::move(mutex)})
      .finding;
}

}  // namespace

Finding linearizable(const sim::History& history, const Names& names, std::string_view model) {
  Finding finding{.property = "linearizable", .view = View::belief, .verdict = Verdict::holds};
  if (std::any_of(history.operations.begin(), history.operations.end(),
                  [](const sim::Operation& o) { return o.is_shared; })) {
    finding.verdict = Verdict::not_judged;
    finding.why = "a lock that some share is no mutex; mutual-exclusion judges it";
    return finding;
  }
  const std::string what = model == "mutex" ? "a mutex" : "a mutex that only its owner releases";
  std::size_t ordered = 0;
  std::string nested_why;
  const MutexHistories locks(history);
  for (const std::string_view object : locks.objects()) {
    Ordered answer;
    if (locks.is_taken_again(object)) {
      answer.finding = judge_reentrant(history, names, locks.of(object, true));
      if (answer.finding.verdict == Verdict::holds) nested_why = answer.finding.why;
    } else {
      answer = judge_object(history, names, {model, what, locks.of(object)});
      ordered += answer.ordered;
    }
    const bool is_earlier = answer.finding.at && (!finding.at || compare(*answer.finding.at, *finding.at) < 0);
    if (answer.finding.verdict == Verdict::violated ? is_earlier
                                                    : answer.finding.verdict == Verdict::unknown && !finding.at) {
      finding = answer.finding;
    }
  }
  if (finding.verdict == Verdict::holds) {
    finding.why = ordered == 0 && !nested_why.empty() ? nested_why : allowed(ordered, what);
  }
  return finding;
}

Finding linearizable_semaphore(const sim::History& history, const Names& names, std::string_view object,
                               std::int64_t places) {
  const std::string what = "a semaphore of " + counted(static_cast<std::size_t>(places), "place", "places");
  return judge_object(history, names, {"semaphore", what, MutexHistories(history).of(object)}, places).finding;
}

Property entries::linearizable() {
  return {
      .name = "linearizable",
      .view = View::belief,
      .meaning = "All acquires and releases can be put in one order, true to real time, that a perfect mutex allows.",
      .meaning_zh = "所有加锁与解锁操作能按真实时间排成一个理想互斥锁所允许的顺序。",
      .question =
          "Could one perfect mutex have given all these answers? A lease that runs out under a living holder is "
          "already too much, unless the holder looks at its clock and knows.",
      .implied_by = "mutual-exclusion",
      .why_not_judged = [](const Circumstances& story) -> std::string_view {
        const bool is_shared = story.shares_lock && !story.is_semaphore;
        return is_shared ? "a lock that some share is no mutex; mutual-exclusion judges it" : "";
      },
      .judge =
          [](const JudgedRun& run) {
            return run.places ? linearizable_semaphore(run.story, run.names, run.lock, *run.places)
                              : checker::linearizable(run.story, run.names);
          },
      .headline = [](const BothLanguages&, std::size_t) -> BothLanguages {
        return {"No order of the operations explains what the clients saw", "任何操作顺序都无法解释客户端所见"};
      }};
}

}  // namespace lockstep::checker
