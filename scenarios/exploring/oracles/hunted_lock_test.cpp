// Random own locks and stories of services: what `check` calls kept, no run breaks, and what it finds, a file shows.

#include "scenarios/exploring/oracles/hunted_lock.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/checking/check.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::hunted_lock_test {
namespace {

using testing::catalogue;

/// Whether it was small enough to be explored.
bool check_one(std::uint64_t seed) {
  const auto folder = std::filesystem::temp_directory_path() / ("lockstep-hunted-" + std::to_string(::getpid()));
  const Scenario story = hunted_lock_story(seed, catalogue(), folder);
  std::filesystem::remove_all(folder);
  CheckOptions options;
  options.exploration.max_traces = 1'000;
  options.exploration.max_events = 60'000;
  const auto result = check(story, catalogue(), options);
  const auto* exploration = std::get_if<Exploration>(&result);
  if (exploration == nullptr) return false;
  INFO("story " << seed << ", " << story.lock.algorithm);
  CHECK(exploration->disagreements == 0);
  for (const ExploredProperty& property : exploration->properties) {
    INFO(property.name << ": " << property.why);
    CHECK(property.why.find("error of lockstep: ") == std::string::npos);
    CHECK(property.why.find("as a file") == std::string::npos);
  }
  return exploration->counts.complete;
}

}  // namespace

TEST_CASE("hunted locks: stories in which something was wrong") {
  // Rests that are longer than a visit; jumps of a range that end a lease; waits as long as a lease that begin later than PTTL
  // was answered; servers that are still paused when all clients are done; pauses that begin with a message to a subscriber;
  // messages behind one another on a connection, all of which a server finds as it wakes; messages that are delayed and lost; a
  // visitor that waits no longer while its request is on the way.
  for (const std::uint64_t seed : {226, 240, 305, 1356, 1603, 1661, 3160, 3229, 2'101'219, 2'203'239, 2'302'857})
    check_one(seed);
}

TEST_CASE("hunted locks: no run breaks what is called kept, and each violation is shown by a file") {
  const auto stories = sim::cases<std::uint64_t>(600, 12);
  constexpr std::uint64_t first = 10'000;
  std::uint64_t complete = 0;
  for (std::uint64_t seed = first; seed < first + stories; ++seed) complete += check_one(seed) ? 1 : 0;
  CHECK(complete * 4 > stories);
}

}  // namespace lockstep::scenarios::hunted_lock_test
