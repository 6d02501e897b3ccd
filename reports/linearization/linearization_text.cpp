#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/linearization/linearization.hpp"
#include "reports/text/table.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

using checker::Verdict;

/// As many as fit with room between their events.
constexpr std::array<std::size_t, 3> kOperations{16, 12, 9};
constexpr std::size_t kSlotsBesides = 60;  ///< columns that are not the timeline's
constexpr std::size_t kShownConflictMax = 8;
constexpr std::size_t kShownKeysMax = 100;
constexpr std::string_view kLooksIndependent =
    "every value is a pair, as [key value]: if each key is an object of its own, say --independent";

std::string with_article(std::string_view noun) {
  return fmt::format("{} {}", std::string_view("aeiou").find(noun.front()) == std::string_view::npos ? "a" : "an",
                     noun);
}

std::string nothing_tested_text(const JudgedHistory& judged) {
  const std::size_t operations = judged.recorded.operations.operations.size();
  return fmt::format("nothing was tested: of {} is known that it took effect, and any order without them will do",
                     operations == 1 ? "no operation" : fmt::format("none of {} operations", grouped(operations)));
}

void add_heading(Lines& lines, const JudgedHistory& judged, const checker::Model& model, std::size_t width) {
  const Verdict verdict = judged.result.verdict;
  const Ink ink = verdict == Verdict::holds ? Ink::good : verdict == Verdict::violated ? Ink::bad : Ink::warning;
  Line line(verdict == Verdict::holds ? "✓ " : verdict == Verdict::violated ? "✗ " : "? ", ink);
  line.append(judged.file == "-" ? "standard input" : printable(judged.file), Ink::strong)
      .append(": ")
      .append(verdict_word(verdict), ink);
  if (verdict != Verdict::unknown) line.append(fmt::format(" as {}", with_article(model.name())));
  lines.push_back(std::move(line));

  const checker::OperationHistory& history = judged.recorded.operations;
  const auto unknown = static_cast<std::size_t>(std::count_if(history.operations.begin(), history.operations.end(),
                                                              [](const auto& o) { return o.is_unknown(); }));
  std::string facts = fmt::format("{} {} by {}", grouped(history.operations.size()),
                                  history.operations.size() == 1 ? "operation" : "operations",
                                  counted(history.process_names.size(), "process", "processes"));
  if (unknown > 0) facts += fmt::format(", {} with an unknown outcome", grouped(unknown));
  if (history.key_names.size() > 1) facts += fmt::format(", {} keys", grouped(history.key_names.size()));
  if (judged.reading.lines_skipped > 0) {
    facts +=
        fmt::format("; {} of the log passed over", counted(judged.reading.lines_skipped, "other line", "other lines"));
  }
  add_prose(lines, facts, width, 2, Ink::faint);
  if (judged.tested_nothing) add_prose(lines, nothing_tested_text(judged), width, 2, Ink::warning);
  if (judged.recorded.looks_independent) add_prose(lines, std::string(kLooksIndependent), width, 2, Ink::warning);
  for (const std::string& object : judged.recorded.other_objects) {
    add_prose(lines, fmt::format("not judged: {} (no functions of {})", object, with_article(model.name())), width, 2,
              Ink::faint);
  }
}

/// The bar of one operation in a row of `slots` cells.
std::string bar_of(const SceneOperation& o, std::size_t slots, std::size_t cell) {
  const std::size_t end = o.end.value_or(slots - 1);
  std::string bar;
  for (std::size_t column = 0; column < slots * cell; ++column) {
    const std::size_t slot = column / cell;
    const bool is_edge_column = column % cell == 0;
    // The point lies behind the event of its slot, so that what happens there is seen, too.
    const bool is_point = o.point && column == (cell > 1 ? *o.point * cell + 1 : *o.point);
    if (slot < o.begin || slot > end || (slot == end && o.end && !is_edge_column)) {
      bar += ' ';
    } else if (is_point) {
      bar += "●";
    } else if (is_edge_column && slot == o.begin) {
      bar += "├";
    } else if (is_edge_column && slot == end && o.end) {
      bar += "┤";
    } else {
      bar += o.end ? "─" : "┄";
    }
  }
  return bar;
}

