#include "reports/run/json.hpp"

#include <fmt/format.h>

#include <map>

#include "checker/properties/properties.hpp"
#include "reports/json/json.hpp"
#include "reports/listing/listing.hpp"
#include "reports/run/summary.hpp"
#include "scenarios/story/failures.hpp"
#include "sim/worlds/fault_kinds.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::reports {
namespace {

std::string written(const Json& document) { return document.dump(2) + "\n"; }

Json document(std::string_view command) {
  Json json;
  json["lockstep"] = 1;
  json["command"] = command;
  return json;
}

Json json_of(const scenarios::Text& text) { return {{"en", text.en}, {"zh", in(Language::zh, text)}}; }

checker::Names names_of(const scenarios::Outcome& outcome) {
  checker::Names names;
  for (const scenarios::Lane& lane : outcome.lanes) names.push_back(lane.name);
  return names;
}

/// What a verdict that something holds is about.
Json scope_of(checker::Verdict verdict, std::string_view scope) {
  return verdict == checker::Verdict::holds ? Json(scope) : Json();
}

/// Who waits for whom, and what for; only where there is a deadlock.
void add_waits(Json& json, std::span<const checker::WaitFor> waits, const checker::Names& names) {
  if (waits.empty()) return;
  json["waits"] = Json::array();
  for (const checker::WaitFor& wait : waits) {
    json["waits"].push_back(
        {{"waiter", names[wait.waiter.index]}, {"holder", names[wait.holder.index]}, {"lock", wait.object}});
  }
}

Json json_of(const scenarios::Outcome& outcome, const scenarios::Judgement& judgement) {
  const checker::Finding& finding = judgement.finding;
  Json json;
  json["name"] = finding.property;
  json["property"] = finding.property;
  json["view"] = checker::to_string(finding.view);
  json["expected"] = judgement.expected ? Json(checker::to_string(judgement.expected->verdict)) : Json();
  json["verdict"] = checker::to_string(finding.verdict);
  json["scope"] = scope_of(finding.verdict, "this run");
  json["claimed"] = judgement.claim != scenarios::Claim::none;
  json["as_expected"] = judgement.as_expected;
  json["by"] = blamed(outcome, finding);
  json["at"] = finding.at ? Json(sim::to_string(finding.at->offset())) : Json();
  json["why"] = finding.why;
  json["evidence"] = finding.evidence;
  add_waits(json, finding.waits, names_of(outcome));
  return json;
}

Json json_of(const Story& story) {
  Json json;
  json["file"] = story.scenario.file;
  json["id"] = story.scenario.id;
  json["title"] = json_of(story.scenario.title);
  json["reproduces"] = story.scenario.reproduces;
  json["algorithm"] = story.scenario.lock.algorithm;
  json["as_expected"] = story.outcome.as_expected;
  json["digest"] = digest_text(story.outcome.digest);
  json["events"] = story.outcome.events;
  json["properties"] = Json::array();
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    json["properties"].push_back(json_of(story.outcome, judgement));
  }
  json["notes"] = story.outcome.notes;
  if (!story.outcome.script_mistakes.empty()) json["script_mistakes"] = story.outcome.script_mistakes;
  if (!story.outcome.mistake.empty()) json["mistake"] = story.outcome.mistake;
  return json;
}

