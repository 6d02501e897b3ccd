#include "reports/site/algorithm_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/listing/listing.hpp"
#include "reports/picture/shape.hpp"
#include "reports/site/algorithm_texts.hpp"
#include "reports/site/chapters.hpp"
#include "reports/site/figure.hpp"
#include "reports/site/graph_picture.hpp"
#include "reports/site/index_page.hpp"
#include "reports/text/embedded_text.hpp"
#include "reports/text/figures.hpp"
#include "reports/words/reasons.hpp"
#include "scenarios/format/writer.hpp"

namespace lockstep::reports::site {
namespace {

using models::locks::Entry;
using models::locks::ParameterRole;
using models::locks::ParameterSpec;
using picture::escaped_markup;

constexpr std::string_view kList = "algorithms/index.html";
/// Others are drawn beside this one, for comparison.
constexpr std::string_view kReference = "set-nx-px-lua";

Text summary_of(const Entry& entry) {
  const AlgorithmText* text = find_algorithm_text(entry.id);
  return {std::string(entry.summary), text == nullptr ? "" : std::string(text->summary_zh)};
}

Text role_text(ParameterRole role) {
  switch (role) {
    case ParameterRole::lease: return {"lease", "租期"};
    case ParameterRole::renewed_lease: return {"renewed lease", "续期的租期"};
    case ParameterRole::newcomers_lease: return {"lease in the eyes of newcomers", "后来者眼中的租期"};
    case ParameterRole::server_patience: return {"patience with a server", "对服务器的等待"};
    case ParameterRole::replica_patience: return {"patience with replicas", "对从节点的等待"};
    case ParameterRole::longest_delay: return {"longest delay", "最长间隔"};
    case ParameterRole::places: return {"places", "名额"};
    case ParameterRole::other: break;
  }
  return {};
}

std::string keys_of(const AlgorithmText& text) {
  std::vector<std::vector<std::string>> rows;
  for (const KeyLayout& key : text.keys)
    rows.push_back({fmt::format("<code>{}</code>", escaped_markup(key.name)), both(key.meaning, key.meaning_zh)});
  return table_of({"Keys", "键"}, {both("Key", "键"), both("What it holds", "内容")}, rows);
}

std::string parameters_of(const Entry& entry) {
  std::vector<std::vector<std::string>> rows;
  for (const ParameterSpec& spec : entry.parameters) {
    const Text role = role_text(spec.role);
    rows.push_back({fmt::format("<code>{}</code>", escaped_markup(spec.name)),
                    fmt::format("<code>{}</code>", escaped_markup(value_text(spec.fallback))),
                    both(spec.meaning, parameter_meaning_zh(spec.meaning)), role.en.empty() ? "" : both(role)});
  }
  return table_of({"Parameters", "参数"},
                  {both("Parameter", "参数"), both("Default", "默认值"), both("Meaning", "含义"), both("Role", "角色")},
                  rows);
}

std::string facts_of(const Findings& findings, const Entry& entry, const std::string& path) {
  std::string documents;
  for (const std::string_view document : entry.documents)
    documents += fmt::format("{}{}", documents.empty() ? "" : ", ", escaped_markup(document));
  std::string html = "<dl class=\"facts-list\">\n";
  html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", both("Documents", "文档"),
                      documents.empty() ? both("none of the five", "不在五篇文档中") : documents);
  html += fmt::format(
      "<dt>{}</dt><dd>{}</dd>\n", both("Servers", "服务器"),
      entry.many_nodes ? both("several, independent of each other", "多个，相互独立") : both("one", "一个"));
  if (!entry.repaired_by.empty())
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", both("Repaired by", "由谁修复"),
                        algorithm_link(findings, path, entry.repaired_by));
  std::string repairs;
  for (const Entry& other : findings.catalogue->entries()) {
    if (other.repaired_by == entry.id)
      repairs += fmt::format("{}{}", repairs.empty() ? "" : ", ", algorithm_link(findings, path, other.id));
  }
  if (!repairs.empty()) html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", both("Repairs", "修复了"), repairs);
  return html + "</dl>\n";
}

