#include "reports/export/sarif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "checker/properties/properties.hpp"
#include "reports/json/json.hpp"
#include "reports/text/text.hpp"
#include "reports/words/reasons.hpp"

namespace lockstep::reports {
namespace {

/// A path as a URI reference (RFC 3986): relative paths stay relative, and to what, SARIF leaves open.
std::string uri_of(std::string_view path) {
  const bool is_absolute = path.starts_with('/');
  std::string uri = is_absolute ? "file://" : "";
  // In the first segment of a relative reference a colon would end a scheme.
  if (!is_absolute && path.substr(0, path.find('/')).find(':') != std::string_view::npos) uri = "./";
  for (const char c : path) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_plain =
        is_letter || (c >= '0' && c <= '9') || std::string_view("-._~/!$&'()*+,;=:@").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Json location_of(const std::string& file, scenarios::Position at) {
  Json physical;
  physical["artifactLocation"] = {{"uri", uri_of(file)}};
  // SARIF counts from 1, and has no region where nothing is known.
  if (at.line > 0) {
    physical["region"] = {{"startLine", at.line}};
    if (at.column > 0) physical["region"]["startColumn"] = at.column;
  }
  return {{"physicalLocation", std::move(physical)}};
}

Json message_of(std::string_view text) { return {{"text", printable(text)}}; }

Json sarif_rules() {
  Json rules = Json::array();
  for (const checker::Property& property : checker::properties()) {
    rules.push_back({{"id", property.name},
                     {"shortDescription", message_of(property.meaning)},
                     {"defaultConfiguration", {{"level", "error"}}},
                     {"properties", {{"view", checker::to_string(property.view)}}}});
  }
  return rules;
}

std::size_t rule_index(std::string_view property) {
  const auto all = checker::properties();
  return static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](const checker::Property& p) { return p.name == property; }) -
      all.begin());
}

/// One property of a story that is not as expected: where the file expects it, or names the algorithm that claims it.
Json sarif_result(const scenarios::Scenario& scenario, std::string_view property,
                  const std::optional<scenarios::Expectation>& expected, std::string_view level,
                  const std::string& text, const std::vector<std::string>& by) {
  const scenarios::Position at = expected ? expected->position : scenario.lock.algorithm_at;
  Json result;
  result["ruleId"] = property;
  result["ruleIndex"] = rule_index(property);
  result["level"] = level;
  result["message"] = message_of(text);
  result["locations"] = Json::array({location_of(scenario.file, at)});
  result["properties"] = {{"story", printable(scenario.id)},
                          {"algorithm", printable(scenario.lock.algorithm)},
                          {"by", printable(joined(by))}};
  return result;
}

Json sarif_result(const Story& story, const scenarios::Judgement& judgement) {
  const checker::Finding& finding = judgement.finding;
  std::string text = fmt::format("{}: {}", finding.property, surprise_text(story.outcome, judgement));
  if (!finding.why.empty()) text += ". " + reason_in(Language::en, finding.why);
  Json result =
      sarif_result(story.scenario, finding.property, judgement.expected, "error", text, blamed(story.outcome, finding));
  result["properties"]["digest"] = digest_text(story.outcome.digest);
  return result;
}

void add_notification(Json& notifications, const scenarios::Diagnostic& diagnostic) {
  notifications.push_back({{"level", "error"},
                           {"message", message_of(diagnostic.message)},
                           {"locations", Json::array({location_of(diagnostic.file, diagnostic.at)})}});
  for (const scenarios::Diagnostic& other : diagnostic.others) add_notification(notifications, other);
}

Json sarif_result(const ExploredStory& story, const scenarios::ExploredProperty& property) {
  std::string text = fmt::format("{}: {}; {}", property.name, verdict_text(property, Language::en),
                                 surprise_text(story, property, Language::en));
  for (const scenarios::Threshold& threshold : property.thresholds)
    text += "; " + threshold_text(story, threshold, Language::en);
  if (!property.why.empty()) text += ". " + reason_in(Language::en, property.why);
  const bool is_open = scenarios::agreement(story.exploration, property, story.parameter) == scenarios::Agreement::open;
  return sarif_result(story.scenario, property.name, property.expected, is_open ? "warning" : "error", text,
                      property.by);
}

std::string sarif_text(Json results, Json notifications, bool is_successful, std::string_view version) {
  Json invocation{{"executionSuccessful", is_successful}};
  if (!is_successful) invocation["toolExecutionNotifications"] = std::move(notifications);
  Json run;
  run["tool"] = {{"driver", {{"name", "lockstep"}, {"version", version}, {"rules", sarif_rules()}}}};
  run["invocations"] = Json::array({std::move(invocation)});
  run["columnKind"] = "unicodeCodePoints";
  run["results"] = std::move(results);
  Json document;
  document["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  document["version"] = "2.1.0";
  document["runs"] = Json::array({std::move(run)});
  return document.dump(2) + "\n";
}

}  // namespace

std::string sarif_log(std::span<const ExploredStory> stories, std::span<const scenarios::Diagnostic> not_explored,
                      std::string_view version) {
  Json results = Json::array();
  for (const ExploredStory& story : stories) {
    for (const scenarios::ExploredProperty& property : story.exploration.properties) {
      if (!property.as_expected) results.push_back(sarif_result(story, property));
    }
  }
  Json notifications = Json::array();
  for (const scenarios::Diagnostic& diagnostic : not_explored) add_notification(notifications, diagnostic);
  return sarif_text(std::move(results), std::move(notifications), not_explored.empty(), version);
}

std::string sarif_log(std::span<const Story> stories, std::span<const scenarios::Diagnostic> not_run,
                      std::string_view version) {
  Json results = Json::array();
  for (const Story& story : stories) {
    for (const scenarios::Judgement& judgement : story.outcome.properties) {
      if (!judgement.as_expected) results.push_back(sarif_result(story, judgement));
    }
  }
  Json notifications = Json::array();
  for (const scenarios::Diagnostic& diagnostic : not_run) add_notification(notifications, diagnostic);
  bool is_successful = not_run.empty();
  for (const Story& story : stories) {
    if (story.outcome.mistake.empty()) continue;
    is_successful = false;
    add_notification(notifications, {story.scenario.file, story.scenario.lock.algorithm_at, story.outcome.mistake});
  }
  return sarif_text(std::move(results), std::move(notifications), is_successful, version);
}

}  // namespace lockstep::reports
