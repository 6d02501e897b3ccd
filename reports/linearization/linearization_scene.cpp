#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

#include "reports/linearization/linearization.hpp"
#include "reports/words/conflicts.hpp"

namespace lockstep::reports {
namespace {

using checker::HistoryOperation;

/// Describing each state of a longer linearization costs more than it tells.
constexpr std::size_t kStatesMax = 20'000;

/// The part of the linearization that is about the operations of this key.
std::vector<std::uint32_t> order_of_key(const JudgedHistory& judged, const checker::Model& model, std::uint32_t key) {
  if (judged.result.verdict != checker::Verdict::holds) return judged.result.prefix;
  std::vector<std::uint32_t> order;
  for (const std::uint32_t position : judged.result.order) {
    if (model.splits_by_key() && judged.recorded.operations.operations[position].key != key) continue;
    order.push_back(position);
  }
  return order;
}

/// Ends at which an operation could have been heard of: an unknown one has none.
bool has_end(const HistoryOperation& operation) { return !operation.is_unknown(); }

class Selection {
 public:
  Selection(const JudgedHistory& judged, const checker::Model& model, std::size_t operations_max)
      : judged_(judged), operations_(judged.recorded.operations.operations), model_(model), max_(operations_max) {}

  std::set<std::uint32_t> around(std::uint32_t culprit, const std::vector<std::uint32_t>& order) {
    selected_.insert(culprit);
    // One that fills the picture by itself explains nothing; then the last operations tell more.
    if (judged_.result.conflict.size() <= max_ / 2) {
      selected_.insert(judged_.result.conflict.begin(), judged_.result.conflict.end());
    }
    // What happened last before it, and what was going on meanwhile.
    for (auto p = order.rbegin(); p != order.rend() && selected_.size() < max_; ++p) selected_.insert(*p);
    const std::int64_t at = *judged_.result.at;
    for (std::uint32_t i = culprit; i-- > 0 && selected_.size() < max_;) add_if_open(i, at, operations_[culprit].key);
    for (std::uint32_t i = culprit + 1; i < operations_.size() && selected_.size() < max_; ++i) {
      if (operations_[i].invoked > at) break;
      add_if_open(i, at, operations_[culprit].key);
    }
    return std::move(selected_);
  }

  std::set<std::uint32_t> first(const std::vector<std::uint32_t>& order) {
    for (std::size_t i = 0; i < order.size() && i < max_; ++i) selected_.insert(order[i]);
    return std::move(selected_);
  }

 private:
  void add_if_open(std::uint32_t position, std::int64_t at, std::uint32_t key) {
    const HistoryOperation& o = operations_[position];
    if (model_.splits_by_key() && o.key != key) return;
    if (o.phase == sim::Phase::fail || o.invoked > at) return;
    if (!has_end(o) || o.returned >= at) selected_.insert(position);
  }

