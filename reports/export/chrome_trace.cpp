#include "reports/export/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/export/causality.hpp"
#include "reports/json/json.hpp"
#include "reports/picture/diagram.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

using picture::DiagramBar;
using sim::Duration;
using sim::ProcessId;

constexpr std::size_t kSliceNameColumnsMax = 120;
constexpr Duration kSliceLongest = Duration::microseconds(100);
/// Threads of bars are numbered from here: no process has this number.
constexpr std::int64_t kFirstBarThread = 100'000;

/// Whole microseconds as integers, so that a viewer cannot round them.
Json microseconds(Duration d) {
  if (d.count_ns() % 1000 == 0) return d.count_ns() / 1000;
  return static_cast<double>(d.count_ns()) / 1000;  // tidy: not deciding
}

/// All that a process did at one time: a viewer ties an arrow to the only slice that is there.
struct Slice {
  Duration at;
  ProcessId process;
  std::vector<std::size_t> events;
  Duration length = kSliceLongest;
};

class ChromeTracer {
 public:
  explicit ChromeTracer(const Story& story)
      : story_(story),
        causality_(causality_of(story)),
        diagram_(picture::diagram_of(story, {.rows_max = std::numeric_limits<std::size_t>::max()})) {
    for (const CausalEvent& event : causality_.events) end_ = std::max(end_, event.at.offset());
  }

  std::string written() {
    add_slices();
    add_flows();
    add_bars();
    add_violations();
    Json document;
    document["displayTimeUnit"] = "ms";
    document["otherData"] = {{"story", printable(story_.scenario.id)},
                             {"title", printable(story_.scenario.title.en)},
                             {"clock", "virtual time"}};
    document["traceEvents"] = std::move(events_);
    return document.dump(1) + "\n";
  }

 private:
  static std::int64_t number_of(ProcessId process) { return process.index + 1; }

  void add_metadata(const char* what, ProcessId process, std::int64_t thread, Json arguments) {
    events_.push_back(
        {{"name", what}, {"ph", "M"}, {"pid", number_of(process)}, {"tid", thread}, {"args", std::move(arguments)}});
  }

  /// Once for each process that has anything.
  void name_process(ProcessId process) {
    if (!named_.emplace(process, true).second) return;
    add_metadata("process_name", process, number_of(process), {{"name", printable(name_of(story_.outcome, process))}});
    add_metadata("process_sort_index", process, number_of(process), {{"sort_index", number_of(process)}});
    add_metadata("thread_name", process, number_of(process), {{"name", "events"}});
    add_metadata("thread_sort_index", process, number_of(process), {{"sort_index", 0}});
  }

  std::vector<Slice> slices() const {
    std::map<std::pair<ProcessId, Duration>, Slice> by_moment;
    for (std::size_t i = 0; i < causality_.events.size(); ++i) {
      const CausalEvent& event = causality_.events[i];
      Slice& slice = by_moment[{event.process, event.at.offset()}];
      slice.at = event.at.offset();
      slice.process = event.process;
      slice.events.push_back(i);
    }
    std::vector<Slice> all;
    for (auto& [moment, slice] : by_moment) {
      if (!all.empty() && all.back().process == slice.process)
        all.back().length = std::min(kSliceLongest, slice.at - all.back().at);
      all.push_back(std::move(slice));
    }
    return all;
  }

  void add_slices() {
    for (const Slice& slice : slices()) {
      name_process(slice.process);
      Json texts = Json::array();
      std::string name;
      for (const std::size_t i : slice.events) {
        texts.push_back(causality_.events[i].text);
        name += (name.empty() ? "" : "; ") + causality_.events[i].text;
      }
      events_.push_back({{"name", clip(name, kSliceNameColumnsMax)},
                         {"cat", "event"},
                         {"ph", "X"},
                         {"ts", microseconds(slice.at)},
                         {"dur", microseconds(slice.length)},
                         {"pid", number_of(slice.process)},
                         {"tid", number_of(slice.process)},
                         {"args", {{"step", causality_.events[slice.events.front()].step}, {"events", texts}}}});
    }
  }

  void add_flows() {
    std::int64_t id = 0;
    for (const CausalEdge& edge : causality_.edges) {
      if (!edge.is_message) continue;
      ++id;
      for (const bool is_start : {true, false}) {
        const CausalEvent& event = causality_.events[is_start ? edge.from : edge.to];
        Json flow{{"name", edge.name},
                  {"cat", "message"},
                  {"ph", is_start ? "s" : "f"},
                  {"id", id},
                  {"ts", microseconds(event.at.offset())},
                  {"pid", number_of(event.process)},
                  {"tid", number_of(event.process)}};
        // Without it an arrow ends at the next slice that begins, and not at the one that is there.
        if (!is_start) flow["bp"] = "e";
        events_.push_back(std::move(flow));
      }
    }
  }

