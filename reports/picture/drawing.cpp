#include "reports/picture/drawing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/picture/axis.hpp"
#include "reports/picture/shape.hpp"
#include "reports/text/embedded_text.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports::picture {
namespace {

using Role = scenarios::Lane::Role;
using Kind = DiagramBar::Kind;

constexpr int kTop = 64;  ///< of the first moment: below the names of the lanes
constexpr int kTimeWidth = 84;
constexpr int kMargin = 12;
constexpr int kBarWidth = 10;
constexpr int kTextWidth = 600;
constexpr int kTextColumns = 88;  ///< so many characters fit there
constexpr int kBelow = 28;
constexpr int kLongest = 32'000;  ///< what browsers draw

/// Where everything stands from left to right.
struct Widths {
  int first_lane = 0;
  int pitch = 0;
  int text = 0;
  int whole = 0;

  explicit Widths(const Diagram& diagram) {
    const int lanes = static_cast<int>(diagram.lanes.size());
    pitch = lanes <= 4 ? 130 : lanes <= 7 ? 100 : 72;
    first_lane = kTimeWidth + 56;
    text = first_lane + std::max(0, lanes - 1) * pitch + 64;
    whole = text + kTextWidth;
  }
  int lane(std::size_t i) const { return first_lane + static_cast<int>(i) * pitch; }
};

std::string spans(std::string_view en, std::string_view zh) {
  if (en == zh) return escaped_markup(en);
  return fmt::format("<tspan lang=\"en\">{}</tspan><tspan lang=\"zh-Hans\">{}</tspan>", escaped_markup(en),
                     escaped_markup(zh));
}

bool is_server(Role role) { return role == Role::server || role == Role::resource; }

class Pen {
 public:
  Pen(const Diagram& diagram, AxisKind kind) : diagram_(diagram), axis_(diagram, kind, kTop), widths_(diagram) {}

  Shapes bars() {
    shapes_.clear();
    for (const DiagramOverlap& overlap : diagram_.overlaps) add_overlap(overlap);
    for (std::size_t i = 0; i < diagram_.lanes.size(); ++i) add_lane(i);
    for (const DiagramBar& bar : diagram_.bars) add_bar(bar);
    return shapes_;
  }
  Shapes rows() {
    shapes_.clear();
    for (const DiagramMessage& message : diagram_.messages) add_message(message);
    for (std::size_t i = 0; i < diagram_.rows.size(); ++i) add_row(i);
    return shapes_;
  }
  Shapes names() {
    shapes_.clear();
    for (std::size_t i = 0; i < diagram_.lanes.size(); ++i) add_name(i);
    return shapes_;
  }
  int height() const { return std::min(axis_.bottom() + kBelow, kLongest); }
  int width() const { return widths_.whole; }

 private:
  using Where = std::vector<int>;

  Shape& add(Shape::Kind kind, std::string style, Where where, int row = -1) {
    Shape& shape = shapes_.emplace_back();
    shape.kind = kind;
    shape.style = std::move(style);
    shape.place = std::move(where);
    shape.row = row;
    return shape;
  }

  std::optional<int> lane_x(sim::ProcessId process) const {
    const auto lane = diagram_.lane_of(process);
    return lane ? std::optional(widths_.lane(*lane)) : std::nullopt;
  }
  int end_of(const std::optional<Place>& to) const {
    return to && to->at.offset() <= diagram_.end.offset() ? axis_.of(*to) : axis_.bottom() + kBelow / 2;
  }

  void add_overlap(const DiagramOverlap& overlap) {
    const int from = axis_.of(overlap.from);
    const int to = std::max(end_of(overlap.to), from + 3);
    const int left = kTimeWidth;
    Shape& band = add(Shape::Kind::rect, "overlap", {left, from, widths_.text - left - 16, to - from});
    const std::string who = joined(overlap.who, " + ");
    const std::string until = overlap.to ? time_text(overlap.to->at) : "";
    band.title_en = fmt::format("{} believe at once that they hold the lock: {} – {}", who, time_text(overlap.from.at),
                                overlap.to ? until : "the end");
    band.title_zh =
        fmt::format("{} 同时认为自己持有锁：{} – {}", who, time_text(overlap.from.at), overlap.to ? until : "结束");
    Shape& name = add(Shape::Kind::text, "overlap-name", {left + 4, from + 12});
    name.markup = "!! " + escaped_markup(clip(joined(overlap.who, "+"), 9));
  }

