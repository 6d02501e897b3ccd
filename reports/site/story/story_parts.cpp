#include "reports/site/story/story_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/check/headline.hpp"
#include "reports/json/json.hpp"
#include "reports/picture/drawing.hpp"
#include "reports/picture/shape.hpp"
#include "reports/site/frame/property_markup.hpp"
#include "reports/text/text.hpp"
#include "reports/words/reasons.hpp"

namespace lockstep::reports::site {
namespace {

using checker::Verdict;
using picture::Diagram;
using picture::escaped_markup;

std::string reason(const std::string& why) { return both(reason_in(Language::en, why), reason_in(Language::zh, why)); }

std::string name_of_actor(const Diagram& diagram, const picture::DiagramRow& row) {
  const auto lane = row.event.who.is_valid() ? diagram.lane_of(row.event.who) : std::nullopt;
  return lane ? escaped_markup(diagram.lanes[*lane].name) : both("network", "网络");
}

Text row_text(const picture::DiagramRow& row) { return {row.event.text, row.text_zh}; }

std::string content_of_key(const std::optional<KeyContent>& content) {
  if (!content) return both("nothing", "无");
  const std::string text = fmt::format("<code>{}</code>", escaped_markup(content->text));
  return content->until.empty() ? text : text + both(" until " + content->until, " 至 " + content->until);
}

std::vector<Values> evidence_of(const checker::Finding& finding, const Diagram& diagram) {
  std::vector<Values> steps;
  for (std::size_t i = 0; i < diagram.rows.size(); ++i) {
    const picture::DiagramRow& row = diagram.rows[i];
    if (!std::binary_search(finding.evidence.begin(), finding.evidence.end(), row.event.step)) continue;
    steps.push_back({{"step", i + 1},
                     {"at", time_text(row.event.at)},
                     {"who", name_of_actor(diagram, row)},
                     {"what", row_text(row)}});
  }
  return steps;
}

/// In this run, in both languages.
Text observed_in(const Story& story, const checker::Finding& finding) {
  return {observed_text(story.outcome, finding), observed_text(story.outcome, finding, Language::zh)};
}

}  // namespace

void add_answer(const ExploredStory& explored, Values& page) {
  const Headline en = headline(explored, Language::en);
  const Headline zh = headline(explored, Language::zh);
  std::vector<Values> formulas;
  const std::vector<std::string> in_english = formulas_in_words(explored, Language::en);
  const std::vector<std::string> in_chinese = formulas_in_words(explored, Language::zh);
  for (std::size_t i = 0; i < in_english.size(); ++i)
    formulas.push_back({{"formula", Text{in_english[i], in_chinese[i]}}});
  page.set("headline", Values{{"look", look_of(en)},
                              {"sign", words_of(en.verdict).sign},
                              {"answer", Text{en.text, zh.text}},
                              {"formulas", formulas}});
  if (!explored.replay) return;
  const std::optional<std::size_t> shown = shown_witness(explored);
  if (!shown) return;
  const scenarios::ExploredProperty& property = explored.exploration.properties[*shown];
  const auto drawing = [](const Story& run, std::string id) {
    const scenarios::Text& title = run.scenario.title;
    return picture::page_svg(picture::diagram_of(run),
                             {.id = std::move(id), .title_en = title.en, .title_zh = title.zh, .has_scale = false});
  };
  page.set("breaking",
           Values{{"drawing", drawing(*explored.replay, "breaking-run")}, {"reason", reason(property.why)}});
  if (!explored.worst_replay || !property.worst) return;
  page.set("worst", Values{{"drawing", drawing(*explored.worst_replay, "worst-run")},
                           {"is_exact", property.worst->is_exact},
                           {"lasting", Text{lasting_text(*property.worst, Language::en),
                                            lasting_text(*property.worst, Language::zh)}}});
}

void add_verdicts(const Story& story, const Diagram& diagram, Values& page) {
  std::vector<Values> broken, held;
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    const checker::Finding& finding = judgement.finding;
    if (finding.verdict == Verdict::holds) held.push_back({{"property", property_markup(finding.property)}});
    if (finding.verdict != Verdict::violated) continue;
    const std::vector<Values> evidence = evidence_of(finding, diagram);
    broken.push_back({{"property", property_markup(finding.property)},
                      {"observed", observed_in(story, finding)},
                      {"why", reason(finding.why)},
                      {"has_evidence", !evidence.empty()},
                      {"evidence", evidence}});
  }
  page.set("has_why", !broken.empty());
  page.set("broken", broken);
  page.set("has_held", !held.empty());
  page.set("held", held);
  if (diagram.folded > 0)
    page.set("folded", Text{fmt::format("{} that repeat others are folded into one.",
                                        counted(diagram.folded, "more row", "more rows")),
                            fmt::format("另有 {} 行重复的内容已合并。", diagram.folded)});
  if (diagram.rows_left_out > 0)
    page.set("left_out",
             Text{fmt::format("{} after these are left out.", counted(diagram.rows_left_out, "row", "rows")),
                  fmt::format("此后的 {} 行未显示。", diagram.rows_left_out)});
}

