#include "reports/site/locks/algorithm_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/listing/listing.hpp"
#include "reports/picture/shape.hpp"
#include "reports/site/findings/chapters.hpp"
#include "reports/site/frame/property_markup.hpp"
#include "reports/site/frame/template.hpp"
#include "reports/site/index_page.hpp"
#include "reports/site/locks/algorithm_texts.hpp"
#include "reports/site/locks/figure.hpp"
#include "reports/site/locks/graph_picture.hpp"
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
    case ParameterRole::session_ttl: return {"TTL of a session", "会话的 TTL"};
    case ParameterRole::lock_delay: return {"lock-delay", "lock-delay"};
    case ParameterRole::server_patience: return {"patience with a server", "对服务器的等待"};
    case ParameterRole::replica_patience: return {"patience with replicas", "对从节点的等待"};
    case ParameterRole::longest_delay: return {"longest delay", "最长间隔"};
    case ParameterRole::places: return {"places", "名额"};
    case ParameterRole::other: break;
  }
  return {};
}

std::vector<Values> keys_of(const AlgorithmText& text) {
  std::vector<Values> rows;
  for (const KeyLayout& key : text.keys)
    rows.push_back({{"name", key.name}, {"meaning", both(key.meaning, key.meaning_zh)}});
  return rows;
}

std::vector<Values> parameters_of(const Entry& entry) {
  std::vector<Values> rows;
  for (const ParameterSpec& spec : entry.parameters)
    rows.push_back({{"name", spec.name},
                    {"fallback", value_text(spec.fallback)},
                    {"meaning", both(spec.meaning, parameter_meaning_zh(spec.meaning))},
                    {"role", role_text(spec.role)}});
  return rows;
}

void add_facts(const Findings& findings, const Entry& entry, const std::string& path, Values& page) {
  std::string documents;
  for (const std::string_view document : entry.documents)
    documents.append(documents.empty() ? "" : ", ").append(document);
  std::vector<Values> repairs;
  for (const Entry& other : findings.catalogue->entries()) {
    if (other.repaired_by == entry.id) repairs.push_back({{"link", algorithm_link(findings, path, other.id)}});
  }
  page.set("documents", documents);
  page.set("many_nodes", entry.many_nodes);
  page.set("repaired_by", entry.repaired_by.empty() ? "" : algorithm_link(findings, path, entry.repaired_by));
  page.set("has_repairs", !repairs.empty());
  page.set("repairs", repairs);
}