/// Pieces, any of which breaks it, each with its bounds (all of them together) and corners. Of two ranges from 0 on
/// also as polygons, the parameters in the order of `thresholds`.
Json json_of_frontier(const scenarios::ExploredProperty& property) {
  const std::span<const checker::FrontierAxis> axes = property.region.axes();
  Json json;
  json["text"] = property.frontier;
  json["exact"] = property.is_region_exact;
  json["pieces"] = Json::array();
  for (const checker::FrontierPiece& piece : property.region.pieces()) {
    Json one;
    one["bounds"] = Json::array();
    for (const checker::FrontierBound& b : piece.bounds) {
      Json bound = {{"coefficients", Json::object()}, {"more_than_ns", b.more_than}, {"attained", b.attained}};
      for (std::size_t i = 0; i < axes.size(); ++i) {
        if (b.factors[i] != 0) bound["coefficients"][axes[i].name] = b.factors[i];
      }
      one["bounds"].push_back(std::move(bound));
    }
    one["corners"] = Json::array();
    for (const checker::FrontierCorner& corner : piece.corners) {
      Json values = Json::object();
      for (std::size_t i = 0; i < axes.size(); ++i) values[axes[i].name] = checker::to_string(corner[i]);
      one["corners"].push_back(std::move(values));
    }
    json["pieces"].push_back(std::move(one));
  }
  if (!property.region.is_plane()) return json;
  json["polygons"] = Json::array();
  for (const checker::FrontierPiece& piece : property.region.pieces()) {
    Json one;
    one["bounds"] = Json::array();
    for (const checker::FrontierBound& b : piece.bounds) {
      one["bounds"].push_back({{"factors", b.factors},
                               {"more_than", sim::to_string(sim::Duration::nanoseconds(b.more_than))},
                               {"attained", b.attained}});
    }
    one["corners"] = Json::array();
    for (const checker::FrontierCorner& corner : piece.corners)
      one["corners"].push_back(Json::array({checker::to_string(corner[0]), checker::to_string(corner[1])}));
    json["polygons"].push_back(std::move(one));
  }
  return json;
}

