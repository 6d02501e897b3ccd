#include "reports/text/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "reports/run/events.hpp"
#include "reports/run/lane_state.hpp"
#include "reports/text/layout.hpp"
#include "reports/text/local_time.hpp"
#include "reports/text/shorten.hpp"
#include "reports/text/text.hpp"
#include "reports/words/row_words.hpp"

namespace lockstep::reports {
namespace {

using scenarios::Lane;
using sim::Duration;
using sim::ProcessId;

constexpr std::size_t kRowsMax = 240;
constexpr std::size_t kOverlapWhole = 60;  // with fewer columns some of those who overlap are left out

/// The narrower the text, the more lines a row may have: a command and its answer need some 40 columns.
std::size_t text_lines_max(std::size_t width) { return width >= 30 ? 2 : width >= 16 ? 4 : 6; }

/// One column of the lanes: a character of width one.
struct Glyph {
  std::string_view text = " ";
  Ink ink = Ink::faint;
};

Moment moment_of(const Event& event) { return {event.at, event.step, !event.is_fault}; }

/// "B+C"; empty if nobody overlaps.
std::string overlap_names(const Story& story, const LaneStates& states, Moment moment) {
  std::vector<std::string> names;
  for (const ProcessId process : states.overlapping(moment)) names.push_back(name_of(story.outcome, process));
  return joined(names, "+");
}

class Chart {
 public:
  Chart(const Story& story, std::size_t width, Language language)
      : story_(story),
        zh_(language == Language::zh),
        states_(story),
        local_(story.outcome),
        events_(folded_events(story)) {
    for (const Event& event : events_) texts_.push_back(row_in(language, event));
    std::size_t overlap = 0;
    for (const Event& event : events_) {
      const std::string names = overlap_names(story, states_, moment_of(event));
      const std::size_t room = width < kOverlapWhole ? 4 : 9;
      if (!names.empty()) overlap = std::max(overlap, 3 + std::min<std::size_t>(display_width(names), room) + 1);
    }
    layout_ = lay_out(story, events_, texts_, local_, overlap, width);
  }

  Lines lines() {
    add_header();
    const std::size_t count = events_.size();
    const std::size_t from = count > kRowsMax ? rows_around_the_violation() : count;
    for (std::size_t i = 0; i < count; ++i) {
      if (i == from) {
        i += count - kRowsMax;
        add_note(fmt::format(fmt::runtime(zh_ ? "……略去 {} 行……" : "… {} rows left out …"), count - kRowsMax),
                 events_[i]);
      }
      if (i > 0) add_gap(events_[i - 1], events_[i]);
      add_row(i);
    }
    if (layout_.lanes_left_out > 0) {
      const std::size_t count_left_out = layout_.lanes_left_out;
      lines_.emplace_back(clip(zh_ ? fmt::format("页面太窄，{} 个进程在这里没有泳道", count_left_out)
                                   : fmt::format("{} without a lane here: the page is too narrow for all",
                                                 counted(count_left_out, "process", "processes")),
                               layout_.width),
                          Ink::faint);
    }
    add_legend();
    return std::move(lines_);
  }

 private:
  static std::vector<Event> folded_events(const Story& story) {
    std::vector<Event> events = events_of(story);
    fold_repetitions(events, story);
    return events;
  }

  /// Of a story that is too long, the beginning and the part that ends just after the first violation, or at the end.
  std::size_t rows_around_the_violation() const {
    std::size_t last = events_.size();
    for (const scenarios::Judgement& judgement : story_.outcome.properties) {
      if (judgement.finding.verdict != checker::Verdict::violated || !judgement.finding.at) continue;
      const auto after = std::partition_point(events_.begin(), events_.end(), [&](const Event& e) {
        return e.at.offset() <= judgement.finding.at->offset();
      });
      last = std::min<std::size_t>(last, static_cast<std::size_t>(after - events_.begin()));
    }
    return last > kRowsMax ? 20 : kRowsMax - 20;
  }

  // --- Lanes.

  bool has_key(const LaneColumn& lane, const Event& event) const {
    return lane.role == Lane::Role::server && states_.key_writer(lane.process, event.step).has_value();
  }

  Glyph bar(const LaneColumn& lane, const Event& event) {
    const Moment moment = moment_of(event);
    if (states_.is_dead(lane.process, moment)) {
      const bool dies_now = event.who == lane.process && event.text.starts_with("crashes");
      used_crash_ = used_crash_ || dies_now;
      return dies_now ? Glyph{"✖", Ink::bad} : Glyph{};
    }
    const bool paused = states_.is_paused(lane.process, moment);
    const bool holds = states_.holds(lane.process, moment);
    const auto others = states_.overlapping(moment);
    const bool overlaps = std::find(others.begin(), others.end(), lane.process) != others.end();
    used_paused_ = used_paused_ || (paused && !holds);
    used_paused_holding_ = used_paused_holding_ || (paused && holds);
    used_hold_ = used_hold_ || (holds && !paused);
    if (holds) return {paused ? "▒" : "█", overlaps ? Ink::bad : Ink::accent};
    if (paused) return {"░", Ink::warning};
    if (has_key(lane, event)) {
      used_key_ = true;
      return {"┃", Ink::plain};
    }
    return {"│", Ink::faint};
  }

