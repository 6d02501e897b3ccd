#include "reports/site/index_page.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "reports/picture/shape.hpp"
#include "reports/site/chapters.hpp"
#include "scenarios/story/failures.hpp"

namespace lockstep::reports::site {
namespace {

using picture::escaped_markup;

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

std::string promise_items(const Findings& findings) {
  std::string html = "<div class=\"two\">\n";
  for (const Promise& promise : kPromises) {
    html += fmt::format("<div>\n<h3>{}</h3>\n<p>{}</p>\n<ul>\n", both(promise.title, promise.title_zh),
                        both(promise.text, promise.text_zh));
    for (const std::string_view name : promise.properties) {
      const checker::Property* property = checker::find_property(name);
      const auto broken = std::count_if(findings.stories.begin(), findings.stories.end(),
                                        [&](const ListedStory& story) { return breaks(story, name); });
      html +=
          fmt::format("<li><code>{}</code>: {} <span class=\"faint\">{}</span></li>\n", name,
                      property != nullptr ? both(property->meaning, property->meaning_zh) : "",
                      both(fmt::format("Broken in {}.", counted(static_cast<std::size_t>(broken), "story", "stories")),
                           fmt::format("在 {} 个故事中被破坏。", broken)));
    }
    html += "</ul>\n</div>\n";
  }
  return html + "</div>\n";
}

/// "breaks mutual-exclusion, own-release" or "holds".
std::string outcome_of(const ListedStory& story) {
  const std::vector<std::string_view> broken = broken_properties(story);
  if (broken.empty()) return fmt::format("<span class=\"good\">✓ {}</span>", both("nothing breaks", "均成立"));
  std::string names;
  for (const std::string_view name : broken) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return fmt::format("<span class=\"bad\">✗ {}</span>", names);
}

std::string reading_order(const Findings& findings) {
  std::string html;
  std::size_t number = 0;
  for (const Chapter& chapter : chapters()) {
    std::string items;
    for (const std::string_view id : chapter.stories) {
      if (const ListedStory* story = find_story(findings, id))
        items += fmt::format("<li>{} {}</li>\n", story_link(kIndex, *story), outcome_of(*story));
    }
    ++number;
    // A site of a few stories has no use for chapters without any.
    if (items.empty()) continue;
    html += fmt::format("<h3>{}. {}</h3>\n<p>{}</p>\n<ul>\n{}</ul>\n", number, both(chapter.title, chapter.title_zh),
                        both(chapter.text, chapter.text_zh), items);
  }
  return html;
}

std::string matrices(const Findings& findings) {
  if (findings.matrix == nullptr || findings.matrix->cells.empty()) return "";
  std::string html = paragraph(
      {"Each cell was explored and run for this page. A link leads to a story that shows what breaks, or else to the "
       "algorithm's page with the run that breaks it.",
       "每一格都是为本页探索并运行得出的。链接指向展示该破坏的故事；没有这样的故事时，指向算法页面上的破坏运行。"});
  for (const scenarios::MatrixQuestion& question : scenarios::matrix_questions()) {
    const bool is_first = &question == &scenarios::matrix_questions().front();
    html += fmt::format("<details{}>\n<summary><strong>{}</strong>: {}</summary>\n{}</details>\n",
                        is_first ? " open=\"open\"" : "", question.name, both(question.meaning, question.meaning_zh),
                        matrix_table(findings, kIndex, question));
  }
  return html + matrix_bounds(findings);
}

std::string claims(const Findings& findings) {
  std::vector<std::vector<std::string>> rows;
  for (const models::locks::Entry& entry : findings.catalogue->entries()) {
    std::string cell;
    for (const std::string_view claim : entry.claims)
      cell += fmt::format("<li><code>{}</code>: {}</li>", claim, claim_cell(findings, kIndex, entry.id, claim));
    if (cell.empty()) continue;
    rows.push_back({algorithm_link(findings, kIndex, entry.id), fmt::format("<ul class=\"plain\">{}</ul>", cell)});
  }
  return paragraph(
             {"What the documents promise of each algorithm, and what its stories show. A broken claim need not "
              "be a lie: most hold while clocks agree and nobody is paused, and the stories say what happens when not.",
              "文档对每个算法的承诺，以及各个故事所展示的结果。承诺被破坏不等于文档说谎：大多数承诺在时钟一致、"
              "无人停顿时成立，故事讲的是不满足这些条件时会怎样。"}) +
         table_of({"Claims and findings", "承诺与发现"},
                  {both("Algorithm", "算法"), both("Claims, and what was found", "承诺与发现")}, rows);
}

std::string documented(const Findings& findings) {
  std::vector<std::vector<std::string>> rows;
  for (const scenarios::Failure& failure : scenarios::failures()) {
    std::string shown;
    for (const ListedStory& story : findings.stories) {
      const std::vector<std::string>& ids = story.story->scenario.reproduces;
      if (std::find(ids.begin(), ids.end(), failure.id) == ids.end()) continue;
      shown += fmt::format("<li>{} {}</li>", story_link(kIndex, story), outcome_of(story));
    }
    const std::string told = failure.told ? both("the document says so", "文档如是说")
                                          : both("not in the document; deduced", "文档未提及，由推断得出");
    rows.push_back({std::string(failure.id), both(failure.meaning, failure.meaning_zh),
                    fmt::format("{}<br/><span class=\"faint\">{}</span>", escaped_markup(failure.document), told),
                    shown.empty()
                        ? fmt::format("<span class=\"warning\">{}</span>", both("no story here", "此处没有故事"))
                        : fmt::format("<ul class=\"plain\">{}</ul>", shown)});
  }
  return table_of({"Documented failures", "记载的故障"},
                  {"№", both("What goes wrong", "出了什么问题"), both("Document", "文档"),
                   both("Stories, and what they show", "故事及其结果")},
                  rows);
}

std::string all_stories(const Findings& findings) {
  std::vector<std::vector<std::string>> rows;
  for (const ListedStory& story : findings.stories)
    rows.push_back({story_link(kIndex, story), algorithm_link(findings, kIndex, story.story->scenario.lock.algorithm),
                    outcome_of(story), fmt::format("<code>{}</code>", escaped_markup(story.source))});
  if (rows.empty()) return "";
  return fmt::format(
             "<p class=\"controls\" id=\"filter-box\" hidden=\"hidden\"><label for=\"filter\">{}</label> <input "
             "id=\"filter\" "
             "type=\"search\" autocomplete=\"off\"/> <span id=\"filter-count\" role=\"status\"></span></p>\n",
             both("Only those with these words:", "只显示含有这些词的：")) +
         "<div id=\"stories-list\">\n" +
         table_of({"All stories", "所有故事"},
                  {both("Story", "故事"), both("Algorithm", "算法"), both("What breaks", "破坏了什么"),
                   both("File", "文件")},
                  rows) +
         "</div>\n";
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
  return table_of({fmt::format("Matrix: {}", question.name), fmt::format("矩阵：{}", question.name)}, heads, rows);
}

std::string matrix_bounds(const Findings& findings) {
  const scenarios::MatrixOptions& bounds = findings.matrix_bounds;
  return fmt::format(
      "<p class=\"faint\">{}</p>\n",
      both(fmt::format("Proved: in every order and with every delay of a small world, of at most {} traces and {} "
                       "events, with at most one fault; {} random runs of a larger world (seed {}) did not break it "
                       "either. Fuzzed: only these random runs. What follows a ✗ is the margin. ·: has no meaning "
                       "there. `lockstep matrix` has larger bounds.",
                       bounds.max_traces, bounds.max_events, bounds.runs, bounds.seed),
           fmt::format(
               "已证明：在小世界的所有顺序与所有时延下成立（至多 {} 条轨迹、{} 个事件，至多一个故障），较大世界的 {} "
               "次随机运行（种子 {}）也未破坏。仅随机测试：只有这些随机运行。✗ 后面是界限。·：不适用。"
               "`lockstep matrix` 使用更大的界限。",
               bounds.max_traces, bounds.max_events, bounds.runs, bounds.seed)));
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
  page.scripts = {"reports/site/filter.js"};
  page.body = paragraph(
      {"Every story on these pages was executed on simulated servers, in virtual time; most were also explored in "
       "every "
       "order and with every delay. What breaks, when, by whom and from which margin on is computed, not told.",
       "这些页面上的每个故事都在模拟服务器上以虚拟时间执行过，大多数还在所有顺序与所有时延下探索过。什么被破坏、何时、"
       "由谁、从什么界限开始，都是计算出来的，不是讲出来的。"});
  page.body += section_of("promises", {"What a lock promises", "一把锁承诺什么"}, promise_items(findings));
  page.body += section_of("chapters", {"In which order to read", "阅读顺序"}, reading_order(findings));
  page.body +=
      section_of("matrix", {"Which algorithm survives which fault", "哪个算法能承受哪种故障"}, matrices(findings));
  page.body += section_of("claims", {"Claims, beside what was found", "承诺与发现"}, claims(findings));
  page.body += section_of("failures", {"The documented failures", "记载的故障"}, documented(findings));
  page.body += section_of("stories", {"All stories", "所有故事"}, all_stories(findings));
  return page;
}

}  // namespace lockstep::reports::site
