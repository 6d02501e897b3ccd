#include "reports/site/story/margins_part.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "reports/json/json.hpp"
#include "reports/site/frame/page.hpp"
#include "reports/site/frame/property_markup.hpp"
#include "reports/site/frame/template.hpp"
#include "reports/text/text.hpp"
#include "reports/words/property_names.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/families/family_story.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::reports::site {
namespace {

using scenarios::FamilyPiece;
using scenarios::FamilyPlane;
using scenarios::FamilyRegion;
using sim::Duration;

constexpr std::size_t kFamiliesMax = 2;
constexpr std::size_t kPiecesMax = 60;
constexpr std::size_t kRegionsMax = 250;
constexpr std::uint64_t kEventsMax = 150'000;
/// A page has no room for more numbers.
constexpr std::size_t kMessagesMax = 1'500;

scenarios::FamilyOptions bounds_of_page() {
  return {.max_pieces = kPiecesMax, .max_regions = kRegionsMax, .max_events = kEventsMax, .only_margins = true};
}

bool is_message(const scenarios::FamilyEvent& event) { return event.kind == sim::EventKind::message; }
constexpr bool is_message(const scenarios::PlaneMessage&) { return true; }

std::size_t messages_of(const scenarios::Family& family) {
  std::size_t count = 0;
  for (const FamilyPiece& piece : family.pieces)
    count += static_cast<std::size_t>(
        std::count_if(piece.events.begin(), piece.events.end(), [](const auto& event) { return is_message(event); }));
  return count;
}

bool breaks_in(const std::vector<scenarios::FamilyVerdict>& verdicts, std::string_view property) {
  return std::any_of(verdicts.begin(), verdicts.end(), [&](const scenarios::FamilyVerdict& v) {
    return v.property == property && v.verdict == checker::Verdict::violated;
  });
}

std::string parameter_zh(const scenarios::FamilyParameter& parameter) {
  const std::string of = parameter.who.empty() ? "" : printable(parameter.who) + " 的";
  return of + std::string(parameter.fault ? sim::words_of(*parameter.fault).parameter.zh : "网络延迟");
}

std::string heading_of(const scenarios::Family& family) {
  const std::string name = printable(name_of(family.parameter));
  const std::string zh = parameter_zh(family.parameter);
  if (family.property.empty())
    return both(fmt::format("{}, in the run above", name), fmt::format("上面这次运行中的{}", zh));
  return both(fmt::format("{}, in a run that breaks {}", name, family.property),
              fmt::format("一次破坏 {} 的运行中的{}", property_in(Language::zh, family.property), zh));
}

Text margin_line(const scenarios::FamilyMargin& margin) {
  const std::string from = sim::to_string(margin.broken_from);
  if (!margin.kept_up_to)
    return {fmt::format("{} is broken from the very beginning, {}.", margin.property, from),
            fmt::format("{} 从一开始（{}）就被破坏。", property_in(Language::zh, margin.property), from)};
  const std::string kept = sim::to_string(*margin.kept_up_to);
  return {fmt::format("{} is kept up to {}, and broken from {} on.", margin.property, kept, from),
          fmt::format("{} 到 {} 为止成立，从 {} 起被破坏。", property_in(Language::zh, margin.property), kept, from)};
}

Values piece_values(const FamilyPiece& piece) {
  std::vector<Values> broken;
  for (const scenarios::FamilyVerdict& verdict : piece.verdicts) {
    if (verdict.verdict == checker::Verdict::violated)
      broken.push_back({{"property", property_markup(verdict.property)}});
  }
  const bool is_possible = piece.impossible.empty();
  return {{"from", sim::to_string(piece.from)},
          {"to", sim::to_string(piece.to)},
          {"impossible", piece.impossible},
          {"is_kept", is_possible && broken.empty()},
          {"is_broken", is_possible && !broken.empty()},
          {"broken", broken}};
}

Values family_values(const scenarios::Family& family, std::size_t number) {
  constexpr std::size_t kRows = 16;
  std::vector<Values> margins, pieces;
  for (const scenarios::FamilyMargin& margin : family.margins) margins.push_back({{"margin", margin_line(margin)}});
  for (std::size_t i = 0; i < std::min(family.pieces.size(), kRows); ++i)
    pieces.push_back(piece_values(family.pieces[i]));
  Text more, stopped;
  if (family.pieces.size() > kRows)
    more = {counted(family.pieces.size() - kRows, "more piece", "more pieces"),
            fmt::format("还有 {} 段", family.pieces.size() - kRows)};
  if (!family.is_complete)
    stopped = {"Not all values were looked at: " + family.stopped, "并非所有取值都已检查：" + family.stopped};
  return {{"number", number},   {"heading", heading_of(family)},
          {"margins", margins}, {"pieces", pieces},
          {"more", more},       {"stopped", stopped}};
}

/// Of a map: what colours it.
std::string_view property_of(const FamilyPlane& plane) {
  for (const FamilyRegion& region : plane.regions) {
    if (breaks_in(region.verdicts, "mutual-exclusion")) return "mutual-exclusion";
  }
  for (const FamilyRegion& region : plane.regions) {
    for (const scenarios::FamilyVerdict& verdict : region.verdicts) {
      if (verdict.verdict == checker::Verdict::violated) return verdict.property;
    }
  }
  return "";
}

/// Pixels for nanoseconds, in whole tenths, so that every build draws the same.
class MapScale {
 public:
  MapScale(sim::DurationRange range, int from, int to) : range_(range), from_(from), to_(to) {}
  std::string of(const checker::Fraction& value) const { return tenths(value.numerator(), value.denominator()); }
  std::string of(Duration value) const { return tenths(value.count_ns(), 1); }

