// A story of programs is run, and run again.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/running/runner.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios {
namespace {

std::string name_of(const Outcome& outcome, sim::ProcessId process) {
  return process.index < outcome.lanes.size() ? outcome.lanes[process.index].name : "nobody";
}

sim::ProcessId actor(const sim::TraceRecord& record) {
  return record.kind == sim::EventKind::message ? record.from : record.process;
}

sim::ProcessId actor(const sim::Operation& operation) { return operation.process; }

sim::Instant moment(const sim::TraceRecord& record) { return record.at; }

sim::Instant moment(const sim::Operation& operation) { return operation.invoked; }

/// "A: SET lock f3e9 at 3ms".
std::string told(const Outcome& outcome, const sim::TraceRecord& record) {
  const std::string who = name_of(outcome, actor(record));
  const std::string what = record.text.empty() ? record.name : record.text;
  return fmt::format("{}: {}{} at {}", who, one_line(what), record.is_reply ? " (a reply)" : "",
                     sim::to_string(record.at.offset()));
}

bool are_alike(const sim::TraceRecord& a, const sim::TraceRecord& b) {
  return a.kind == b.kind && a.process == b.process && a.from == b.from && a.at.offset() == b.at.offset() &&
         a.sent.offset() == b.sent.offset() && a.name == b.name && a.text == b.text && a.is_reply == b.is_reply &&
         a.lost == b.lost;
}

std::string told(const Outcome& outcome, const sim::Operation& operation) {
  return fmt::format("{}: {} of {} at {}", name_of(outcome, operation.process), operation.function, operation.object,
                     sim::to_string(operation.invoked.offset()));
}

/// "; A had called last, by its thread 2: futex, read, write". Nothing: the process is no program.
std::string last_calls(const Outcome& outcome, sim::ProcessId process, sim::Instant until) {
  constexpr std::size_t kMost = 10;
  std::vector<ProgramCall> calls;
  for (const ProgramCall& call : outcome.program_calls) {
    if (call.process == process && call.at.offset() <= until.offset()) calls.push_back(call);
  }
  if (calls.empty()) return "";
  const std::uint32_t thread = calls.back().thread;
  std::erase_if(calls, [&](const ProgramCall& call) { return call.thread != thread; });
  if (calls.size() > kMost) calls.erase(calls.begin(), calls.end() - kMost);
  std::string names;
  for (const ProgramCall& call : calls) names += fmt::format("{}{}", names.empty() ? "" : ", ", call.name);
  return fmt::format("; {} had called last, by its thread {}: {}", name_of(outcome, process), thread, names);
}

/// Where one has nothing more, the other one was over.
template <class Each, class Alike>
std::optional<std::string> difference(const Outcome& first, const std::vector<Each>& a, const Outcome& second,
                                      const std::vector<Each>& b, const Alike& alike) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && i < b.size() && alike(a[i], b[i])) continue;
    const bool is_in_first = i < a.size();
    const Outcome& shown = is_in_first ? first : second;
    const Each& event = is_in_first ? a[i] : b[i];
    constexpr std::string_view kNothingMore = "nothing more";
    return fmt::format("the first time {}, the second time {}{}", is_in_first ? told(first, event) : kNothingMore,
                       i < b.size() ? told(second, b[i]) : kNothingMore,
                       last_calls(shown, actor(event), moment(event)));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> first_difference(const Outcome& first, const Outcome& second) {
  if (auto found = difference(first, first.trace.records, second, second.trace.records, are_alike)) return found;
  const auto same = [](const sim::Operation& a, const sim::Operation& b) {
    return a.process == b.process && a.function == b.function && a.object == b.object && a.phase == b.phase &&
           a.invoked.offset() == b.invoked.offset() && a.completed.offset() == b.completed.offset();
  };
  if (auto found = difference(first, first.history.operations, second, second.history.operations, same)) return found;
  if (first.digest == second.digest) return std::nullopt;
  return "no event looks different, but what was sent is";
}

std::variant<Outcome, Diagnostic> run_twice(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                            const RunOptions& options) {
  // Each costs a program a turn: so many take a minute.
  constexpr std::uint64_t kMostEvents = 200'000;
  RunOptions traced = options;
  traced.trace = true;
  traced.max_events = std::min(options.max_events, kMostEvents);
  std::variant<Outcome, Diagnostic> result = run(scenario, catalogue, traced);
  auto* first = std::get_if<Outcome>(&result);
  if (first == nullptr) return result;
  std::variant<Outcome, Diagnostic> again = run(scenario, catalogue, traced);
  Diagnostic differs{.file = scenario.file, .at = {}, .message = "", .kind = Diagnostic::Kind::not_repeatable};
  if (const ClientSpec* program = first_program(scenario)) differs.at = program->at;
  const auto* second = std::get_if<Outcome>(&again);
  const std::optional<std::string> difference =
      second != nullptr ? first_difference(*first, *second) : "the second time " + std::get<Diagnostic>(again).message;
  if (!difference) {
    if (!options.trace) first->trace = {};
    return result;
  }
  differs.message = "not deterministic, so there is no verdict: two runs differ; " + *difference;
  return differs;
}

}  // namespace lockstep::scenarios