std::string claims_of(const Findings& findings, const Entry& entry, const std::string& path) {
  if (entry.claims.empty())
    return paragraph({"Its documents promise nothing in particular.", "文档没有作出具体承诺。"});
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view claim : entry.claims)
    rows.push_back({fmt::format("<code>{}</code>", claim), claim_cell(findings, path, entry.id, claim)});
  return table_of({"Claims", "承诺"}, {both("Claim", "承诺"), both("Found", "发现")}, rows);
}

std::string what_breaks_it(const Findings& findings, const Entry& entry, const std::string& path) {
  std::string broken;
  std::string kept;
  for (const ListedStory* story : stories_of(findings, entry.id)) {
    std::string names;
    for (const std::string_view name : broken_properties(*story)) {
      names += fmt::format("{}<code>{}</code>", names.empty() ? "" : ", ", name);
      const Text margin = margin_of(*story, name);
      if (!margin.en.empty()) names += fmt::format(" <span class=\"faint\">({})</span>", both(margin));
    }
    const std::string link = story_link(path, *story);
    if (names.empty())
      kept += fmt::format("<li>{}</li>\n", link);
    else
      broken += fmt::format("<li>{}<br/><span class=\"bad\">✗</span> {}</li>\n", link, names);
  }
  std::string html;
  if (!broken.empty()) html += fmt::format("<ul>\n{}</ul>\n", broken);
  if (!kept.empty())
    html += fmt::format("<h3>{}</h3>\n<ul>\n{}</ul>\n", both("Stories that it survives", "它经受住的故事"), kept);
  if (html.empty()) html = paragraph({"No story of this report uses it.", "本报告没有使用它的故事。"});
  return html;
}

/// As it is, escaped: line breaks stay.
std::string lines_of_text(std::string_view text, std::string_view before = "", std::string_view after = "") {
  std::string html;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    html += fmt::format("{}{}{}\n", before, escaped_markup(text.substr(0, end)), after);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return html;
}

/// A cell in full: what was asked, what was found, and the run that breaks it.
std::string cell_details(const scenarios::MatrixCell& cell, const scenarios::MatrixAnswer& answer) {
  const CellText text = cell_text(&answer);
  std::string html =
      fmt::format("<details>\n<summary><code>{}</code>, <code>{}</code>: <span class=\"{}\">{}</span></summary>\n",
                  cell.fault->name, answer.question->name, text.look, both(text.text));
  // Browsers open what surrounds the place that a link leads to.
  html +=
      fmt::format("<p id=\"cell-{}-{}\">{} {}</p>\n", cell.fault->name, answer.question->name,
                  both(std::string(answer.question->meaning) + ";", std::string(answer.question->meaning_zh) + "；"),
                  both(std::string(cell.fault->meaning) + ".", std::string(cell.fault->meaning_zh) + "。"));
  html += fmt::format("<p class=\"faint\">{}</p>\n",
                      both(fmt::format("Traces explored: {} with two clients, {} with three. Random runs: {}.",
                                       answer.traces, answer.traces_of_three, answer.runs),
                           fmt::format("探索的轨迹：两个客户端 {}，三个客户端 {}。随机运行：{}。", answer.traces,
                                       answer.traces_of_three, answer.runs)));
  if (!answer.why.empty()) html += fmt::format("<p>{}</p>\n", both(answer.why, reason_in(Language::zh, answer.why)));
  if (answer.witness) {
    html += fmt::format(
        "<p>{}</p>\n<pre><code>{}</code></pre>\n",
        both("A run that breaks it, as a file for `lockstep run`:", "破坏它的一次运行，可作为 `lockstep run` 的文件："),
        lines_of_text(scenarios::to_toml(*answer.witness, ".")));
  }
  return html + "</details>\n";
}

