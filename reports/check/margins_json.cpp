#include "reports/check/margins_json.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <tuple>

#include "reports/json/json.hpp"
#include "scenarios/format/writer.hpp"

namespace lockstep::reports {
namespace {

using scenarios::Family;
using scenarios::FamilyEvent;
using scenarios::FamilyPiece;
using scenarios::FamilyPlane;
using scenarios::LinearTime;

Json form_json(const LinearTime& time) { return Json::array({time.at_zero.count_ns(), time.slope}); }
Json form_json(const std::optional<LinearTime>& time) { return time ? form_json(*time) : Json(); }

std::string_view name_of_kind(sim::EventKind kind) {
  switch (kind) {
    case sim::EventKind::start: return "start";
    case sim::EventKind::message: return "message";
    case sim::EventKind::timer: return "timer";
    case sim::EventKind::fault: return "fault";
  }
  return "?";
}

std::string_view name_of_role(scenarios::Lane::Role role) {
  using Role = scenarios::Lane::Role;
  switch (role) {
    case Role::client: return "client";
    case Role::server: return "server";
    case Role::sentinel: return "sentinel";
    case Role::resource: return "resource";
    case Role::probe: return "probe";
  }
  return "?";
}

Json process_json(sim::ProcessId process) { return process.is_valid() ? Json(process.index) : Json(); }

Json parameter_json(const scenarios::FamilyParameter& parameter) {
  return {{"kind", kind_of(parameter)},
          {"who", parameter.who},
          {"name", scenarios::name_of(parameter)},
          {"value_ns", parameter.value.count_ns()},
          {"least_ns", parameter.range.lo.count_ns()},
          {"greatest_ns", parameter.range.hi.count_ns()}};
}

Json verdicts_json(const std::vector<scenarios::FamilyVerdict>& verdicts) {
  Json json = Json::object();
  for (const scenarios::FamilyVerdict& verdict : verdicts) json[verdict.property] = checker::to_string(verdict.verdict);
  return json;
}

/// Events of all pieces, each told once.
class EventTable {
 public:
  std::size_t number(const FamilyEvent& event) {
    const auto key = std::tuple(event.id, event.kind, event.name, event.text, event.lost);
    const auto [known, is_new] = numbers_.try_emplace(key, json_.size());
    if (is_new) {
      json_.push_back({{"id", fmt::format("{:016x}", event.id.value)},
                       {"kind", name_of_kind(event.kind)},
                       {"process", process_json(event.process)},
                       {"from", process_json(event.from)},
                       {"name", event.name},
                       {"text", event.text},
                       {"is_reply", event.is_reply},
                       {"lost", event.lost}});
    }
    return known->second;
  }
  Json take() { return std::move(json_); }

