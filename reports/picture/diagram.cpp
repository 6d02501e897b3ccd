#include "reports/picture/diagram.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "reports/run/lane_state.hpp"
#include "reports/text/local_time.hpp"
#include "reports/text/text.hpp"
#include "reports/words/row_words.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::reports::picture {
namespace {

using Role = scenarios::Lane::Role;
using sim::Instant;
using sim::ProcessId;
using sim::TraceRecord;

Moment moment_of_row(const Event& event) { return {event.at, event.step, !event.is_fault}; }

class Builder {
 public:
  Builder(const Story& story, const DiagramOptions& options)
      : story_(story), outcome_(story.outcome), options_(options), states_(story) {}

  Diagram build() {
    add_rows();
    add_messages();
    add_lanes();
    add_beliefs();
    add_interruptions();
    add_leases();
    add_overlaps();
    return std::move(diagram_);
  }

 private:
  // --- Rows.

  void add_rows() {
    std::vector<Event> events = events_of(story_);
    const std::size_t before = events.size();
    fold_repetitions(events, story_);
    diagram_.folded = before - events.size();
    if (events.size() > options_.rows_max) {
      diagram_.rows_left_out = events.size() - options_.rows_max;
      events.resize(options_.rows_max);
    }
    std::set<sim::Step> evidence;
    for (const scenarios::Judgement& judgement : outcome_.properties) {
      if (judgement.finding.verdict != checker::Verdict::violated) continue;
      evidence.insert(judgement.finding.evidence.begin(), judgement.finding.evidence.end());
    }
    for (Event& event : events) {
      DiagramRow& row = diagram_.rows.emplace_back();
      row.text_zh = row_in(Language::zh, event);
      row.is_evidence = evidence.contains(event.step);
      for (const ProcessId process : states_.overlapping(moment_of_row(event)))
        row.overlap.push_back(name_of(outcome_, process));
      row.event = std::move(event);
    }
    if (!diagram_.rows.empty()) diagram_.end = diagram_.rows.back().event.at;
  }

  // --- Messages.

  /// A request that has a row, lost or not, and the answer to it.
  void add_messages() {
    using Key = std::tuple<sim::Step, ProcessId, ProcessId>;
    std::map<Key, std::size_t> row_of;  // by the step in which it was handled or, lost, left
    for (std::size_t i = 0; i < diagram_.rows.size(); ++i) {
      const Event& event = diagram_.rows[i].event;
      if (event.arrow && event.arrow->fate != Arrow::Fate::leaves)
        row_of.emplace(Key{event.step, event.arrow->from, event.arrow->to}, i);
    }
    std::map<std::pair<sim::Step, ProcessId>, std::size_t> answered_in;  // requests with a row, by who handled them
    for (const TraceRecord& r : outcome_.trace.records) {
      if (r.kind != sim::EventKind::message) continue;
      auto row = row_of.find({r.step, r.from, r.process});
      std::optional<std::size_t> shown;
      if (row != row_of.end()) shown = row->second;
      if (const auto request = answered_in.find({r.cause, r.from});
          !shown && r.is_reply && request != answered_in.end())
        shown = request->second;
      if (!shown) continue;
      if (!r.is_reply && !r.lost) answered_in.emplace(std::pair(r.step, r.process), *shown);
      if (row != row_of.end() && !diagram_.rows[*shown].arrow) diagram_.rows[*shown].arrow = diagram_.messages.size();
      diagram_.messages.push_back({.from = r.from,
                                   .to = r.process,
                                   .sent = {r.sent, r.cause},
                                   .handled = {r.at, r.step},
                                   .is_reply = r.is_reply,
                                   .is_lost = r.lost,
                                   .name = printable(r.name),
                                   .text = printable(r.text),
                                   .row = *shown});
      if (r.at.offset() > diagram_.end.offset() && !r.lost) diagram_.end = r.at;
    }
  }

  // --- Lanes.