 private:
  std::string tenths(__int128 numerator, __int128 denominator) const {
    const __int128 width = (range_.hi - range_.lo).count_ns();
    const __int128 past = numerator - denominator * range_.lo.count_ns();
    const __int128 moved = width == 0 ? 0 : past * (to_ - from_) * 10 / (denominator * width);
    const int place = from_ * 10 + static_cast<int>(moved);
    return fmt::format("{}.{}", place / 10, place % 10);
  }
  sim::DurationRange range_;
  int from_, to_;
};

/// What some execution breaks is all that lies beyond the corners, up to the end of the map.
std::string way_around(const checker::FrontierPiece& piece, const FamilyPlane& plane, const MapScale& x,
                       const MapScale& y) {
  const auto within = [](const checker::Fraction& value, const sim::DurationRange& range) {
    return std::min(std::max(value, checker::Fraction(range.lo.count_ns())), checker::Fraction(range.hi.count_ns()));
  };
  const auto &first = piece.corners.front(), &last = piece.corners.back();
  std::string way = fmt::format("M{} {}", x.of(within(first[0], plane.x.range)), y.of(plane.y.range.hi));
  for (const checker::FrontierCorner& corner : piece.corners)
    way += fmt::format("L{} {}", x.of(within(corner[0], plane.x.range)), y.of(within(corner[1], plane.y.range)));
  return way + fmt::format("L{} {}L{} {}z", x.of(plane.x.range.hi), y.of(within(last[1], plane.y.range)),
                           x.of(plane.x.range.hi), y.of(plane.y.range.hi));
}

Values plane_values(const FamilyPlane& plane, std::size_t number, const ToldFrontier& frontier) {
  constexpr int kMapLeft = 110, kMapRight = 560, kMapTop = 20, kMapBottom = 360;  // as in margins.mustache
  const std::string_view property = property_of(plane);
  const MapScale x(plane.x.range, kMapLeft, kMapRight), y(plane.y.range, kMapBottom, kMapTop);
  const std::string name_x = printable(name_of(plane.x)), name_y = printable(name_of(plane.y));
  std::vector<Values> regions, ways;
  for (const FamilyRegion& region : plane.regions) {
    std::string corners;
    for (const FamilyRegion::Corner& corner : region.corners)
      corners += fmt::format("{}{},{}", corners.empty() ? "" : " ", x.of(corner.x), y.of(corner.y));
    const bool is_possible = region.impossible.empty();
    const bool is_broken = breaks_in(region.verdicts, property);
    regions.push_back({{"look", !is_possible ? "impossible"
                                : is_broken  ? "broken"
                                             : "kept"},
                       {"corners", corners},
                       {"x", sim::to_string(region.x)},
                       {"y", sim::to_string(region.y)},
                       {"what", !is_possible ? "cannot happen / 不可能"
                                : is_broken  ? "broken / 被破坏"
                                             : "kept / 成立"}});
  }
  for (const checker::FrontierPiece& piece : frontier.pieces) {
    if (!piece.corners.empty()) ways.push_back({{"way", way_around(piece, plane, x, y)}});
  }
  const Text what_it_shows{
      fmt::format(
          "Each region is an exact set of runs in which the same happens; red ones break {}.{}", property,
          plane.is_complete ? " Together they are all of the rectangle." : " Not all were found: " + plane.stopped),
      fmt::format("每个区域精确对应发生同样事情的一组运行；红色区域破坏 {}。{}", property,
                  plane.is_complete ? "它们合起来就是整个矩形。" : "并未找到全部：" + plane.stopped)};
  return {{"number", number},
          {"heading", Text{fmt::format("{} and {} together", name_x, name_y),
                           fmt::format("{}与{}一起", parameter_zh(plane.x), parameter_zh(plane.y))}},
          {"property", property},
          {"name_x", name_x},
          {"name_y", name_y},
          {"short_name_y", clip(name_y, 14)},
          {"x_from", sim::to_string(plane.x.range.lo)},
          {"x_to", sim::to_string(plane.x.range.hi)},
          {"y_from", sim::to_string(plane.y.range.lo)},
          {"y_to", sim::to_string(plane.y.range.hi)},
          {"place_of_y_from", y.of(plane.y.range.lo)},
          {"place_of_y_to", y.of(plane.y.range.hi)},
          {"regions", regions},
          {"frontier", ways},
          {"frontier_text", frontier.text},
          {"what_it_shows", what_it_shows}};
}

void add(Json& row, const scenarios::LinearTime& time) {
  row.push_back(time.at_zero.count_ns());
  row.push_back(time.slope);
}

void add(Json& row, const scenarios::PlaneTime& time) {
  row.push_back(time.at_zero.count_ns());
  row.push_back(time.slope_x);
  row.push_back(time.slope_y);
}

/// What many pieces or regions have in common stands there once.
class RowsTold {
 public:
  void add(const Json& row) {
    const auto [known, is_new] = numbers_.emplace(row.dump(), rows_.size());
    if (is_new) rows_.push_back(row);
    present_.push_back(known->second);
  }
  /// Those added since the last call, as "0-17,19,21-30".
  std::string take() {
    std::string text;
    for (std::size_t begin = 0, end = 0; begin < present_.size(); begin = end) {
      for (end = begin + 1; end < present_.size() && present_[end] == present_[end - 1] + 1;) ++end;
      text += fmt::format("{}{}", text.empty() ? "" : ",", present_[begin]);
      if (end - begin > 1) text += fmt::format("-{}", present_[end - 1]);
    }
    present_.clear();
    return text;
  }
  const Json& rows() const { return rows_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::size_t> present_;
  Json rows_ = Json::array();
};

/// Messages, beliefs and overlaps of runs that are alike.
class RunsTold {
 public:
  explicit RunsTold(const std::vector<scenarios::Lane>& lanes) : lanes_(lanes) {}