  void add_lane(std::size_t i) {
    const int x = widths_.lane(i);
    add(Shape::Kind::line, is_server(diagram_.lanes[i].role) ? "lane server" : "lane",
        {x, kTop - 12, x, axis_.bottom() + kBelow / 2});
  }

  void add_name(std::size_t i) {
    const DiagramLane& lane = diagram_.lanes[i];
    const int x = widths_.lane(i);
    Shape& name = add(Shape::Kind::text, "name", {x, kTop - 36});
    name.markup = escaped_markup(clip(lane.name, static_cast<std::size_t>(widths_.pitch / 8)));
    name.title_en = lane.name;
    Shape& role = add(Shape::Kind::text, "role", {x, kTop - 22});
    switch (lane.role) {
      case Role::client: role.markup = spans("client", "客户端"); break;
      case Role::server: role.markup = spans("server", "服务器"); break;
      case Role::sentinel: role.markup = spans("sentinel", "哨兵"); break;
      case Role::resource: role.markup = spans("resource", "资源"); break;
      case Role::probe: role.markup = spans("a fresh client", "新来的客户端"); break;
    }
  }

  void add_bar(const DiagramBar& bar) {
    const auto x = lane_x(bar.process);
    if (!x) return;
    const int from = axis_.of(bar.from);
    const int to = std::max(end_of(bar.to), from + 2);
    // Whoever is paused may hold the lock: both are to be seen.
    const bool is_beside = bar.kind == Kind::paused || bar.kind == Kind::dead;
    const bool is_lease = bar.kind == Kind::lease || bar.kind == Kind::overdue;
    const int width = is_beside ? kBarWidth + 8 : kBarWidth;
    const int shift = is_lease ? static_cast<int>(std::min<std::size_t>(bar.column, 3)) * (kBarWidth + 3) : 0;
    constexpr std::string_view kStyles[] = {"belief", "lease", "overdue", "pause", "dead"};
    Shape& rect = add(Shape::Kind::rect, std::string(kStyles[static_cast<std::size_t>(bar.kind)]),
                      {*x - width / 2 + shift, from, width, to - from});
    rect.title_en = bar.what;
    rect.title_zh = bar.what_zh;
    if (bar.kind == Kind::lease && !bar.label.empty() && bar.column < 2) {
      add(Shape::Kind::text, "lease-name", {*x + kBarWidth / 2 + 4 + shift, from + 11}).markup =
          escaped_markup(clip(bar.label, 7));
    }
    if (bar.kind == Kind::dead) {
      add(Shape::Kind::line, "cross", {*x - 7, from - 7, *x + 7, from + 7});
      add(Shape::Kind::line, "cross", {*x - 7, from + 7, *x + 7, from - 7});
    }
  }

  void add_message(const DiagramMessage& message) {
    const auto from = lane_x(message.from);
    const auto to = lane_x(message.to);
    if (!from || !to || *from == *to) return;
    const int row = static_cast<int>(message.row);
    const int direction = *from < *to ? 1 : -1;
    const int start = axis_.of(message.sent);
    int end = message.is_lost ? start + 14 : axis_.of(message.handled);
    int x_end = *to - direction * 2;
    if (message.is_lost) x_end = *from + (*to - *from) * 6 / 10;
    std::string style = "message";
    if (message.is_reply) style += " reply";
    if (message.is_lost) style += " lost";
    Shape& line = add(Shape::Kind::line, style, {*from, start, x_end, end}, row);
    line.title_en = fmt::format("{} – {}: {}", time_text(message.sent.at),
                                message.is_lost ? "lost" : time_text(message.handled.at), message.text);
    line.title_zh = message.is_lost ? fmt::format("{} – 丢失：{}", time_text(message.sent.at), message.text) : "";
    if (message.is_lost) {
      add(Shape::Kind::line, "cross", {x_end - 5, end - 5, x_end + 5, end + 5}, row);
      add(Shape::Kind::line, "cross", {x_end - 5, end + 5, x_end + 5, end - 5}, row);
    }
    if (message.is_reply || widths_.pitch < 100) return;
    // Half way to the next lane, on the arrow: names of longer arrows would meet those of others.
    const int distance = std::abs(*to - *from);
    const int on_the_way = std::min(distance, widths_.pitch) / 2;
    add(Shape::Kind::text, "command",
        {*from + direction * on_the_way, start + (end - start) * on_the_way / distance - 3}, row)
        .markup = escaped_markup(clip(message.name, static_cast<std::size_t>(widths_.pitch / 9)));
  }