  void add_lanes() {
    std::set<ProcessId> used;
    for (const DiagramRow& row : diagram_.rows) {
      if (row.event.who.is_valid()) used.insert(row.event.who);
    }
    for (const DiagramMessage& message : diagram_.messages) used.insert({message.from, message.to});
    for (const auto& hold : states_.holds()) used.insert(hold.process);
    const LocalTimes local(outcome_);
    const std::vector<ProcessId> differing = local.that_differ();
    const std::set<ProcessId> own_time(differing.begin(), differing.end());
    for (const Role role : {Role::client, Role::probe, Role::server, Role::sentinel, Role::resource}) {
      for (std::size_t i = 0; i < outcome_.lanes.size(); ++i) {
        const ProcessId process{static_cast<std::uint16_t>(i)};
        const scenarios::Lane& lane = outcome_.lanes[i];
        // A process whose parts do all of its work needs no lane, nor does a sentinel that only listens.
        const bool is_always = role == Role::server || (role == Role::client && !has_parts(process));
        if (lane.role != role || (!is_always && !used.contains(process))) continue;
        if (role == Role::probe && !shows_probe(outcome_)) continue;
        diagram_.lanes.push_back({process, role, printable(lane.name), own_time.contains(process)});
      }
    }
  }

  bool has_parts(ProcessId process) const {
    return std::any_of(outcome_.lanes.begin(), outcome_.lanes.end(),
                       [&](const scenarios::Lane& lane) { return lane.host.is_valid() && lane.host == process; });
  }

  bool is_shown(ProcessId process) const { return diagram_.lane_of(process).has_value(); }

  // --- Bars.

  /// Leases change with commands, which have rows: but for those that are folded away, and their leases with them.
  bool has_row_within(const DiagramBar& bar) const {
    const auto is_before = [](const DiagramRow& row, const Place& place) {
      return std::pair(row.event.at.offset(), row.event.step) < std::pair(place.at.offset(), place.step);
    };
    const auto next = std::lower_bound(diagram_.rows.begin(), diagram_.rows.end(), bar.from, is_before);
    return next != diagram_.rows.end() && (!bar.to || next->event.at.offset() <= bar.to->at.offset());
  }

  void add_bar(DiagramBar bar) {
    const bool is_in_time = bar.from.at.offset() <= diagram_.end.offset();
    const bool is_lease = bar.kind == DiagramBar::Kind::lease || bar.kind == DiagramBar::Kind::overdue;
    if (is_lease && !has_row_within(bar)) return;
    const bool is_empty = bar.to && bar.to->at.offset() == bar.from.at.offset() && bar.to->step <= bar.from.step;
    if (is_shown(bar.process) && is_in_time && !is_empty) diagram_.bars.push_back(std::move(bar));
  }

  static std::string until_en(const std::optional<Place>& to) { return to ? " until " + time_text(to->at) : ""; }
  static std::string until_zh(const std::optional<Place>& to) {
    return to ? fmt::format("，到 {} 为止", time_text(to->at)) : "";
  }

  void add_beliefs() {
    for (const auto& hold : states_.holds()) {
      if (hold.is_empty()) continue;
      DiagramBar bar{.kind = DiagramBar::Kind::belief, .process = hold.process, .from = {hold.from, hold.from_step}};
      const bool by_itself = hold.end == checker::BeliefEnd::deadline;
      if (hold.to) bar.to = Place{*hold.to, by_itself ? 0 : hold.to_step};
      const std::string name = printable(name_of(outcome_, hold.process));
      const std::string from = time_text(hold.from);
      bar.what = fmt::format("{} believes from {} on that it holds the lock{}", name, from, until_en(bar.to));
      bar.what_zh = fmt::format("{} 从 {} 起认为自己持有锁{}", name, from, until_zh(bar.to));
      add_bar(std::move(bar));
    }
  }

  void add_interruptions() {
    for (const sim::Interruption& i : outcome_.history.interruptions) {
      const sim::Words state = sim::words_of(i.kind).meanwhile;
      DiagramBar bar{.kind = kills(i.kind) ? DiagramBar::Kind::dead : DiagramBar::Kind::paused,
                     .process = i.process,
                     .from = {i.from, i.step}};
      if (i.until) bar.to = Place{*i.until, 0};
      const std::string name = printable(name_of(outcome_, i.process));
      const std::string from = time_text(i.from);
      bar.what = fmt::format("{} {} from {} on{}", name, state.en, from, until_en(bar.to));
      bar.what_zh = fmt::format("{} 从 {} 起{}{}", name, from, state.zh, until_zh(bar.to));
      add_bar(std::move(bar));
    }
  }

  struct OpenLease {
    Place from;
    std::string label;
    std::optional<Instant> expires;
  };