  template <class Messages, class Holds, class Overlaps>
  void add(Json& run, const Messages& messages, const Holds& holds, const Overlaps& overlaps,
           const std::vector<scenarios::FamilyVerdict>& verdicts, const std::string& impossible) {
    for (const auto& message : messages) {
      if (!is_message(message)) continue;
      used_.insert({message.from.index, message.process.index});
      Json row = Json::array({message.from.index, message.process.index, name_number(printable(message.name)),
                              (message.is_reply ? 1 : 0) + (message.lost ? 2 : 0)});
      site::add(row, message.sent);
      site::add(row, message.at);
      messages_.add(row);
    }
    for (const auto& hold : holds) {
      Json row = Json::array({hold.process.index});
      site::add(row, hold.from);
      if (hold.to) site::add(row, *hold.to);
      holds_.add(row);
    }
    for (const auto& overlap : overlaps) {
      Json row = Json::array({overlap.first.index, overlap.second.index});
      site::add(row, overlap.from);
      if (overlap.to) site::add(row, *overlap.to);
      overlaps_.add(row);
    }
    run["m"] = messages_.take();
    if (std::string text = holds_.take(); !text.empty()) run["h"] = std::move(text);
    if (std::string text = overlaps_.take(); !text.empty()) run["o"] = std::move(text);
    std::vector<std::string> broken;
    for (const scenarios::FamilyVerdict& verdict : verdicts) {
      if (verdict.verdict == checker::Verdict::violated) broken.emplace_back(verdict.property);
    }
    if (!broken.empty()) run["broken"] = joined(broken);
    if (!impossible.empty()) run["impossible"] = impossible;
  }

