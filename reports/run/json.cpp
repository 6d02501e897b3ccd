#include "reports/run/json.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "checker/properties/properties.hpp"
#include "reports/listing/listing.hpp"
#include "reports/run/summary.hpp"
#include "scenarios/story/failures.hpp"
#include "sim/worlds/fault_kinds.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::reports {
namespace {

using nlohmann::ordered_json;

/// Bytes that are no UTF-8 (Redis keeps any) become U+FFFD: a document is always valid.
std::string written(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json document(std::string_view command) {
  ordered_json json;
  json["lockstep"] = 1;
  json["command"] = command;
  return json;
}

ordered_json json_of(const scenarios::Text& text) { return {{"en", text.en}, {"zh", in(Language::zh, text)}}; }

checker::Names names_of(const scenarios::Outcome& outcome) {
  checker::Names names;
  for (const scenarios::Lane& lane : outcome.lanes) names.push_back(lane.name);
  return names;
}

/// Who waits for whom, and what for; only where there is a deadlock.
void add_waits(ordered_json& json, std::span<const checker::WaitFor> waits, const checker::Names& names) {
  if (waits.empty()) return;
  json["waits"] = ordered_json::array();
  for (const checker::WaitFor& wait : waits) {
    json["waits"].push_back(
        {{"waiter", names[wait.waiter.index]}, {"holder", names[wait.holder.index]}, {"lock", wait.object}});
  }
}

ordered_json json_of(const scenarios::Outcome& outcome, const scenarios::Judgement& judgement) {
  const checker::Finding& finding = judgement.finding;
  ordered_json json;
  json["name"] = finding.property;
  json["property"] = finding.property;
  json["view"] = checker::to_string(finding.view);
  json["expected"] =
      judgement.expected ? ordered_json(checker::to_string(judgement.expected->verdict)) : ordered_json();
  json["verdict"] = checker::to_string(finding.verdict);
  json["claimed"] = judgement.claim != scenarios::Claim::none;
  json["as_expected"] = judgement.as_expected;
  json["by"] = blamed(outcome, finding);
  json["at"] = finding.at ? ordered_json(sim::to_string(finding.at->offset())) : ordered_json();
  json["why"] = finding.why;
  json["evidence"] = finding.evidence;
  add_waits(json, finding.waits, names_of(outcome));
  return json;
}

ordered_json json_of(const Story& story) {
  ordered_json json;
  json["file"] = story.scenario.file;
  json["id"] = story.scenario.id;
  json["title"] = json_of(story.scenario.title);
  json["reproduces"] = story.scenario.reproduces;
  json["algorithm"] = story.scenario.lock.algorithm;
  json["as_expected"] = story.outcome.as_expected;
  json["digest"] = digest_text(story.outcome.digest);
  json["events"] = story.outcome.events;
  json["properties"] = ordered_json::array();
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    json["properties"].push_back(json_of(story.outcome, judgement));
  }
  json["notes"] = story.outcome.notes;
  if (!story.outcome.script_mistakes.empty()) json["script_mistakes"] = story.outcome.script_mistakes;
  return json;
}

/// Polygons, any of which breaks it, each with its bounds (all of them together) and corners; the parameters in the
/// order of `thresholds`.
ordered_json json_of_frontier(const scenarios::ExploredProperty& property) {
  const auto length = [](const checker::Fraction& ns) {
    return ns.is_whole()
               ? ordered_json(sim::to_string(sim::Duration::nanoseconds(static_cast<std::int64_t>(ns.numerator()))))
               : ordered_json(fmt::format("{}/{}ns", static_cast<std::int64_t>(ns.numerator()),
                                          static_cast<std::int64_t>(ns.denominator())));
  };
  ordered_json json;
  json["text"] = property.frontier;
  json["polygons"] = ordered_json::array();
  for (const checker::FrontierPolygon& polygon : property.polygons) {
    ordered_json one;
    one["bounds"] = ordered_json::array();
    for (const checker::FrontierBound& b : polygon.bounds) {
      one["bounds"].push_back({{"factors", {b.x, b.y}},
                               {"more_than", sim::to_string(sim::Duration::nanoseconds(b.more_than))},
                               {"attained", b.attained}});
    }
    one["corners"] = ordered_json::array();
    for (const checker::FrontierCorner& corner : polygon.corners)
      one["corners"].push_back({length(corner.x), length(corner.y)});
    json["polygons"].push_back(std::move(one));
  }
  return json;
}

ordered_json json_of(const scenarios::ExploredProperty& property, const std::string& witness,
                     const checker::Names& names) {
  ordered_json json;
  json["property"] = property.name;
  json["name"] = property.name;
  json["view"] = checker::to_string(checker::property_named(property.name).view);
  json["verdict"] = checker::to_string(property.verdict);
  json["why"] = property.why;
  json["expected"] = property.expected ? ordered_json(checker::to_string(property.expected->verdict)) : ordered_json();
  json["claimed"] = property.claim != scenarios::Claim::none;
  json["judged"] = property.is_judged;
  json["as_expected"] = property.as_expected;
  // A replay showed it, and which traces break it rests on widened times.
  const bool is_counted = property.violating_traces > 0 || property.verdict != checker::Verdict::violated;
  json["violating_traces"] = is_counted ? ordered_json(property.violating_traces) : ordered_json();
  json["by"] = property.by;
  json["witness"] = witness.empty() ? ordered_json() : ordered_json(witness);
  json["unconfirmed_story"] = property.unconfirmed.empty() ? ordered_json() : ordered_json(property.unconfirmed);
  json["thresholds"] = ordered_json::array();
  for (const scenarios::Threshold& threshold : property.thresholds) {
    json["thresholds"].push_back({{"parameter", threshold.parameter},
                                  {"infimum", sim::to_string(threshold.infimum.value)},
                                  {"attained", threshold.infimum.attained},
                                  {"exact", threshold.is_exact}});
    for (const checker::ValueInterval& interval : threshold.values) {
      json["thresholds"].back()["values"].push_back({{"least", sim::to_string(interval.least.value)},
                                                     {"least_attained", interval.least.attained},
                                                     {"greatest", sim::to_string(interval.greatest.value)},
                                                     {"greatest_attained", interval.greatest.attained}});
    }
  }
  if (!property.frontier.empty()) json["frontier"] = json_of_frontier(property);
  add_waits(json, property.waits, names);
  return json;
}

ordered_json json_of(const ExploredStory& story, bool times) {
  const scenarios::Exploration& found = story.exploration;
  ordered_json json;
  json["file"] = story.scenario.file;
  json["id"] = story.scenario.id;
  json["title"] = json_of(story.scenario.title);
  json["reproduces"] = story.scenario.reproduces;
  json["algorithm"] = story.scenario.lock.algorithm;
  json["as_expected"] = found.as_expected;
  json["complete"] = found.counts.complete;
  json["bound"] = found.bound.empty() ? ordered_json() : ordered_json(found.bound);
  json["tick"] = story.tick ? ordered_json(sim::to_string(*story.tick)) : ordered_json();
  if (!story.given.empty()) json["given"] = std::map(story.given.begin(), story.given.end());
  json["traces"] = found.counts.traces;
  json["blocked"] = found.counts.blocked;
  json["infeasible"] = found.counts.infeasible;
  json["events"] = found.counts.events;
  json["seconds"] = times ? ordered_json(found.seconds) : ordered_json();
  json["unconfirmed"] = found.unconfirmed;
  json["disagreements"] = found.disagreements;
  json["expected_traces"] = found.expected_traces ? ordered_json(*found.expected_traces) : ordered_json();
  if (!found.script_mistakes.empty()) json["script_mistakes"] = found.script_mistakes;
  json["marks"] = ordered_json::array();
  for (const scenarios::Mark& mark : found.marks)
    json["marks"].push_back({{"name", mark.name}, {"traces", mark.traces}});
  json["properties"] = ordered_json::array();
  for (std::size_t i = 0; i < found.properties.size(); ++i) {
    const bool has_witness = i < story.witness_files.size();
    json["properties"].push_back(json_of(found.properties[i], has_witness ? story.witness_files[i] : std::string(),
                                         client_names(story.scenario)));
  }
  return json;
}

std::string_view name_of(scenarios::Cost cost) {
  switch (cost) {
    case scenarios::Cost::fast: return "fast";
    case scenarios::Cost::slow: return "slow";
    case scenarios::Cost::rare: return "rare";
  }
  return "fast";
}

/// As a scenario file would write it.
struct DefaultValue {
  ordered_json operator()(sim::Duration d) const { return sim::to_string(d); }
  ordered_json operator()(sim::DurationRange r) const {
    if (r.is_exact()) return sim::to_string(r.lo);
    return {sim::to_string(r.lo), sim::to_string(r.hi)};
  }
  ordered_json operator()(std::int64_t n) const { return n; }
  ordered_json operator()(bool b) const { return b; }
  ordered_json operator()(const std::string& s) const { return s; }
};

ordered_json json_of(const models::locks::ParameterSpec& parameter) {
  ordered_json json;
  json["name"] = parameter.name;
  json["kind"] = models::locks::kind_of(parameter);
  json["default"] = std::visit(DefaultValue{}, parameter.fallback);
  json["meaning"] = parameter.meaning;
  json["choices"] = ordered_json::array();
  for (const std::string_view choice : parameter.choices) json["choices"].push_back(choice);
  json["one_for_all"] = !parameter.one_for_all.empty();
  return json;
}

}  // namespace