  struct BarThread {
    ProcessId process;
    std::string name;
    std::size_t column = 0;
    Duration free_from;
    std::int64_t number = 0;
  };

  static std::string_view thread_name(DiagramBar::Kind kind) {
    switch (kind) {
      case DiagramBar::Kind::belief: return "believes to hold the lock";
      case DiagramBar::Kind::lease:
      case DiagramBar::Kind::overdue: return "has the lock's key";
      case DiagramBar::Kind::paused:
      case DiagramBar::Kind::dead: return "paused or dead";
    }
    return "";
  }

  static std::string name_of_bar(const DiagramBar& bar) {
    const std::string whose = bar.label.empty() ? "" : ": " + bar.label;
    switch (bar.kind) {
      case DiagramBar::Kind::belief: return "believes to hold the lock";
      case DiagramBar::Kind::lease: return "lease" + whose;
      case DiagramBar::Kind::overdue: return "lease is over" + whose;
      case DiagramBar::Kind::paused: return "paused";
      case DiagramBar::Kind::dead: return "dead";
    }
    return "";
  }

  /// Slices of one thread may not cross each other: where they would, the later one gets a thread of its own.
  BarThread& thread_for(const DiagramBar& bar, Duration from, Duration to) {
    const std::string_view name = thread_name(bar.kind);
    auto free = std::find_if(threads_.begin(), threads_.end(), [&](const BarThread& thread) {
      return thread.process == bar.process && thread.name == name && thread.column == bar.column &&
             thread.free_from <= from;
    });
    if (free == threads_.end()) {
      const auto number = static_cast<std::int64_t>(threads_.size());
      threads_.push_back({bar.process, std::string(name), bar.column, from, kFirstBarThread + number});
      free = threads_.end() - 1;
      const ProcessId host = story_.outcome.history.host_of(bar.process);
      name_process(host);
      const std::string who = host == bar.process ? "" : printable(name_of(story_.outcome, bar.process)) + " ";
      add_metadata("thread_name", host, free->number, {{"name", who + std::string(name)}});
      add_metadata("thread_sort_index", host, free->number, {{"sort_index", number + 1}});
    }
    free->free_from = to;
    return *free;
  }

  void add_bars() {
    std::vector<std::size_t> by_time;
    for (std::size_t i = 0; i < diagram_.bars.size(); ++i) by_time.push_back(i);
    std::sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) {
      const auto key = [&](std::size_t i) {
        const picture::Place& from = diagram_.bars[i].from;
        return std::tuple(from.at.offset(), from.step, i);
      };
      return key(a) < key(b);
    });
    for (const std::size_t i : by_time) {
      const DiagramBar& bar = diagram_.bars[i];
      const Duration from = bar.from.at.offset();
      if (from > end_) continue;
      // What never ends is drawn to the end; what ends later than that, as well.
      const Duration to = std::max(from, bar.to ? std::min(bar.to->at.offset(), end_) : end_);
      const BarThread& thread = thread_for(bar, from, to);
      events_.push_back({{"name", name_of_bar(bar)},
                         {"cat", "bar"},
                         {"ph", "X"},
                         {"ts", microseconds(from)},
                         {"dur", microseconds(to - from)},
                         {"pid", number_of(story_.outcome.history.host_of(bar.process))},
                         {"tid", thread.number},
                         {"args", {{"what", bar.what}}}});
    }
  }

  void add_violations() {
    for (const scenarios::Judgement& judgement : story_.outcome.properties) {
      const checker::Finding& finding = judgement.finding;
      if (finding.verdict != checker::Verdict::violated || !finding.at) continue;
      // What is broken because a long time has passed would leave no room for the rest; its name says when.
      const ProcessId who = finding.by.empty() ? ProcessId{0} : story_.outcome.history.host_of(finding.by.back());
      events_.push_back(
          {{"name", printable(fmt::format("{} {}", finding.property, observed_text(story_.outcome, finding)))},
           {"cat", "violation"},
           {"ph", "i"},
           {"s", "g"},
           {"ts", microseconds(std::min(finding.at->offset(), end_))},
           {"pid", number_of(who)},
           {"tid", number_of(who)},
           {"args", {{"why", printable(finding.why)}}}});
    }
  }

  const Story& story_;
  Causality causality_;
  picture::Diagram diagram_;
  Duration end_;
  std::map<ProcessId, bool> named_;
  std::vector<BarThread> threads_;
  Json events_ = Json::array();
};

}  // namespace

std::string chrome_trace(const Story& story) { return ChromeTracer(story).written(); }

}  // namespace lockstep::reports