  void finish(Json& json) const {
    json["lanes"] = Json::array();
    for (const std::size_t lane : used_)
      json["lanes"].push_back(
          Json::array({lane, lane < lanes_.size() ? printable(lanes_[lane].name) : fmt::format("process {}", lane)}));
    json["names"] = names_;
    json["messages"] = messages_.rows();
    json["holds"] = holds_.rows();
    json["overlaps"] = overlaps_.rows();
  }

 private:
  std::size_t name_number(const std::string& name) {
    const auto known = std::find(names_.begin(), names_.end(), name);
    if (known != names_.end()) return static_cast<std::size_t>(known - names_.begin());
    names_.push_back(name);
    return names_.size() - 1;
  }

  const std::vector<scenarios::Lane>& lanes_;
  std::set<std::size_t> used_;
  std::vector<std::string> names_;
  RowsTold messages_, holds_, overlaps_;
};

Json parameter_json(const scenarios::FamilyParameter& parameter) {
  return {{"name", printable(name_of(parameter))}, {"nameZh", parameter_zh(parameter)}};
}

Json json_of(const scenarios::Family& family, const std::vector<scenarios::Lane>& lanes) {
  Json json = parameter_json(family.parameter);
  RunsTold runs(lanes);
  for (const scenarios::FamilyMargin& margin : family.margins)
    json["margins"].push_back(Json::array({margin.property, margin.broken_from.count_ns()}));
  for (const FamilyPiece& piece : family.pieces) {
    Json run = {{"from", piece.from.count_ns()}, {"to", piece.to.count_ns()}};
    runs.add(run, piece.events, piece.holds, piece.overlaps, piece.verdicts, piece.impossible);
    json["pieces"].push_back(std::move(run));
  }
  runs.finish(json);
  return json;
}

/// For drawing alone: which region a point is in.
double nearest_double(const checker::Fraction& value) {
  return static_cast<double>(value.numerator()) / static_cast<double>(value.denominator());
}

Json json_of(const FamilyPlane& plane, const std::vector<scenarios::Lane>& lanes, const ToldFrontier& frontier) {
  Json json;
  if (!frontier.text.empty()) {
    json["property"] = property_of(plane);
    json["command"] = Json::array({printable(frontier.file), kind_of(plane.x), kind_of(plane.y)});
    for (const checker::FrontierPiece& piece : frontier.pieces) {
      Json bounds = Json::array();
      for (const checker::FrontierBound& bound : piece.bounds)
        bounds.push_back(Json::array({bound.factors[0], bound.factors[1], bound.more_than, bound.attained ? 1 : 0}));
      json["frontier"].push_back(std::move(bounds));
    }
  }
  for (const auto& [key, parameter] : {std::pair("x", &plane.x), std::pair("y", &plane.y)}) {
    json[key] = parameter_json(*parameter);
    json[key]["from"] = parameter->range.lo.count_ns();
    json[key]["to"] = parameter->range.hi.count_ns();
  }
  RunsTold runs(lanes);
  for (const FamilyRegion& region : plane.regions) {
    Json run = {{"at", Json::array({region.x.count_ns(), region.y.count_ns()})}};
    for (const FamilyRegion::Corner& corner : region.corners) {
      for (const checker::Fraction* value : {&corner.x, &corner.y}) {
        if (value->denominator() == 1)
          run["corners"].push_back(static_cast<std::int64_t>(value->numerator()));
        else
          run["corners"].push_back(nearest_double(*value));
      }
    }
    runs.add(run, region.messages, region.holds, region.overlaps, region.verdicts, region.impossible);
    json["regions"].push_back(std::move(run));
  }
  runs.finish(json);
  return json;
}

/// Of two ranges together, as `check` found it.
const scenarios::ExploredProperty* with_frontier(const scenarios::Exploration* explored, std::string_view property) {
  if (explored == nullptr || property.empty()) return nullptr;
  const scenarios::ExploredProperty& found = explored->property(property);
  const bool is_of_two = found.thresholds.size() == 2 && found.region.is_plane() && !found.frontier.empty();
  return is_of_two ? &found : nullptr;
}

/// The same with the plane's axes; nothing: they are others.
std::optional<ToldFrontier> frontier_of(const scenarios::ExploredProperty& property, const FamilyPlane& plane,
                                        const std::string& file) {
  const std::span<const checker::FrontierPiece> pieces = property.region.pieces();
  ToldFrontier told{property.frontier, {pieces.begin(), pieces.end()}, file};
  const std::string_view x = kind_of(plane.x), y = kind_of(plane.y);
  if (property.thresholds[0].parameter == x && property.thresholds[1].parameter == y) return told;
  if (property.thresholds[0].parameter != y || property.thresholds[1].parameter != x) return std::nullopt;
  for (checker::FrontierPiece& piece : told.pieces) {
    for (checker::FrontierBound& bound : piece.bounds) std::swap(bound.factors[0], bound.factors[1]);
    for (checker::FrontierCorner& corner : piece.corners) std::swap(corner[0], corner[1]);
    std::reverse(piece.corners.begin(), piece.corners.end());
  }
  return told;
}

/// Most ranges go far beyond what is of interest: what a map shows is twice the margin.
/// `is_wide`: twice as much again, since the margin of one depends on the other.
scenarios::FamilyParameter around_margin(const scenarios::Family& family, bool is_wide) {
  Duration farthest;
  for (const scenarios::FamilyMargin& margin : family.margins)
    farthest = std::max(farthest, std::max(margin.broken_from, -margin.broken_from));
  scenarios::FamilyParameter parameter = family.parameter;
  const Duration most = Duration::milliseconds(farthest.floor_ms() * (is_wide ? 4 : 2) + 2);
  parameter.range = {std::max(parameter.range.lo, -most), std::min(parameter.range.hi, most)};
  return parameter;
}

}  // namespace

ToldMargins margins_to_tell(const scenarios::Scenario& scenario, const models::locks::Catalogue& catalogue,
                            const scenarios::Exploration* explored) {
  ToldMargins told;
  for (const scenarios::FamilyStory& story : scenarios::family_stories(scenario, catalogue, explored)) {
    // A map of the run that shows the frontier of all executions tells more than one of the file's own run.
    const scenarios::ExploredProperty* frontier =
        told.frontier.text.empty() ? with_frontier(explored, story.property) : nullptr;
    if (told.families.size() >= kFamiliesMax && !told.planes.empty() && frontier == nullptr) continue;
    std::vector<scenarios::FamilyParameter> decisive;
    for (const scenarios::FamilyParameter& parameter : scenarios::family_parameters(story.scenario, catalogue)) {
      if (told.families.size() >= kFamiliesMax && decisive.size() >= 2) break;
      scenarios::Family family = scenarios::family_of(story, catalogue, parameter, bounds_of_page());
      const bool is_margin = std::any_of(family.margins.begin(), family.margins.end(),
                                         [](const scenarios::FamilyMargin& m) { return m.kept_up_to.has_value(); });
      if (!is_margin) continue;
      decisive.push_back(around_margin(family, frontier != nullptr));
      if (told.families.size() < kFamiliesMax && messages_of(family) <= kMessagesMax)
        told.families.push_back(std::move(family));
    }
    if (decisive.size() < 2 || (!told.planes.empty() && frontier == nullptr)) continue;
    FamilyPlane plane = scenarios::plane_of(story, catalogue, decisive[0], decisive[1], bounds_of_page());
    if (property_of(plane).empty()) continue;
    const auto found = frontier != nullptr ? frontier_of(*frontier, plane, scenario.file) : std::nullopt;
    if (!told.planes.empty() && !found) continue;
    if (found) told.frontier = *found;
    told.planes.clear();
    told.planes.push_back(std::move(plane));
  }
  if (told.families.empty() && told.planes.empty()) return told;
  sim::DefaultDecisions decisions;
  told.lanes = scenarios::Deployment(scenario, catalogue, decisions).lanes();
  return told;
}

std::string margins_part(const ToldMargins& margins) {
  if (margins.families.empty() && margins.planes.empty()) return "";
  std::vector<Values> families, planes;
  for (const scenarios::Family& family : margins.families) families.push_back(family_values(family, families.size()));
  for (const FamilyPlane& plane : margins.planes)
    planes.push_back(plane_values(plane, planes.size(), margins.frontier));
  return filled("reports/site/story/margins.mustache", {{"families", families}, {"planes", planes}});
}

Json data_for_sliders(const ToldMargins& margins) {
  Json data;
  for (const scenarios::Family& family : margins.families) data["families"].push_back(json_of(family, margins.lanes));
  for (const FamilyPlane& plane : margins.planes)
    data["planes"].push_back(json_of(plane, margins.lanes, margins.frontier));
  return data;
}

}  // namespace lockstep::reports::site