  void add_row(std::size_t i) {
    const DiagramRow& row = diagram_.rows[i];
    const int y = axis_.of_row(i);
    const int number = static_cast<int>(i);
    const std::string crowded = axis_.has_room(i) ? "" : " crowded";
    const bool is_new_time = i == 0 || diagram_.rows[i - 1].event.at.offset() != row.event.at.offset();
    Shape& time = add(Shape::Kind::text, "time" + crowded, {kTimeWidth - 12, y + 4}, number);
    // One element for each row in both kinds of axis, so that one drawing can become the other.
    time.markup = is_new_time ? escaped_markup(time_text(row.event.at)) : "";
    if (const auto x = lane_x(place_of(row.event))) {
      add(Shape::Kind::circle, row.is_evidence ? "dot evidence" : "dot", {*x, y, row.is_evidence ? 5 : 3}, number);
    }
    const std::string_view ink = ink_of(row);
    Shape& text = add(Shape::Kind::text, fmt::format("row{}{}{}", ink.empty() ? "" : " ", ink, crowded),
                      {widths_.text, y + 4}, number);
    text.markup = text_of(i, row);
    if (is_clipped(row)) {
      text.title_en = row.event.text;
      text.title_zh = row.text_zh;
    }
  }

  /// A command happens where it is handled.
  static sim::ProcessId place_of(const Event& event) {
    const bool is_handled = event.arrow && event.arrow->fate == Arrow::Fate::arrives;
    return is_handled ? event.arrow->to : event.who;
  }

  static std::string_view ink_of(const DiagramRow& row) {
    switch (row.event.ink) {
      case Ink::bad: return "bad";
      case Ink::warning: return "warning";
      case Ink::accent: return "accent";
      case Ink::good: return "good";
      case Ink::faint: return "faint";
      case Ink::plain:
      case Ink::strong: break;
    }
    return "";
  }

  std::string who_of(const DiagramRow& row) const {
    const auto lane = row.event.who.is_valid() ? diagram_.lane_of(row.event.who) : std::nullopt;
    return lane ? clip(diagram_.lanes[*lane].name, 14) : "";
  }
  /// For what happens, beside its number and who does it.
  std::size_t room_of(const DiagramRow& row) const {
    const std::string who = who_of(row);
    return kTextColumns - 4 - (who.empty() ? 0 : display_width(who) + 1);
  }
  bool is_clipped(const DiagramRow& row) const {
    return std::max(display_width(row.event.text), display_width(row.text_zh)) > room_of(row);
  }

  std::string text_of(std::size_t i, const DiagramRow& row) const {
    std::string markup = fmt::format("<tspan class=\"number\">{}</tspan> ", i + 1);
    const std::string name = who_of(row);
    if (!name.empty()) markup += fmt::format("<tspan class=\"who\">{}</tspan> ", escaped_markup(name));
    return markup + spans(clip(row.event.text, room_of(row)), clip(row.text_zh, room_of(row)));
  }

