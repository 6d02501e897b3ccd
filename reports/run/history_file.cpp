#include "reports/run/history_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"
#include "reports/json/json.hpp"
#include "reports/run/verdicts.hpp"
#include "sim/utf8.hpp"

namespace lockstep::reports {
namespace {

struct Written {
  sim::Duration at;
  sim::Step step = 0;
  std::uint64_t rank = 0;  ///< within the step
  std::size_t number = 0;  ///< among equals
  std::string process;     ///< empty: the nemesis
  sim::Phase type = sim::Phase::info;
  std::string_view function;
  std::string object;
  std::optional<std::int64_t> value;
  std::string text;        ///< of the nemesis; of an operation why its outcome is unknown
  std::string_view model;  ///< of the object's first operation: what it is
  std::optional<std::int64_t> permits;
};

constexpr std::uint64_t kAfterOperations = std::uint64_t{1} << 40U;
constexpr std::uint64_t kTimesMax = 128;  ///< a hold is taken at most 101 times

std::string_view text_of(sim::Phase phase) {
  switch (phase) {
    case sim::Phase::invoke: return "invoke";
    case sim::Phase::ok: return "ok";
    case sim::Phase::fail: return "fail";
    case sim::Phase::info: return "info";
  }
  return "info";
}

/// It asks whether the lock can still be had, when the story is over: no property looks at its own holds.
bool is_probe(const scenarios::Outcome& outcome, sim::ProcessId process) {
  return process.index < outcome.lanes.size() && outcome.lanes[process.index].role == scenarios::Lane::Role::probe;
}

/// When the process of an operation that never ended crashed, if it did.
const sim::Interruption* crash_of(const sim::History& history, const sim::Operation& operation) {
  for (const sim::Interruption& i : history.interruptions) {
    const bool is_crash = kills(i.kind) && i.process == operation.process;
    if (is_crash && i.step >= operation.invoked_in) return &i;
  }
  return nullptr;
}

bool acquires(const sim::Operation& o) { return o.function == "acquire" || o.function == "reenter"; }
bool releases(const sim::Operation& o) { return o.function == "release" || o.function == "leave"; }

/// By object, the model of each lock, by what is done to it.
using Models = std::map<std::string, std::string_view, std::less<>>;

Models models_of(const scenarios::Outcome& outcome) {
  Models models;
  for (const sim::Operation& o : outcome.history.operations) {
    if (!acquires(o)) continue;
    std::string_view& model = models.try_emplace(o.object, "owner-mutex").first->second;
    if (outcome.places) {
      model = "semaphore";
    } else if (o.is_shared) {
      model = "read-write-lock";
    } else if (o.function == "reenter" && model != "read-write-lock") {
      model = "reentrant-mutex";
    }
  }
  return models;
}

std::string_view model_of(const Models& models, std::string_view object) {
  const auto found = models.find(object);
  return found == models.end() ? std::string_view() : found->second;
}

/// Taking a lock again is an acquire as well, and so with its release: a model says whether it allows that. Of a lock
/// that some share, whether it is.
std::string_view name_in_file(const scenarios::Outcome& outcome, const Models& models,
                              const sim::Operation& operation) {
  const bool takes = acquires(operation);
  if (!takes && !releases(operation)) return operation.function;
  if (model_of(models, operation.object) != "read-write-lock") return takes ? "acquire" : "release";
  const sim::Operation* first = &operation;
  while (first->of != 0) first = checker::find_operation(outcome.history, first->of);
  if (takes) return first->is_shared ? "acquire-read" : "acquire-write";
  return first->is_shared ? "release-read" : "release-write";
}

void add_operations(std::vector<Written>& events, const scenarios::Outcome& outcome, const Models& models,
                    const std::set<sim::OperationId>& left_out) {
  for (const sim::Operation& operation : outcome.history.operations) {
    if (operation.function == "lost") continue;   // the release below says it
    if (operation.function == "renew") continue;  // nothing that the models of locks know
    if (is_probe(outcome, operation.process) || left_out.contains(operation.id)) continue;
    Written event{.at = operation.invoked.offset(),
                  .step = operation.invoked_in,
                  .rank = 2ULL * operation.id,
                  .process = name_of(outcome, operation.process),
                  .type = sim::Phase::invoke,
                  .function = name_in_file(outcome, models, operation),
                  .object = operation.object};
    if (operation.function == "write") event.value = operation.value;
    events.push_back(event);
    event.rank += 1;
    if (operation.phase != sim::Phase::invoke) {
      event.at = operation.completed.offset();
      event.step = operation.completed_in;
      event.type = operation.phase;
      if (operation.phase == sim::Phase::ok) event.value = operation.value;
    } else if (const sim::Interruption* crash = crash_of(outcome.history, operation)) {
      event.at = crash->from.offset();
      event.step = crash->step;
      event.type = sim::Phase::info;
      event.text = "crashed";
    } else {
      continue;
    }
    events.push_back(std::move(event));
  }
}

/// What ends a hold besides its own release, as checker/properties/belief/mutex_history.hpp has it; and what is not
/// written for that.
struct Abandoned {
  struct End {
    const checker::Belief* belief;
    checker::Ending at;
    std::string_view why;
    std::size_t times;
  };
  std::vector<checker::Belief> beliefs;
  std::vector<End> ends;
  std::set<sim::OperationId> left_out;
};

Abandoned abandoned_holds(const sim::History& history) {
  Abandoned result;
  result.beliefs = checker::collect_beliefs(history);
  const checker::Pauses pauses(history);
  for (const checker::Belief& belief : result.beliefs) {
    const auto noticed = checker::noticed_deadline(belief, pauses.of(belief.process));
    const sim::Operation* release = nullptr;
    std::size_t times = 1;
    for (const sim::Operation& o : history.operations) {
      if (o.of != belief.acquire || o.phase == sim::Phase::fail) continue;
      if (o.function == "release" && release == nullptr) release = &o;
      if (o.function == "reenter") ++times;
    }
    if (noticed && checker::compare(noticed->at, belief.from) <= 0) {
      result.left_out.insert(belief.acquire);
      for (const sim::Operation& o : history.operations) {
        if (o.of == belief.acquire && o.function == "release") result.left_out.insert(o.id);
      }
      continue;
    }
    // Of what ends a belief in one step, a release comes first.
    std::optional<checker::Ending> end;
    std::string_view why;
    const auto comes_first = [&](const std::optional<checker::Ending>& other, std::string_view reason) {
      const auto& released = belief.released;
      if (!other || (released && released->step <= other->step) || (end && end->step <= other->step)) return;
      end = other;
      why = reason;
    };
    comes_first(belief.lost, "gave it up");
    comes_first(belief.crashed, "crashed");
    const bool is_over = noticed && (release == nullptr || checker::compare(noticed->at, release->invoked) < 0) &&
                         (!end || checker::compare(noticed->at, end->at) < 0);
    if (is_over) {
      end = noticed;
      why = "its time was over";
      if (release != nullptr) result.left_out.insert(release->id);
    }
    if (end) result.ends.push_back({&belief, *end, why, times});
  }
  return result;
}

std::string_view release_of(const scenarios::Outcome& outcome, const Models& models, const checker::Belief& belief) {
  if (model_of(models, belief.object) != "read-write-lock") return "release";
  return checker::find_operation(outcome.history, belief.acquire)->is_shared ? "release-read" : "release-write";
}

void add_abandoned_holds(std::vector<Written>& events, const scenarios::Outcome& outcome, const Models& models,
                         const Abandoned& abandoned) {
  for (const Abandoned::End& end : abandoned.ends) {
    if (is_probe(outcome, end.belief->process)) continue;
    const std::string_view function = release_of(outcome, models, *end.belief);
    for (std::size_t i = 0; i < end.times; ++i) {
      Written event{.at = end.at.at.offset(),
                    .step = end.at.step,
                    .rank = kAfterOperations + 2ULL * (end.belief->acquire * kTimesMax + i),
                    .process = name_of(outcome, end.belief->process),
                    .type = sim::Phase::invoke,
                    .function = function,
                    .object = std::string(end.belief->object)};
      events.push_back(event);
      event.rank += 1;
      event.type = sim::Phase::info;
      event.text = end.why;
      events.push_back(std::move(event));
    }
  }
}

void add_interruptions(std::vector<Written>& events, const scenarios::Outcome& outcome) {
  for (const sim::Interruption& i : outcome.history.interruptions) {
    Written event{
        .at = i.from.offset(), .step = i.step, .function = name_of(i.kind), .text = name_of(outcome, i.process)};
    events.push_back(event);
    if (!i.until) continue;
    event.at = i.until->offset();
    event.step = sim::no_step;
    event.function = entry_of(i.kind).end;
    events.push_back(std::move(event));
  }
}

/// Operations that touch are concurrent (checker/properties/belief/mutex_history.hpp), and a file knows only before
/// and after: of what happens at one moment, invocations come first, as far as the operations of one process allow.
void put_invocations_first(std::vector<Written>& events) {
  std::vector<Written> ordered;
  ordered.reserve(events.size());
  for (std::size_t begin = 0; begin < events.size();) {
    std::deque<Written> moment;
    const sim::Duration at = events[begin].at;
    for (; begin < events.size() && events[begin].at == at; ++begin) moment.push_back(std::move(events[begin]));
    while (!moment.empty()) {
      auto next = moment.begin();
      for (auto candidate = moment.begin(); candidate != moment.end(); ++candidate) {
        const bool is_first_of_process =
            std::none_of(moment.begin(), candidate, [&](const Written& e) { return e.process == candidate->process; });
        if (candidate->type != sim::Phase::invoke || !is_first_of_process) continue;
        next = candidate;
        break;
      }
      ordered.push_back(std::move(*next));
      moment.erase(next);
    }
  }
  events = std::move(ordered);
}

/// Bytes that are no UTF-8 become U+FFFD, as in JSON lines: no reader takes them.
std::string edn_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const sim::Character c = sim::first_character(text);
    text.remove_prefix(c.bytes.size());
    if (c.code == '"' || c.code == '\\') out += '\\';
    if (c.code < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
    } else if (c.code == sim::no_character) {
      out += "\xEF\xBF\xBD";
    } else {
      out += c.bytes;
    }
  }
  return out + '"';
}

