#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <catch2/catch.hpp>

#include "library/lockstep.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::fuzz_test {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// Whether a run of the text breaks the property. Nothing of `fuzz` is asked.
bool breaks(const std::string& text, std::string_view property) {
  const Catalogue catalogue = Catalogue::built_in();
  const auto story = scenarios::parse(text, "found.toml", catalogue);
  REQUIRE(std::holds_alternative<scenarios::Scenario>(story));
  const auto outcome = scenarios::run(std::get<scenarios::Scenario>(story), catalogue);
  REQUIRE(std::holds_alternative<scenarios::Outcome>(outcome));
  for (const scenarios::Judgement& judgement : std::get<scenarios::Outcome>(outcome).properties) {
    if (judgement.finding.property == property) return judgement.finding.verdict == Verdict::violated;
  }
  return false;
}

const std::string kExpires = in_tree("scenarios/stories/lock-summary/f001-6-expires-between-get-and-del.toml");

}  // namespace

TEST_CASE("fuzz: what it finds is a file that run breaks, and its text has the whole of one") {
  const FuzzResult result = fuzz({.story = Story::file(kExpires), .runs = 2'000});
  REQUIRE(!result.findings.empty());
  CHECK(result.runs >= 2'000);
  CHECK(result.properties == std::vector<std::string>{"mutual-exclusion", "own-release", "recoverable"});
  bool is_any_shown = false;
  for (const FuzzFinding& finding : result.findings) {
    INFO(finding);
    CHECK(finding.is_confirmed);
    CHECK(finding.algorithm == "set-nx-px-get-del");
    CHECK(breaks(finding.story, finding.property));
    is_any_shown = is_any_shown || result.text().find(finding.story) != std::string::npos;
  }
  CHECK(is_any_shown);
}

TEST_CASE("fuzz: the algorithm may be another one, and then there is nothing to find") {
  const FuzzResult result = fuzz({.story = Story::file(kExpires),
                                  .algorithm = "set-nx-px-lua",
                                  .runs = 2'000,
                                  .properties = {"own-release"},
                                  .as_written = true});
  INFO(result);
  CHECK(result.findings.empty());
  CHECK_THAT(result.text(), Contains("seed 1; judged: own-release"));
}

TEST_CASE("fuzz: the same call gives the same result, for any number of threads, and another seed another one") {
  const auto text = [](std::uint64_t seed, std::size_t jobs) {
    return fuzz({.story = Story::file(kExpires), .runs = 1'000, .seed = seed, .jobs = jobs}).text();
  };
  const std::string one = text(7, 1);
  CHECK(one == text(7, 3));
  CHECK(one != text(8, 1));
}

TEST_CASE("fuzz: findings are written as files") {
  const fs::path folder = fs::temp_directory_path() / "lockstep-library-fuzz-test";
  fs::remove_all(folder);
  const FuzzResult result = fuzz({.story = Story::file(kExpires), .runs = 1'000});
  REQUIRE(!result.findings.empty());
  result.save(folder / "found");
  for (const FuzzFinding& finding : result.findings) {
    std::ifstream in(folder / "found" / (finding.name + ".toml"));
    CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == finding.story);
  }
  // A folder whose name a file has.
  CHECK_THROWS_AS(result.save(folder / "found" / (result.findings.front().name + ".toml")), Error);
  fs::remove_all(folder);
}

TEST_CASE("fuzz: what cannot be done is an error with a remedy, never a result without findings") {
  const auto with = [](const std::string& message) {
    return Catch::Matchers::Predicate<Error>(
        [message](const Error& error) { return std::string(error.what()).find(message) != std::string::npos; },
        message);
  };
  CHECK_THROWS_MATCHES(fuzz({}), Error, with("set .story, or .algorithm"));
  CHECK_THROWS_MATCHES(fuzz({.algorithm = "set-nx-px-lau"}), Error, with("did you mean \"set-nx-px-lua\"?"));
  CHECK_THROWS_MATCHES(fuzz({.story = Story::file("there/is/none.toml")}), Error, with("there/is/none.toml"));
  CHECK_THROWS_MATCHES(fuzz({.story = Story::text("[lock]\nalgorithm = 1\n", "bad.toml")}), Error, with("bad.toml:2:"));
  CHECK_THROWS_MATCHES(fuzz({.algorithm = "setnx-del", .properties = {"own-realease"}}), Error,
                       with("did you mean \"own-release\"?"));
  CHECK_THROWS_MATCHES(fuzz({.algorithm = "setnx-del", .runs = 0}), Error, with("set .runs or .seconds"));
  scenarios::Scenario nameless;
  CHECK_THROWS_MATCHES(fuzz({.story = nameless}), Error, with("the scenario's algorithm"));
}

}  // namespace lockstep::fuzz_test