  const JudgedHistory& judged_;
  const std::vector<HistoryOperation>& operations_;
  const checker::Model& model_;
  std::size_t max_;
  std::set<std::uint32_t> selected_;
};

/// Slots of all events in the picture: positions of the file that are close together become neighbours.
std::map<std::int64_t, std::size_t> slots_of(const std::vector<HistoryOperation>& operations,
                                             const std::set<std::uint32_t>& selected) {
  std::map<std::int64_t, std::size_t> slots;
  for (const std::uint32_t position : selected) {
    slots[operations[position].invoked] = 0;
    if (has_end(operations[position])) slots[operations[position].returned] = 0;
  }
  std::size_t n = 0;
  for (auto& [event, slot] : slots) slot = n++;
  return slots;
}

}  // namespace

Scene scene_of(const JudgedHistory& judged, const checker::Model& model, const checker::LinearizabilityOptions& options,
               std::size_t operations_max) {
  Scene scene;
  const checker::OperationHistory& history = judged.recorded.operations;
  const std::vector<HistoryOperation>& operations = history.operations;
  const checker::LinearizabilityResult& result = judged.result;
  if (operations.empty() || result.verdict == checker::Verdict::unknown) return scene;
  const bool is_violated = result.verdict == checker::Verdict::violated;
  const std::uint32_t key = is_violated ? result.key : operations.front().key;
  const std::vector<std::uint32_t> order = order_of_key(judged, model, key);
  scene.ordered = order.size();
  if (history.key_names.size() > 1 && model.splits_by_key() && key < history.key_names.size()) {
    scene.key = history.key_names[key];
  }

  Selection selection(judged, model, operations_max);
  const std::set<std::uint32_t> selected =
      is_violated && result.culprit ? selection.around(*result.culprit, order) : selection.first(order);
  const std::map<std::int64_t, std::size_t> slots = slots_of(operations, selected);
  scene.slots = slots.size();

  std::vector<std::string> states;
  checker::LinearizabilityOptions own = options;
  own.initial = judged.recorded.initial.value_or(checker::nil);
  if (order.size() <= kStatesMax) states = checker::describe_states(history, model, order, own);
  std::size_t point = 0;
  bool is_first = true;
  const auto add = [&](std::uint32_t position) -> SceneOperation& {
    const HistoryOperation& o = operations[position];
    SceneOperation shown{.position = position, .begin = slots.at(o.invoked)};
    if (has_end(o)) shown.end = slots.at(o.returned);
    shown.in_conflict = std::find(result.conflict.begin(), result.conflict.end(), position) != result.conflict.end();
    scene.operations.push_back(std::move(shown));
    return scene.operations.back();
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    // Operations that are left out still move the points of those behind them.
    const auto begin = slots.upper_bound(operations[order[i]].invoked);
    const std::size_t earliest = begin == slots.begin() ? 0 : std::prev(begin)->second;
    point = std::max(point, earliest);
    if (!selected.contains(order[i])) continue;
    if (is_first) {
      scene.ordered_before = i;
      if (i > 0 && !states.empty()) scene.state_before = states[i - 1];
      is_first = false;
    }
    SceneOperation& shown = add(order[i]);
    shown.order = i;
    shown.point = point;
    if (!states.empty()) shown.state = states[i];
  }
  for (const std::uint32_t position : selected) {
    const bool is_ordered = std::any_of(scene.operations.begin(), scene.operations.end(),
                                        [&](const SceneOperation& o) { return o.position == position; });
    if (is_ordered) continue;
    add(position).is_culprit = is_violated && result.culprit == position;
  }
  // The culprit last: it is what the picture is about.
  const auto culprit = std::find_if(scene.operations.begin(), scene.operations.end(),
                                    [](const SceneOperation& o) { return o.is_culprit; });
  if (culprit != scene.operations.end()) std::rotate(culprit, culprit + 1, scene.operations.end());
  return scene;
}

std::string operation_text(const JudgedHistory& judged, const checker::Model& model, std::uint32_t position) {
  const HistoryOperation& operation = judged.recorded.operations.operations[position];
  std::string text = model.describe(judged.recorded.operations, operation);
  const std::size_t arrow = text.rfind(" -> ");
  if (arrow != std::string::npos) text.replace(arrow, 4, " → ");
  if (operation.is_unknown()) text += " ?";
  if (operation.phase == sim::Phase::fail) text += " (failed)";
  return text;
}

std::string conflict_text(Language language, const JudgedHistory& judged, const checker::Model& model) {
  const bool zh = language == Language::zh;
  const std::vector<std::uint32_t>& conflict = judged.result.conflict;
  constexpr std::string_view kLocks[] = {"mutex", "owner-mutex", "reentrant-mutex"};
  std::vector<ConflictingOperation> operations;
  for (const std::uint32_t position : conflict) {
    const HistoryOperation& operation = judged.recorded.operations.operations[position];
    const std::string text = model.describe(judged.recorded.operations, operation);
    operations.push_back({(zh ? "" : "process ") + process_text(judged, position), text.substr(0, text.find(' ')),
                          operation.phase == sim::Phase::ok});
  }
  if (std::find(std::begin(kLocks), std::end(kLocks), model.name()) != std::end(kLocks)) {
    if (std::optional<std::string> meaning = conflict_meaning(language, operations)) {
      if (!zh) meaning->front() = static_cast<char>(std::toupper(meaning->front()));
      return *std::move(meaning);
    }
  }
  if (conflict.size() == 1) return zh ? "它本身就不可能" : "By itself it is impossible";
  if (!judged.result.is_minimal) return zh ? "没有哪种顺序能同时解释它们" : "No order explains all of these";
  return zh ? "没有哪种顺序能同时解释它们，去掉任何一个就可以"
            : fmt::format("No order explains these {}, though one would without any one of them",
                          grouped(conflict.size()));
}

std::string lines_text(const JudgedHistory& judged, std::uint32_t position) {
  const checker::history_formats::Lines& lines = judged.recorded.lines[position];
  if (lines.ended == 0) return "line " + std::to_string(lines.invoked) + ", never ended";
  if (lines.ended == lines.invoked) return "line " + std::to_string(lines.invoked);
  return "lines " + std::to_string(lines.invoked) + " to " + std::to_string(lines.ended);
}

StretchText stretch_text(const JudgedHistory& judged, const checker::Stretch& stretch) {
  const std::vector<checker::history_formats::Lines>& lines = judged.recorded.lines;
  return {.inside = stretch.of_acquires ? "acquires" : "releases",
          .between = stretch.of_acquires ? "releases" : "acquires",
          .from_line = stretch.first ? lines[*stretch.first].invoked : 0,
          .to_line = lines[stretch.last].ended};
}

std::string grouped(std::size_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string process_text(const JudgedHistory& judged, std::uint32_t position) {
  const checker::OperationHistory& history = judged.recorded.operations;
  return checker::process_text(history, history.operations[position].process);
}

std::string_view verdict_word(checker::Verdict verdict) {
  switch (verdict) {
    case checker::Verdict::holds: return "linearizable";
    case checker::Verdict::violated: return "not linearizable";
    case checker::Verdict::unknown:
    case checker::Verdict::not_judged: return "unknown";
  }
  return "unknown";
}

std::string_view bound_text(checker::SearchBound bound) {
  switch (bound) {
    case checker::SearchBound::memory: return "the search would need more memory than --max-memory allows";
    case checker::SearchBound::time: return "the search took longer than --max-seconds allows";
    case checker::SearchBound::none: break;
  }
  return "no bound was hit";
}

}  // namespace lockstep::reports
