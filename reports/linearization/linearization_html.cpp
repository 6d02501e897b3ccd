#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/linearization/linearization.hpp"
#include "reports/picture/shape.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

using checker::Verdict;

constexpr std::size_t kOperationsMax = 40;
constexpr int kCharacter = 7;  ///< width of a character in the picture's font, in pixels
constexpr int kRow = 34;
constexpr int kBox = 24;
constexpr int kTop = 44;
constexpr int kStateMax = 12;  ///< characters of a state that fits above its point

struct Words {
  std::string_view title, holds, violated, unknown, operations, processes, unknown_outcomes, conflict, minimal, order,
      number, process, operation, lines, state, state_short, before, legend_box, legend_unknown, legend_point,
      legend_conflict, legend_culprit, legend_unused, no_place, at_line, first_shown, key, never_ended, nemesis,
      culprit, made_by, acquires, releases, stretch, stretch_from_start, nothing_tested, looks_independent,
      violated_keys;
};

constexpr Words kEnglish{
    .title = "Linearizable as a {}?",
    .holds = "linearizable",
    .violated = "not linearizable",
    .unknown = "unknown",
    .operations = "operations",
    .processes = "processes",
    .unknown_outcomes = "with an unknown outcome",
    .conflict = "These operations cannot all have taken effect:",
    .minimal = "Without any one of them there would be an order.",
    .order = "The end of one longest order, and what has no place in it",
    .number = "#",
    .process = "process",
    .operation = "operation",
    .lines = "lines",
    .state = "state after it",
    .state_short = "state",
    .before = "{} operations before these",
    .legend_box = "from invocation to return",
    .legend_unknown = "outcome unknown: may take effect at any later time",
    .legend_point = "takes effect",
    .legend_conflict = "part of the conflict",
    .legend_culprit = "has no place",
    .legend_unused = "not needed in this order",
    .no_place = "no place",
    .at_line =
        "The history can be ordered up to line {}; {} of process {}, which returns there, has no place in any order.",
    .first_shown = "One order in which everything took effect, from its beginning",
    .key = "key {}",
    .never_ended = "never ended",
    .nemesis = "What the nemesis did before",
    .culprit = "has no place",
    .made_by = "Made by lockstep linearize.",
    .acquires = "acquires",
    .releases = "releases",
    .stretch =
        "Within lines {0} to {1} are {2} {3} from beginning to end, which need {4} {5} between them, and only {6} "
        "can have taken effect there.",
    .stretch_from_start =
        "Up to line {1} are {2} {3} from beginning to end, which need {4} {5} between them, and only "
        "{6} can have taken effect there.",
    .nothing_tested =
        "Nothing was tested: no operation is known to have taken effect, and any order without them will do.",
    .looks_independent =
        "Every value is a pair, as [key value]: if each key is an object of its own, say --independent.",
    .violated_keys = "{} of {} keys are not linearizable; the first to fail is explained:",
};

constexpr Words kChinese{
    .title = "作为 {} 可线性化吗？",
    .holds = "可线性化",
    .violated = "不可线性化",
    .unknown = "未知",
    .operations = "个操作",
    .processes = "个进程",
    .unknown_outcomes = "个结果未知",
    .conflict = "下列操作不可能全部生效：",
    .minimal = "去掉其中任何一个，就存在一种顺序。",
    .order = "一个最长顺序的末尾，以及其中放不下的操作",
    .number = "序号",
    .process = "进程",
    .operation = "操作",
    .lines = "行",
    .state = "之后的状态",
    .state_short = "状态",
    .before = "此前还有 {} 个操作",
    .legend_box = "从调用到返回",
    .legend_unknown = "结果未知：之后任何时刻都可能生效",
    .legend_point = "生效时刻",
    .legend_conflict = "属于冲突",
    .legend_culprit = "无处可放",
    .legend_unused = "此顺序中不需要",
    .no_place = "无处可放",
    .at_line = "历史到第 {} 行为止还能排出顺序；在该行返回的 {}（进程 {}）在任何顺序中都无处可放。",
    .first_shown = "一个所有操作都生效的顺序（从头开始）",
    .key = "键 {}",
    .never_ended = "没有结束",
    .nemesis = "此前的故障注入",
    .culprit = "无处可放",
    .made_by = "由 lockstep linearize 生成。",
    .acquires = "加锁操作",
    .releases = "解锁操作",
    .stretch = "第 {0} 行到第 {1} 行之间完整地包含 {2} 个{3}，它们之间需要 {4} 个{5}，而其中可能生效的只有 {6} 个。",
    .stretch_from_start = "到第 {1} 行为止完整地包含 {2} 个{3}，它们需要 {4} 个{5}，而其中可能生效的只有 {6} 个。",
    .nothing_tested = "什么也没有检验：没有一个操作已知生效，不含它们的任何顺序都成立。",
    .looks_independent = "每个值都是形如 [键 值] 的一对：如果每个键是独立的对象，请加上 --independent。",
    .violated_keys = "{} 个键（共 {} 个）不可线性化；下面解释最先失败的一个：",
};

