#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/linearization/linearization.hpp"
#include "reports/site/frame/template.hpp"
#include "reports/text/embedded_text.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

using checker::Verdict;
using site::Values;

constexpr std::size_t kOperationsMax = 40;
constexpr int kCharacter = 7;  ///< width of a character in the picture's font, in pixels
constexpr int kRow = 34;
constexpr int kBox = 24;
constexpr int kTop = 44;
constexpr int kStateMax = 12;  ///< characters of a state that fits above its point

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

/// Which lines of the file.
void add_lines(const JudgedHistory& judged, std::uint32_t position, Values& values) {
  const checker::history_formats::Lines& lines = judged.recorded.lines[position];
  const bool is_one = lines.ended == 0 || lines.ended == lines.invoked;
  values.set("lines", is_one ? std::to_string(lines.invoked) : fmt::format("{}–{}", lines.invoked, lines.ended));
  values.set("is_one", is_one);
  values.set("never_ended", lines.ended == 0);
}

Values operation_at(const JudgedHistory& judged, const checker::Model& model, std::uint32_t position) {
  Values values{{"operation", operation_text(judged, model, position)}, {"process", process_text(judged, position)}};
  add_lines(judged, position, values);
  return values;
}

/// A rectangle for each operation, and the point at which it takes effect.
Values scene_values(const JudgedHistory& judged, const checker::Model& model, const Scene& scene) {
  const Placement place(judged, model, scene);
  const auto fits = [](const std::string& state) { return text_width(state) <= kStateMax * kCharacter; };
  std::vector<Values> lanes, boxes;
  for (const Placement::Lane& lane : place.lanes())
    lanes.push_back({{"name", lane.name},
                     {"middle", std::to_string(kTop + lane.row * kRow + lane.rows * kRow / 2 + 4)},
                     {"bottom", std::to_string(kTop + (lane.row + lane.rows) * kRow)}});
  std::string path;
  for (std::size_t i = 0; i < scene.operations.size(); ++i) {
    const SceneOperation& o = scene.operations[i];
    const int x = place.slot(o.begin), y = place.top_of(i);
    Values& box = boxes.emplace_back(operation_at(judged, model, o.position));
    box.set("look", class_of(o));
    box.set("clashes", o.in_conflict);
    box.set("is_open", !o.end);
    box.set("order", o.order ? std::to_string(*o.order + 1) : "");
    box.set("state", o.state);
    box.set("is_culprit", o.is_culprit);
    box.set("x", std::to_string(x));
    box.set("y", std::to_string(y));
    box.set("box_width", std::to_string(place.end_of(o) - x));
    box.set("text_x", std::to_string(x + 7));
    box.set("text_y", std::to_string(y + 16));
    box.set("label", place.label(i));
    box.set("point", o.point ? std::to_string(place.point_of(i)) : "");
    box.set("under", std::to_string(y + kBox));
    box.set("shown_state", o.point && place.shows_state(o) ? o.state : "");
    box.set("ends_at", o.is_culprit && o.end ? std::to_string(place.end_of(o)) : "");
    if (o.point) path += fmt::format("{}{},{}", path.empty() ? "M" : " L", place.point_of(i), y + kBox);
  }
  return {{"left", std::to_string(place.left())},
          {"width", std::to_string(place.width())},
          {"height", std::to_string(place.height())},
          {"line_end", std::to_string(place.height() - 6)},
          {"lanes", lanes},
          {"first_state", fits(scene.state_before) ? scene.state_before : ""},
          {"path", path},
          {"boxes", boxes},
          {"before", scene.ordered_before > 0 ? std::to_string(scene.ordered_before) : ""},
          {"state_before", scene.state_before}};
}

/// What the nemesis did before the operation that has no place.
std::vector<Values> nemesis_notes(const JudgedHistory& judged) {
  constexpr std::size_t notes_max = 6;
  const std::uint32_t until = judged.result.culprit ? judged.recorded.lines[*judged.result.culprit].ended : 0;
  std::vector<Values> before;
  for (const checker::history_formats::Note& note : judged.recorded.notes) {
    if (note.line < until) before.push_back({{"line", note.line}, {"note", note.text}});
  }
  before.erase(before.begin(), before.end() - static_cast<std::ptrdiff_t>(std::min(notes_max, before.size())));
  return before;
}

Values stretch_values(const JudgedHistory& judged, const checker::Stretch& stretch) {
  const StretchText text = stretch_text(judged, stretch);
  return {{"from", text.from_line == 0 ? "" : std::to_string(text.from_line)},
          {"to", text.to_line},
          {"inside", grouped(stretch.inside)},
          {"needed", grouped(stretch.needed())},
          {"between", grouped(stretch.between)},
          {"of_acquires", stretch.of_acquires}};
}

void add_verdict(Values& values, Verdict verdict) {
  values.set("holds", verdict == Verdict::holds);
  values.set("is_violated", verdict == Verdict::violated);
  values.set("is_unknown", verdict == Verdict::unknown);
}