Json json_of(const scenarios::ExploredProperty& property, const std::string& witness, std::string_view scope,
             const checker::Names& names) {
  Json json;
  json["property"] = property.name;
  json["name"] = property.name;
  json["view"] = checker::to_string(checker::property_named(property.name).view);
  json["verdict"] = checker::to_string(property.verdict);
  json["scope"] = scope_of(property.verdict, scope);
  json["why"] = property.why;
  json["expected"] = property.expected ? Json(checker::to_string(property.expected->verdict)) : Json();
  json["claimed"] = property.claim != scenarios::Claim::none;
  json["judged"] = property.verdict != checker::Verdict::not_judged;
  json["as_expected"] = property.as_expected;
  // A replay showed it, and which traces break it rests on widened times.
  const bool is_counted = property.violating_traces > 0 || property.verdict != checker::Verdict::violated;
  json["violating_traces"] = is_counted ? Json(property.violating_traces) : Json();
  json["by"] = property.by;
  json["witness"] = Json::if_any(witness);
  if (const auto& worst = property.worst)
    json["worst"] = {
        {"longest", worst->longest == sim::Duration::forever() ? "forever" : sim::to_string(worst->longest)},
        {"exact", worst->is_exact}};
  json["unconfirmed_story"] = Json::if_any(property.unconfirmed);
  json["thresholds"] = Json::array();
  for (const scenarios::Threshold& threshold : property.thresholds) {
    json["thresholds"].push_back({{"parameter", threshold.parameter},
                                  {"infimum", sim::to_string(threshold.infimum.value)},
                                  {"attained", threshold.infimum.attained},
                                  {"exact", threshold.is_exact}});
    if (threshold.is_downward) json["thresholds"].back()["downward"] = true;
    if (const auto& least = threshold.least_possible)
      json["thresholds"].back()["least_possible"] = {{"infimum", sim::to_string(least->value)},
                                                     {"attained", least->attained}};
    if (!threshold.together_with.empty()) {
      Json& one = json["thresholds"].back();
      one["together_with"] = threshold.together_with;
      one["alone"] = Json();
      if (threshold.alone)
        one["alone"] = {{"infimum", sim::to_string(threshold.alone->value)}, {"attained", threshold.alone->attained}};
    }
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

/// Lengths as texts; coefficients, and the constant in nanoseconds, as numbers: where it is safe, the sum of all is not
/// below 0 (`strict`: is above 0).
Json json_of(const scenarios::Formula& formula) {
  Json json;
  json["text"] = to_string(formula);
  json["constant_ns"] = formula.constant;
  json["strict"] = formula.is_strict;
  json["corners"] = formula.corners;
  json["without"] = formula.without;
  json["terms"] = Json::array();
  for (const scenarios::FormulaTerm& term : formula.terms) {
    json["terms"].push_back({{"length", term.length},
                             {"coefficient", term.coefficient},
                             {"value", sim::to_string(term.value)},
                             {"from", sim::to_string(term.box.lo)},
                             {"to", sim::to_string(term.box.hi)}});
  }
  return json;
}

void add_formulas(Json& json, const scenarios::Formulas& formulas) {
  for (const scenarios::Formula& formula : formulas.all) json["formulas"].push_back(json_of(formula));
  for (const scenarios::FormulaBorder& border : formulas.borders) {
    json["borders"].push_back({{"length", border.length},
                               {"value", sim::to_string(border.at.value)},
                               {"attained", border.at.attained},
                               {"work", sim::to_string(border.work)}});
  }
}

Json json_of(const ExploredStory& story, bool times) {
  const scenarios::Exploration& found = story.exploration;
  Json json;
  json["file"] = story.scenario.file;
  json["id"] = story.scenario.id;
  json["title"] = json_of(story.scenario.title);
  json["reproduces"] = story.scenario.reproduces;
  json["algorithm"] = story.scenario.lock.algorithm;
  json["as_expected"] = found.as_expected;
  json["complete"] = found.counts.complete;
  json["bound"] = Json::if_any(found.bound);
  json["tick"] = story.tick ? Json(sim::to_string(*story.tick)) : Json();
  for (const auto& [name, value] : std::map(story.given.begin(), story.given.end())) json["given"][name] = value;
  json["traces"] = found.counts.traces;
  json["blocked"] = found.counts.blocked;
  json["infeasible"] = found.counts.infeasible;
  json["events"] = found.counts.events;
  json["seconds"] = times ? Json(found.seconds) : Json();
  json["unconfirmed"] = found.unconfirmed;
  json["disagreements"] = found.disagreements;
  if (!found.counts.complete) json["random_runs"] = found.random_runs;
  add_formulas(json, story.formulas);
  json["expected_traces"] = found.expected_traces;
  if (!found.script_mistakes.empty()) json["script_mistakes"] = found.script_mistakes;
  if (!found.mistake.empty()) json["mistake"] = found.mistake;
  if (const auto left_out = left_out_in_words(story.scenario, Language::en); !left_out.empty())
    json["left_out"] = left_out;
  if (const auto idle = idle_in_words(story, Language::en); !idle.empty()) json["no_effect"] = idle;
  json["marks"] = Json::array();
  for (const scenarios::Mark& mark : found.marks)
    json["marks"].push_back({{"name", mark.name}, {"traces", mark.traces}});
  json["properties"] = Json::array();
  for (std::size_t i = 0; i < found.properties.size(); ++i) {
    const bool has_witness = i < story.witness_files.size();
    json["properties"].push_back(json_of(found.properties[i], has_witness ? story.witness_files[i] : std::string(),
                                         story.tick ? "this grid" : "all executions", client_names(story.scenario)));
  }
  return json;
}

std::string_view cost_name(scenarios::Cost cost) {
  switch (cost) {
    case scenarios::Cost::fast: return "fast";
    case scenarios::Cost::slow: return "slow";
    case scenarios::Cost::rare: return "rare";
  }
  return "fast";
}

/// As a scenario file would write it.
struct DefaultValue {
  Json operator()(sim::Duration d) const { return sim::to_string(d); }
  Json operator()(sim::DurationRange r) const {
    if (r.is_exact()) return sim::to_string(r.lo);
    return Json::array({sim::to_string(r.lo), sim::to_string(r.hi)});
  }
  Json operator()(std::int64_t n) const { return n; }
  Json operator()(bool b) const { return b; }
  Json operator()(const std::string& s) const { return s; }
};

Json json_of(const models::locks::ParameterSpec& parameter) {
  Json json;
  json["name"] = parameter.name;
  json["kind"] = models::locks::kind_of(parameter);
  json["default"] = std::visit(DefaultValue{}, parameter.fallback);
  json["meaning"] = parameter.meaning;
  json["choices"] = Json::array();
  for (const std::string_view choice : parameter.choices) json["choices"].push_back(choice);
  json["one_for_all"] = !parameter.one_for_all.empty();
  return json;
}

}  // namespace

std::string run_json(std::span<const Story> stories) {
  Json json = document("run");
  json["results"] = Json::array();
  for (const Story& story : stories) json["results"].push_back(json_of(story));
  json["summary"] = {{"stories", stories.size()}, {"as_expected", count_as_expected(stories)}};
  return written(json);
}

std::string check_json(std::span<const ExploredStory> stories, bool times, LeftOut left_out) {
  Json json = document("check");
  json["results"] = Json::array();
  for (const ExploredStory& story : stories) json["results"].push_back(json_of(story, times));
  json["summary"] = {{"stories", stories.size()},
                     {"as_expected", count_as_expected(stories)},
                     {"complete", count_complete(stories)},
                     {"left_out", left_out.for_cost},
                     {"not_explorable", left_out.not_explorable}};
  return written(json);
}

std::string scenarios_json(std::span<const scenarios::Scenario> scenarios) {
  Json json = document("list");
  json["scenarios"] = Json::array();
  for (const scenarios::Scenario& scenario : scenarios) {
    json["scenarios"].push_back({{"file", scenario.file},
                                 {"id", scenario.id},
                                 {"title", json_of(scenario.title)},
                                 {"reproduces", scenario.reproduces},
                                 {"algorithm", scenario.lock.algorithm},
                                 {"cost", cost_name(scenario.cost)},
                                 {"source", scenario.source}});
  }
  return written(json);
}

std::string algorithms_json(std::span<const models::locks::Entry> entries) {
  Json json = document("list");
  json["algorithms"] = Json::array();
  for (const models::locks::Entry& entry : entries) {
    Json one;
    one["id"] = entry.id;
    one["summary"] = entry.summary;
    one["documents"] = entry.documents;
    one["parameters"] = Json::array();
    for (const models::locks::ParameterSpec& parameter : entry.parameters)
      one["parameters"].push_back(json_of(parameter));
    one["claims"] = entry.claims;
    one["claims_nothing_itself"] = entry.claims_nothing_itself;
    one["repaired_by"] = Json::if_any(entry.repaired_by);
    one["many_nodes"] = entry.many_nodes;
    json["algorithms"].push_back(std::move(one));
  }
  return written(json);
}

std::string properties_json() {
  Json json = document("list");
  json["properties"] = Json::array();
  for (const checker::Property& property : checker::properties()) {
    json["properties"].push_back({{"name", property.name},
                                  {"view", checker::to_string(property.view)},
                                  {"meaning", {{"en", property.meaning}, {"zh", property.meaning_zh}}}});
  }
  return written(json);
}

std::string faults_json() {
  Json json = document("list");
  json["faults"] = Json::array();
  for (const sim::FaultKind kind : sim::kFaultKinds) {
    json["faults"].push_back({{"name", name_of(kind)},
                              {"tables", entry_of(kind).can_be_planned ? "fault, may" : "may"},
                              {"meaning", sim::words_of(kind).meaning.en}});
  }
  return written(json);
}

std::string failures_json(std::span<const scenarios::Scenario> scenarios, const ConfirmedFiles& confirmed) {
  Json json = document("list");
  json["failures"] = Json::array();
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