  const Diagram& diagram_;
  Axis axis_;
  Widths widths_;
  Shapes shapes_;
};

/// Patterns and heads are the same for all drawings of a page, and belong to the one that is called "diagram".
std::string definitions(std::string_view id, int height, int width) {
  std::string marks;
  if (id == "diagram") {
    marks =
        "<pattern id=\"diagram-hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern>\n"
        "<marker id=\"diagram-head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
        "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head\" d=\"M0 0.5L8 4L0 7.5z\"/></marker>\n";
  }
  return fmt::format(
      "<defs>{}<clipPath id=\"{}-past\"><rect class=\"past\" x=\"0\" y=\"0\" width=\"{}\" height=\"{}\"/></clipPath>"
      "</defs>\n",
      marks, id, width, height);
}

std::string svg_of(const Diagram& diagram, const DrawingOptions& options, std::string_view style) {
  Pen pen(diagram, AxisKind::by_event);
  Pen scaled(diagram, AxisKind::to_scale);
  const auto both_places = [&](Shapes (Pen::*part)()) {
    return svg_elements((pen.*part)(), options.has_scale ? (scaled.*part)() : Shapes());
  };
  const scenarios::Text description = description_of(diagram);
  const int height = pen.height();
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"{0}\" class=\"diagram\" role=\"img\" aria-labelledby=\"{0}-title "
      "{0}-description\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\"{3}>\n",
      options.id, pen.width(), height, options.has_scale ? fmt::format(" data-height-to=\"{}\"", scaled.height()) : "");
  svg += fmt::format("<title id=\"{0}-title\">{1}</title>\n<desc id=\"{0}-description\">{2}\n{3}</desc>\n", options.id,
                     escaped_markup(options.title_en), escaped_markup(description.en), escaped_markup(description.zh));
  svg += style;
  svg += definitions(options.id, std::max(height, scaled.height()), pen.width());
  svg += fmt::format("<rect class=\"cursor\" x=\"0\" y=\"-40\" width=\"{}\" height=\"22\"/>\n", pen.width());
  svg += fmt::format("<g class=\"bars\" clip-path=\"url(#{}-past)\">\n{}</g>\n", options.id, both_places(&Pen::bars));
  svg += fmt::format("<g class=\"rows\">\n{}</g>\n", both_places(&Pen::rows));
  svg += fmt::format("<g class=\"names\">\n{}</g>\n</svg>\n", both_places(&Pen::names));
  return svg;
}

}  // namespace

std::string page_svg(const Diagram& diagram, const DrawingOptions& options) { return svg_of(diagram, options, ""); }

std::string file_svg(const Diagram& diagram, const DrawingOptions& options, Language language) {
  const bool is_english = language == Language::en;
  std::string style = "<style>\n";
  style += embedded_text("reports/picture/colours.css");
  style += embedded_text("reports/picture/diagram.css");
  style += fmt::format("[lang={}]{{display:none}}\nsvg{{background:var(--paper)}}\n</style>\n",
                       is_english ? "zh-Hans" : "en");
  DrawingOptions alone = options;
  alone.has_scale = false;
  if (!is_english) std::swap(alone.title_en, alone.title_zh);
  return svg_of(diagram, alone, style);
}

scenarios::Text description_of(const Diagram& diagram) {
  std::vector<std::string> names;
  for (const DiagramLane& lane : diagram.lanes) names.push_back(lane.name);
  scenarios::Text text{fmt::format("A space-time diagram, time downwards, with {} and {}. The lanes are {}.",
                                   counted(diagram.rows.size(), "row", "rows"),
                                   counted(diagram.messages.size(), "message", "messages"), joined(names)),
                       fmt::format("时空图，时间向下，共 {} 行、{} 条消息。各列为 {}。", diagram.rows.size(),
                                   diagram.messages.size(), joined(names, "、"))};
  for (const DiagramBar& bar : diagram.bars) {
    if (bar.kind == Kind::lease || bar.kind == Kind::overdue) continue;
    text.en += " " + bar.what + ".";
    text.zh += bar.what_zh + "。";
  }
  for (const DiagramOverlap& overlap : diagram.overlaps) {
    const std::string who = joined(overlap.who);
    text.en += fmt::format(" From {} on {} hold it at once.", time_text(overlap.from.at), who);
    text.zh += fmt::format("从 {} 起 {} 同时持有。", time_text(overlap.from.at), who);
  }
  text.en += " The table of all steps says the same in words.";
  text.zh += "所有步骤的表格用文字说明同样的内容。";
  return text;
}

}  // namespace lockstep::reports::picture
