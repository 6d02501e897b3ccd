#include "reports/site/index_page.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "reports/site/findings/chapters.hpp"
#include "reports/site/frame/property_markup.hpp"
#include "reports/site/frame/template.hpp"
#include "reports/words/property_names.hpp"
#include "scenarios/story/failures.hpp"

namespace lockstep::reports::site {
namespace {

constexpr std::string_view kIndex = "index.html";

struct Promise {
  std::string_view title, title_zh, text, text_zh;
  std::array<std::string_view, 3> properties;
};

// clang-format off
constexpr std::array<Promise, 4> kPromises{{
    {"Mutual exclusion", "互斥",
     "At any moment at most one client believes that it holds the lock. What counts is the belief: it is what "
     "a client acts upon.",
     "任何时刻最多一个客户端认为自己持有锁。关键在于“认为”：客户端是据此行动的。",
     {"mutual-exclusion", "linearizable", "no-lost-update"}},
    {"No deadlock", "无死锁",
     "The lock becomes free again, whoever dies; nobody waits in a circle; whoever waits is woken.",
     "不管谁死去，锁总会重新可用；没有循环等待；等待者会被唤醒。",
     {"recoverable", "no-deadlock", "no-lost-wakeup"}},
    {"Only the owner releases", "只有持有者才能释放",
     "Nobody deletes the lock of another client, and a release says truthfully what it did.",
     "谁也不会删除别的客户端的锁，释放操作如实报告结果。",
     {"own-release", "truthful-reports", "reentrancy"}},
    {"Tolerance of faults", "容错",
     "All of this also when clients crash or are paused, clocks differ, messages are lost and servers fail. No lock "
     "keeps all of it; the question is which faults, and how large.",
     "客户端崩溃或停顿、时钟不一致、消息丢失、服务器故障时，上述承诺依然成立。没有哪种锁能全部做到；问题是能容忍哪些故障、多大的故障。",
     {"progress", "fencing", "faithful-renewal"}},
}};
// clang-format on

std::vector<Values> promises_of_locks(const Findings& findings) {
  std::vector<Values> promises;
  for (const Promise& promise : kPromises) {
    std::vector<Values> properties;
    for (const std::string_view name : promise.properties) {
      const checker::Property* property = checker::find_property(name);
      const auto broken = std::count_if(findings.stories.begin(), findings.stories.end(),
                                        [&](const ListedStory& story) { return breaks(story, name); });
      properties.push_back({{"property", property_markup(name)},
                            {"meaning", property != nullptr ? both(property->meaning, property->meaning_zh) : ""},
                            {"broken_in", both(fmt::format("Broken in {}.", counted(static_cast<std::size_t>(broken),
                                                                                    "story", "stories")),
                                               fmt::format("在 {} 个故事中被破坏。", broken))}});
    }
    promises.push_back({{"title", both(promise.title, promise.title_zh)},
                        {"text", both(promise.text, promise.text_zh)},
                        {"properties", properties}});
  }
  return promises;
}

/// "breaks mutual-exclusion, own-release" or "holds".
std::string outcome_of(const ListedStory& story) {
  const std::vector<std::string_view> broken = broken_properties(story);
  if (broken.empty()) return fmt::format("<span class=\"good\">✓ {}</span>", both("nothing breaks", "均成立"));
  std::string names;
  for (const std::string_view name : broken)
    names += (names.empty() ? "" : ", ") + both(name, property_in(Language::zh, name));
  return fmt::format("<span class=\"bad\">✗ {}</span>", names);
}

Values row_of(const ListedStory& story) {
  return {{"link", story_link(kIndex, story)}, {"outcome", outcome_of(story)}};
}

std::vector<Values> reading_order(const Findings& findings) {
  std::vector<Values> told;
  std::size_t number = 0;
  for (const Chapter& chapter : chapters()) {
    std::vector<Values> stories;
    for (const std::string_view id : chapter.stories) {
      if (const ListedStory* story = find_story(findings, id)) stories.push_back(row_of(*story));
    }
    ++number;
    // A site of a few stories has no use for chapters without any.
    if (stories.empty()) continue;
    told.push_back({{"number", number},
                    {"title", both(chapter.title, chapter.title_zh)},
                    {"text", both(chapter.text, chapter.text_zh)},
                    {"stories", stories}});
  }
  return told;
}

std::vector<Values> matrices(const Findings& findings) {
  std::vector<Values> all;
  if (findings.matrix == nullptr || findings.matrix->cells.empty()) return all;
  for (const scenarios::MatrixQuestion& question : scenarios::matrix_questions())
    all.push_back({{"property", property_markup(question.name)},
                   {"meaning", both(question.meaning, question.meaning_zh)},
                   {"table", matrix_table(findings, kIndex, question)}});
  return all;
}

std::vector<Values> claims(const Findings& findings) {
  std::vector<Values> rows;
  for (const models::locks::Entry& entry : findings.catalogue->entries()) {
    std::vector<Values> claimed;
    for (const std::string_view claim : entry.claims)
      claimed.push_back(
          {{"property", property_markup(claim)}, {"found", claim_cell(findings, kIndex, entry.id, claim)}});
    if (!claimed.empty())
      rows.push_back({{"algorithm", algorithm_link(findings, kIndex, entry.id)}, {"claimed", claimed}});
  }
  return rows;
}

std::vector<Values> documented(const Findings& findings) {
  std::vector<Values> rows;
  for (const scenarios::Failure& failure : scenarios::failures()) {
    std::vector<Values> shown;
    for (const ListedStory& story : findings.stories) {
      const std::vector<std::string>& ids = story.story->scenario.reproduces;
      if (std::find(ids.begin(), ids.end(), failure.id) != ids.end()) shown.push_back(row_of(story));
    }
    rows.push_back({{"id", failure.id},
                    {"meaning", both(failure.meaning, failure.meaning_zh)},
                    {"document", failure.document},
                    {"is_told", failure.told},
                    {"has_shown", !shown.empty()},
                    {"shown", shown}});
  }
  return rows;
}

std::vector<Values> all_stories(const Findings& findings) {
  std::vector<Values> rows;
  for (const ListedStory& story : findings.stories) {
    Values& row = rows.emplace_back(row_of(story));
    row.set("algorithm", algorithm_link(findings, kIndex, story.story->scenario.lock.algorithm));
    row.set("file", story.source);
  }
  return rows;
}

}  // namespace

std::string linked_cell(const Findings& findings, std::string_view from, const scenarios::MatrixCell& cell,
                        std::string_view question) {
  using Ground = scenarios::MatrixAnswer::Ground;
  const scenarios::MatrixAnswer* answer = find_answer(cell, question);
  const CellText text = cell_text(answer);
  const std::string shown = fmt::format("<span class=\"{}\">{}</span>", text.look, both(text.text));
  if (answer == nullptr || answer->ground == Ground::inapplicable) return shown;
  const ListedStory* story = answer->ground == Ground::broken ? story_of_cell(findings, cell, *answer) : nullptr;
  const std::string to = story != nullptr
                             ? story->path
                             : fmt::format("{}#cell-{}-{}", algorithm_path(cell.algorithm), cell.fault->name, question);
  return fmt::format("<a href=\"{}\">{}</a>", path_between(from, to), shown);
}

std::string matrix_table(const Findings& findings, std::string_view from, const scenarios::MatrixQuestion& question) {
  if (findings.matrix == nullptr) return "";
  std::vector<std::string> heads{both("Algorithm", "算法")};
  for (const scenarios::MatrixFault& fault : scenarios::matrix_faults())
    heads.push_back(
        fmt::format("{}<br/><span class=\"small\">{}</span>", fault.name, both(fault.meaning, fault.meaning_zh)));
  std::vector<std::vector<std::string>> rows;
  for (const models::locks::Entry& entry : findings.catalogue->entries()) {
    std::vector<std::string> row{algorithm_link(findings, from, entry.id)};
    bool has_any = false;
    for (const scenarios::MatrixFault& fault : scenarios::matrix_faults()) {
      const scenarios::MatrixCell* cell = find_cell(findings, entry.id, fault.name);
      has_any = has_any || cell != nullptr;
      row.push_back(cell == nullptr ? "" : linked_cell(findings, from, *cell, question.name));
    }
    if (has_any) rows.push_back(std::move(row));
  }
  if (rows.empty()) return "";
  return table_of(
      {fmt::format("Matrix: {}", question.name), fmt::format("矩阵：{}", property_in(Language::zh, question.name))},
      heads, rows);
}

namespace {

/// Where three clients have other bounds than two.
Text bounds_of_three(const scenarios::MatrixOptions& bounds) {
  if (bounds.parts_for_three == 1 && bounds.times_for_three == 0) return {};
  const std::uint64_t traces = bounds.max_traces / bounds.parts_for_three;
  const std::uint64_t events = bounds.max_events / bounds.parts_for_three;
  Text text{fmt::format(" With three clients at most {} traces and {} events.", traces, events),
            fmt::format("三个客户端时至多 {} 条轨迹、{} 个事件。", traces, events)};
  if (bounds.times_for_three > 0) {
    const std::uint64_t most = events / bounds.times_for_three;
    text.en += fmt::format(" That search is not begun where two clients needed more than {} events.", most);
    text.zh += fmt::format("若两个客户端已超过 {} 个事件，则不再探索三个客户端。", most);
  }
  return text;
}

}  // namespace

std::string matrix_bounds(const Findings& findings) {
  const scenarios::MatrixOptions& bounds = findings.matrix_bounds;
  const Text three = bounds_of_three(bounds);
  return fmt::format(
      "<p class=\"faint\">{}</p>\n",
      both(fmt::format("Proved: in every order and with every delay of a small world, of at most {} traces and {} "
                       "events, with at most one fault; {} random runs of a larger world (seed {}) did not break it "
                       "either.{} Fuzzed: only these random runs. What follows a ✗ is the margin. ·: has no meaning "
                       "there. `lockstep matrix` has larger bounds.",
                       bounds.max_traces, bounds.max_events, bounds.runs, bounds.seed, three.en),
           fmt::format(
               "已证明：在小世界的所有顺序与所有时延下成立（至多 {} 条轨迹、{} 个事件，至多一个故障），较大世界的 {} "
               "次随机运行（种子 {}）也未破坏。{}仅随机测试：只有这些随机运行。✗ 后面是界限。·：不适用。"
               "`lockstep matrix` 使用更大的界限。",
               bounds.max_traces, bounds.max_events, bounds.runs, bounds.seed, three.zh)));
}

std::string claim_cell(const Findings& findings, std::string_view from, std::string_view algorithm,
                       std::string_view property) {
  std::size_t judged = 0;
  std::vector<const ListedStory*> broken;
  for (const ListedStory* story : stories_of(findings, algorithm)) {
    judged += was_judged(*story, property) ? 1 : 0;
    if (breaks(*story, property)) broken.push_back(story);
  }
  if (judged == 0) return fmt::format("<span class=\"faint\">{}</span>", both("no story asks", "没有故事检验"));
  if (broken.empty())
    return fmt::format("<span class=\"good\">✓ {}</span>",
                       both(fmt::format("kept in {}", counted(judged, "story", "stories")),
                            fmt::format("在 {} 个故事中成立", judged)));
  const ListedStory& first = *broken.front();
  const Text margin = margin_of(first, property);
  std::string html =
      fmt::format("<span class=\"bad\">✗ {}</span> {}",
                  both(fmt::format("broken in {} of {}:", broken.size(), counted(judged, "story", "stories")),
                       fmt::format("在 {} 个故事中的 {} 个被破坏：", judged, broken.size())),
                  story_link(from, first));
  if (!margin.en.empty()) html += fmt::format(" <span class=\"faint\">({})</span>", both(margin));
  return html;
}

Page index_page(const Findings& findings) {
  Page page{.path = std::string(kIndex),
            .title = {"Distributed locks, from real executions", "分布式锁：来自真实执行"}};
  page.scripts = {"reports/site/frame/filter.js"};
  const std::vector<Values> chapters = reading_order(findings), tables = matrices(findings),
                            stories = all_stories(findings);
  page.body = filled("reports/site/index.mustache", {{"promises", promises_of_locks(findings)},
                                                     {"has_chapters", !chapters.empty()},
                                                     {"chapters", chapters},
                                                     {"has_matrices", !tables.empty()},
                                                     {"matrices", tables},
                                                     {"bounds", matrix_bounds(findings)},
                                                     {"claims", claims(findings)},
                                                     {"failures", documented(findings)},
                                                     {"has_stories", !stories.empty()},
                                                     {"stories", stories}});
  return page;
}

}  // namespace lockstep::reports::site
