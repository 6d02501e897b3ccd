// Three answers, not two: what a bound has hidden is neither as expected nor a contradiction.

#include "scenarios/checking/agreement.hpp"

#include <catch2/catch.hpp>

#include "scenarios/checking/check.hpp"
#include "scenarios/format/loader.hpp"

namespace lockstep::scenarios::expectation_test {
namespace {

using checker::Verdict;
using namespace sim::literals;

ExploredProperty found(Verdict verdict, std::vector<std::string> by = {}, std::optional<sim::Duration> pause = {}) {
  ExploredProperty property;
  property.name = "mutual-exclusion";
  property.verdict = verdict;
  property.by = std::move(by);
  if (pause) property.thresholds.push_back({"pause", {*pause, false}});
  return property;
}

Expectation expected(Verdict verdict, std::vector<std::string> by = {}, std::string pause = {}) {
  Expectation expectation{.property = "mutual-exclusion", .verdict = verdict};
  expectation.violated_by = std::move(by);
  if (!pause.empty()) expectation.from.emplace("pause", std::move(pause));
  return expectation;
}

}  // namespace

TEST_CASE("expectation: a verdict agrees, differs, or is open where a bound may have hidden the rest") {
  struct Case {
    ExploredProperty found;
    std::optional<Expectation> expected;
    Agreement complete, bounded;
  };
  constexpr auto agrees = Agreement::agrees;
  constexpr auto open = Agreement::open;
  constexpr auto differs = Agreement::differs;
  const std::vector<Case> cases{
      {found(Verdict::violated), std::nullopt, agrees, agrees},
      {found(Verdict::unknown), std::nullopt, agrees, agrees},
      {found(Verdict::holds), expected(Verdict::holds), agrees, agrees},
      {found(Verdict::holds), expected(Verdict::violated), differs, differs},
      {found(Verdict::violated), expected(Verdict::holds), differs, differs},
      {found(Verdict::violated), expected(Verdict::unknown), differs, differs},
      {found(Verdict::unknown), expected(Verdict::holds), open, open},
      {found(Verdict::unknown), expected(Verdict::violated), open, open},
      // Where nothing was there to be judged, nobody knows either; who expects that nothing can be known is right.
      {found(Verdict::not_judged), std::nullopt, agrees, agrees},
      {found(Verdict::not_judged), expected(Verdict::holds), open, open},
      {found(Verdict::not_judged), expected(Verdict::unknown), agrees, agrees},
      {found(Verdict::not_judged), expected(Verdict::not_judged), agrees, agrees},
      {found(Verdict::holds), expected(Verdict::not_judged), differs, differs},
      {found(Verdict::unknown), expected(Verdict::unknown), agrees, agrees},
      {found(Verdict::violated, {"A", "B"}), expected(Verdict::violated), agrees, agrees},
      {found(Verdict::violated, {"A", "B"}), expected(Verdict::violated, {"B", "A"}), agrees, agrees},
      {found(Verdict::violated, {"A", "B"}), expected(Verdict::violated, {"A", "C"}), differs, open},
      {found(Verdict::violated, {"A", "B"}), expected(Verdict::violated, {"A"}), differs, open},
      {found(Verdict::violated, {}, 71_ms), expected(Verdict::violated, {}, "71ms"), agrees, agrees},
      {found(Verdict::violated, {}, 71_ms), expected(Verdict::violated, {}, "71000us"), agrees, agrees},
      // A bound may have hidden a smaller value, but what breaks at 70ms does break at 70ms.
      {found(Verdict::violated, {}, 72_ms), expected(Verdict::violated, {}, "71ms"), differs, open},
      {found(Verdict::violated, {}, 70_ms), expected(Verdict::violated, {}, "71ms"), differs, differs},
      {found(Verdict::violated), expected(Verdict::violated, {}, "71ms"), differs, open},
  };
  Exploration complete;
  complete.counts.complete = true;
  const Exploration bounded;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i);
    ExploredProperty property = cases[i].found;
    property.expected = cases[i].expected;
    CHECK(agreement(complete, property) == cases[i].complete);
    CHECK(agreement(bounded, property) == cases[i].bounded);
  }
  ExploredProperty property = found(Verdict::violated, {}, 72_ms);
  property.expected = expected(Verdict::violated, {}, "71ms");
  CHECK(agreement(complete, property, "pause") == differs);
  CHECK(agreement(complete, property, "jump") == agrees);  // nobody looked for the threshold of the pause
}