void add_steps(const Diagram& diagram, const std::vector<StepOfRun>& steps, const CodeOfRun& code, Values& page) {
  std::vector<Values> rows;
  for (const StepOfRun& step : steps) {
    const picture::DiagramRow& row = diagram.rows[step.row];
    std::vector<Values> changes, clocks;
    for (const KeyChange& change : step.changes)
      changes.push_back({{"server", change.server},
                         {"key", change.key},
                         {"before", content_of_key(change.before)},
                         {"after", content_of_key(change.after)}});
    for (const auto& [name, time] : step.clocks) clocks.push_back({{"name", name}, {"time", time}});
    const bool is_overlap = !row.overlap.empty();
    rows.push_back({{"step", step.row + 1},
                    {"look", row.is_evidence ? (is_overlap ? "evidence both" : "evidence")
                             : is_overlap    ? "both"
                                             : ""},
                    {"at", time_text(row.event.at)},
                    {"clocks", clocks},
                    {"who", name_of_actor(diagram, row)},
                    {"what", row_text(row)},
                    {"changes", changes},
                    {"is_overlap", is_overlap},
                    {"holders", joined(step.holders)},
                    {"lines", code.files.empty() ? "" : links_to_code(code, step.row)}});
  }
  page.set("has_clocks",
           std::any_of(steps.begin(), steps.end(), [](const StepOfRun& step) { return !step.clocks.empty(); }));
  page.set("steps", rows);
}

std::optional<Values> point_of_no_return(const scenarios::NoReturn& point, const Story& story) {
  using Answer = scenarios::NoReturn::Answer;
  if (point.answer == Answer::unknown) return std::nullopt;
  const std::string broken = sim::to_string(point.violated_at);
  std::string en, zh;
  if (point.answer == Answer::beginning) {
    en = "It breaks whatever happens: no order and no delay keeps it.";
    zh = "无论怎样都会被破坏：没有任何顺序和延迟能使它成立。";
  } else if (point.answer == Answer::at_end) {
    en = fmt::format("Until the very moment at which it breaks, {}, it could still have been avoided.", broken);
    zh = fmt::format("直到它被破坏的那一刻（{}）都还可以避免。", broken);
  } else {
    const scenarios::NoReturnEvent& event = point.events[point.step];
    const std::string who = printable(name_of(story.outcome, event.process));
    const std::string at = sim::to_string(event.at);
    std::string what = "goes on", what_zh = "继续运行";
    if (event.kind == sim::EventKind::message) {
      what = fmt::format("{} {}", event.is_reply ? "gets the answer to" : "gets", printable(event.name));
      what_zh = fmt::format("收到{} {}", event.is_reply ? "答复：" : "", printable(event.name));
    }
    if (event.kind == sim::EventKind::fault) {
      what = "is struck by a fault";
      what_zh = "发生故障";
    }
    en = fmt::format(
        "From {} on, when {} {}, nothing can avoid it any more; it breaks at {}. Up to the event before, some order "
        "and some "
        "delays would still have kept it.",
        at, who, what, broken);
    zh = fmt::format(
        "从 {}（{} {}）起已无法避免；它在 {} 被破坏。在此之前的一个事件为止，还有某种顺序和延迟能使它成立。", at, who,
        what_zh, broken);
  }
  if (!point.is_exact) {
    en += " The point may be later: not everything could be looked at.";
    zh += "这一点也可能更晚：并非所有情况都能检查。";
  }
  return Values{{"property", property_markup(point.property)}, {"when", Text{en, zh}}};
}