  std::vector<Glyph> lanes(const Event& event) {
    std::vector<Glyph> cells(layout_.lanes_width);
    for (const LaneColumn& lane : layout_.lanes) cells[lane.bar] = bar(lane, event);
    return cells;
  }

  void put_key_writers(std::vector<Glyph>& cells, const Event& event, std::vector<std::string>& storage) const {
    storage.reserve(layout_.lanes.size() * 8);
    for (const LaneColumn& lane : layout_.lanes) {
      if (lane.role != Lane::Role::server) continue;
      const std::optional<ProcessId> writer = states_.key_writer(lane.process, event.step);
      if (!writer || states_.is_dead(lane.process, moment_of(event))) continue;
      const std::string name = name_of(story_.outcome, *writer);
      const std::size_t shown = std::min({name.size(), lane.pitch - 2, std::size_t{5}});
      for (std::size_t i = 0; i < shown && lane.bar + 1 + i < cells.size(); ++i) {
        if (cells[lane.bar + 1 + i].text != " ") break;  // an arrow passes
        storage.emplace_back(1, name[i]);
        cells[lane.bar + 1 + i] = {storage.back(), Ink::plain};
      }
    }
  }

  void put_arrow(std::vector<Glyph>& cells, const Arrow& arrow) const {
    const LaneColumn* from = layout_.lane_of(arrow.from);
    const LaneColumn* to = layout_.lane_of(arrow.to);
    if (from == nullptr || to == nullptr || from == to) return;
    const bool rightward = from->bar < to->bar;
    const std::size_t left = std::min(from->bar, to->bar);
    const std::size_t right = std::max(from->bar, to->bar);
    const bool solid = arrow.fate == Arrow::Fate::arrives;
    const Ink ink = arrow.fate == Arrow::Fate::arrives ? Ink::plain : Ink::warning;
    for (std::size_t column = left + 1; column < right; ++column) {
      Glyph& cell = cells[column];
      if (cell.text == "│" || cell.text == "┃")
        cell = {"┼", ink};
      else if (cell.text == " ")
        cell = {solid ? "─" : "┄", ink};
    }
    if (cells[from->bar].text == "│") cells[from->bar] = {rightward ? "├" : "┤", ink};
    const std::size_t head = rightward ? right - 1 : left + 1;
    const bool lost = arrow.fate == Arrow::Fate::lost;
    cells[head] = {lost ? "✗" : rightward ? "▶" : "◀", lost ? Ink::bad : ink};
  }

  // --- Rows.

  void add_header() {
    Line first;
    first.fill_to(layout_.overlap_width);
    const std::string_view time = layout_.clocks.empty() ? (zh_ ? "时间" : "time") : zh_ ? "真实时间" : "true time";
    first.append(pad_left(time, layout_.time_width), Ink::faint);
    for (std::size_t i = 0; i < layout_.clocks.size(); ++i) {
      first.append(" ").append(
          pad_left(name_of(story_.outcome, layout_.clocks[i]) + (zh_ ? "的时钟" : "'s clock"), layout_.clock_widths[i]),
          Ink::faint);
    }
    first.append("  ");
    const std::size_t base = first.width();
    Line above;
    std::string group;
    for (const LaneColumn& lane : layout_.lanes) {
      if (!lane.group.empty() && group != lane.group) {
        const std::size_t from = std::max(base + lane.bar, above.width() == 0 ? 0 : above.width() + 1);
        above.fill_to(from).append(clip(lane.group, layout_.width - std::min(layout_.width, from)), Ink::strong);
      }
      group = lane.group;
      first.fill_to(base + lane.bar);
      first.append(clip(lane.heading, layout_.width - std::min(layout_.width, first.width())), Ink::strong);
    }
    if (above.width() > 0) lines_.push_back(std::move(above));
    lines_.push_back(std::move(first));
  }

  /// `row`: the event whose times are shown; nothing: none are.
  Line row_start(const Event& event, std::optional<std::size_t> row) {
    Line line;
    const std::string names = overlap_names(story_, states_, moment_of(event));
    if (!names.empty()) {
      used_overlap_ = true;
      line.append("!! " + clip(names, layout_.overlap_width - 4), Ink::bad);
    }
    line.fill_to(layout_.overlap_width);
    line.append(pad_left(row ? layout_.times[*row] : "", layout_.time_width), Ink::plain);
    for (std::size_t i = 0; i < layout_.clocks.size(); ++i) {
      const ProcessId process = layout_.clocks[i];
      const bool is_alive = !states_.is_dead(process, moment_of(event));
      const std::string text = row && is_alive ? layout_.clock_times[i][*row] : "";
      line.append(" ").append(pad_left(text, layout_.clock_widths[i]), event.who == process ? Ink::plain : Ink::faint);
    }
    return line.append("  ");
  }