/// What is said and drawn of a history, or of one key.
void add_explanation(Values& values, const JudgedHistory& judged, const checker::Model& model,
                     const checker::LinearizabilityOptions& options) {
  const checker::LinearizabilityResult& result = judged.result;
  const bool is_violated = result.verdict == Verdict::violated;
  if (is_violated && result.culprit) {
    Values culprit = operation_at(judged, model, *result.culprit);
    culprit.set("line", judged.recorded.lines[*result.culprit].ended);
    values.set("culprit", culprit);
  }
  if (is_violated && result.stretch && result.conflict.size() > 2)
    values.set("stretch", stretch_values(judged, *result.stretch));
  if (is_violated && !result.conflict.empty()) {
    constexpr std::size_t listed_max = 12;
    std::vector<Values> conflict;
    for (std::size_t i = 0; i < std::min(listed_max, result.conflict.size()); ++i)
      conflict.push_back(operation_at(judged, model, result.conflict[i]));
    values.set("has_conflict", true);
    values.set("conflict", conflict);
    values.set("conflict_size", grouped(result.conflict.size()));
    if (result.conflict.size() > listed_max) values.set("more", result.conflict.size() - listed_max);
    values.set("is_several", result.conflict.size() > 1);
    values.set("why", conflict_text(Language::en, judged, model));
    values.set("why_zh", conflict_text(Language::zh, judged, model));
  }
  values.set("scene", scene_values(judged, model, scene_of(judged, model, options, kOperationsMax)));
}

/// All keys, each to be opened; of many those that are not linearizable, and how many others there are.
void add_keys(Values& values, const JudgedHistory& judged, const checker::Model& model,
              const checker::LinearizabilityOptions& options) {
  constexpr std::size_t shown_max = 40;
  constexpr std::size_t listed_max = 1000;
  const std::size_t failed = judged.result.violated_keys.size();
  std::size_t keys = 0, others = 0, more_failed = 0, more_unknown = 0;
  std::vector<Values> shown, listed;
  for_each_key(judged, model, options, shown_max, [&](const JudgedKey& key) {
    ++keys;
    const bool is_kept = key.verdict == Verdict::holds;
    // Where some of many fail, those that do not are of no interest.
    const bool is_shown =
        shown.size() < shown_max && !(is_kept && failed > 0 && judged.recorded.operations.key_names.size() > shown_max);
    if (is_shown) {
      Values& values_of_key = shown.emplace_back();
      values_of_key.set("name", key.name);
      values_of_key.set("is_key", true);
      values_of_key.set("is_open", shown.size() == 1);
      values_of_key.set("count", grouped(key.operations));
      values_of_key.set("is_single", key.operations == 1);
      values_of_key.set("is_drawn", key.judged != nullptr);
      add_verdict(values_of_key, key.verdict);
      if (key.judged != nullptr) add_explanation(values_of_key, *key.judged, model, options);
    } else if (is_kept) {
      ++others;
    } else {
      ++(key.verdict == Verdict::violated ? more_failed : more_unknown);
      if (listed.size() < listed_max) listed.push_back({{"name", key.name}});
    }
  });
  values.set("parts", shown);
  values.set("keys", Values{{"all", grouped(keys)},
                            {"failed", failed == 0 ? "" : grouped(failed)},
                            {"others", others == 0 ? "" : grouped(others)},
                            {"more_failed", more_failed == 0 ? "" : grouped(more_failed)},
                            {"more_unknown", more_unknown == 0 ? "" : grouped(more_unknown)},
                            {"has_more", !listed.empty()},
                            {"is_cut", more_failed + more_unknown > listed.size()},
                            {"listed", listed}});
}

Values history_values(const JudgedHistory& judged, const checker::Model& model,
                      const checker::LinearizabilityOptions& options) {
  const checker::OperationHistory& history = judged.recorded.operations;
  const checker::LinearizabilityResult& result = judged.result;
  const bool is_unknown = result.verdict == Verdict::unknown;
  const auto unknown =
      std::count_if(history.operations.begin(), history.operations.end(), [](const auto& o) { return o.is_unknown(); });
  Values values{{"file", judged.file},
                {"bound", is_unknown ? bound_text(result.bound) : ""},
                {"operations", history.operations.size()},
                {"processes", history.process_names.size()},
                {"unknown", std::to_string(unknown)},
                {"tested_nothing", judged.tested_nothing},
                {"looks_independent", judged.recorded.looks_independent}};
  add_verdict(values, result.verdict);
  if (has_keys(judged, model)) {
    add_keys(values, judged, model, options);
  } else if (!is_unknown) {
    Values whole{{"is_drawn", true}};
    add_verdict(whole, result.verdict);
    add_explanation(whole, judged, model, options);
    values.set("parts", std::vector<Values>{whole});
  }
  const std::vector<Values> notes = nemesis_notes(judged);
  values.set("has_notes", !is_unknown && !notes.empty());
  values.set("notes", notes);
  return values;
}

}  // namespace

std::string linearize_html(std::span<const JudgedHistory> histories, const checker::Model& model,
                           const checker::LinearizabilityOptions& options, Language language) {
  std::vector<Values> judged_histories;
  for (const JudgedHistory& judged : histories) judged_histories.push_back(history_values(judged, model, options));
  return site::filled("reports/linearization/linearization.mustache",
                      {{"language", language == Language::zh ? "zh" : "en"},
                       {"model", model.name()},
                       {"style", embedded_text("reports/linearization/linearization.css")},
                       {"histories", judged_histories}},
                      language);
}

}  // namespace lockstep::reports
