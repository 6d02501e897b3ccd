// Which server a story has: what it says, else what its lock needs; and a lock whose commands are not there is refused.

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "scenarios/format/loader.hpp"
#include "scenarios/format/other_algorithm.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::server_version_test {
namespace {

using testing::catalogue;

std::string story(const std::string& algorithm, const std::string& server) {
  return "title = \"t\"\n[lock]\nalgorithm = \"" + algorithm + "\"\n" + server +
         "[[client]]\nname = \"A\"\nhold = \"5ms\"\n";
}

std::string version(const std::string& version) { return "[[server]]\nversion = \"" + version + "\"\n"; }

/// What is wrong with it; or how the release ended: a server that does not know the command frees nothing.
std::string end_of(const std::string& text) {
  const auto loaded = parse(text, "t.toml", catalogue());
  if (const auto* refusal = std::get_if<Diagnostic>(&loaded)) return refusal->to_string();
  const auto result = run(std::get<Scenario>(loaded), catalogue(), {});
  if (const auto* problem = std::get_if<Diagnostic>(&result)) return problem->to_string();
  const auto& operations = std::get<Outcome>(result).history.operations;
  const auto release = std::find_if(operations.begin(), operations.end(),
                                    [](const sim::Operation& operation) { return operation.function == "release"; });
  if (release == operations.end()) return "none";
  return release->phase == sim::Phase::ok ? "ok" : "not ok";
}

}  // namespace

TEST_CASE("version: a server that does not say which it is has the commands of the lock") {
  CHECK(end_of(story("set-nx-px-delex", "")) == "ok");
  CHECK(end_of(story("set-nx-px-delifeq", "")) == "ok");
  CHECK(end_of(story("set-nx-px-delex", version("8.4"))) == "ok");
  CHECK(end_of(story("set-nx-px-delifeq", version("valkey-9.0"))) == "ok");
  // Later servers have what earlier ones have.
  for (const char* each : {"7.0", "8.4", "valkey-8.1", "valkey-9.0"})
    CHECK(end_of(story("set-nx-px-lua", version(each))) == "ok");
}

TEST_CASE("version: a lock on a server without its commands is refused, with the version that has them") {
  const std::string delex = "t.toml:5:11: version: set-nx-px-delex needs commands that this server does not have; ";
  for (const char* each : {"7.0", "valkey-8.1", "valkey-9.0"})
    CHECK(end_of(story("set-nx-px-delex", version(each))) == delex + "write \"8.4\", or leave it out");
  for (const char* each : {"7.0", "8.4", "valkey-8.1"}) {
    CHECK_THAT(end_of(story("set-nx-px-delifeq", version(each))),
               Catch::Contains("write \"valkey-9.0\", or leave it out"));
  }
  CHECK_THAT(end_of(story("set-nx-px-lua", version("9"))), Catch::Contains("valkey-9.0"));
}

TEST_CASE("version: another lock in its place brings the server that it needs") {
  for (const char* before : {"7.0", "8.4", "valkey-9.0"}) {
    const auto loaded = parse(story("set-nx-px-lua", version(before)), "t.toml", catalogue());
    REQUIRE(std::holds_alternative<Scenario>(loaded));
    for (const auto& [algorithm, needed] :
         {std::pair("set-nx-px-delex", "8.4"), std::pair("set-nx-px-delifeq", "valkey-9.0")}) {
      const auto other = with_algorithm(std::get<Scenario>(loaded), *catalogue().find(algorithm), catalogue());
      REQUIRE(std::holds_alternative<Scenario>(other));
      CHECK(std::get<Scenario>(other).servers.front().settings.get<std::string>("version", "") == needed);
    }
  }
}

}  // namespace lockstep::scenarios::server_version_test