 private:
  std::map<std::tuple<sim::EventId, sim::EventKind, std::string, std::string, bool>, std::size_t> numbers_;
  Json json_ = Json::array();
};

Json piece_json(const FamilyPiece& piece, EventTable& table) {
  Json json;
  json["from_ns"] = piece.from.count_ns();
  json["to_ns"] = piece.to.count_ns();
  json["confirmed"] = piece.is_confirmed;
  json["impossible"] = Json::if_any(piece.impossible);
  json["verdicts"] = verdicts_json(piece.verdicts);
  for (const char* list : {"events", "overlaps", "holds"}) json[list] = Json::array();
  for (const scenarios::FamilyHold& hold : piece.holds) {
    json["holds"].push_back({{"process", hold.process.index},
                             {"object", hold.object},
                             {"from", form_json(hold.from)},
                             {"to", form_json(hold.to)}});
  }
  for (const scenarios::FamilyOverlap& overlap : piece.overlaps) {
    json["overlaps"].push_back({{"first", overlap.first.index},
                                {"second", overlap.second.index},
                                {"from", form_json(overlap.from)},
                                {"to", form_json(overlap.to)}});
  }
  for (const FamilyEvent& event : piece.events) {
    json["events"].push_back(Json::array({table.number(event), event.sent.at_zero.count_ns(), event.sent.slope,
                                          event.at.at_zero.count_ns(), event.at.slope}));
  }
  return json;
}

Json family_json(const Family& family) {
  Json json;
  json["witness_of"] = Json::if_any(family.property);
  json["parameter"] = parameter_json(family.parameter);
  json["complete"] = family.is_complete;
  json["stopped"] = family.is_complete ? Json() : Json(family.stopped);
  json["margins"] = Json::array();
  for (const scenarios::FamilyMargin& margin : family.margins) {
    json["margins"].push_back({{"property", margin.property},
                               {"upward", margin.is_upward},
                               {"broken_from_ns", margin.broken_from.count_ns()},
                               {"kept_up_to_ns", margin.kept_up_to ? Json(margin.kept_up_to->count_ns()) : Json()}});
  }
  EventTable table;
  Json pieces = Json::array();
  for (const FamilyPiece& piece : family.pieces) pieces.push_back(piece_json(piece, table));
  json["events"] = table.take();
  json["pieces"] = std::move(pieces);
  return json;
}

/// A whole number, or a fraction as a text: "1000000/3".
Json fraction_json(const checker::Fraction& fraction) {
  if (fraction.is_whole()) return static_cast<std::int64_t>(fraction.numerator());
  return fmt::format("{}/{}", static_cast<std::int64_t>(fraction.numerator()),
                     static_cast<std::int64_t>(fraction.denominator()));
}

Json plane_json(const FamilyPlane& plane) {
  Json json;
  json["witness_of"] = Json::if_any(plane.property);
  json["x"] = parameter_json(plane.x);
  json["y"] = parameter_json(plane.y);
  json["complete"] = plane.is_complete;
  json["stopped"] = plane.is_complete ? Json() : Json(plane.stopped);
  json["regions"] = Json::array();
  for (const scenarios::FamilyRegion& region : plane.regions) {
    Json one;
    one["corners_ns"] = Json::array();
    for (const auto& corner : region.corners)
      one["corners_ns"].push_back(Json::array({fraction_json(corner.x), fraction_json(corner.y)}));
    one["x_ns"] = region.x.count_ns();
    one["y_ns"] = region.y.count_ns();
    one["order"] = fmt::format("{:016x}", region.digest);
    one["confirmed"] = region.is_confirmed;
    one["impossible"] = Json::if_any(region.impossible);
    one["verdicts"] = verdicts_json(region.verdicts);
    json["regions"].push_back(std::move(one));
  }
  return json;
}

std::string_view name_of_answer(scenarios::NoReturn::Answer answer) {
  using Answer = scenarios::NoReturn::Answer;
  switch (answer) {
    case Answer::beginning: return "beginning";
    case Answer::at_event: return "event";
    case Answer::at_end: return "end";
    case Answer::unknown: return "unknown";
  }
  return "?";
}

Json point_json(const scenarios::NoReturn& point, const std::filesystem::path& folder) {
  const bool has_step =
      point.answer == scenarios::NoReturn::Answer::at_event || point.answer == scenarios::NoReturn::Answer::at_end;
  Json json;
  json["property"] = point.property;
  json["answer"] = name_of_answer(point.answer);
  json["step"] = has_step ? Json(point.step) : Json();
  json["at_ns"] = has_step ? Json(point.events[point.step].at.count_ns()) : Json();
  json["violated_at_ns"] = point.violated_at.count_ns();
  json["exact"] = point.is_exact;
  json["why"] = Json::if_any(point.why);
  json["traces"] = point.traces;
  json["events"] = Json::array();
  for (const scenarios::NoReturnEvent& event : point.events) {
    json["events"].push_back({{"id", fmt::format("{:016x}", event.id.value)},
                              {"kind", name_of_kind(event.kind)},
                              {"process", process_json(event.process)},
                              {"name", event.name},
                              {"is_reply", event.is_reply},
                              {"at_ns", event.at.count_ns()}});
  }
  json["witness"] = scenarios::to_toml(point.witness, folder);
  return json;
}

}  // namespace

std::string margins_json(const scenarios::Scenario& scenario, const scenarios::Exploration& exploration,
                         const scenarios::StoryFamilies& families, std::span<const scenarios::NoReturn> points) {
  Json json;
  json["lockstep"] = 1;
  json["command"] = "check";
  json["document"] = "margins";
  json["file"] = scenario.file;
  json["id"] = scenario.id;
  json["lanes"] = Json::array();
  for (const scenarios::Lane& lane : families.lanes)
    json["lanes"].push_back({{"name", lane.name}, {"role", name_of_role(lane.role)}});
  json["check"] = Json::array();
  for (const scenarios::ExploredProperty& property : exploration.properties) {
    for (const scenarios::Threshold& threshold : property.thresholds) {
      json["check"].push_back({{"property", property.name},
                               {"parameter", threshold.parameter},
                               {"infimum_ns", threshold.infimum.value.count_ns()},
                               {"attained", threshold.infimum.attained},
                               {"exact", threshold.is_exact}});
    }
  }
  json["families"] = Json::array();
  for (const Family& family : families.families) json["families"].push_back(family_json(family));
  json["planes"] = Json::array();
  for (const FamilyPlane& plane : families.planes) json["planes"].push_back(plane_json(plane));
  json["no_return"] = Json::array();
  const std::filesystem::path folder = std::filesystem::path(scenario.file).parent_path();
  for (const scenarios::NoReturn& point : points) json["no_return"].push_back(point_json(point, folder));
  return json.dump() + "\n";
}

}  // namespace lockstep::reports
