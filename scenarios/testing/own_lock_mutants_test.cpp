// Mistakes in scripts of locks, each of which is found.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::own_lock_mutants_test {
namespace {

using testing::catalogue;

namespace fs = std::filesystem;
using checker::Verdict;

struct Mutant {
  const char* script;
  const char* story;  ///< in which the lock without the mistake keeps the property
  const char* what;
  const char* by;
  const char* property;
};

constexpr Mutant kMutants[] = {
    {"set-nx-px.lua", "lock-summary/f001-5-deletes-successors-lock-fixed.toml",
     "c.redis:eval(delete_if_mine, { c.key }, { hold.token }) == 1", "c.redis:del(c.key) == 1", "own-release"},
    {"set-nx-px.lua", "lock-summary/f001-6-expires-between-get-and-del-fixed.toml",
     "c.redis:eval(delete_if_mine, { c.key }, { hold.token }) == 1",
     "(c.redis:get(c.key) == hold.token and c.redis:del(c.key) == 1)", "own-release"},
    {"set-nx-px.lua", "reference/set-nx-px-lua-3x2.toml", "{ nx = true, px = p.ttl }", "{ px = p.ttl }",
     "mutual-exclusion"},
    {"redlock.lua", "redisson-source/f003-5-slow-servers.toml", "p.check_validity and started + (p.ttl - drift) or nil",
     "nil", "mutual-exclusion"},
    {"redlock.lua", "reference/redlock-seq-3x3.toml", "math.floor(#c.redis / 2) + 1", "1", "mutual-exclusion"},
    {"redisson.lua", "lock-summary/f001-7-no-renewal-fixed.toml", "    start_renewal(c)\n", "", "mutual-exclusion"},
    {"redisson.lua", "redisson-source/f003-lost-wakeup-fixed.toml", "    channel:pass_on()\n", "", "no-lost-wakeup"},
};

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Verdict verdict_with(Scenario story, const fs::path& script, std::string_view property) {
  auto read = read_own_lock(script);
  if (const auto* problem = std::get_if<std::string>(&read)) FAIL(*problem);
  story.lock.own = std::get<OwnLock>(std::move(read));
  story.lock.algorithm = story.lock.own.entry->id;
  ExplorationOptions options;
  options.max_traces = 7000;
  const auto result = explore(story, catalogue(), options);
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  return std::get<Exploration>(result).property(property).verdict;
}

}  // namespace

TEST_CASE("own lock: a mistake in a script is found where the script without it keeps its promise") {
  const fs::path folder = fs::temp_directory_path() / ("lockstep-own-lock-mutants-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  for (const Mutant& mutant : kMutants) {
    INFO(mutant.story << " with " << mutant.script << ": " << mutant.what);
    auto loaded = load(in_tree("scenarios/stories") + "/" + mutant.story, catalogue());
    REQUIRE(std::holds_alternative<Scenario>(loaded));
    const Scenario& story = std::get<Scenario>(loaded);
    const std::string original = in_tree("scenarios/stories/own-lock") + "/" + mutant.script;
    CHECK(verdict_with(story, original, mutant.property) == Verdict::holds);
    std::string text = text_of(original);
    const std::size_t at = text.find(mutant.what);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string_view(mutant.what).size(), mutant.by);
    std::ofstream(folder / mutant.script) << text;
    CHECK(verdict_with(story, folder / mutant.script, mutant.property) == Verdict::violated);
  }
  fs::remove_all(folder);
}

}  // namespace lockstep::scenarios::own_lock_mutants_test
