#include "reports/check/matrix.hpp"

#include <fmt/format.h>

#include "reports/json/json.hpp"
#include "reports/text/table.hpp"
#include "reports/text/text.hpp"
#include "scenarios/format/writer.hpp"

namespace lockstep::reports {
namespace {

using scenarios::MatrixAnswer;
using scenarios::MatrixCell;
using Ground = MatrixAnswer::Ground;

const MatrixAnswer* answer_to(const MatrixCell& cell, const scenarios::MatrixQuestion& question) {
  for (const MatrixAnswer& answer : cell.answers) {
    if (answer.question == &question) return &answer;
  }
  return nullptr;
}

/// "✗ >971ms": the margin, where the fault has one.
Cell cell_of(const MatrixAnswer* answer, bool zh) {
  if (answer == nullptr) return {"?", Ink::warning};
  switch (answer->ground) {
    case Ground::proved: {
      const std::string_view clients = answer->clients == 3 ? "2, 3" : "2";
      return {fmt::format(fmt::runtime(zh ? "✓ {} 个客户端" : "✓ {} clients"), clients), Ink::good};
    }
    case Ground::fuzzed: return {zh ? "~ 随机" : "~ fuzzed", Ink::warning};
    case Ground::inapplicable: return {"·", Ink::faint};
    case Ground::broken: break;
  }
  std::string text = "✗";
  for (const scenarios::Threshold& threshold : answer->thresholds) {
    const bool down = threshold.infimum.value < sim::Duration::zero();
    const std::string_view sign = threshold.infimum.attained ? (down ? "≤" : "≥") : (down ? "<" : ">");
    text += fmt::format("{}{}{}", text == "✗" ? " " : "\n  ", sign, sim::to_string(threshold.infimum.value));
  }
  if (text == "✗") text = zh ? "✗ 破坏" : "✗ broken";
  if (answer->clients == 3 && answer->traces > 0) text += zh ? "，3 个时" : " with 3";
  return {text, Ink::bad};
}

/// The columns that were asked for, in their order.
std::vector<const scenarios::MatrixFault*> columns_of(const scenarios::Matrix& matrix) {
  std::vector<const scenarios::MatrixFault*> columns;
  for (const MatrixCell& cell : matrix.cells) {
    if (cell.algorithm != matrix.cells.front().algorithm) break;
    columns.push_back(cell.fault);
  }
  return columns;
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    longest = std::max(longest, display_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

/// The faults stand beside each other as far as they fit without a break inside a word, and then below.
void add_table(Lines& lines, const scenarios::Matrix& matrix, const scenarios::MatrixQuestion& question,
               const MatrixReportOptions& options) {
  const bool zh = options.language == Language::zh;
  const auto faults = columns_of(matrix);
  const std::string algorithm = zh ? "算法" : "algorithm";
  std::size_t name_width = display_width(algorithm);
  for (const MatrixCell& cell : matrix.cells) name_width = std::max(name_width, cell.algorithm.size());
  std::vector<std::vector<Cell>> columns(faults.size());
  std::vector<std::size_t> least;
  bool has_answers = false;
  for (std::size_t j = 0; j < faults.size(); ++j) {
    least.push_back(longest_word(faults[j]->name));
    for (std::size_t i = j; i < matrix.cells.size(); i += faults.size()) {
      const MatrixAnswer* answer = answer_to(matrix.cells[i], question);
      has_answers = has_answers || answer == nullptr || answer->ground != Ground::inapplicable;
      least.back() = std::max(least.back(), longest_word(columns[j].emplace_back(cell_of(answer, zh)).text));
    }
  }
  lines.emplace_back();
  add_wrapped(lines, fmt::format("{}: {}", question.name, zh ? question.meaning_zh : question.meaning), options.width,
              Ink::strong);
  if (!has_answers) {
    add_wrapped(lines, zh ? "  对这些算法不适用" : "  has no meaning for these algorithms", options.width, Ink::faint);
    return;
  }
  for (std::size_t first = 0, end = 0; first < faults.size(); first = end) {
    constexpr std::size_t kGap = 2;
    std::vector<Column> titles{{algorithm, name_width}};
    for (std::size_t used = name_width; end < faults.size(); ++end) {
      used += kGap + least[end];
      if (end > first && used > options.width) break;
      titles.push_back({std::string(faults[end]->name), least[end]});
    }
    Table table(std::move(titles));
    for (std::size_t i = 0; i < matrix.cells.size() / faults.size(); ++i) {
      std::vector<Cell> cells{{matrix.cells[i * faults.size()].algorithm, Ink::strong}};
      for (std::size_t j = first; j < end; ++j) cells.push_back(columns[j][i]);
      table.add(std::move(cells));
    }
    if (first > 0) lines.emplace_back();
    for (Line& line : table.lines(options.width)) lines.push_back(std::move(line));
  }
}

std::string bounds_text(const scenarios::MatrixOptions& bounds, bool zh) {
  return fmt::format(
      fmt::runtime(zh ? "界限：租期 1s，网络单程 1ms..10ms，工作 20ms，多服务器的算法用 3 个服务器；primary-lost：租期 "
                        "10s，工作最多 5s，复制延迟 1ms..1s。✓：这么多客户端，0s..3s 内"
                        "开始，各一次，至多一个故障，所有顺序与所有时延，至多 {} 条轨迹、{} 个事件；“3 "
                        "个时”：两个客户端不会破坏。"
                        "随机，以及已证明的：3 个客户端，各两轮，每轮三次尝试，{} 次随机"
                        "运行（种子 {}）均未破坏。✗ 后面的数：超过它就会破坏。·：不适用。"
                      : "Bounds: lease 1s, network 1ms..10ms one way, work 20ms, 3 servers where an algorithm wants "
                        "several; with primary-lost: lease 10s, work up to 5s, replication 1ms..1s. Proved: "
                        "so many clients that start within 0s..3s, once each, at most one fault, all orders and all "
                        "delays, in at most {} traces and {} events; \"with 3\": two clients do not break it. "
                        "Fuzzed, and what is proved as well: 3 clients, two rounds of three attempts; {} random runs "
                        "(seed {}) did not break it. "
                        "What follows a ✗ is the margin: beyond it it breaks. ·: has no meaning there."),
      bounds.max_traces, bounds.max_events, bounds.runs, bounds.seed);
}

std::string_view ground_name(Ground ground) {
  switch (ground) {
    case Ground::proved: return "proved";
    case Ground::fuzzed: return "fuzzed";
    case Ground::broken: return "broken";
    case Ground::inapplicable: break;
  }
  return "inapplicable";
}

Json json_of(const MatrixAnswer& answer) {
  Json json;
  json["question"] = answer.question->name;
  json["property"] = answer.question->property;
  json["ground"] = ground_name(answer.ground);
  json["clients"] = answer.clients;
  json["traces"] = answer.traces;
  json["traces_of_three"] = answer.traces_of_three;
  json["runs"] = answer.runs;
  json["thresholds"] = Json::array();
  for (const scenarios::Threshold& threshold : answer.thresholds) {
    json["thresholds"].push_back({{"parameter", threshold.parameter},
                                  {"infimum", sim::to_string(threshold.infimum.value)},
                                  {"attained", threshold.infimum.attained}});
  }
  json["why"] = answer.why;
  json["witness"] = answer.witness ? Json(scenarios::to_toml(*answer.witness, ".")) : Json();
  return json;
}

}  // namespace

Lines matrix(const scenarios::Matrix& matrix, const scenarios::MatrixOptions& bounds,
             const MatrixReportOptions& options) {
  const bool zh = options.language == Language::zh;
  Lines lines;
  if (matrix.cells.empty()) return lines;
  for (const scenarios::MatrixFault* fault : columns_of(matrix)) {
    constexpr std::size_t kNames = 14;
    std::string_view name = fault->name;
    for (const std::string& part : wrap(zh ? fault->meaning_zh : fault->meaning, options.width - kNames)) {
      lines.push_back(std::move(Line(name, Ink::strong).fill_to(kNames).append(part)));
      name = "";
    }
  }
  for (const scenarios::MatrixQuestion& question : scenarios::matrix_questions())
    add_table(lines, matrix, question, options);
  lines.emplace_back();
  add_wrapped(lines, bounds_text(bounds, zh), options.width, Ink::faint);
  if (!matrix.is_complete)
    add_wrapped(lines, zh ? "中断：标有 ? 的格没有完成" : "Interrupted: cells with ? were not begun.", options.width,
                Ink::warning);
  return lines;
}

std::string matrix_json(const scenarios::Matrix& matrix, const scenarios::MatrixOptions& bounds) {
  Json json;
  json["lockstep"] = 1;
  json["command"] = "matrix";
  json["complete"] = matrix.is_complete;
  json["bounds"] = {{"max_traces", bounds.max_traces},
                    {"max_events", bounds.max_events},
                    {"runs", bounds.runs},
                    {"seed", bounds.seed},
                    {"text", {{"en", bounds_text(bounds, false)}, {"zh", bounds_text(bounds, true)}}}};
  json["faults"] = Json::array();
  for (const scenarios::MatrixFault& fault : scenarios::matrix_faults())
    json["faults"].push_back({{"name", fault.name}, {"meaning", {{"en", fault.meaning}, {"zh", fault.meaning_zh}}}});
  json["questions"] = Json::array();
  for (const scenarios::MatrixQuestion& question : scenarios::matrix_questions()) {
    json["questions"].push_back({{"name", question.name},
                                 {"property", question.property},
                                 {"meaning", {{"en", question.meaning}, {"zh", question.meaning_zh}}}});
  }
  json["cells"] = Json::array();
  for (const MatrixCell& cell : matrix.cells) {
    Json one;
    one["algorithm"] = cell.algorithm;
    one["fault"] = cell.fault->name;
    one["answers"] = Json::array();
    for (const MatrixAnswer& answer : cell.answers) one["answers"].push_back(json_of(answer));
    json["cells"].push_back(std::move(one));
  }
  return json.dump(2) + "\n";
}

}  // namespace lockstep::reports
