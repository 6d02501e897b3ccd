#include "scenarios/checking/check.hpp"
#include "scenarios/checking/parameters.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "library/asked.hpp"
#include "library/lockstep.hpp"
#include "reports/check/exploration.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep {
namespace {

void give_all(const CheckRequest& request, scenarios::Scenario& story) {
  for (const auto& [parameter, value] : request.given) {
    const std::string what = fmt::format(".given = {{\"{}\", {}}}", parameter, sim::to_string(value));
    if (!scenarios::has_parameter(story, parameter)) {
      throw Error(fmt::format("{}: no [[may]] of {} has a range of it", what, scenarios::one_line(story.file)));
    }
    if (const std::optional<std::string> trouble = scenarios::give(story, parameter, value))
      throw Error(fmt::format("{}: {}", what, *trouble));
  }
}

CheckedProperty told(const scenarios::ExploredProperty& explored) {
  CheckedProperty property{.property = std::string(explored.name),
                           .verdict = explored.verdict,
                           .why = explored.why,
                           .by = explored.by,
                           .margins = {},
                           .witness = explored.witness ? scenarios::to_toml(*explored.witness) : explored.unconfirmed,
                           .is_claimed = explored.claim != scenarios::Claim::none,
                           .as_expected = explored.as_expected};
  for (const scenarios::Threshold& threshold : explored.thresholds) {
    property.margins.push_back({threshold.parameter, threshold.infimum.value, threshold.infimum.attained,
                                threshold.is_exact, threshold.is_downward, threshold.together_with});
  }
  return property;
}

}  // namespace

CheckResult check(const CheckRequest& request) {
  scenarios::Scenario story = story_of(request.story, request.algorithm, request.catalogue);
  give_all(request, story);
  scenarios::CheckOptions options;
  options.exploration.jobs = static_cast<unsigned>(std::max<std::size_t>(request.jobs, 1));
  options.exploration.max_traces = request.max_traces;
  options.exploration.max_seconds = std::max(request.seconds, 0.0);
  options.exploration.stopwatch = seconds_now;
  auto explored = scenarios::check(story, request.catalogue, options);
  if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&explored)) throw Error(trouble->to_string());

  reports::ExploredStory report;
  report.scenario = std::move(story);
  report.exploration = std::get<scenarios::Exploration>(std::move(explored));
  for (const auto& [parameter, value] : request.given) report.given.emplace_back(parameter, sim::to_string(value));
  CheckResult result;
  result.traces = report.exploration.counts.traces;
  result.is_complete = report.exploration.counts.complete;
  result.as_expected = report.exploration.as_expected;
  for (const scenarios::ExploredProperty& property : report.exploration.properties) {
    result.properties.push_back(told(property));
    report.witness_files.push_back(result.properties.back().witness);
  }
  const std::optional<std::size_t> shown = reports::shown_witness(report);
  if (shown) {
    const scenarios::Scenario& witness = *report.exploration.properties[*shown].witness;
    auto outcome = scenarios::run(witness, request.catalogue, {.trace = true});
    if (auto* happened = std::get_if<scenarios::Outcome>(&outcome)) report.replay = {witness, std::move(*happened)};
  }
  result.report_ = reports::to_string(reports::exploration(report, {.width = 100, .times = false}), false);
  if (shown) result.report_ += "\nthe witness, for lockstep run:\n\n" + report.witness_files[*shown];
  return result;
}

const Margin* CheckedProperty::margin(std::string_view parameter) const {
  const auto found =
      std::find_if(margins.begin(), margins.end(), [&](const Margin& m) { return m.parameter == parameter; });
  return found == margins.end() ? nullptr : &*found;
}

const CheckedProperty& CheckResult::operator[](std::string_view property) const {
  must_be_property(property);
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [&](const CheckedProperty& p) { return p.property == property; });
  if (found == properties.end()) throw Error(fmt::format("property \"{}\": this result is empty", property));
  return *found;
}

std::ostream& operator<<(std::ostream& out, const Margin& margin) {
  const std::string from = sim::to_string(margin.from);
  out << (margin.is_included ? fmt::format("{} from {} {}", margin.parameter, from, margin.is_downward ? "down" : "on")
                             : fmt::format("{} {} {}", margin.parameter, margin.is_downward ? "below" : "above", from));
  if (!margin.together_with.empty()) out << " with " << fmt::format("{}", fmt::join(margin.together_with, " and "));
  return margin.is_exact ? out : out << ", or less";
}

std::ostream& operator<<(std::ostream& out, const CheckedProperty& property) {
  out << property.property << ' ' << checker::to_string(property.verdict);
  if (!property.by.empty()) out << fmt::format(" by {}", fmt::join(property.by, ", "));
  for (const Margin& margin : property.margins) out << ", " << margin;
  return property.why.empty() ? out : out << ": " << property.why;
}

std::ostream& operator<<(std::ostream& out, const CheckResult& result) { return out << result.text(); }

namespace checker {
std::ostream& operator<<(std::ostream& out, Verdict verdict) { return out << to_string(verdict); }
}  // namespace checker

namespace sim {
std::ostream& operator<<(std::ostream& out, Duration duration) { return out << to_string(duration); }
}  // namespace sim

}  // namespace lockstep
