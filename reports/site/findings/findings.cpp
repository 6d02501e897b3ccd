#include "reports/site/findings/findings.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "models/locks/parameters.hpp"
#include "reports/picture/shape.hpp"
#include "reports/site/frame/template.hpp"

namespace lockstep::reports::site {
namespace {

using scenarios::FaultSpec;
using scenarios::MatrixAnswer;
using scenarios::Scenario;

const scenarios::Judgement* judgement_in(const ListedStory& story, std::string_view property) {
  for (const scenarios::Judgement& judgement : story.story->outcome.properties) {
    if (judgement.finding.property == property) return &judgement;
  }
  return nullptr;
}

const scenarios::ExploredProperty* explored_in(const ListedStory& story, std::string_view property) {
  if (story.explored == nullptr) return nullptr;
  for (const scenarios::ExploredProperty& explored : story.explored->exploration.properties) {
    if (explored.name == property) return &explored;
  }
  return nullptr;
}

bool is_broken_by_run(const ListedStory& story, std::string_view property) {
  const scenarios::Judgement* judgement = judgement_in(story, property);
  return judgement != nullptr && judgement->finding.verdict == checker::Verdict::violated;
}

bool is_server(const Scenario& scenario, std::string_view name) {
  return std::any_of(scenario.servers.begin(), scenario.servers.end(), [&](const auto& s) { return s.name == name; });
}

/// As the matrix calls it; empty: it has no such column.
std::string_view fault_of(const FaultSpec& fault, const Scenario& scenario) {
  const sim::Whose whose = is_server(scenario, fault.who) ? sim::Whose::servers : sim::Whose::clients;
  if (kills(fault.kind) && whose == sim::Whose::servers && scenario.sentinels) return "primary-lost";
  for (const scenarios::MatrixFault& column : scenarios::matrix_faults()) {
    const bool is_it = column.kind == fault.kind && column.whose == whose && !fault.keep;
    if (is_it && column.comes_back == fault.restart_after.has_value()) return column.name;
  }
  return "";
}

bool outlives_its_lease(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  const models::locks::Entry* entry = catalogue.find(scenario.lock.algorithm);
  if (entry == nullptr) return false;
  models::locks::Parameters parameters(entry->parameters);
  for (const auto& [name, value] : scenario.lock.parameters) {
    if (parameters.find(name) != nullptr) parameters.set(name, value);
  }
  const auto lease = models::locks::lease_of(parameters);
  return lease && std::any_of(scenario.clients.begin(), scenario.clients.end(),
                              [&](const auto& client) { return client.hold.lo >= *lease; });
}

/// What the cell says of the margin, with its direction.
std::string margins_of(const MatrixAnswer& answer) {
  std::string text;
  for (const scenarios::Threshold& threshold : answer.thresholds) {
    const bool down = threshold.infimum.value < sim::Duration::zero();
    const std::string_view sign = threshold.infimum.attained ? (down ? "≤" : "≥") : (down ? "<" : ">");
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", sign, sim::to_string(threshold.infimum.value));
  }
  return text;
}

}  // namespace

std::string algorithm_path(std::string_view algorithm) {
  return fmt::format("algorithms/{}.html", anchor_of(algorithm));
}

std::string algorithm_link(const Findings& findings, std::string_view from, std::string_view algorithm) {
  const std::string name = fmt::format("<code>{}</code>", picture::escaped_markup(algorithm));
  if (findings.catalogue->find(algorithm) == nullptr) return name;
  return fmt::format("<a href=\"{}\">{}</a>", path_between(from, algorithm_path(algorithm)), name);
}

bool breaks(const ListedStory& story, std::string_view property) {
  const scenarios::ExploredProperty* explored = explored_in(story, property);
  return is_broken_by_run(story, property) || (explored != nullptr && explored->verdict == checker::Verdict::violated);
}

bool was_judged(const ListedStory& story, std::string_view property) {
  const scenarios::Judgement* judgement = judgement_in(story, property);
  const scenarios::ExploredProperty* explored = explored_in(story, property);
  const auto is_known = [](checker::Verdict verdict) {
    return verdict == checker::Verdict::holds || verdict == checker::Verdict::violated;
  };
  return (judgement != nullptr && is_known(judgement->finding.verdict)) ||
         (explored != nullptr && is_known(explored->verdict));
}

std::vector<std::string_view> broken_properties(const ListedStory& story) {
  std::vector<std::string_view> broken;
  for (const checker::Property& property : checker::properties()) {
    if (breaks(story, property.name)) broken.push_back(property.name);
  }
  return broken;
}

Text margin_of(const ListedStory& story, std::string_view property) {
  const scenarios::ExploredProperty* explored = explored_in(story, property);
  if (explored == nullptr || explored->verdict != checker::Verdict::violated || explored->thresholds.empty()) return {};
  const scenarios::Threshold& first = explored->thresholds.front();
  return {threshold_text(*story.explored, first, Language::en), threshold_text(*story.explored, first, Language::zh)};
}

std::vector<const ListedStory*> stories_of(const Findings& findings, std::string_view algorithm) {
  std::vector<const ListedStory*> stories;
  for (const ListedStory& story : findings.stories) {
    if (story.story->scenario.lock.algorithm == algorithm) stories.push_back(&story);
  }
  return stories;
}

const ListedStory* find_story(const Findings& findings, std::string_view id) {
  const auto found = std::find_if(findings.stories.begin(), findings.stories.end(),
                                  [&](const ListedStory& story) { return story.story->scenario.id == id; });
  return found == findings.stories.end() ? nullptr : &*found;
}

std::string story_link(std::string_view from, const ListedStory& story) {
  return link_to(from, {story.path, story.story->scenario.title});
}

std::string_view fault_of(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  std::set<std::string_view> faults;
  for (const FaultSpec& fault : scenario.faults) faults.insert(fault_of(fault, scenario));
  const auto is_off = [](const auto& process) {
    return process.clock.offset != sim::Duration::zero() || process.clock.drift_ppm != 0;
  };
  if (std::any_of(scenario.clients.begin(), scenario.clients.end(), is_off)) faults.insert("client-skew");
  // An offset of a server's clock is no jump.
  if (std::any_of(scenario.servers.begin(), scenario.servers.end(), is_off)) faults.insert("");
  if (faults.size() > 1) return "";
  if (!faults.empty()) return *faults.begin();
  return outlives_its_lease(scenario, catalogue) ? "overrun" : "none";
}

const ListedStory* story_of_cell(const Findings& findings, const scenarios::MatrixCell& cell,
                                 const MatrixAnswer& answer) {
  for (const ListedStory& story : findings.stories) {
    const Scenario& scenario = story.story->scenario;
    if (scenario.lock.algorithm != cell.algorithm || !is_broken_by_run(story, answer.question->property)) continue;
    const bool is_fenced = scenario.resource && scenario.resource->fenced;
    if (answer.question->property == "no-lost-update" && is_fenced != (answer.question->name == "damage-fenced"))
      continue;
    if (fault_of(scenario, *findings.catalogue) == cell.fault->name) return &story;
  }
  return nullptr;
}

const scenarios::MatrixCell* find_cell(const Findings& findings, std::string_view algorithm, std::string_view fault) {
  if (findings.matrix == nullptr) return nullptr;
  for (const scenarios::MatrixCell& cell : findings.matrix->cells) {
    if (cell.algorithm == algorithm && cell.fault->name == fault) return &cell;
  }
  return nullptr;
}

const MatrixAnswer* find_answer(const scenarios::MatrixCell& cell, std::string_view question) {
  for (const MatrixAnswer& answer : cell.answers) {
    if (answer.question->name == question) return &answer;
  }
  return nullptr;
}

CellText cell_text(const MatrixAnswer* answer) {
  if (answer == nullptr) return {{"? not begun", "? 未完成"}, "warning"};
  switch (answer->ground) {
    case MatrixAnswer::Ground::proved:
      return {answer->clients == 3 ? Text{"✓ proved for 2 and 3 clients", "✓ 2 个和 3 个客户端：已证明"}
                                   : Text{"✓ proved for 2 clients", "✓ 2 个客户端：已证明"},
              "good"};
    case MatrixAnswer::Ground::fuzzed: return {{"~ only fuzzed", "~ 仅随机测试"}, "warning"};
    case MatrixAnswer::Ground::inapplicable: return {{"·", "·"}, "faint"};
    case MatrixAnswer::Ground::broken: break;
  }
  const std::string margins = margins_of(*answer);
  // Two clients do not break it, three do.
  const bool needs_three = answer->clients == 3 && answer->traces > 0;
  Text text{"✗ broken", "✗ 破坏"};
  if (!margins.empty()) text = {"✗ broken: " + margins, "✗ 破坏：" + margins};
  if (needs_three) text = {text.en + " with 3 clients", text.zh + "（3 个客户端）"};
  return {text, "bad"};
}

std::string table_of(const Text& name, const std::vector<std::string>& heads,
                     const std::vector<std::vector<std::string>>& rows) {
  const auto named = [](const char* key, const std::vector<std::string>& texts) {
    std::vector<Values> values;
    for (const std::string& text : texts) values.push_back({{key, text}});
    return values;
  };
  std::vector<Values> filled_rows;
  for (const std::vector<std::string>& row : rows) filled_rows.push_back({{"cells", named("cell", row)}});
  return filled("reports/site/frame/table.mustache",
                {{"en", name.en}, {"zh", name.zh}, {"heads", named("head", heads)}, {"rows", filled_rows}});
}

}  // namespace lockstep::reports::site
