#include "reports/site/story_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/picture/drawing.hpp"
#include "reports/picture/shape.hpp"
#include "reports/site/code_part.hpp"
#include "reports/site/story_parts.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports::site {
namespace {

using picture::Diagram;
using picture::escaped_markup;

std::string facts(const StoryToTell& told) {
  const scenarios::Scenario& scenario = told.story->scenario;
  const std::string algorithm = fmt::format("<code>{}</code>", escaped_markup(scenario.lock.algorithm));
  std::string html = "<p class=\"facts\">";
  html += told.algorithm_page
              ? fmt::format("<a href=\"{}\">{}</a>", path_between(told.path, *told.algorithm_page), algorithm)
              : algorithm;
  for (const std::string& id : scenario.reproduces)
    html += fmt::format(" <span class=\"tag\">{}</span>", escaped_markup(id));
  if (!scenario.source.empty()) html += fmt::format(" {}", escaped_markup(scenario.source));
  html += fmt::format(" · <code>{}</code></p>\n", escaped_markup(told.source));
  return html;
}

/// The first row that is not the same in both; nothing if one is the beginning of the other.
std::optional<std::size_t> parting(const Diagram& a, const Diagram& b) {
  for (std::size_t i = 0; i < std::min(a.rows.size(), b.rows.size()); ++i) {
    const Event &left = a.rows[i].event, &right = b.rows[i].event;
    if (left.text != right.text || left.who != right.who || left.at.offset() != right.at.offset()) return i;
  }
  if (a.rows.size() == b.rows.size()) return std::nullopt;
  return std::min(a.rows.size(), b.rows.size());
}

std::string story_of_rows(const Diagram& diagram, std::size_t from, std::size_t part) {
  std::string items;
  const std::size_t end = std::min(diagram.rows.size(), from + part);
  for (std::size_t i = from; i < end; ++i) {
    const picture::DiagramRow& row = diagram.rows[i];
    const auto lane = row.event.who.is_valid() ? diagram.lane_of(row.event.who) : std::nullopt;
    items += fmt::format("<li{}><span class=\"mono\">{}</span> <strong>{}</strong> {}</li>\n",
                         row.overlap.empty() ? "" : " class=\"bad\"", time_text(row.event.at),
                         lane ? escaped_markup(diagram.lanes[*lane].name) : "", both(row.event.text, row.text_zh));
  }
  if (end < diagram.rows.size())
    items += fmt::format("<li class=\"faint\">… {}</li>\n",
                         both(counted(diagram.rows.size() - end, "more step", "more steps"),
                              fmt::format("还有 {} 步", diagram.rows.size() - end)));
  return fmt::format("<ol start=\"{}\">\n{}</ol>\n", from + 1, items);
}

}  // namespace

std::string repaired_twin(const StoryToTell& told, const Diagram& diagram) {
  if (told.repaired == nullptr) return "";
  constexpr std::size_t kShown = 14;
  const Diagram twin = picture::diagram_of(told.repaired->story);
  const scenarios::Scenario& other = told.repaired->story.scenario;
  std::string html = "<p>";
  const std::string name = fmt::format("<code>{}</code>", escaped_markup(other.lock.algorithm));
  if (told.repaired->link) html += link_to(told.path, *told.repaired->link) + " · ";
  html += both_markup("The lock there: ", "那里的锁：") + name + "</p>\n";
  const auto part = parting(diagram, twin);
  if (!part) return html + fmt::format("<p>{}</p>\n", both("Both runs are the same.", "两次运行相同。"));
  const std::size_t from = *part >= 2 ? *part - 2 : 0;
  html += fmt::format("<p>{}</p>\n", both(fmt::format("The runs part at step {}.", *part + 1),
                                          fmt::format("两次运行在第 {} 步分开。", *part + 1)));
  html += fmt::format("<div class=\"two\"><div><h3>{}</h3>\n{}</div><div><h3>{}</h3>\n{}</div></div>\n",
                      both("This story", "本故事"), story_of_rows(diagram, from, kShown),
                      both("The repaired one", "修复之后"), story_of_rows(twin, from, kShown));
  // Others have a page of their own, or would repeat what is above.
  constexpr std::size_t kDrawn = 60;
  if (told.repaired->link || twin.rows.size() > kDrawn) return html;
  return html +
         fmt::format(
             "<details><summary>{}</summary>\n<div class=\"stage\" tabindex=\"0\" role=\"group\" aria-label=\"Diagram "
             "of the repaired run / 修复之后的时空图\">{}</div></details>\n",
             both("The repaired run as a diagram", "修复之后的时空图"),
             picture::page_svg(
                 twin, {.id = "twin", .title_en = other.title.en, .title_zh = other.title.zh, .has_scale = false}));
}

Page story_page(const StoryToTell& told) {
  const Story& story = *told.story;
  const Diagram diagram = picture::diagram_of(story);
  const std::vector<StepOfRun> steps = steps_of(story, diagram);
  Page page{.path = told.path, .title = story.scenario.title, .above = told.above, .is_single = told.is_single};
  page.scripts = {"reports/site/stepper.js"};
  page.styles = {"reports/picture/diagram.css", "reports/site/story.css"};
  const CodeOfRun code = code_of(story, diagram);
  const std::optional<std::string> rest =
      told.algorithm_page ? std::optional(path_between(told.path, *told.algorithm_page)) : std::nullopt;
  page.data = data_for_steps(diagram, steps, told.margins != nullptr ? data_for_sliders(*told.margins) : "");
  if (told.margins != nullptr && (!told.margins->families.empty() || !told.margins->planes.empty()))
    page.scripts.emplace_back("reports/site/margins.js");
  std::string& body = page.body;
  body += facts(told);
  body += paragraph(story.scenario.story);
  if (told.broken_twin)
    body +=
        fmt::format("<p>{}{}</p>\n", both_markup("It repairs: ", "它修复了："), link_to(told.path, *told.broken_twin));
  body += verdict_banner(story, diagram);
  body += section_of("run", {"The run", "这次运行"}, stage(diagram, story.scenario.title));
  body += section_of("code", {"The algorithm, line by line", "逐行看算法"}, code_part(code, rest ? &*rest : nullptr));
  std::string why = chain_of_causes(story, diagram);
  if (told.no_return != nullptr) why += point_of_no_return(*told.no_return, story);
  body += section_of("why", {"Why it failed", "为什么失败"}, why);
  body += section_of("promises", {"What was promised, and what holds", "承诺了什么，什么成立"}, promises(told));
  if (told.explored != nullptr)
    body += section_of("all", {"Every other execution", "所有其他执行"}, all_executions(*told.explored, told.version));
  if (told.margins != nullptr)
    body += section_of("margin", {"The margin, made visible", "看得见的余量"}, margins_part(*told.margins));
  body += section_of("repaired", {"The same, repaired", "修复之后"}, repaired_twin(told, diagram));
  body += section_of("lesson", {"Lesson", "教训"}, paragraph(story.scenario.lesson));
  body += section_of("questions", {"Questions", "练习"}, questions(told, diagram, steps));
  body += section_of("try", {"Try it yourself", "自己动手"}, commands(told));
  body += section_of("table", {"All steps", "所有步骤"}, steps_table(diagram, steps, code));
  return page;
}

}  // namespace lockstep::reports::site