void add_timeline(Lines& lines, const JudgedHistory& judged, const checker::Model& model, const Scene& scene,
                  std::size_t width) {
  struct Row {
    std::string process, operation, at, bar, note;
    Ink ink = Ink::plain;
  };
  std::vector<Row> rows;
  std::size_t process_width = 7;
  std::size_t operation_width = 9;
  std::size_t at_width = 5;
  for (const SceneOperation& o : scene.operations) {
    Row row;
    row.process = clip(process_text(judged, o.position), 12);
    row.operation = clip(operation_text(judged, model, o.position), 24);
    const checker::history_formats::Lines& at = judged.recorded.lines[o.position];
    row.at = at.ended == 0            ? fmt::format("{}-", at.invoked)
             : at.ended == at.invoked ? std::to_string(at.invoked)
                                      : fmt::format("{}-{}", at.invoked, at.ended);
    if (o.is_culprit) {
      row.note = "✗ has no place";
      row.ink = Ink::bad;
    } else if (o.order) {
      row.note = o.state.empty() ? fmt::format("#{}", *o.order + 1) : o.state;
      if (o.in_conflict) row.ink = Ink::warning;
    } else {
      row.note = "not needed";
      row.ink = Ink::faint;
    }
    process_width = std::max(process_width, display_width(row.process));
    operation_width = std::max(operation_width, display_width(row.operation));
    at_width = std::max(at_width, row.at.size());
    rows.push_back(std::move(row));
  }
  const std::size_t left = 2 + process_width + 2 + operation_width + 2 + at_width + 2;
  const std::size_t room = width > left + 16 ? width - left - 16 : 0;
  const std::size_t cell = scene.slots * 2 <= room ? 2 : 1;
  const std::size_t bars = std::min(scene.slots * cell, std::max<std::size_t>(room, 8));
  const auto put = [&](const Row& row, Ink ink) {
    Line line("  ");
    line.append(pad(row.process, process_width + 2), ink).append(pad(row.operation, operation_width + 2), ink);
    line.append(pad(row.at, at_width + 2), Ink::faint).append(pad(row.bar, bars + 2), ink);
    line.append(clip(row.note, width - line.width()), ink);
    lines.push_back(std::move(line));
  };
  put({.process = "process", .operation = "operation", .at = "lines", .bar = "", .note = "state after it"}, Ink::faint);
  if (scene.ordered_before > 0) {
    put({.operation = "⋮",
         .note = scene.state_before.empty() ? fmt::format("after {} operations", grouped(scene.ordered_before))
                                            : scene.state_before},
        Ink::faint);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].bar = bar_of(scene.operations[i], scene.slots, cell);
    put(rows[i], rows[i].ink);
  }
  add_prose(lines, "├─┤ from invocation to return, ┄ outcome unknown, ● takes effect", width, 2, Ink::faint);
}

/// Whose lock it is does not matter, and so it is enough to count.
void add_stretch(Lines& lines, const JudgedHistory& judged, const checker::Stretch& stretch, std::size_t width) {
  const StretchText text = stretch_text(judged, stretch);
  const std::string where = text.from_line == 0 ? fmt::format("Up to line {}", text.to_line)
                                                : fmt::format("Within lines {} to {}", text.from_line, text.to_line);
  add_prose(lines,
            fmt::format("{} are {} {} from beginning to end, which need {} {} between them, and only {} can have taken "
                        "effect there.",
                        where, grouped(stretch.inside), text.inside, grouped(stretch.needed()), text.between,
                        grouped(stretch.between)),
            width, 2);
}

/// All of them, up to a number that nobody reads.
void add_violated_keys(Lines& lines, const JudgedHistory& judged, std::size_t width) {
  const checker::LinearizabilityResult& result = judged.result;
  const checker::OperationHistory& history = judged.recorded.operations;
  std::string text = fmt::format("{} of {} keys are not linearizable, and the first to fail is explained: ",
                                 grouped(result.violated_keys.size()), grouped(history.key_names.size()));
  for (std::size_t i = 0; i < result.violated_keys.size(); ++i) {
    if (i == kShownKeysMax) {
      text += fmt::format(" and {} more (--json has all)", grouped(result.violated_keys.size() - i));
      break;
    }
    const checker::ViolatedKey& violated = result.violated_keys[i];
    text += fmt::format("{}{} (line {})", i == 0 ? "" : ", ", printable(history.key_names[violated.key]),
                        judged.recorded.lines[violated.culprit].ended);
  }
  add_prose(lines, text + ".", width, 2);
}

