#include "reports/site/story/story_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/picture/drawing.hpp"
#include "reports/site/story/code_part.hpp"
#include "reports/site/story/story_parts.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports::site {
namespace {

using picture::Diagram;

/// The first row that is not the same in both; nothing if one is the beginning of the other.
std::optional<std::size_t> parting(const Diagram& a, const Diagram& b) {
  for (std::size_t i = 0; i < std::min(a.rows.size(), b.rows.size()); ++i) {
    const Event &left = a.rows[i].event, &right = b.rows[i].event;
    if (left.text != right.text || left.who != right.who || left.at.offset() != right.at.offset()) return i;
  }
  if (a.rows.size() == b.rows.size()) return std::nullopt;
  return std::min(a.rows.size(), b.rows.size());
}

/// A few steps of one of the two runs, from where they part.
Values column_of(const Text& title, const Diagram& diagram, std::size_t from) {
  constexpr std::size_t kShown = 14;
  std::vector<Values> steps;
  const std::size_t end = std::min(diagram.rows.size(), from + kShown);
  for (std::size_t i = from; i < end; ++i) {
    const picture::DiagramRow& row = diagram.rows[i];
    const auto lane = row.event.who.is_valid() ? diagram.lane_of(row.event.who) : std::nullopt;
    steps.push_back({{"is_bad", !row.overlap.empty()},
                     {"at", time_text(row.event.at)},
                     {"who", lane ? diagram.lanes[*lane].name : ""},
                     {"what", Text{row.event.text, row.text_zh}}});
  }
  Text more;
  if (end < diagram.rows.size())
    more = {counted(diagram.rows.size() - end, "more step", "more steps"),
            fmt::format("还有 {} 步", diagram.rows.size() - end)};
  return {{"title", title}, {"start", from + 1}, {"steps_there", steps}, {"more", more}};
}

}  // namespace

Values repaired_twin(const StoryToTell& told, const Diagram& diagram) {
  const Diagram twin = picture::diagram_of(told.repaired->story);
  const scenarios::Scenario& other = told.repaired->story.scenario;
  const auto part = parting(diagram, twin);
  Values values{{"link", told.repaired->link ? link_to(told.path, *told.repaired->link) : ""},
                {"lock", other.lock.algorithm},
                {"are_same", !part}};
  if (!part) return values;
  const std::size_t from = *part >= 2 ? *part - 2 : 0;
  values.set("part", *part + 1);
  values.set("columns", std::vector<Values>{column_of({"This story", "本故事"}, diagram, from),
                                            column_of({"The repaired one", "修复之后"}, twin, from)});
  // Others have a page of their own, or would repeat what is above.
  constexpr std::size_t kDrawn = 60;
  if (!told.repaired->link && twin.rows.size() <= kDrawn)
    values.set("twin",
               picture::page_svg(
                   twin, {.id = "twin", .title_en = other.title.en, .title_zh = other.title.zh, .has_scale = false}));
  return values;
}

Page story_page(const StoryToTell& told) {
  const Story& story = *told.story;
  const scenarios::Scenario& scenario = story.scenario;
  const Diagram diagram = picture::diagram_of(story);
  const std::vector<StepOfRun> steps = steps_of(story, diagram);
  const CodeOfRun code = code_of(story, diagram);
  Page page{.path = told.path, .title = scenario.title, .above = told.above, .is_single = told.is_single};
  page.scripts = {"reports/site/story/stepper.js"};
  page.styles = {"reports/picture/diagram.css", "reports/site/story/story.css"};
  page.data = data_for_steps(diagram, steps, told.margins != nullptr ? data_for_sliders(*told.margins) : Json());
  if (told.margins != nullptr && (!told.margins->families.empty() || !told.margins->planes.empty()))
    page.scripts.emplace_back("reports/site/story/margins.js");
  if (told.margins != nullptr && !told.margins->planes.empty()) page.scripts.emplace_back("reports/site/story/map.js");

  std::vector<Values> reproduces;
  for (const std::string& id : scenario.reproduces) reproduces.push_back({{"id", id}});
  const std::string rest = told.algorithm_page ? path_between(told.path, *told.algorithm_page) : "";
  const std::vector<Values> asked = questions(told, diagram, steps);
  std::optional<Values> no_return, all, repaired;
  if (told.no_return != nullptr) no_return = point_of_no_return(*told.no_return, story);
  if (told.explored != nullptr) all = all_executions(*told.explored, told.version);
  if (told.repaired != nullptr) repaired = repaired_twin(told, diagram);
  Values values{{"algorithm", scenario.lock.algorithm},
                {"algorithm_page", rest},
                {"reproduces", reproduces},
                {"origin", scenario.source},
                {"file", told.source},
                {"told", scenario.story},
                {"not_explored", told.not_explored},
                {"repairs", told.broken_twin ? link_to(told.path, *told.broken_twin) : ""},
                {"rows", diagram.rows.size()},
                {"diagram", picture::page_svg(diagram, {.title_en = scenario.title.en, .title_zh = scenario.title.zh})},
                {"code", code_part(code, rest.empty() ? nullptr : &rest)},
                {"no_return", no_return},
                {"promises", promises(told)},
                {"all", all},
                {"margins_part", told.margins != nullptr ? margins_part(*told.margins) : ""},
                {"repaired", repaired},
                {"lesson", scenario.lesson},
                {"has_questions", !asked.empty()},
                {"questions", asked}};
  if (told.explored != nullptr) add_answer(*told.explored, values);
  add_verdicts(story, diagram, values);
  if (no_return) values.set("has_why", true);
  add_steps(diagram, steps, code, values);
  page.body = filled("reports/site/story/story.mustache", values);
  return page;
}

}  // namespace lockstep::reports::site