std::string run_json(std::span<const Story> stories) {
  ordered_json json = document("run");
  json["results"] = ordered_json::array();
  for (const Story& story : stories) json["results"].push_back(json_of(story));
  json["summary"] = {{"stories", stories.size()}, {"as_expected", count_as_expected(stories)}};
  return written(json);
}

std::string check_json(std::span<const ExploredStory> stories, bool times, LeftOut left_out) {
  ordered_json json = document("check");
  json["results"] = ordered_json::array();
  for (const ExploredStory& story : stories) json["results"].push_back(json_of(story, times));
  json["summary"] = {{"stories", stories.size()},
                     {"as_expected", count_as_expected(stories)},
                     {"complete", count_complete(stories)},
                     {"left_out", left_out.for_cost},
                     {"not_explorable", left_out.not_explorable}};
  return written(json);
}

std::string scenarios_json(std::span<const scenarios::Scenario> scenarios) {
  ordered_json json = document("list");
  json["scenarios"] = ordered_json::array();
  for (const scenarios::Scenario& scenario : scenarios) {
    json["scenarios"].push_back({{"file", scenario.file},
                                 {"id", scenario.id},
                                 {"title", json_of(scenario.title)},
                                 {"reproduces", scenario.reproduces},
                                 {"algorithm", scenario.lock.algorithm},
                                 {"cost", name_of(scenario.cost)},
                                 {"source", scenario.source}});
  }
  return written(json);
}