/// One row for each fault, one column for each question: a row of the matrix has room only so.
std::string cells_table(const Findings& findings, const Entry& entry, const std::string& path) {
  std::vector<std::string> heads{both("Fault", "故障")};
  for (const scenarios::MatrixQuestion& question : scenarios::matrix_questions())
    heads.push_back(fmt::format("{}<br/><span class=\"small\">{}</span>", question.name,
                                both(question.meaning, question.meaning_zh)));
  std::vector<std::vector<std::string>> rows;
  for (const scenarios::MatrixFault& fault : scenarios::matrix_faults()) {
    const scenarios::MatrixCell* cell = find_cell(findings, entry.id, fault.name);
    if (cell == nullptr) continue;
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(
        fmt::format("{}<br/><span class=\"small\">{}</span>", fault.name, both(fault.meaning, fault.meaning_zh)));
    for (const scenarios::MatrixQuestion& question : scenarios::matrix_questions())
      row.push_back(linked_cell(findings, path, *cell, question.name));
  }
  return rows.empty() ? "" : table_of({"Matrix, one row", "矩阵的一行"}, heads, rows);
}

std::string matrix_row(const Findings& findings, const Entry& entry, const std::string& path) {
  const std::string table = cells_table(findings, entry, path);
  if (table.empty()) return "";
  std::string details;
  for (const scenarios::MatrixCell& cell : findings.matrix->cells) {
    if (cell.algorithm != entry.id) continue;
    for (const scenarios::MatrixAnswer& answer : cell.answers) {
      if (answer.ground != scenarios::MatrixAnswer::Ground::inapplicable) details += cell_details(cell, answer);
    }
  }
  return table + matrix_bounds(findings) + fmt::format("<h3>{}</h3>\n{}", both("Cell by cell", "逐格说明"), details);
}

using ValueOf = std::optional<std::uint64_t> (*)(const scenarios::ComparedRun&);

std::optional<std::uint64_t> microseconds(const std::optional<sim::Duration>& d) {
  return d ? std::optional(static_cast<std::uint64_t>(d->count_ns() / 1000)) : std::nullopt;
}

std::string cost_of(const Findings& findings, const Entry& entry) {
  std::vector<std::size_t> sizes;
  for (const scenarios::ComparedRun& run : findings.costs) {
    if (run.algorithm == entry.id) sizes.push_back(run.clients);
  }
  if (sizes.empty()) return "";
  const auto curve = [&](std::string_view algorithm, ValueOf value) {
    Curve drawn{.name = {std::string(algorithm), std::string(algorithm)}, .values = {}};
    for (const std::size_t size : sizes) {
      const auto found = std::find_if(findings.costs.begin(), findings.costs.end(), [&](const auto& run) {
        return run.algorithm == algorithm && run.clients == size;
      });
      drawn.values.push_back(found == findings.costs.end() ? std::nullopt : value(*found));
    }
    return drawn;
  };
  const auto figure = [&](std::string id, Text title, ValueOf value, std::function<std::string(std::uint64_t)> format) {
    Figure f{.id = std::move(id),
             .title = std::move(title),
             .sizes_name = {"clients", "客户端数"},
             .sizes = {},
             .curves = {},
             .format = std::move(format)};
    for (const std::size_t size : sizes) f.sizes.push_back(std::to_string(size));
    f.curves.push_back(curve(entry.id, value));
    if (entry.id != kReference) f.curves.push_back(curve(kReference, value));
    return figure_html(f);
  };
  const auto as_time = [](std::uint64_t us) {
    return text_of(sim::Duration::microseconds(static_cast<std::int64_t>(us)));
  };
  const auto as_hundredths = [](std::uint64_t n) { return per(n, 100); };
  std::string html = "<div class=\"two\">\n";
  html += figure(
      "waiting", {"Waiting, median", "等待（中位数）"},
      [](const auto& run) { return microseconds(run.cost.waiting_median); }, as_time);
  html += figure(
      "messages", {"Messages for each grant", "每次授予的消息数"},
      [](const auto& run) -> std::optional<std::uint64_t> {
        if (run.cost.acquisitions == 0) return std::nullopt;
        return run.messages * 100 / run.cost.acquisitions;
      },
      as_hundredths);
  html += figure(
      "handover", {"Handover, median", "交接（中位数）"},
      [](const auto& run) { return microseconds(run.cost.handover_median); }, as_time);
  html += "</div>\n";
  return html +
         fmt::format(
             "<p class=\"faint\">{}</p>\n",
             both(fmt::format(
                      "The same workload for all, {} of virtual time, seed {}: see docs/manual/comparing.md. Waiting: "
                      "from a "
                      "client's "
                      "first attempt until it has the lock. Handover: from the moment at which a holder begins to give "
                      "back, while somebody waits, until the next has it.",
                      sim::to_string(findings.how_compared.length), findings.how_compared.seed),
                  fmt::format("所有算法使用同样的负载，虚拟时间 {}，种子 {}：见 "
                              "docs/manual/comparing.md。等待：从客户端第一次尝试到取得锁。"
                              "交接：有人等待时，从持有者开始归还到下一个取得。",
                              sim::to_string(findings.how_compared.length), findings.how_compared.seed)));
}

