#include <algorithm>

#include "reports/json/json.hpp"
#include "reports/linearization/linearization.hpp"

namespace lockstep::reports {
namespace {

/// A larger one is counted, and its first operations are listed.
constexpr std::size_t kConflictMax = 1000;

std::string document_text(const Json& document) { return document.dump(2) + "\n"; }

Json operation_json(const JudgedHistory& judged, const checker::Model& model, std::uint32_t position) {
  const checker::OperationHistory& history = judged.recorded.operations;
  const checker::HistoryOperation& operation = history.operations[position];
  const checker::history_formats::Lines& lines = judged.recorded.lines[position];
  Json json;
  json["process"] = checker::process_text(history, operation.process);
  json["operation"] = model.describe(history, operation);
  json["outcome"] = operation.is_unknown() ? "unknown" : operation.is_certain() ? "ok" : "fail";
  json["invoked_line"] = lines.invoked;
  json["ended_line"] = lines.ended == 0 ? Json() : Json(lines.ended);
  return json;
}

Json stretch_json(const JudgedHistory& judged, const checker::Stretch& stretch) {
  const StretchText text = stretch_text(judged, stretch);
  return {{"from_line", text.from_line == 0 ? Json() : Json(text.from_line)},
          {"to_line", text.to_line},
          {"inside", {{"function", stretch.of_acquires ? "acquire" : "release"}, {"operations", stretch.inside}}},
          {"between",
           {{"function", stretch.of_acquires ? "release" : "acquire"},
            {"operations", stretch.between},
            {"needed", stretch.needed()}}}};
}

Json history_json(const JudgedHistory& judged, const checker::Model& model) {
  const checker::OperationHistory& history = judged.recorded.operations;
  const checker::LinearizabilityResult& result = judged.result;
  Json json;
  json["file"] = judged.file;
  json["format"] = checker::history_formats::format_names()[static_cast<std::size_t>(judged.reading.format)];
  json["verdict"] = checker::to_string(result.verdict);
  json["operations"] = history.operations.size();
  json["unknown_outcomes"] =
      std::count_if(history.operations.begin(), history.operations.end(), [](const auto& o) { return o.is_unknown(); });
  json["processes"] = history.process_names.size();
  json["keys"] = std::max<std::size_t>(1, history.key_names.size());
  json["lines_skipped"] = judged.reading.lines_skipped;
  json["not_judged"] = judged.recorded.other_objects;
  json["nothing_tested"] = judged.tested_nothing;
  json["looks_independent"] = judged.recorded.looks_independent;
  const bool is_unknown = result.verdict == checker::Verdict::unknown;
  json["bound"] = !is_unknown ? Json()
                              : Json(result.bound == checker::SearchBound::memory ? "memory"
                                     : result.bound == checker::SearchBound::time ? "time"
                                                                                  : "none");
  if (result.verdict == checker::Verdict::violated) {
    const bool is_named = result.key < history.key_names.size();
    json["violated_keys"] = Json::array();
    for (const checker::ViolatedKey& violated : result.violated_keys) {
      const bool has_name = violated.key < history.key_names.size();
      json["violated_keys"].push_back({{"key", has_name ? Json(history.key_names[violated.key]) : Json()},
                                       {"has_no_place", operation_json(judged, model, violated.culprit)}});
    }
    json["key"] = is_named ? Json(history.key_names[result.key]) : Json();
    json["conflict"] = Json::array();
    for (std::size_t i = 0; i < std::min(result.conflict.size(), kConflictMax); ++i) {
      json["conflict"].push_back(operation_json(judged, model, result.conflict[i]));
    }
    json["conflict_operations"] = result.conflict.size();
    json["conflict_is_minimal"] = result.is_minimal;
    json["stretch"] = result.stretch ? stretch_json(judged, *result.stretch) : Json();
    json["has_no_place"] = result.culprit ? operation_json(judged, model, *result.culprit) : Json();
    json["longest_prefix"] = {
        {"operations", result.prefix.size()},
        {"before_line", result.culprit ? Json(judged.recorded.lines[*result.culprit].ended) : Json()}};
  }
  json["seconds"] = static_cast<double>(judged.milliseconds) / 1000.0;
  return json;
}

}  // namespace

std::string linearize_json(std::span<const JudgedHistory> histories, const checker::Model& model) {
  Json json;
  json["lockstep"] = 1;
  json["command"] = "linearize";
  json["model"] = model.name();
  json["results"] = Json::array();
  for (const JudgedHistory& judged : histories) json["results"].push_back(history_json(judged, model));
  const auto count = [&](checker::Verdict verdict) {
    return std::count_if(histories.begin(), histories.end(),
                         [&](const JudgedHistory& judged) { return judged.result.verdict == verdict; });
  };
  json["summary"] = {{"histories", histories.size()},
                     {"linearizable", count(checker::Verdict::holds)},
                     {"not_linearizable", count(checker::Verdict::violated)},
                     {"unknown", count(checker::Verdict::unknown)}};
  return document_text(json);
}

std::string models_json() {
  Json json;
  json["lockstep"] = 1;
  json["command"] = "list";
  json["specs"] = Json::array();
  for (const checker::Model* model : checker::models()) {
    Json one;
    one["name"] = model->name();
    one["meaning"] = model->summary();
    one["functions"] = Json::array();
    for (const checker::ModelFunction& function : model->functions()) one["functions"].push_back(function.name);
    one["other_names"] = Json::object();
    for (const checker::history_formats::Alias& alias : checker::history_formats::aliases(*model)) {
      if (alias.name != alias.function) one["other_names"][std::string(alias.name)] = alias.function;
    }
    json["specs"].push_back(std::move(one));
  }
  return document_text(json);
}

}  // namespace lockstep::reports