void add_violation(Lines& lines, const JudgedHistory& judged, const checker::Model& model, const Scene& scene,
                   std::size_t width) {
  const checker::LinearizabilityResult& result = judged.result;
  if (result.violated_keys.size() > 1) add_violated_keys(lines, judged, width);
  if (result.culprit) {
    const std::uint32_t culprit = *result.culprit;
    std::string text =
        fmt::format("{} can be ordered up to line {}, where {} of process {} returns (invoked in line {}).",
                    scene.key.empty() ? "The history" : fmt::format("Key {}", printable(scene.key)),
                    judged.recorded.lines[culprit].ended, printable(operation_text(judged, model, culprit)),
                    printable(process_text(judged, culprit)), judged.recorded.lines[culprit].invoked);
    text += " Whatever the order of what came before, it has no place in it.";
    add_prose(lines, text, width, 2);
  }
  if (result.stretch && result.conflict.size() > 2) add_stretch(lines, judged, *result.stretch, width);
  if (!result.is_minimal && result.conflict.size() > kShownConflictMax) {
    add_prose(lines,
              fmt::format("No few operations were found that alone make it impossible: the conflict has {}, and may be "
                          "larger than it must.",
                          grouped(result.conflict.size())),
              width, 2);
  } else if (!result.conflict.empty()) {
    std::string text = printable(conflict_text(Language::en, judged, model)) + ": ";
    for (std::size_t i = 0; i < result.conflict.size(); ++i) {
      if (i == kShownConflictMax) {
        text += fmt::format(" and {} more", grouped(result.conflict.size() - i));
        break;
      }
      const std::uint32_t position = result.conflict[i];
      text +=
          fmt::format("{}{} of process {} ({})", i == 0 ? "" : ", ", printable(operation_text(judged, model, position)),
                      printable(process_text(judged, position)), lines_text(judged, position));
    }
    add_prose(lines, text + ".", width, 2);
  }
  const std::uint32_t around = result.culprit ? judged.recorded.lines[*result.culprit].ended : 0;
  const checker::history_formats::Note* last = nullptr;
  for (const checker::history_formats::Note& note : judged.recorded.notes) {
    if (note.line < around) last = &note;
  }
  if (last != nullptr) {
    add_prose(lines, fmt::format("The nemesis, last before that: {} (line {})", printable(last->text), last->line),
              width, 2, Ink::faint);
  }
  lines.emplace_back();
  add_prose(lines,
            fmt::format("The longest part that can be ordered has {}; the end of one such order, and what follows:",
                        counted(scene.ordered, "operation", "operations")),
            width, 2);
  add_timeline(lines, judged, model, scene, width);
}

}  // namespace

Lines linearization(const JudgedHistory& judged, const checker::Model& model,
                    const checker::LinearizabilityOptions& options, std::size_t width) {
  Lines lines;
  add_heading(lines, judged, model, width);
  if (judged.result.verdict == Verdict::unknown) {
    add_prose(lines, fmt::format("{}; give it more, or split the history by key", bound_text(judged.result.bound)),
              width, 2, Ink::warning);
  } else if (judged.result.verdict == Verdict::violated) {
    Scene scene;
    for (const std::size_t operations_max : kOperations) {
      scene = scene_of(judged, model, options, operations_max);
      if (scene.slots * 2 + kSlotsBesides <= width) break;
    }
    add_violation(lines, judged, model, scene, width);
  }
  return lines;
}

Lines list_models(std::size_t width) {
  Table table({{"model", 12}, {"what it is", 24}, {"functions, and other names for them", 30}});
  for (const checker::Model* model : checker::models()) {
    std::string functions;
    for (const checker::ModelFunction& function : model->functions()) {
      if (!functions.empty()) functions += "; ";
      functions += function.name;
      std::string others;
      for (const checker::history_formats::Alias& alias : checker::history_formats::aliases(*model)) {
        if (alias.function != function.name || alias.name == function.name) continue;
        others += fmt::format("{}{}", others.empty() ? "" : ", ", alias.name);
      }
      if (!others.empty()) functions += fmt::format(" ({})", others);
    }
    table.add({{std::string(model->name()), Ink::strong}, {std::string(model->summary())}, {functions, Ink::faint}});
  }
  return table.lines(width);
}

}  // namespace lockstep::reports
