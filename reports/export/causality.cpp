#include "reports/export/causality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "reports/run/events.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

using scenarios::Lane;
using sim::EventKind;
using sim::Operation;
using sim::ProcessId;
using sim::TraceRecord;
using Kind = CausalEvent::Kind;

std::string_view word_of(sim::Phase phase) {
  switch (phase) {
    case sim::Phase::invoke: return "begins";
    case sim::Phase::ok: return "ok";
    case sim::Phase::fail: return "failed";
    case sim::Phase::info: return "outcome unknown";
  }
  return "outcome unknown";
}

/// One that the fault itself has written, beside the record of the step in which it struck.
bool is_note_of_fault(const TraceRecord& r) { return r.kind == EventKind::fault && r.cause == r.step; }

class CausalityBuilder {
 public:
  explicit CausalityBuilder(const Story& story) : outcome_(story.outcome), end_(end_of_story(story.outcome)) {
    for (const scenarios::Judgement& judgement : outcome_.properties) {
      const checker::Finding& finding = judgement.finding;
      if (finding.verdict == checker::Verdict::violated)
        evidence_.insert(finding.evidence.begin(), finding.evidence.end());
    }
  }

  Causality build() {
    for (const TraceRecord& r : outcome_.trace.records) {
      if (!r.lost) times_.emplace(r.step, r.at);
    }
    for (const TraceRecord& r : outcome_.trace.records) add_record(r);
    for (const Operation& o : outcome_.history.operations) add_operation(o);
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.key < b.key; });
    return linked();
  }

 private:
  /// By step. Within one by time: what a paused process has sent leaves when the pause is over. At one time in the
  /// order in which a process acts: it handles something, goes on in its program, sends, and is struck by a fault.
  using Key = std::tuple<sim::Step, sim::Duration, Kind, std::size_t>;
  struct Found {
    Key key;
    CausalEvent event;
    std::optional<std::size_t> sends, receives;  ///< the record of a message
  };

  /// "A/1: " for what a thread does.
  std::string of_part(ProcessId process) const {
    return outcome_.history.host_of(process) == process ? "" : name_of(outcome_, process) + ": ";
  }

  Found& add(Kind kind, ProcessId who, sim::Step step, sim::Instant at, std::size_t order, const std::string& text) {
    Found found;
    found.key = {step, at.offset(), kind, order};
    found.event = {.kind = kind,
                   .process = outcome_.history.host_of(who),
                   .step = step,
                   .at = at,
                   .text = printable(of_part(who) + text),
                   .is_evidence = kind == Kind::step && evidence_.contains(step)};
    found_.push_back(std::move(found));
    return found_.back();
  }

  void add_record(const TraceRecord& r) {
    const auto number = static_cast<std::size_t>(&r - outcome_.trace.records.data());
    if (r.kind == EventKind::message && r.cause < end_) {
      const sim::Instant left = departure_of(r);
      std::string fate = r.lost ? ": it is lost" : "";
      if (!r.lost && r.sent.offset() > left.offset())
        fate = fmt::format(": the network holds it back until {}", time_text(r.sent));
      add(Kind::send, r.from, r.cause, left, number,
          fmt::format("sends {}{} to {}{}", r.text, r.is_reply ? fmt::format(" (answer to {})", r.name) : "",
                      name_of(outcome_, r.process), fate))
          .sends = number;
    }
    if (r.lost || r.step >= end_) return;
    const Kind kind = is_note_of_fault(r) ? Kind::fault : Kind::step;
    Found& found = add(kind, r.process, r.step, r.at, number, text_of(r));
    if (r.kind == EventKind::message) found.receives = number;
  }

  /// When it left its process. `sent` is when it set out through the network, which a partition puts off; a pause of
  /// its process puts off both.
  sim::Instant departure_of(const TraceRecord& r) const {
    const auto cause = times_.find(r.cause);
    if (cause == times_.end()) return r.sent;  // the world began with it
    const sim::Instant caused = cause->second;
    sim::Instant left = caused;
    const ProcessId host = outcome_.history.host_of(r.from);
    for (const sim::Interruption& i : outcome_.history.interruptions) {
      const bool is_paused =
          freezes(i.kind) && outcome_.history.host_of(i.process) == host && i.from.offset() <= caused.offset();
      if (is_paused && i.until && i.until->offset() > left.offset()) left = *i.until;
    }
    return r.sent.offset() < left.offset() ? r.sent : left;
  }

  std::string text_of(const TraceRecord& r) const {
    switch (r.kind) {
      case EventKind::start: return r.name;
      case EventKind::timer: return "timer: " + r.name;
      case EventKind::fault: return r.text.empty() ? r.name + ", but it is dead already" : r.text;
      case EventKind::message: break;
    }
    return fmt::format("receives {}{} from {}", r.text, r.is_reply ? fmt::format(" (answer to {})", r.name) : "",
                       name_of(outcome_, r.from));
  }

  void add_operation(const Operation& o) {
    const std::string what = fmt::format("{} {}: ", o.function, o.object);
    const auto add_phase = [&](sim::Phase phase, sim::Step step, sim::Instant at, std::size_t order) {
      if (step < end_) add(Kind::operation, o.process, step, at, order, what + std::string(word_of(phase)));
    };
    // Whoever has one operation open at a time ends it before it begins the next.
    add_phase(sim::Phase::invoke, o.invoked_in, o.invoked, 2 * std::size_t{o.id});
    if (o.phase != sim::Phase::invoke) add_phase(o.phase, o.completed_in, o.completed, 2 * std::size_t{o.id} + 1);
  }

  Causality linked() {
    Causality result;
    std::map<ProcessId, std::size_t> latest;
    std::map<std::size_t, std::size_t> sent;  // by record
    for (Found& found : found_) {
      const std::size_t here = result.events.size();
      const auto before = latest.find(found.event.process);
      if (before != latest.end()) result.edges.push_back({.from = before->second, .to = here, .name = ""});
      latest.insert_or_assign(found.event.process, here);
      if (found.sends) sent.emplace(*found.sends, here);
      if (found.receives) {
        result.edges.push_back({.from = sent.at(*found.receives),
                                .to = here,
                                .is_message = true,
                                .name = printable(outcome_.trace.records[*found.receives].name)});
      }
      result.events.push_back(std::move(found.event));
    }
    return result;
  }

  const scenarios::Outcome& outcome_;
  sim::Step end_;
  std::set<sim::Step> evidence_;
  std::map<sim::Step, sim::Instant> times_;  ///< true ones
  std::vector<Found> found_;
};

}  // namespace

sim::Step end_of_story(const scenarios::Outcome& outcome) {
  const auto is_probe = [&](ProcessId process) {
    return process.index < outcome.lanes.size() && outcome.lanes[process.index].role == Lane::Role::probe;
  };
  if (shows_probe(outcome)) {
    for (const Operation& o : outcome.history.operations) {
      if (is_probe(o.process) && o.phase != sim::Phase::invoke) return o.completed_in + 1;
    }
    return sim::no_step;
  }
  for (const TraceRecord& r : outcome.trace.records) {
    if (is_probe(r.process) && !r.lost) return r.step;
  }
  return sim::no_step;
}

Causality causality_of(const Story& story) { return CausalityBuilder(story).build(); }

}  // namespace lockstep::reports