constexpr std::string_view kStyle = R"(
:root{--bg:#fff;--ink:#1b1f24;--faint:#6a737d;--line:#d0d7de;--box:#ddeaf8;--edge:#4a7fb5;--point:#0b3d75;--warn:#9a6700;
--warn-box:#fff3cd;--bad:#b3261e;--bad-box:#fde0de;--good:#1a7f37;--unused:#eef0f2}
@media(prefers-color-scheme:dark){:root{--bg:#0f1419;--ink:#e6e9ec;--faint:#9aa4af;--line:#39424c;--box:#1c3a57;--edge:#6aa5dd;
--point:#cfe4fa;--warn:#e3b341;--warn-box:#4a3a10;--bad:#ff7b72;--bad-box:#5a1f1c;--good:#56d364;--unused:#222a32}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:80rem;background:var(--bg);color:var(--ink);
font:16px/1.5 system-ui,"Noto Sans","Noto Sans CJK SC",sans-serif}
h1{font-size:1.5rem;margin:0 0 1rem}h2{font-size:1.15rem;margin:2rem 0 .3rem;overflow-wrap:anywhere}
p{margin:.4rem 0;max-width:60rem}.faint{color:var(--faint)}.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.frame{display:flex;border:1px solid var(--line);border-radius:6px;margin:.8rem 0}.frame>svg{flex:none}
.picture{flex:1;min-width:0;overflow-x:auto}.from-end{direction:rtl}.picture svg{direction:ltr;margin-right:auto}
svg{display:block}svg text{font:12px/1 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--ink)}
svg text.faint{fill:var(--faint)}svg text.bad{fill:var(--bad)}
.lane{stroke:var(--line)}.box{fill:var(--box);stroke:var(--edge)}.conflict .box{fill:var(--warn-box);stroke:var(--warn);stroke-width:2}
.culprit .box{fill:var(--bad-box);stroke:var(--bad);stroke-width:2.5}.unused .box{fill:var(--unused);stroke:var(--faint)}
.open .box{stroke-dasharray:5 3}.path{fill:none;stroke:var(--point);stroke-width:1.2;stroke-dasharray:1 4;stroke-linecap:round}
.point{fill:var(--point);stroke:var(--bg)}.end{stroke:var(--bad);stroke-dasharray:4 3}
table{border-collapse:collapse;font-size:.9rem;margin:.8rem 0}th,td{text-align:left;padding:.2rem .9rem .2rem 0;
border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--faint);font-weight:normal}
td{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;overflow-wrap:anywhere}tr.culprit td{color:var(--bad)}
tr.conflict td{color:var(--warn)}tr.unused td{color:var(--faint)}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;font-size:.85rem;color:var(--faint);margin:.4rem 0 1rem}
.legend svg{display:inline-block;vertical-align:-3px;margin-right:.4rem}ul{margin:.3rem 0;padding-left:1.4rem}
)";

using picture::escaped_markup;

std::string lines_range(const JudgedHistory& judged, std::uint32_t position, const Words& words) {
  const checker::history_formats::Lines& lines = judged.recorded.lines[position];
  if (lines.ended == 0) return fmt::format("{} ({})", lines.invoked, words.never_ended);
  return fmt::format("{}–{}", lines.invoked, lines.ended);
}

int text_width(std::string_view text) { return static_cast<int>(display_width(text)) * kCharacter; }

/// Where everything stands in a picture, in pixels.
class Placement {
 public:
  Placement(const JudgedHistory& judged, const checker::Model& model, const Scene& scene)
      : judged_(judged), scene_(scene) {
    for (const SceneOperation& o : scene.operations) {
      labels_.push_back(clip(operation_text(judged, model, o.position), 40));
      name_width_ = std::max(name_width_, text_width(clip(process_text(judged, o.position), 16)));
    }
    place_slots();
    place_lanes();
  }