std::vector<Values> promises(const StoryToTell& told) {
  std::vector<Values> rows;
  for (const scenarios::Judgement& judgement : told.story->outcome.properties) {
    const checker::Finding& finding = judgement.finding;
    const scenarios::ExploredProperty* explored =
        told.explored == nullptr ? nullptr : &told.explored->exploration.property(finding.property);
    const bool says_something = explored != nullptr && explored->applies;
    const bool is_nothing = finding.verdict == Verdict::not_judged && !says_something;
    if (is_nothing && !judgement.expected) continue;
    Values& row = rows.emplace_back();
    row = {{"property", property_markup(finding.property)},
           {"ink", words_of(finding.verdict).look},
           {"sign", words_of(finding.verdict).sign},
           {"observed", observed_in(*told.story, finding)},
           {"is_not_explored", explored == nullptr},
           {"is_not_judged", explored != nullptr && !explored->applies},
           {"is_claimed", judgement.claim != scenarios::Claim::none ||
                              (explored != nullptr && explored->claim != scenarios::Claim::none)}};
    if (!says_something) continue;
    std::vector<Values> margins;
    for (const scenarios::Threshold& threshold : explored->thresholds)
      margins.push_back({{"margin", Text{threshold_text(*told.explored, threshold, Language::en),
                                         threshold_text(*told.explored, threshold, Language::zh)}}});
    if (!explored->frontier.empty())
      margins.push_back({{"margin", Text{frontier_text(*told.explored, *explored, Language::en),
                                         frontier_text(*told.explored, *explored, Language::zh)}}});
    row.set("explored",
            Values{{"ink", words_of(explored->verdict).look},
                   {"sign", words_of(explored->verdict).sign},
                   {"verdict", Text{verdict_text(*explored, Language::en), verdict_text(*explored, Language::zh)}},
                   {"margins", margins}});
  }
  return rows;
}

Values all_executions(const ExploredStory& explored, const std::string& version) {
  const auto in_both = [&](const char* name, auto words_of) {
    std::vector<Values> rows;
    const std::vector<std::string> en = words_of(explored.scenario, Language::en);
    const std::vector<std::string> zh = words_of(explored.scenario, Language::zh);
    for (std::size_t i = 0; i < en.size(); ++i) rows.push_back({{name, Text{en[i], zh[i]}}});
    return rows;
  };
  std::vector<Values> marks;
  for (const scenarios::Mark& mark : explored.exploration.marks) {
    if (mark.traces == 0) continue;
    const std::string_view zh = mark.name_zh.empty() ? mark.name : mark.name_zh;
    marks.push_back({{"mark", Text{fmt::format("{}: {}", mark.name, traces_text(mark.traces, false, Language::en)),
                                   fmt::format("{}：{}", zh, traces_text(mark.traces, false, Language::zh))}}});
  }
  const std::vector<Values> faults = in_both("fault", faults_in_words);
  const std::vector<Values> idle =
      in_both("what", [&](const scenarios::Scenario&, Language language) { return idle_in_words(explored, language); });
  const std::uint64_t traces = explored.exploration.counts.traces;
  return {{"explored",
           Text{fmt::format("Explored by lockstep {}: {}, {}.", version, traces_text(traces, false, Language::en),
                            completeness_text(explored, Language::en)),
                fmt::format("由 lockstep {} 探索：{}，{}。", version, traces_text(traces, false, Language::zh),
                            completeness_text(explored, Language::zh))}},
          {"ranges", in_both("range", ranges_in_words)},
          {"has_faults", !faults.empty()},
          {"faults", faults},
          {"has_idle", !idle.empty()},
          {"idle", idle},
          {"has_marks", !marks.empty()},
          {"marks", marks}};
}

std::string data_for_steps(const Diagram& diagram, const std::vector<StepOfRun>& steps, const Json& sliders) {
  Json data;
  std::vector<std::string> servers;
  for (const picture::DiagramLane& lane : diagram.lanes) {
    if (lane.role == scenarios::Lane::Role::server) servers.push_back(lane.name);
  }
  // What else there is to know of a step stands in the table.
  data["changes"] = Json::object();
  for (const StepOfRun& step : steps) {
    Json changes;
    for (const KeyChange& change : step.changes) {
      const auto server = std::find(servers.begin(), servers.end(), change.server);
      Json one = Json::array({server - servers.begin(), change.key});
      if (change.after) one.push_back(change.after->text);
      if (change.after && !change.after->until.empty()) one.push_back(change.after->until);
      changes.push_back(std::move(one));
    }
    if (!changes.is_null()) data["changes"][fmt::format("{}", step.row + 1)] = std::move(changes);
  }
  data["servers"] = servers;
  data["clocked"] = std::any_of(steps.begin(), steps.end(), [](const StepOfRun& step) { return !step.clocks.empty(); });
  if (!sliders.is_null()) data["sliders"] = sliders;
  return data.dump();
}

}  // namespace lockstep::reports::site