std::string graph_html(const Entry& entry, const ListedGraph& listed) {
  constexpr std::size_t kNodesMax = 60;
  const Text name = listed.clients == 1 ? Text{"One client", "一个客户端"} : Text{"Two clients", "两个客户端"};
  std::string html = fmt::format("<h3>{}</h3>\n", both(name));
  if (!listed.why.empty())
    return html + fmt::format("<p class=\"warning\">{}</p>\n", both("Too large to be drawn, or it cannot be explored.",
                                                                    "太大而无法画出，或者无法探索。"));
  const bool folds_mirrors = listed.clients == 2 && entry.is_blind_to_names;
  const FoldedGraph graph = fold(listed.graph, folds_mirrors ? std::pair<std::string, std::string>{"A", "B"}
                                                             : std::pair<std::string, std::string>{});
  Text note{fmt::format("{} states, folded to {}: what is on its way is left out.", listed.graph.states.size(),
                        graph.nodes.size()),
            fmt::format("{} 个状态，折叠为 {} 个：略去在途的消息。", listed.graph.states.size(), graph.nodes.size())};
  if (folds_mirrors)
    note = {note.en + " Of a state and its mirror image, with A and B exchanged, one is drawn.",
            note.zh + "互换 A 与 B 的镜像状态只画一个。"};
  if (listed.graph.reduced)
    note = {note.en + " One order of independent events is drawn of each trace.",
            note.zh + "每条轨迹只画独立事件的一种顺序。"};
  html += fmt::format("<p class=\"faint\">{}</p>\n", both(note));
  if (graph.nodes.size() > kNodesMax)
    return html + fmt::format("<p class=\"warning\">{}</p>\n",
                              both("Too many to be looked at; `lockstep check FILE --graph FILE.dot` writes them.",
                                   "太多而无法查看；`lockstep check FILE --graph FILE.dot` 可写出。"));
  return html + graph_svg(graph, fmt::format("graph{}", listed.clients),
                          {fmt::format("States of {}: {}", entry.id, name.en),
                           fmt::format("{} 的状态：{}", entry.id, name.zh)});
}

std::string graphs_html(const Findings& findings, const Entry& entry) {
  std::string html;
  for (const ListedGraph& listed : findings.graphs) {
    if (listed.algorithm == entry.id) html += graph_html(entry, listed);
  }
  if (html.empty()) return "";
  return paragraph({"What can follow what without a fault: each client tries once, and nobody renews. A thick border "
                    "begins, a green one "
                    "ends, a red one has two holders.",
                    "没有故障时的状态转移：每个客户端只尝试一次。粗框为开始，绿框为结束，红框有两个持有者。"}) +
         html;
}