  /// A lease from a change of its key to the next one; what is beyond its end is drawn apart.
  void close_lease(ProcessId server, const std::string& key, std::size_t column, const OpenLease& lease,
                   std::optional<Place> to) {
    const std::string server_name = printable(name_of(outcome_, server));
    const auto bar_of = [&](DiagramBar::Kind kind, Place from, std::optional<Place> until) {
      DiagramBar bar{
          .kind = kind, .process = server, .column = column, .from = from, .to = until, .label = lease.label};
      const bool is_over = kind == DiagramBar::Kind::overdue;
      const std::string by = lease.label.empty() ? "" : " by " + lease.label;
      bar.what = fmt::format("{} has {}{} from {} on{}{}", server_name, printable(key), by, time_text(from.at),
                             until_en(until), is_over ? ": its lease is over, and no command has come upon it" : "");
      const std::string by_zh = lease.label.empty() ? "" : fmt::format("（{} 写入）", lease.label);
      bar.what_zh = fmt::format("{} 从 {} 起有 {}{}{}{}", server_name, time_text(from.at), printable(key), by_zh,
                                until_zh(until), is_over ? "：租约已过，但还没有命令碰到它" : "");
      add_bar(std::move(bar));
    };
    const bool ends_by_itself = lease.expires && (!to || lease.expires->offset() < to->at.offset()) &&
                                lease.expires->offset() <= diagram_.end.offset();
    if (!ends_by_itself) return bar_of(DiagramBar::Kind::lease, lease.from, to);
    const Instant expires = lease.expires->offset() < lease.from.at.offset() ? lease.from.at : *lease.expires;
    bar_of(DiagramBar::Kind::lease, lease.from, Place{expires, 0});
    bar_of(DiagramBar::Kind::overdue, Place{expires, 0}, to);
  }

  void add_leases() {
    std::map<std::pair<ProcessId, std::string>, std::optional<OpenLease>> open;
    std::map<ProcessId, std::map<std::string, std::size_t>> columns;
    for (const scenarios::KeyState& state : outcome_.key_states) {
      if (!states_.is_lock(state.key)) continue;
      auto& own = columns[state.server];
      const std::size_t column = own.emplace(state.key, own.size()).first->second;
      std::optional<OpenLease>& lease = open[{state.server, state.key}];
      const Place place{state.at, state.step};
      std::string label;
      auto writer = states_.key_writer_before(state.server, state.key, state.step + 1);
      if (!writer) writer = states_.key_writer(state.server, state.step);
      if (writer && !state.type.empty()) label = printable(name_of(outcome_, *writer));
      // Renewed in time by whose it is: one bar, however often.
      const bool goes_on = lease && !state.type.empty() && !label.empty() && label == lease->label &&
                           (!lease->expires || place.at.offset() < lease->expires->offset());
      if (goes_on) {
        lease->expires = state.expires;
        continue;
      }
      if (lease) close_lease(state.server, state.key, column, *lease, place);
      lease.reset();
      if (!state.type.empty()) lease = OpenLease{place, label, state.expires};
    }
    for (const auto& [place, lease] : open) {
      if (lease) close_lease(place.first, place.second, columns[place.first][place.second], *lease, std::nullopt);
    }
  }

  // --- Overlaps.

  /// Who holds at once changes only where a belief begins or ends.
  void add_overlaps() {
    std::vector<Place> borders;
    for (const auto& hold : states_.holds()) {
      borders.push_back({hold.from, hold.from_step});
      if (hold.to) borders.push_back({*hold.to, hold.to_step == sim::no_step ? 0 : hold.to_step});
    }
    std::sort(borders.begin(), borders.end(), [](const Place& a, const Place& b) {
      return std::pair(a.at.offset(), a.step) < std::pair(b.at.offset(), b.step);
    });
    std::optional<DiagramOverlap> open;
    for (const Place& border : borders) {
      if (border.at.offset() > diagram_.end.offset()) break;
      std::vector<std::string> who;
      for (const ProcessId process : states_.overlapping({border.at, border.step}))
        who.push_back(printable(name_of(outcome_, process)));
      if (open && open->who == who) continue;
      if (open) {
        open->to = border;
        if (open->to->at.offset() > open->from.at.offset()) diagram_.overlaps.push_back(*open);
        open.reset();
      }
      if (!who.empty()) open = DiagramOverlap{border, std::nullopt, who};
    }
    if (open) diagram_.overlaps.push_back(*open);
  }

  const Story& story_;
  const scenarios::Outcome& outcome_;
  const DiagramOptions& options_;
  LaneStates states_;
  Diagram diagram_;
};

}  // namespace

std::optional<std::size_t> Diagram::lane_of(ProcessId process) const {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].process == process) return i;
  }
  return std::nullopt;
}

Diagram diagram_of(const Story& story, const DiagramOptions& options) { return Builder(story, options).build(); }

}  // namespace lockstep::reports::picture