std::string edn_line(const Written& event, std::size_t index) {
  const bool is_nemesis = event.process.empty();
  std::string line =
      fmt::format("{{:index {}, :time {}, :process {}, :type :{}, :f :{}", index, event.at.count_ns(),
                  is_nemesis ? ":nemesis" : edn_string(event.process), text_of(event.type), event.function);
  if (!event.object.empty()) line += fmt::format(", :object {}", edn_string(event.object));
  if (!event.model.empty()) line += fmt::format(", :model {}", edn_string(event.model));
  if (event.permits) line += fmt::format(", :permits {}", *event.permits);
  if (is_nemesis) {
    line += fmt::format(", :value {}", edn_string(event.text));
  } else {
    line += fmt::format(", :value {}", event.value ? std::to_string(*event.value) : "nil");
    if (!event.text.empty()) line += fmt::format(", :error {}", edn_string(event.text));
  }
  return line + "}\n";
}

std::string json_line(const Written& event, std::size_t index) {
  const bool is_nemesis = event.process.empty();
  Json line;
  line["index"] = index;
  line["time"] = event.at.count_ns();
  line["process"] = is_nemesis ? "nemesis" : event.process;
  line["type"] = text_of(event.type);
  line["f"] = event.function;
  if (!event.object.empty()) line["object"] = event.object;
  if (!event.model.empty()) line["model"] = event.model;
  if (event.permits) line["permits"] = *event.permits;
  if (is_nemesis) {
    line["value"] = event.text;
  } else {
    line["value"] = event.value;
    if (!event.text.empty()) line["error"] = event.text;
  }
  return line.dump() + "\n";
}

}  // namespace

