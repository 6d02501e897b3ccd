#include <algorithm>

#include <fmt/format.h>

#include "reports/picture/shape.hpp"
#include "reports/site/story/story_parts.hpp"
#include "reports/text/text.hpp"
#include "reports/words/property_names.hpp"

namespace lockstep::reports::site {
namespace {

using picture::Diagram;

/// Both are markup.
std::vector<Values> question(const std::string& asked, const std::string& answer) {
  return {{{"asked", asked}, {"answer", answer}}};
}

std::string step_link(std::size_t row) {
  return fmt::format("<a href=\"#s{0}\">{1}</a>", row + 1,
                     both(fmt::format("step {}", row + 1), fmt::format("第 {} 步", row + 1)));
}

bool ends_with_holder(const Diagram& diagram, std::size_t row) { return !diagram.rows[row].overlap.empty(); }

/// The first command whose answer depends on what somebody else did: "what does redis answer?"
std::optional<std::size_t> telling_command(const Diagram& diagram) {
  std::vector<sim::ProcessId> seen;
  for (std::size_t i = 0; i < diagram.rows.size(); ++i) {
    const Event& event = diagram.rows[i].event;
    if (event.command_size == 0 || !event.arrow || event.arrow->fate != Arrow::Fate::arrives) continue;
    const bool has_answer = event.text.find(" → ", event.command_size) == event.command_size;
    const auto lane = diagram.lane_of(event.who);
    if (!has_answer || !lane || diagram.lanes[*lane].role != scenarios::Lane::Role::client) continue;
    if (!seen.empty() && std::find(seen.begin(), seen.end(), event.who) == seen.end()) return i;
    seen.push_back(event.who);
  }
  return std::nullopt;
}

std::vector<Values> ask_for_answer(const Diagram& diagram, std::size_t row) {
  const Event& event = diagram.rows[row].event;
  const std::string command =
      fmt::format("<code>{}</code>", picture::escaped_markup(event.text.substr(0, event.command_size)));
  const std::string who = picture::escaped_markup(diagram.lanes[*diagram.lane_of(event.who)].name);
  const auto server = diagram.lane_of(event.arrow->to);
  const std::string place = server ? picture::escaped_markup(diagram.lanes[*server].name) : "";
  const std::string at = time_text(event.at);
  constexpr std::size_t kArrow = std::string_view(" → ").size();
  const std::string zh =
      diagram.rows[row].text_zh.substr(std::min(event.command_size + kArrow, diagram.rows[row].text_zh.size()));
  return question(
      both_markup(fmt::format("At {} the command {} of {} reaches {}. What is the answer?", at, command, who, place),
                  fmt::format("在 {}，{} 的命令 {} 到达 {}。答复是什么？", at, who, command, place)),
      fmt::format("{} ({})", both(event.text.substr(event.command_size + kArrow), zh), step_link(row)));
}

std::vector<Values> ask_who_holds(const Diagram& diagram, const std::vector<StepOfRun>& steps) {
  std::size_t row = diagram.rows.size();
  for (std::size_t i = 0; i < diagram.rows.size() && row == diagram.rows.size(); ++i) {
    if (ends_with_holder(diagram, i)) row = i;
  }
  // Where nobody holds it with another: who is the second to have it.
  for (std::size_t i = 1; i < steps.size() && row == diagram.rows.size(); ++i) {
    if (!steps[i].holders.empty() && steps[i].holders != steps[i - 1].holders && !steps[0].holders.empty()) row = i;
  }
  if (row >= diagram.rows.size()) return {};
  const std::string at = time_text(diagram.rows[row].event.at);
  const std::string holders = joined(steps[row].holders);
  const std::string answer = holders.empty() ? both("nobody", "没有人") : picture::escaped_markup(holders);
  return question(
      both(fmt::format("Who believes at {} to hold the lock?", at), fmt::format("在 {}，谁认为自己持有锁？", at)),
      fmt::format("{} ({})", answer, step_link(row)));
}

std::vector<Values> ask_for_margin(const ExploredStory& explored) {
  for (const scenarios::ExploredProperty& property : explored.exploration.properties) {
    if (property.verdict != checker::Verdict::violated || property.thresholds.empty()) continue;
    const scenarios::Threshold& threshold = property.thresholds.front();
    return question(
        both(fmt::format("From which {} on can {} break? Add up the longest delays.", threshold.parameter,
                         property.name),
             fmt::format("{} 从多大开始会破坏 {}？请把最长的延迟加起来。", threshold.parameter,
                         property_in(Language::zh, property.name))),
        both(threshold_text(explored, threshold, Language::en), threshold_text(explored, threshold, Language::zh)));
  }
  return {};
}

std::vector<Values> ask_what_repairs(const StoryToTell& told) {
  const scenarios::Text& lesson = told.story->scenario.lesson;
  if (lesson.en.empty()) return {};
  return question(both("What is to be learned from this?", "从中能学到什么？"), both(lesson));
}

}  // namespace

std::vector<Values> questions(const StoryToTell& told, const Diagram& diagram, const std::vector<StepOfRun>& steps) {
  std::vector<Values> all;
  const auto ask = [&](const std::vector<Values>& question) {
    all.insert(all.end(), question.begin(), question.end());
  };
  if (const auto row = telling_command(diagram)) ask(ask_for_answer(diagram, *row));
  ask(ask_who_holds(diagram, steps));
  if (told.explored != nullptr) ask(ask_for_margin(*told.explored));
  ask(ask_what_repairs(told));
  return all;
}

}  // namespace lockstep::reports::site