TEST_CASE("expectation: a frontier is the same whatever the order of its pieces, bounds and terms") {
  Exploration exploration;
  exploration.counts.complete = true;
  const auto agrees = [&](std::string is, std::string as) {
    ExploredProperty property = found(Verdict::violated);
    property.frontier = std::move(is);
    property.expected = expected(Verdict::violated);
    property.expected->frontier = std::move(as);
    return agreement(exploration, property) == Agreement::agrees;
  };
  CHECK(agrees("skew > 5ms and 2 pause + skew > 72ms", "skew + 2 pause > 72ms and skew > 5000us"));
  CHECK(agrees("pause - skew > 161ms or skew + pause >= 161ms", "skew + pause >= 161ms or pause - skew > 161ms"));
  CHECK(agrees("pause - restart_after > -23ms", "restart_after - pause < 23ms"));
  CHECK(agrees("skew < -3ms", "skew < -3ms"));
  CHECK_FALSE(agrees("skew < -3ms", "skew > -3ms"));
  CHECK_FALSE(agrees("pause + skew > 72ms", "pause - skew > 72ms"));
  CHECK_FALSE(agrees("pause + skew > 72ms", "pause + skew >= 72ms"));
  CHECK_FALSE(agrees("2 pause + skew > 72ms", "pause + 2 skew > 72ms"));
}

TEST_CASE("expectation: whom an exploration blames is said up to the names of clients that are alike") {
  Exploration exploration;
  exploration.counts.complete = true;
  exploration.alike = {{"A", "B", "C"}, {"E", "F"}};
  const auto agrees = [&](std::vector<std::string> by, std::vector<std::string> expected_by) {
    ExploredProperty property = found(Verdict::violated, std::move(by));
    property.expected = expected(Verdict::violated, std::move(expected_by));
    return agreement(exploration, property) == Agreement::agrees;
  };
  CHECK(agrees({"B", "C"}, {"A", "B"}));
  CHECK(agrees({"D", "F", "C"}, {"E", "D", "A"}));
  CHECK_FALSE(agrees({"A"}, {"A", "B"}));
  CHECK_FALSE(agrees({"A", "D"}, {"A", "B"}));
  CHECK_FALSE(agrees({"A", "B"}, {"A", "E"}));
}

TEST_CASE("expectation: the number of traces is compared exactly, and only with the search that the file means") {
  Scenario scenario;
  scenario.expect_traces = 12;
  Exploration exploration;
  const auto compared = [&](std::uint64_t traces, bool complete, Comparison comparison = {}) {
    exploration.counts.traces = traces;
    exploration.counts.complete = complete;
    compare(scenario, exploration, comparison);
    CHECK(exploration.as_expected == (agreement(exploration) == Agreement::agrees));
    return agreement(exploration);
  };
  CHECK(compared(12, true) == Agreement::agrees);
  CHECK(compared(11, true) == Agreement::differs);
  CHECK(compared(13, true) == Agreement::differs);
  CHECK(compared(11, false) == Agreement::open);
  CHECK(compared(13, false) == Agreement::differs);
  CHECK(compared(99, true, {.counts_traces = false}) == Agreement::agrees);
  CHECK(!exploration.expected_traces);
}

TEST_CASE("expectation: compare fills in what the file says of each property") {
  Scenario scenario;
  scenario.expect_check = {expected(Verdict::violated, {}, "71ms")};
  Exploration exploration;
  exploration.counts.complete = true;
  exploration.properties = {found(Verdict::violated, {"A", "B"}, 71_ms), found(Verdict::violated)};
  exploration.properties[1].name = "fencing";
  compare(scenario, exploration);
  CHECK(exploration.as_expected);
  CHECK(exploration.properties[0].expected.has_value());
  CHECK(!exploration.properties[1].expected.has_value());
  exploration.properties[0].thresholds[0].infimum.value = 70_ms;
  compare(scenario, exploration);
  CHECK(!exploration.as_expected);
  CHECK(!exploration.properties[0].as_expected);
  CHECK(exploration.properties[1].as_expected);
}

TEST_CASE("check: what was interrupted before it began knows nothing, and says so") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  CheckOptions options;
  options.exploration.interrupted = [] { return true; };
  const auto result = check({}, catalogue, options);
  const auto& exploration = std::get<Exploration>(result);
  CHECK(exploration.bound == "interrupted");
  CHECK(!exploration.counts.complete);
  CHECK(exploration.property("mutual-exclusion").verdict == Verdict::unknown);
}

}  // namespace lockstep::scenarios::expectation_test