std::string algorithms_json(std::span<const models::locks::Entry> entries) {
  ordered_json json = document("list");
  json["algorithms"] = ordered_json::array();
  for (const models::locks::Entry& entry : entries) {
    ordered_json one;
    one["id"] = entry.id;
    one["summary"] = entry.summary;
    one["documents"] = entry.documents;
    one["parameters"] = ordered_json::array();
    for (const models::locks::ParameterSpec& parameter : entry.parameters)
      one["parameters"].push_back(json_of(parameter));
    one["claims"] = entry.claims;
    one["repaired_by"] = entry.repaired_by.empty() ? ordered_json() : ordered_json(entry.repaired_by);
    one["many_nodes"] = entry.many_nodes;
    json["algorithms"].push_back(std::move(one));
  }
  return written(json);
}

std::string properties_json() {
  ordered_json json = document("list");
  json["properties"] = ordered_json::array();
  for (const checker::Property& property : checker::properties()) {
    json["properties"].push_back({{"name", property.name},
                                  {"view", checker::to_string(property.view)},
                                  {"meaning", {{"en", property.meaning}, {"zh", property.meaning_zh}}}});
  }
  return written(json);
}

std::string faults_json() {
  ordered_json json = document("list");
  json["faults"] = ordered_json::array();
  for (const sim::FaultKind kind : sim::kFaultKinds) {
    json["faults"].push_back({{"name", name_of(kind)},
                              {"tables", entry_of(kind).can_be_planned ? "fault, may" : "may"},
                              {"meaning", sim::words_of(kind).meaning.en}});
  }
  return written(json);
}

std::string failures_json(std::span<const scenarios::Scenario> scenarios, const ConfirmedFiles& confirmed) {
  ordered_json json = document("list");
  json["failures"] = ordered_json::array();
  for (const scenarios::Failure& failure : scenarios::failures()) {
    const std::vector<std::string> files = files_that_reproduce(failure.id, scenarios);
    std::vector<std::string> in_reality = files;
    std::erase_if(in_reality, [&](const std::string& file) { return !confirmed.contains(file); });
    json["failures"].push_back({{"id", failure.id},
                                {"document", failure.document},
                                {"algorithm", failure.algorithm},
                                {"meaning", {{"en", failure.meaning}, {"zh", failure.meaning_zh}}},
                                {"told", failure.told},
                                {"files", files},
                                {"confirmed", in_reality}});
  }
  return written(json);
}

}  // namespace lockstep::reports
