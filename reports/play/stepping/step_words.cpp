#include "reports/play/stepping/step_words.hpp"

#include <fmt/format.h>

#include "sim/worlds/fault_words.hpp"

namespace lockstep::reports::play {
namespace {

using checker::ExploredEvent;
using checker::ExploredFault;
using scenarios::NextStep;
using scenarios::Text;

std::string lane_name(const Story& story, sim::ProcessId process) {
  return process.is_valid() && process.index < story.outcome.lanes.size() ? story.outcome.lanes[process.index].name
                                                                          : std::string("?");
}

Text words_of_timer(sim::TimerKind kind, const std::string& who) {
  switch (kind) {
    case sim::TimerKind::sleep: return {who + " has waited long enough", who + " 等够了"};
    case sim::TimerKind::work: return {who + "'s work ends", who + " 的工作结束"};
    case sim::TimerKind::timeout: return {who + " waits no longer for an answer", who + " 不再等待应答"};
    case sim::TimerKind::deadline: return {"a time that " + who + " waits for is over", who + " 等待的期限到了"};
    case sim::TimerKind::tick: break;
  }
  return {who + " does what it repeats for ever", who + " 做它周期性的事"};
}

Text words_of_event(const NextStep& step, const Story& run) {
  const ExploredEvent& event = step.event;
  const std::string who = lane_name(run, event.process);
  switch (event.kind) {
    case sim::EventKind::start: return {who + " begins", who + " 开始"};
    case sim::EventKind::timer: return words_of_timer(event.timer_kind, who);
    case sim::EventKind::fault: break;
    case sim::EventKind::message:
      if (event.bounced)
        return {fmt::format("{} hears that its {} gets no answer", who, step.message),
                fmt::format("{} 得知它的 {} 不会有应答", who, step.message)};
      if (event.is_reply)
        return {fmt::format("the answer of {} to {} reaches {}", lane_name(run, event.from), step.message, who),
                fmt::format("{} 对 {} 的应答到达 {}", lane_name(run, event.from), step.message, who)};
      return {fmt::format("{}'s {} reaches {}", lane_name(run, event.from), step.message, who),
              fmt::format("{} 的 {} 到达 {}", lane_name(run, event.from), step.message, who)};
  }
  const sim::FaultWords words = sim::words_of(step.faults.front().kind);
  return {fmt::format(fmt::runtime(words.graph), fmt::arg("who", who)), who};
}

/// What strikes with the event; or was so from the beginning.
Text words_of_fault(const ExploredFault& fault, const Story& run) {
  using Place = ExploredFault::Place;
  const sim::FaultWords words = sim::words_of(fault.kind);
  const std::string who = lane_name(run, fault.process);
  const sim::Words mark = words.marks[0].words;
  if (fault.event == ExploredEvent::no_cause)
    return {fmt::format(" ({}: {})", who, mark.en), fmt::format("（{}：{}）", who, mark.zh)};
  const bool is_before = fault.place == Place::before;
  const bool is_within = fault.place == Place::within;
  const std::string_view en = is_before ? words.graph_before : is_within ? words.graph_within : words.graph;
  const std::string_view zh = words.meanwhile.zh.empty() ? mark.zh : words.meanwhile.zh;
  const std::string_view when = is_before ? "之前" : is_within ? "其间" : "随后";
  return {fmt::format(fmt::runtime(en), fmt::arg("who", who)), fmt::format("，{}：{} {}", when, who, zh)};
}

}  // namespace

Text step_words(const NextStep& step, const Story& run, const picture::Diagram* diagram) {
  Text text = words_of_event(step, run);
  const bool is_fault = step.event.kind == sim::EventKind::fault;
  for (const ExploredFault& fault : step.faults) {
    if (is_fault && &fault == &step.faults.front()) continue;
    const Text more = words_of_fault(fault, run);
    text.en += more.en;
    text.zh += more.zh;
  }
  const auto* stepped = std::get_if<scenarios::SteppedRun>(&step.run);
  if (diagram == nullptr || stepped == nullptr) return text;
  std::string_view between_en = ": ";
  std::string_view between_zh = "：";
  for (const picture::DiagramRow& row : diagram->rows) {
    // How long a pause takes is still open.
    if (row.event.is_fault && !is_fault) continue;
    const bool is_of_it = row.event.who == step.event.process || row.event.who == step.event.from;
    if (!is_of_it || row.event.at.offset() != stepped->at) continue;
    text.en += fmt::format("{}{}", between_en, row.event.text);
    text.zh += fmt::format("{}{}", between_zh, row.text_zh);
    between_en = "; ";
    between_zh = "；";
  }
  return text;
}

Text step_times(const NextStep& step) {
  const scenarios::TimeEnd& first = step.earliest;
  const std::string from = sim::to_string(first.value);
  Text text;
  if (!step.latest) {
    text = {fmt::format("{} {}", first.attained ? "from" : "after", from),
            fmt::format("{}{}", from, first.attained ? "起" : "之后")};
  } else if (*step.latest == first) {
    text = {"at " + from, "在 " + from};
  } else {
    const std::string until = sim::to_string(step.latest->value);
    text = {fmt::format("{} {}, {} {}", first.attained ? "from" : "after", from,
                        step.latest->attained ? "until" : "before", until),
            fmt::format("{}{}，{}{}", from, first.attained ? "起" : "之后", until,
                        step.latest->attained ? "为止" : "之前")};
  }
  if (!step.knows_times) {
    text.en += ", and perhaps beyond";
    text.zh += "，或许更宽";
  }
  return text;
}

}  // namespace lockstep::reports::play
