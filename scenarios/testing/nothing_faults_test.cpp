// Faults of length 0: they are none, so no verdict, no margin and no number of traces depends on them.

#include <catch2/catch.hpp>
#include <string>
#include <variant>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::nothing_faults_test {
namespace {

using testing::catalogue;

constexpr const char* kStory = R"(
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
timeout = "40ms"
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
attempts = 1
)";
constexpr const char* kPause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n";

/// Verdicts and margins, and how many traces.
std::string told(const std::string& text) {
  auto result = explore(testing::parsed(text), catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  const Exploration& found = std::get<Exploration>(result);
  std::string lines = std::to_string(found.counts.traces) + " traces\n";
  for (const ExploredProperty& property : found.properties) {
    lines += std::string(property.name) + " " + std::to_string(static_cast<int>(property.verdict));
    for (const Threshold& threshold : property.thresholds)
      lines += " " + threshold.parameter + " " + sim::to_string(threshold.infimum.value);
    lines += "\n";
  }
  return lines;
}

std::string of_kind(const std::string& kind, const std::string& length, const std::string& more = "") {
  return "[[may]]\nkind = \"" + kind + "\"\n" + length + "\n" + more;
}

}  // namespace

TEST_CASE("a fault of length 0 costs no proof, whatever its kind, and whatever else may happen") {
  const std::string zero = "length = \"0ms\"";
  for (const std::string& others : {std::string(), std::string(kPause)}) {
    const std::string right = told(kStory + others);
    INFO(right);
    CHECK(told(kStory + others + of_kind("pause", zero)) == right);
    CHECK(told(kStory + others + of_kind("pause", zero, "client = \"A\"\ntimes = 3\n")) == right);
    CHECK(told(kStory + others + of_kind("pause", "length = [\"0ms\", \"0ms\"]", "during = \"work\"\n")) == right);
    CHECK(told(kStory + others + of_kind("pause", zero, "server = \"redis\"\n")) == right);
    CHECK(told(kStory + others + of_kind("delay", zero)) == right);
    CHECK(told(kStory + others + of_kind("partition", zero)) == right);
    CHECK(told(kStory + others + of_kind("skew", "by = \"0ms\"")) == right);
    CHECK(told(kStory + others + of_kind("jump", "by = \"0ms\"")) == right);
  }
}

TEST_CASE("a pause of length 0 changes nothing in a run") {
  const auto history_of = [](const std::string& more) {
    auto result = run(testing::parsed(kStory + more), catalogue());
    if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
    return std::get<Outcome>(std::move(result)).history;
  };
  const sim::History with =
      history_of("[[fault]]\nkind = \"pause\"\nclient = \"A\"\nafter = \"SET\"\nlength = \"0ms\"\n");
  CHECK(with.interruptions.empty());
  CHECK(with.operations.size() == history_of("").operations.size());
}

}  // namespace lockstep::scenarios::nothing_faults_test