  int left() const { return name_width_ + 24; }  ///< of the names
  int width() const { return right_ + 20; }
  int height() const { return kTop + rows_ * kRow + 12; }
  int slot(std::size_t i) const { return x_[i]; }
  int end_of(const SceneOperation& o) const { return o.end ? x_[*o.end] : right_; }
  int top_of(std::size_t operation) const { return kTop + row_of_[operation] * kRow + (kRow - kBox) / 2; }
  int point_of(std::size_t operation) const { return point_x_[operation]; }
  const std::string& label(std::size_t operation) const { return labels_[operation]; }
  bool shows_state(const SceneOperation& o) const { return text_width(o.state) <= kStateMax * kCharacter; }
  struct Lane {
    std::string name;
    int row = 0;
    int rows = 1;
  };
  const std::vector<Lane>& lanes() const { return lanes_; }

 private:
  int point_room(const SceneOperation& o) const { return shows_state(o) ? std::max(18, text_width(o.state) + 10) : 18; }

  /// Each box is as wide as its text, and each gap as wide as the points in it.
  void place_slots() {
    x_.assign(scene_.slots,
              text_width(scene_.state_before) <= kStateMax * kCharacter ? text_width(scene_.state_before) + 12 : 12);
    point_x_.assign(scene_.operations.size(), 0);
    for (std::size_t s = 0; s < scene_.slots; ++s) {
      if (s > 0) x_[s] = x_[s - 1] + 16;
      int points = 0;
      for (std::size_t i = 0; i < scene_.operations.size(); ++i) {
        const SceneOperation& o = scene_.operations[i];
        if (o.end == s) x_[s] = std::max(x_[s], x_[o.begin] + text_width(labels_[i]) + 14);
        if (s > 0 && o.point == s - 1) points += point_room(o);
      }
      if (s > 0 && points > 0) x_[s] = std::max(x_[s], x_[s - 1] + points + 8);
    }
    right_ = scene_.slots == 0 ? 0 : x_.back() + 30;
    int after_last = 0;
    for (std::size_t i = 0; i < scene_.operations.size(); ++i) {
      const SceneOperation& o = scene_.operations[i];
      if (!o.end) right_ = std::max(right_, x_[o.begin] + text_width(labels_[i]) + 30);
      if (o.point && *o.point + 1 == scene_.slots) after_last += point_room(o);
    }
    right_ = std::max(right_, scene_.slots == 0 ? 0 : x_.back() + after_last + 16);
    place_points();
  }

  void place_points() {
    std::map<std::size_t, int> next;
    for (std::size_t i = 0; i < scene_.operations.size(); ++i) {
      const SceneOperation& o = scene_.operations[i];
      if (!o.point) continue;
      const auto [at, is_new] = next.try_emplace(*o.point, x_[*o.point] + 4);
      point_x_[i] = at->second + point_room(o) / 2;
      at->second += point_room(o);
    }
  }

  /// A lane for each process, with as many rows as it has operations at the same time: one of unknown outcome goes on
  /// for ever.
  void place_lanes() {
    const checker::OperationHistory& history = judged_.recorded.operations;
    std::map<std::uint32_t, std::vector<std::size_t>> by_process;
    for (std::size_t i = 0; i < scene_.operations.size(); ++i) {
      by_process[history.operations[scene_.operations[i].position].process].push_back(i);
    }
    row_of_.assign(scene_.operations.size(), 0);
    for (auto& [process, operations] : by_process) {
      std::sort(operations.begin(), operations.end(),
                [&](std::size_t a, std::size_t b) { return scene_.operations[a].begin < scene_.operations[b].begin; });
      std::vector<int> free_from;
      for (const std::size_t i : operations) {
        const SceneOperation& o = scene_.operations[i];
        std::size_t row = 0;
        while (row < free_from.size() && free_from[row] > x_[o.begin]) ++row;
        if (row == free_from.size()) free_from.push_back(0);
        free_from[row] = end_of(o) + 1;
        row_of_[i] = rows_ + static_cast<int>(row);
      }
      lanes_.push_back({clip(checker::process_text(history, process), 16), rows_, static_cast<int>(free_from.size())});
      rows_ += static_cast<int>(free_from.size());
    }
  }