std::string sources_of(const AlgorithmText& text) {
  std::string html;
  for (const std::string_view file : text.files) {
    const auto source = find_embedded_text(file);
    if (!source) continue;
    html += fmt::format(
        "<details{}>\n<summary><code>{}</code></summary>\n<pre class=\"source\" "
        "tabindex=\"0\"><code>{}</code></pre>\n</details>\n",
        file == text.files.front() ? " open=\"open\"" : "", file, lines_of_text(*source, "<span>", "</span>"));
  }
  return html;
}

}  // namespace

Page algorithm_page(const Findings& findings, const Entry& entry) {
  Page page{.path = algorithm_path(entry.id), .title = {std::string(entry.id), std::string(entry.id)}};
  page.above = {{"index.html", {"Overview", "总览"}}, {std::string(kList), {"Algorithms", "算法"}}};
  const AlgorithmText* text = find_algorithm_text(entry.id);
  page.body = fmt::format("<p><strong>{}</strong></p>\n", both(summary_of(entry)));
  page.body += facts_of(findings, entry, page.path);
  if (text != nullptr) {
    page.body +=
        section_of("how", {"How it works", "工作原理"}, fmt::format("<p>{}</p>\n", both(text->how, text->how_zh)));
    page.body += section_of("keys", {"On the server", "在服务器上"}, keys_of(*text));
  }
  page.body += section_of("parameters", {"Parameters", "参数"}, parameters_of(entry));
  page.body +=
      section_of("claims", {"Claims, beside what was found", "承诺与发现"}, claims_of(findings, entry, page.path));
  page.body += section_of("breaks", {"What breaks it", "什么会破坏它"}, what_breaks_it(findings, entry, page.path));
  page.body += section_of("row", {"Its row of the matrix", "它在矩阵中的一行"}, matrix_row(findings, entry, page.path));
  page.body += section_of("cost", {"What it costs", "它的代价"}, cost_of(findings, entry));
  page.body += section_of("states", {"Its states", "它的状态"}, graphs_html(findings, entry));
  if (text != nullptr) page.body += section_of("source", {"Its source", "源代码"}, sources_of(*text));
  return page;
}

Page algorithms_page(const Findings& findings) {
  Page page{.path = std::string(kList), .title = {"Algorithms, by family", "算法，按家族"}};
  page.above = {{"index.html", {"Overview", "总览"}}};
  const auto row_of = [&](const Entry& entry) {
    const auto stories = stories_of(findings, entry.id);
    const auto broken = std::count_if(stories.begin(), stories.end(),
                                      [](const ListedStory* story) { return !broken_properties(*story).empty(); });
    return std::vector<std::string>{
        algorithm_link(findings, page.path, entry.id), both(summary_of(entry)),
        both(fmt::format("{} of {}", broken, counted(stories.size(), "story", "stories")),
             fmt::format("{} 个故事中的 {} 个", stories.size(), broken)),
        entry.repaired_by.empty() ? "" : algorithm_link(findings, page.path, entry.repaired_by)};
  };
  const std::vector<std::string> heads{both("Algorithm", "算法"), both("What it is", "是什么"),
                                       both("Something breaks in", "有破坏的故事"), both("Repaired by", "由谁修复")};
  std::vector<std::string_view> shown;
  for (const Family& family : families()) {
    std::vector<std::vector<std::string>> rows;
    for (const std::string_view id : family.algorithms) {
      shown.push_back(id);
      if (const Entry* entry = findings.catalogue->find(id)) rows.push_back(row_of(*entry));
    }
    if (rows.empty()) continue;
    page.body += section_of(family.id, {std::string(family.title), std::string(family.title_zh)},
                            fmt::format("<p>{}</p>\n", both(family.text, family.text_zh)) +
                                table_of({std::string(family.title), std::string(family.title_zh)}, heads, rows));
  }
  std::vector<std::vector<std::string>> others;
  for (const Entry& entry : findings.catalogue->entries()) {
    if (std::find(shown.begin(), shown.end(), entry.id) == shown.end()) others.push_back(row_of(entry));
  }
  if (!others.empty())
    page.body += section_of("others", {"Others", "其他"}, table_of({"Others", "其他"}, heads, others));
  return page;
}

}  // namespace lockstep::reports::site