  static void append_cells(Line& line, const std::vector<Glyph>& cells) {
    for (const Glyph& cell : cells) line.append(cell.text, cell.text == " " ? Ink::plain : cell.ink);
  }

  /// What an own clock shows that has no column.
  std::string clock_remark(const Event& event) const {
    const auto& columns = layout_.clocks;
    if (!event.who.is_valid() || std::find(columns.begin(), columns.end(), event.who) != columns.end()) return "";
    const sim::Instant own = local_.reading(event.who, event.at);
    return own.identical(event.at)
               ? ""
               : fmt::format(fmt::runtime(zh_ ? "（它的时钟：{}）" : " (its clock: {})"), time_text(own));
  }

  std::string actor_name(ProcessId process) const {
    if (!process.is_valid()) return "";
    const bool is_known = process.index < layout_.actor_names.size();
    return is_known ? layout_.actor_names[process.index] : name_of(story_.outcome, process);
  }

  void add_row(std::size_t index) {
    const Event& event = events_[index];
    const std::size_t text_width = layout_.text_width;
    const std::string_view all = texts_[index];
    const std::vector<std::string> text = wrap_command(
        all.substr(0, event.command_size), std::string(all.substr(event.command_size)).append(clock_remark(event)),
        text_width, text_lines_max(text_width));
    const bool is_new_time = index == 0 || events_[index - 1].at.offset() != event.at.offset();
    for (std::size_t i = 0; i < text.size(); ++i) {
      Line line = row_start(event, is_new_time && i == 0 ? std::optional(index) : std::nullopt);
      std::vector<Glyph> cells = lanes(event);
      std::vector<std::string> storage;
      if (i == 0 && event.arrow) put_arrow(cells, *event.arrow);
      put_key_writers(cells, event, storage);
      append_cells(line, cells);
      const std::string name = i == 0 ? actor_name(event.who) : "";
      line.append("  ").append(pad(name, layout_.name_width), Ink::strong).append("  ");
      line.append(text[i], event.ink);
      lines_.push_back(std::move(line));
    }
  }

  /// Much time without any event: a row or two in which the lanes just go on.
  void add_gap(const Event& before, const Event& after) {
    const Duration gap = after.at.offset() - before.at.offset();
    const Duration round_trip = std::max(story_.scenario.network.latency.hi * 2, Duration::microseconds(100));
    if (gap <= round_trip * 4) return;
    const std::size_t rows = gap > round_trip * 40 ? 2 : 1;
    for (std::size_t i = 0; i < rows; ++i) add_between(before, after, "⋮");
  }

  void add_between(const Event& before, const Event& after, std::string_view mark) {
    // Just before the next event: what ended in between by itself has ended.
    Event moment;
    moment.at = after.at - Duration::nanoseconds(1);
    moment.step = before.step;
    moment.is_fault = true;
    Line line = row_start(moment, {});
    std::vector<Glyph> cells = lanes(moment);
    std::vector<std::string> storage;
    put_key_writers(cells, moment, storage);
    Line marked;
    const std::string names = overlap_names(story_, states_, moment_of(moment));
    if (!names.empty()) marked.append("!! " + clip(names, layout_.overlap_width - 4), Ink::bad);
    marked.fill_to(layout_.overlap_width).append(pad_left(mark, layout_.time_width), Ink::faint);
    marked.fill_to(line.width());
    append_cells(marked, cells);
    lines_.push_back(std::move(marked));
  }

  void add_note(const std::string& text, const Event& event) {
    Line line = row_start(event, {});
    line.fill_to(line.width() + layout_.lanes_width + 2);
    const std::size_t room = layout_.width - std::min(layout_.width, line.width());
    lines_.push_back(std::move(line.append(clip(text, room), Ink::faint)));
  }

  void add_legend() {
    std::vector<std::string> signs;
    const auto add = [&](bool is_used, std::string_view en, std::string_view zh) {
      if (is_used) signs.emplace_back(zh_ ? zh : en);
    };
    add(used_hold_ || used_paused_holding_, "█ believes it holds", "█ 认为自己持有");
    add(used_paused_holding_, "▒ and is paused", "▒ 且在停顿");
    add(used_paused_, "░ paused", "░ 停顿");
    add(used_crash_, "✖ crashed", "✖ 已崩溃");
    add(used_key_, "┃A key set by A", "┃A 键由 A 写入");
    add(used_overlap_, "!! two holders", "!! 两个持有者");
    if (!signs.empty()) lines_.emplace_back(clip(joined(signs, "  "), layout_.width), Ink::faint);
  }

  const Story& story_;
  bool zh_;
  LaneStates states_;
  LocalTimes local_;
  std::vector<Event> events_;
  std::vector<std::string> texts_;  ///< of the events, in the reader's language
  Layout layout_;
  Lines lines_;
  bool used_hold_ = false, used_paused_ = false, used_paused_holding_ = false;
  bool used_crash_ = false, used_key_ = false, used_overlap_ = false;
};

}  // namespace

Lines chart(const Story& story, std::size_t width, Language language) { return Chart(story, width, language).lines(); }

}  // namespace lockstep::reports
