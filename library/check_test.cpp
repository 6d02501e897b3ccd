#include <sstream>

#include <catch2/catch.hpp>

#include "library/lockstep.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::library_check_test {

using Catch::Matchers::Contains;
using namespace sim::literals;

namespace {

template <typename T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return std::move(out).str();
}

std::string message_of(const CheckRequest& request) {
  try {
    check(request);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Two clients of a lock that SET NX PX makes, with a pause.
scenarios::Scenario pausing() {
  scenarios::Scenario story;
  story.lock.algorithm = "set-nx-px-lua";
  story.lock.parameters["ttl"] = 100_ms;
  story.network.latency = {1_ms, 10_ms};
  for (const char* name : {"A", "B"}) {
    scenarios::ClientSpec client;
    client.name = name;
    client.acquire_at = {0_ms, 1_s};
    client.hold = sim::DurationRange::exactly(20_ms);
    story.clients.push_back(client);
  }
  scenarios::MaySpec pause;
  pause.kind = scenarios::MaySpec::Kind::pause;
  pause.length = sim::DurationRange{0_ms, 10_s};
  story.may.push_back(pause);
  return story;
}

}  // namespace

TEST_CASE("library check: verdict, margin and witness of a story") {
  const CheckResult result =
      check({.story = Story::file(in_tree("scenarios/stories/redisson-source/f003-2-pause-margin.toml"))});
  INFO(result);
  CHECK(result.is_complete);
  CHECK(result.as_expected);
  CHECK(result.holds("own-release"));
  const CheckedProperty& property = result["mutual-exclusion"];
  CHECK(property.verdict == Verdict::violated);
  CHECK(property.is_claimed);
  CHECK(property.by == std::vector<std::string>{"A", "B"});
  // A's SET comes to the server at s, its answer at s + 10ms at the latest; then 20ms of work. The lease ends at s + 100ms, and B knows 1ms later
  // that it has the lock: 100 + 1 - 10 - 20.
  REQUIRE(property.margin("pause") != nullptr);
  CHECK(*property.margin("pause") == Margin{.parameter = "pause", .from = 71_ms});
  CHECK(property.margin("jump") == nullptr);
  CHECK_THAT(printed(property), Contains("mutual-exclusion violated by A, B, pause above 71ms: "));
  CHECK_THAT(printed(property.verdict), Catch::Matchers::Equals("violated"));

  // The witness is a file of its own.
  const Catalogue catalogue = Catalogue::built_in();
  const auto witness = scenarios::parse(property.witness, "witness.toml", catalogue);
  REQUIRE(std::holds_alternative<scenarios::Scenario>(witness));
  const auto outcome = scenarios::run(std::get<scenarios::Scenario>(witness), catalogue);
  CHECK(std::get<scenarios::Outcome>(outcome).as_expected);
  CHECK_THAT(result.text(), Contains(property.witness));
}

TEST_CASE("library check: a scenario that is a value needs no texts, and faults may be bounded") {
  CHECK(check({.story = pausing()})["mutual-exclusion"].margin("pause")->from == 71_ms);
  CHECK(check({.story = pausing(), .given = {{"pause", 71_ms}}}).holds("mutual-exclusion"));
  CHECK(check({.story = pausing(), .given = {{"pause", 72_ms}}}).is_violated("mutual-exclusion"));
  CHECK(check({.story = pausing(), .algorithm = "set-nx-px-get-del"}).is_violated("own-release"));
}

TEST_CASE("library check: a claim that does not hold is not as expected") {
  const CheckResult result = check({.story = pausing()});
  CHECK(!result.as_expected);
  CHECK(!result["mutual-exclusion"].as_expected);
  CHECK(result["own-release"].as_expected);
}

TEST_CASE("library check: what a bound leaves open is unknown") {
  const CheckResult result = check({.story = pausing(), .max_traces = 1});
  CHECK(!result.is_complete);
  CHECK(result["own-release"].verdict == Verdict::unknown);
  CHECK(!result.holds("own-release"));
}

TEST_CASE("library check: what cannot be done is an error with a remedy") {
  CHECK_THAT(message_of({}), Contains("set .story"));
  CHECK_THAT(message_of({.story = pausing(), .algorithm = "redlock"}), Contains("redlock-seq"));
  CHECK_THAT(message_of({.story = pausing(), .given = {{"jump", 1_ms}}}), Contains("no [[may]] of"));
  CHECK_THAT(message_of({.story = pausing(), .given = {{"pause", sim::Duration::milliseconds(-1)}}}),
             Contains(".given = {\"pause\", -1ms}"));
  scenarios::Scenario twice = pausing();
  twice.clients[1].name = "A";
  CHECK_THAT(message_of({.story = twice}), Contains("scenario.toml:"));
  const CheckResult result = check({.story = pausing()});
  CHECK_THROWS_AS(result["own-realease"], Error);
  CHECK_THROWS_AS(CheckResult()["own-release"], Error);
}

}  // namespace lockstep::library_check_test