std::optional<HistoryFormat> history_format_of(std::string_view file_name) {
  if (file_name.ends_with(".edn")) return HistoryFormat::edn;
  if (file_name.ends_with(".jsonl") || file_name.ends_with(".ndjson")) return HistoryFormat::json_lines;
  return std::nullopt;
}

std::string history_text(const scenarios::Outcome& outcome, HistoryFormat format) {
  std::vector<Written> events;
  const Abandoned abandoned = abandoned_holds(outcome.history);
  const Models models = models_of(outcome);
  add_operations(events, outcome, models, abandoned.left_out);
  add_abandoned_holds(events, outcome, models, abandoned);
  add_interruptions(events, outcome);
  for (std::size_t i = 0; i < events.size(); ++i) events[i].number = i;
  std::sort(events.begin(), events.end(), [](const Written& a, const Written& b) {
    return std::tuple(a.at, a.step, a.rank, a.number) < std::tuple(b.at, b.step, b.rank, b.number);
  });
  put_invocations_first(events);
  // So that nobody has to say what it is judged by.
  std::set<std::string> seen;
  for (Written& event : events) {
    if (event.process.empty() || !seen.insert(event.object).second) continue;
    event.model = model_of(models, event.object);
    if (event.model == "semaphore") event.permits = outcome.places;
  }
  std::string text;
  for (std::size_t i = 0; i < events.size(); ++i) {
    text += format == HistoryFormat::edn ? edn_line(events[i], i) : json_line(events[i], i);
  }
  return text;
}

}  // namespace lockstep::reports
