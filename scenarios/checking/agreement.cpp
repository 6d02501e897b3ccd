#include "scenarios/checking/agreement.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/running/expectation.hpp"
#include "scenarios/story/alike.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Verdict;

std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + separator.size());
  }
  return parts;
}

std::string in_order(std::vector<std::string> parts, std::string_view separator) {
  std::sort(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, separator));
}

/// "b - 2 a > 5ms" and "2 a - b < -5ms" are the same: each parameter with its factor, in one order.
std::string bound_in_one_order(std::string_view text) {
  const std::size_t sign = text.find_first_of("<>");
  if (sign == std::string_view::npos) return std::string(text);
  const bool is_turned = text[sign] == '<';
  const bool is_attained = text.substr(sign + 1).starts_with('=');
  std::vector<std::string> terms;
  std::string factor = "1";
  bool is_minus = is_turned;
  for (const std::string& part : parts_of(text.substr(0, sign), " ")) {
    if (part.empty()) continue;
    if (part == "+" || part == "-") {
      is_minus = (part == "-") != is_turned;
    } else if (part.find_first_not_of("0123456789") == std::string::npos) {
      factor = part;
    } else {
      terms.push_back(fmt::format("{}{} {}", is_minus ? "-" : "", factor, part));
      factor = "1";
    }
  }
  std::string_view rest = text.substr(sign + (is_attained ? 2 : 1));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::optional<sim::Duration> value = sim::parse_duration(rest);
  return fmt::format("{} >{} {}", in_order(std::move(terms), " + "), is_attained ? "=" : "",
                     value ? sim::to_string(is_turned ? -*value : *value) : rest);
}

/// Which parameter comes first in a frontier is a matter of the order of the file's tables, and means nothing.
bool are_same_frontier(std::string_view a, std::string_view b) {
  const auto in_one_order = [](std::string_view text) {
    std::vector<std::string> pieces = parts_of(text, " or ");
    for (std::string& piece : pieces) {
      std::vector<std::string> bounds = parts_of(piece, " and ");
      for (std::string& bound : bounds) bound = bound_in_one_order(bound);
      piece = in_order(std::move(bounds), " and ");
    }
    return in_order(std::move(pieces), " or ");
  };
  return in_one_order(a) == in_one_order(b);
}

/// The least value found, against the least value expected. A bound may have hidden a smaller one, never a larger one.
Agreement threshold_agreement(const ExploredProperty& property, const std::string& parameter,
                              const std::string& expected, bool complete) {
  const std::optional<sim::Duration> value = sim::parse_duration(expected);
  const auto found = std::find_if(property.thresholds.begin(), property.thresholds.end(),
                                  [&](const Threshold& t) { return t.parameter == parameter; });
  if (found == property.thresholds.end()) return complete ? Agreement::differs : Agreement::open;
  if (found->infimum.value == value) return Agreement::agrees;
  return complete || found->infimum.value < value ? Agreement::differs : Agreement::open;
}

/// Likewise the largest of those that do harm where they are small.
Agreement greatest_agreement(const ExploredProperty& property, const std::string& parameter,
                             const std::string& expected, bool complete) {
  const std::optional<sim::Duration> value = sim::parse_duration(expected);
  const auto found = std::find_if(property.thresholds.begin(), property.thresholds.end(),
                                  [&](const Threshold& t) { return t.parameter == parameter && !t.values.empty(); });
  if (found == property.thresholds.end()) return complete ? Agreement::differs : Agreement::open;
  if (found->greatest().value == value) return Agreement::agrees;
  return complete || found->greatest().value > value ? Agreement::differs : Agreement::open;
}

}  // namespace

Agreement agreement(const Exploration& exploration, const ExploredProperty& property, std::string_view parameter) {
  const bool complete = exploration.counts.complete;
  const bool is_not_known = property.verdict == Verdict::unknown || property.verdict == Verdict::not_judged;
  if (!property.expected) {
    if (property.claim == Claim::expected && property.verdict == Verdict::violated) return Agreement::differs;
    const bool is_open = property.claim != Claim::none && (is_not_known || property.is_disputed);
    return is_open ? Agreement::open : Agreement::agrees;
  }
  const Expectation& expected = *property.expected;
  if (!is_as_expected(expected.verdict, property.verdict)) {
    // What was found stays found; only what was not found may still turn up.
    return is_not_known ? Agreement::open : Agreement::differs;
  }
  if (property.verdict != Verdict::violated) return property.is_disputed ? Agreement::open : Agreement::agrees;
  // Which of those who are alike the witness names is a matter of how the search went.
  const bool blames_the_same =
      expected.violated_by.empty() || are_same_but_for_names(expected.violated_by, property.by, exploration.alike);
  Agreement all = property.is_disputed ? Agreement::open : Agreement::agrees;
  all = std::max(all, blames_the_same ? Agreement::agrees : complete ? Agreement::differs : Agreement::open);
  for (const auto& [name, value] : expected.from) {
    if (!parameter.empty() && name != parameter) continue;
    all = std::max(all, threshold_agreement(property, name, value, complete));
  }
  for (const auto& [name, value] : expected.up_to) {
    if (parameter.empty() || name == parameter)
      all = std::max(all, greatest_agreement(property, name, value, complete));
  }
  if (!expected.frontier.empty() && parameter.empty() && !are_same_frontier(expected.frontier, property.frontier))
    all = std::max(all, complete ? Agreement::differs : Agreement::open);
  return all;
}

Agreement trace_agreement(const Exploration& exploration) {
  if (!exploration.expected_traces) return Agreement::agrees;
  const auto expected = static_cast<std::uint64_t>(*exploration.expected_traces);
  if (exploration.counts.complete)
    return exploration.counts.traces == expected ? Agreement::agrees : Agreement::differs;
  return exploration.counts.traces > expected ? Agreement::differs : Agreement::open;
}

Agreement agreement(const Exploration& exploration, std::string_view parameter) {
  Agreement all = trace_agreement(exploration);
  if (!exploration.mistake.empty()) all = std::max(all, Agreement::open);
  for (const ExploredProperty& property : exploration.properties) {
    all = std::max(all, agreement(exploration, property, parameter));
  }
  return all;
}

void compare(const Scenario& scenario, Exploration& exploration, const Comparison& comparison) {
  exploration.expected_traces = comparison.counts_traces ? scenario.expect_traces : std::nullopt;
  for (ExploredProperty& property : exploration.properties) {
    const Expectation* expected = expectation_of(scenario.expect_check, property.name);
    property.expected = expected != nullptr ? std::optional(*expected) : std::nullopt;
    property.claim = property.applies ? claim_of(comparison.claims, property.name, scenario.expect_check) : Claim::none;
    property.as_expected = agreement(exploration, property, comparison.parameter) == Agreement::agrees;
  }
  exploration.as_expected = agreement(exploration, comparison.parameter) == Agreement::agrees;
}

}  // namespace lockstep::scenarios