void add_stories(const Findings& findings, const Entry& entry, const std::string& path, Values& page) {
  std::vector<Values> broken, kept;
  for (const ListedStory* story : stories_of(findings, entry.id)) {
    std::vector<Values> properties;
    for (const std::string_view name : broken_properties(*story))
      properties.push_back({{"property", property_markup(name)}, {"margin", margin_of(*story, name)}});
    Values& row = (properties.empty() ? kept : broken).emplace_back();
    row.set("link", story_link(path, *story));
    row.set("properties", properties);
  }
  page.set("has_stories", !broken.empty() || !kept.empty());
  page.set("has_broken", !broken.empty());
  page.set("broken", broken);
  page.set("has_kept", !kept.empty());
  page.set("kept", kept);
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

/// What the names of questions and faults mean: once for all cells.
std::vector<Values> meanings() {
  std::vector<Values> all;
  for (const scenarios::MatrixQuestion& question : scenarios::matrix_questions())
    all.push_back({{"name", property_markup(question.name)}, {"meaning", both(question.meaning, question.meaning_zh)}});
  for (const scenarios::MatrixFault& fault : scenarios::matrix_faults())
    all.push_back(
        {{"name", fmt::format("<code>{}</code>", fault.name)}, {"meaning", both(fault.meaning, fault.meaning_zh)}});
  return all;
}

/// A cell in full: what was found, and the run that breaks it. Browsers open what surrounds the place
/// that a link leads to.
Values cell_details(const scenarios::MatrixCell& cell, const scenarios::MatrixAnswer& answer) {
  const CellText text = cell_text(&answer);
  return {
      {"fault", cell.fault->name},
      {"question", answer.question->name},
      {"asked", property_markup(answer.question->name)},
      {"look", text.look},
      {"verdict", text.text},
      {"traces", answer.traces},
      {"traces_of_three", answer.traces_of_three},
      {"runs", answer.runs},
      {"why", answer.why.empty() ? "" : both(reason_in(Language::en, answer.why), reason_in(Language::zh, answer.why))},
      {"witness", answer.witness ? lines_of_text(scenarios::to_toml(*answer.witness, ".")) : ""}};
}

/// One row for each fault, one column for each question: a row of the matrix has room only so.
std::string cells_table(const Findings& findings, const Entry& entry, const std::string& path) {
  std::vector<std::string> heads{both("Fault", "故障")};
  for (const scenarios::MatrixQuestion& question : scenarios::matrix_questions())
    heads.push_back(fmt::format("{}<br/><span class=\"small\">{}</span>", property_markup(question.name),
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

std::vector<Values> cells_of(const Findings& findings, const Entry& entry) {
  std::vector<Values> details;
  if (findings.matrix == nullptr) return details;
  for (const scenarios::MatrixCell& cell : findings.matrix->cells) {
    if (cell.algorithm != entry.id) continue;
    for (const scenarios::MatrixAnswer& answer : cell.answers) {
      if (answer.ground != scenarios::MatrixAnswer::Ground::inapplicable) details.push_back(cell_details(cell, answer));
    }
  }
  return details;
}

using ValueOf = std::optional<std::uint64_t> (*)(const scenarios::ComparedRun&);

std::optional<std::uint64_t> microseconds(const std::optional<sim::Duration>& d) {
  return d ? std::optional(static_cast<std::uint64_t>(d->count_ns() / 1000)) : std::nullopt;
}

void add_cost(const Findings& findings, const Entry& entry, Values& page) {
  std::vector<std::size_t> sizes;
  for (const scenarios::ComparedRun& run : findings.costs) {
    if (run.algorithm == entry.id) sizes.push_back(run.clients);
  }
  page.set("cost", !sizes.empty());
  if (sizes.empty()) return;
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
  page.set("waiting", figure(
                          "waiting", {"Waiting, median", "等待（中位数）"},
                          [](const auto& run) { return microseconds(run.cost.waiting_median); }, as_time));
  page.set("messages", figure(
                           "messages", {"Messages for each grant", "每次授予的消息数"},
                           [](const auto& run) -> std::optional<std::uint64_t> {
                             if (run.cost.acquisitions == 0) return std::nullopt;
                             return run.messages * 100 / run.cost.acquisitions;
                           },
                           as_hundredths));
  page.set("handover", figure(
                           "handover", {"Handover, median", "交接（中位数）"},
                           [](const auto& run) { return microseconds(run.cost.handover_median); }, as_time));
  page.set("length", sim::to_string(findings.how_compared.length));
  page.set("seed", findings.how_compared.seed);
}

Values drawn_graph(const Entry& entry, const ListedGraph& listed) {
  constexpr std::size_t kNodesMax = 60;
  const Text name = listed.clients == 1 ? Text{"One client", "一个客户端"} : Text{"Two clients", "两个客户端"};
  Values values{{"name", name}};
  if (!listed.why.empty()) {
    values.set("warning", Text{"Too large to be drawn, or it cannot be explored.", "太大而无法画出，或者无法探索。"});
    return values;
  }
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
  values.set("note", note);
  if (graph.nodes.size() > kNodesMax)
    values.set("warning", Text{"Too many to be looked at; `lockstep check FILE --graph FILE.dot` writes them.",
                               "太多而无法查看；`lockstep check FILE --graph FILE.dot` 可写出。"});
  else
    values.set("drawn", graph_svg(graph, fmt::format("graph{}", listed.clients),
                                  {fmt::format("States of {}: {}", entry.id, name.en),
                                   fmt::format("{} 的状态：{}", entry.id, name.zh)}));
  return values;
}

std::vector<Values> sources_of(const AlgorithmText& text) {
  std::vector<Values> sources;
  for (const std::string_view file : text.files) {
    if (const auto source = find_embedded_text(file))
      sources.push_back({{"name", file}, {"lines", lines_of_text(*source, "<span>", "</span>")}});
  }
  return sources;
}

}  // namespace

Page algorithm_page(const Findings& findings, const Entry& entry) {
  Page page{.path = algorithm_path(entry.id), .title = {std::string(entry.id), std::string(entry.id)}};
  page.above = {{"index.html", {"Overview", "总览"}}, {std::string(kList), {"Algorithms", "算法"}}};
  std::vector<Values> claims, graphs, sources;
  for (const std::string_view claim : entry.claims)
    claims.push_back(
        {{"property", property_markup(claim)}, {"found", claim_cell(findings, page.path, entry.id, claim)}});
  for (const ListedGraph& listed : findings.graphs) {
    if (listed.algorithm == entry.id) graphs.push_back(drawn_graph(entry, listed));
  }
  const AlgorithmText* text = find_algorithm_text(entry.id);
  if (text != nullptr) sources = sources_of(*text);
  Values values{{"summary", summary_of(entry)},
                {"parameters", parameters_of(entry)},
                {"has_claims", !claims.empty()},
                {"claims", claims},
                {"matrix", cells_table(findings, entry, page.path)},
                {"bounds", matrix_bounds(findings)},
                {"meanings", meanings()},
                {"cells", cells_of(findings, entry)},
                {"has_graphs", !graphs.empty()},
                {"graphs", graphs},
                {"has_sources", !sources.empty()},
                {"sources", sources}};
  if (text != nullptr) {
    values.set("how", both(text->how, text->how_zh));
    values.set("keys", keys_of(*text));
  }
  add_facts(findings, entry, page.path, values);
  add_stories(findings, entry, page.path, values);
  add_cost(findings, entry, values);
  page.body = filled("reports/site/locks/algorithm.mustache", values);
  return page;
}

Page algorithms_page(const Findings& findings) {
  Page page{.path = std::string(kList), .title = {"Algorithms, by family", "算法，按家族"}};
  page.above = {{"index.html", {"Overview", "总览"}}};
  const auto row_of = [&](const Entry& entry) {
    const auto stories = stories_of(findings, entry.id);
    const auto broken = std::count_if(stories.begin(), stories.end(),
                                      [](const ListedStory* story) { return !broken_properties(*story).empty(); });
    return Values{
        {"link", algorithm_link(findings, page.path, entry.id)},
        {"summary", summary_of(entry)},
        {"broken", both(fmt::format("{} of {}", broken, counted(stories.size(), "story", "stories")),
                        fmt::format("{} 个故事中的 {} 个", stories.size(), broken))},
        {"repaired_by", entry.repaired_by.empty() ? "" : algorithm_link(findings, page.path, entry.repaired_by)}};
  };
  std::vector<Values> shown_families;
  const auto add = [&](std::string_view id, const Text& title, const std::string& text,
                       const std::vector<Values>& algorithms) {
    if (algorithms.empty()) return;
    shown_families.push_back({{"id", id},
                              {"title", title},
                              {"name", title.en + " / " + title.zh},
                              {"text", text},
                              {"algorithms", algorithms}});
  };
  std::vector<std::string_view> shown;
  for (const Family& family : families()) {
    std::vector<Values> algorithms;
    for (const std::string_view id : family.algorithms) {
      shown.push_back(id);
      if (const Entry* entry = findings.catalogue->find(id)) algorithms.push_back(row_of(*entry));
    }
    add(family.id, {std::string(family.title), std::string(family.title_zh)}, both(family.text, family.text_zh),
        algorithms);
  }
  std::vector<Values> others;
  for (const Entry& entry : findings.catalogue->entries()) {
    if (std::find(shown.begin(), shown.end(), entry.id) == shown.end()) others.push_back(row_of(entry));
  }
  add("others", {"Others", "其他"}, "", others);
  page.body = filled("reports/site/locks/algorithms.mustache", {{"families", shown_families}});
  return page;
}

}  // namespace lockstep::reports::site