  const JudgedHistory& judged_;
  const Scene& scene_;
  std::vector<std::string> labels_;
  std::vector<int> x_;
  std::vector<int> point_x_;
  std::vector<int> row_of_;
  std::vector<Lane> lanes_;
  int rows_ = 0;
  int name_width_ = 40;
  int right_ = 0;
};

std::string_view class_of(const SceneOperation& o) {
  if (o.is_culprit) return "culprit";
  if (o.in_conflict) return "conflict";
  return o.order ? "ordered" : "unused";
}

std::string picture(const JudgedHistory& judged, const checker::Model& model, const Scene& scene, const Words& words) {
  const Placement place(judged, model, scene);
  // The names stay where they are when the picture is scrolled; and what matters is at its end.
  std::string names =
      fmt::format("<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">", place.left(), place.height());
  std::string svg = fmt::format(
      "<div class=\"picture{2}\"><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 "
      "{0} {1}\" "
      "role=\"img\">\n",
      place.width(), place.height(), judged.result.verdict == Verdict::violated ? " from-end" : "");
  names += fmt::format("<text class=\"faint\" x=\"12\" y=\"36\">{}</text>\n", escaped_markup(words.state_short));
  for (const Placement::Lane& lane : place.lanes()) {
    const int middle = kTop + lane.row * kRow + lane.rows * kRow / 2;
    const int bottom = kTop + (lane.row + lane.rows) * kRow;
    const auto rule = [&](int width) {
      return fmt::format("<line class=\"lane\" x1=\"0\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n", width, bottom, bottom);
    };
    names +=
        fmt::format("<text x=\"12\" y=\"{}\">{}</text>{}", middle + 4, escaped_markup(lane.name), rule(place.left()));
    svg += rule(place.width());
  }
  if (!scene.state_before.empty() && text_width(scene.state_before) <= kStateMax * kCharacter) {
    svg += fmt::format("<text class=\"faint\" x=\"2\" y=\"36\">{}</text>\n", escaped_markup(scene.state_before));
  }
  std::string boxes;
  std::string points;
  std::string path;
  for (std::size_t i = 0; i < scene.operations.size(); ++i) {
    const SceneOperation& o = scene.operations[i];
    const int x = place.slot(o.begin);
    const int y = place.top_of(i);
    std::string hover =
        fmt::format("{} {}: {}\n{} {}", words.process, process_text(judged, o.position),
                    operation_text(judged, model, o.position), words.lines, lines_range(judged, o.position, words));
    if (o.order) hover += fmt::format("\n#{} → {}", *o.order + 1, o.state);
    if (o.is_culprit) hover += fmt::format("\n{}", words.culprit);
    // Line breaks are what a hover text is laid out with.
    std::string title;
    for (std::size_t begin = 0; begin <= hover.size();) {
      const std::size_t end = std::min(hover.find('\n', begin), hover.size());
      title += (begin == 0 ? "" : "&#10;") + escaped_markup(std::string_view(hover).substr(begin, end - begin));
      begin = end + 1;
    }
    boxes += fmt::format(
        "<g class=\"{}{}\"><title>{}</title><rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text></g>\n",
        class_of(o), o.end ? "" : " open", title, x, y, place.end_of(o) - x, kBox, x + 7, y + 16,
        escaped_markup(place.label(i)));
    if (o.point) {
      const int at = place.point_of(i);
      path += fmt::format("{}{},{}", path.empty() ? "M" : " L", at, y + kBox);
      points += fmt::format("<circle class=\"point\" cx=\"{}\" cy=\"{}\" r=\"4.5\"><title>#{}</title></circle>\n", at,
                            y + kBox, *o.order + 1);
      if (place.shows_state(o) && !o.state.empty()) {
        points += fmt::format("<text class=\"faint\" x=\"{}\" y=\"36\" text-anchor=\"middle\">{}</text>\n", at,
                              escaped_markup(o.state));
      }
    }
    if (o.is_culprit && o.end) {
      const int end = place.end_of(o);
      points += fmt::format(
          "<line class=\"end\" x1=\"{0}\" x2=\"{0}\" y1=\"24\" y2=\"{1}\"/>"
          "<text class=\"bad\" x=\"{0}\" y=\"18\" text-anchor=\"end\">{2}</text>\n",
          end, place.height() - 6, escaped_markup(words.no_place));
    }
  }
  if (!path.empty()) svg += fmt::format("<path class=\"path\" d=\"{}\"/>\n", path);
  return "<div class=\"frame\">" + names + "</svg>" + svg + boxes + points + "</svg></div></div>\n";
}

std::string legend(const Words& words) {
  const auto item = [](std::string_view group, std::string_view text) {
    return fmt::format(
        "<span><svg width=\"30\" height=\"16\"><g class=\"{}\"><rect class=\"box\" x=\"1\" y=\"2\" width=\"28\" "
        "height=\"12\" "
        "rx=\"3\"/></g></svg>{}</span>",
        group, text);
  };
  return fmt::format(
      "<div class=\"legend\">{}{}<span><svg width=\"14\" height=\"16\"><circle class=\"point\" cx=\"7\" cy=\"8\" "
      "r=\"4.5\"/></svg>{}</span>{}{}{}</div>\n",
      item("ordered", words.legend_box), item("ordered open", words.legend_unknown), words.legend_point,
      item("conflict", words.legend_conflict), item("culprit", words.legend_culprit),
      item("unused", words.legend_unused));
}

std::string order_table(const JudgedHistory& judged, const checker::Model& model, const Scene& scene,
                        const Words& words) {
  std::string html = fmt::format("<table><tr><th>{}</th><th>{}</th><th>{}</th><th>{}</th><th>{}</th></tr>\n",
                                 words.number, words.process, words.operation, words.lines, words.state);
  if (scene.ordered_before > 0) {
    html +=
        fmt::format("<tr class=\"unused\"><td>⋮</td><td colspan=\"3\">{}</td><td>{}</td></tr>\n",
                    fmt::format(fmt::runtime(words.before), scene.ordered_before), escaped_markup(scene.state_before));
  }
  for (const SceneOperation& o : scene.operations) {
    const std::string note = o.is_culprit ? std::string(words.culprit)
                             : o.order    ? escaped_markup(o.state)
                                          : std::string(words.legend_unused);
    html += fmt::format("<tr class=\"{}\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", class_of(o),
                        o.order        ? std::to_string(*o.order + 1)
                        : o.is_culprit ? "✗"
                                       : "",
                        escaped_markup(process_text(judged, o.position)),
                        escaped_markup(operation_text(judged, model, o.position)),
                        lines_range(judged, o.position, words), note);
  }
  return html + "</table>\n";
}

std::string nemesis_notes(const JudgedHistory& judged, const Words& words) {
  constexpr std::size_t notes_max = 6;
  const std::uint32_t until = judged.result.culprit ? judged.recorded.lines[*judged.result.culprit].ended : 0;
  std::vector<const checker::history_formats::Note*> before;
  for (const checker::history_formats::Note& note : judged.recorded.notes) {
    if (note.line < until) before.push_back(&note);
  }
  if (before.empty()) return "";
  std::string html = fmt::format("<p class=\"faint\">{}</p><ul class=\"faint\">", words.nemesis);
  for (std::size_t i = before.size() - std::min(notes_max, before.size()); i < before.size(); ++i) {
    html += fmt::format("<li>{}: {}</li>", before[i]->line, escaped_markup(before[i]->text));
  }
  return html + "</ul>\n";
}

std::string stretch_prose(const JudgedHistory& judged, const Words& words) {
  const checker::Stretch& stretch = *judged.result.stretch;
  const StretchText text = stretch_text(judged, stretch);
  return fmt::format("<p>{}</p>\n",
                     fmt::format(fmt::runtime(text.from_line == 0 ? words.stretch_from_start : words.stretch),
                                 text.from_line, text.to_line, grouped(stretch.inside),
                                 stretch.of_acquires ? words.acquires : words.releases, grouped(stretch.needed()),
                                 stretch.of_acquires ? words.releases : words.acquires, grouped(stretch.between)));
}

std::string violated_keys(const JudgedHistory& judged, const Words& words) {
  constexpr std::size_t listed_max = 1000;
  const std::vector<checker::ViolatedKey>& keys = judged.result.violated_keys;
  const std::vector<std::string>& names = judged.recorded.operations.key_names;
  std::string html = fmt::format(
      "<p>{}</p><p>", fmt::format(fmt::runtime(words.violated_keys), grouped(keys.size()), grouped(names.size())));
  for (std::size_t i = 0; i < std::min(keys.size(), listed_max); ++i) {
    html += fmt::format("{}{}", i == 0 ? "" : ", ", escaped_markup(names[keys[i].key]));
  }
  return html + (keys.size() > listed_max ? ", …</p>\n" : "</p>\n");
}

std::string section(const JudgedHistory& judged, const checker::Model& model,
                    const checker::LinearizabilityOptions& options, const Words& words) {
  const checker::OperationHistory& history = judged.recorded.operations;
  const checker::LinearizabilityResult& result = judged.result;
  const bool holds = result.verdict == Verdict::holds;
  const bool is_violated = result.verdict == Verdict::violated;
  std::string html = fmt::format("<h2>{} — <span class=\"{}\">{}</span></h2>\n", escaped_markup(judged.file),
                                 holds         ? "good"
                                 : is_violated ? "bad"
                                               : "warn",
                                 holds         ? words.holds
                                 : is_violated ? words.violated
                                               : words.unknown);
  const auto unknown =
      std::count_if(history.operations.begin(), history.operations.end(), [](const auto& o) { return o.is_unknown(); });
  html += fmt::format("<p class=\"faint\">{} {}, {} {}, {} {}</p>\n", history.operations.size(), words.operations,
                      history.process_names.size(), words.processes, unknown, words.unknown_outcomes);
  for (const auto& [is_so, note] : {std::pair(judged.tested_nothing, words.nothing_tested),
                                    std::pair(judged.recorded.looks_independent, words.looks_independent)}) {
    if (is_so) html += fmt::format("<p class=\"warn\">{}</p>\n", escaped_markup(note));
  }
  if (result.violated_keys.size() > 1) html += violated_keys(judged, words);
  if (result.verdict == Verdict::unknown)
    return html + fmt::format("<p>{}</p>\n", escaped_markup(bound_text(result.bound)));
  if (is_violated && result.culprit) {
    html += fmt::format("<p>{}</p>\n",
                        fmt::format(fmt::runtime(words.at_line), judged.recorded.lines[*result.culprit].ended,
                                    escaped_markup(operation_text(judged, model, *result.culprit)),
                                    escaped_markup(process_text(judged, *result.culprit))));
  }
  if (is_violated && result.stretch && result.conflict.size() > 2) html += stretch_prose(judged, words);
  if (is_violated && !result.conflict.empty()) {
    html += fmt::format("<p>{}</p><ul>", words.conflict);
    constexpr std::size_t listed_max = 12;
    for (std::size_t i = 0; i < std::min(listed_max, result.conflict.size()); ++i) {
      html +=
          fmt::format("<li>{} — {} {}, {} {}</li>", escaped_markup(operation_text(judged, model, result.conflict[i])),
                      words.process, escaped_markup(process_text(judged, result.conflict[i])), words.lines,
                      lines_range(judged, result.conflict[i], words));
    }
    if (result.conflict.size() > listed_max) html += fmt::format("<li>… {}</li>", result.conflict.size() - listed_max);
    html += "</ul>\n";
    if (result.is_minimal && result.conflict.size() > 1) html += fmt::format("<p>{}</p>\n", words.minimal);
  }
  const Scene scene = scene_of(judged, model, options, kOperationsMax);
  if (!scene.key.empty()) {
    html += fmt::format("<p>{}</p>\n", fmt::format(fmt::runtime(words.key), escaped_markup(scene.key)));
  }
  html += fmt::format("<p>{}</p>\n", is_violated ? words.order : words.first_shown);
  html += picture(judged, model, scene, words) + legend(words) + order_table(judged, model, scene, words);
  return html + nemesis_notes(judged, words);
}

}  // namespace

std::string linearize_html(std::span<const JudgedHistory> histories, const checker::Model& model,
                           const checker::LinearizabilityOptions& options, Language language) {
  const Words& words = language == Language::zh ? kChinese : kEnglish;
  const std::string title = fmt::format(fmt::runtime(words.title), model.name());
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{}\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><meta name=\"color-scheme\" content=\"light "
      "dark\">\n<title>{}</title>\n"
      "<style>{}</style></head>\n<body>\n<h1>{}</h1>\n",
      language == Language::zh ? "zh" : "en", title, kStyle, title);
  for (const JudgedHistory& judged : histories) html += section(judged, model, options, words);
  return html + fmt::format("<p class=\"faint\">{}</p>\n</body></html>\n", words.made_by);
}

}  // namespace lockstep::reports
