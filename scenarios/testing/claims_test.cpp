// docs/evidence/claims.md names the stories that decide the claims of the documents: each is there, and its file
// expects the verdict that the page gives. (That the file is right, stories_test sees to.)

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::claims_test {
namespace {

std::map<std::string, Scenario> stories_by_id() {
  std::map<std::string, Scenario> stories;
  for (const std::filesystem::path file : repository_stories()) {
    auto loaded = load(file, testing::catalogue());
    if (const auto* problem = std::get_if<Diagnostic>(&loaded)) FAIL(problem->to_string());
    Scenario& story = std::get<Scenario>(loaded);
    stories.emplace(story.id, std::move(story));
  }
  return stories;
}

const Expectation* find(const std::vector<Expectation>& expectations, const std::string& property) {
  const auto found = std::find_if(expectations.begin(), expectations.end(),
                                  [&](const Expectation& each) { return each.property == property; });
  return found == expectations.end() ? nullptr : &*found;
}

/// Broken is what either shows: check in some execution, or the run that the file tells.
std::optional<checker::Verdict> verdict_of(const Scenario& story, const std::string& property) {
  std::optional<checker::Verdict> verdict;
  for (const std::vector<Expectation>* expectations : {&story.expect_check, &story.expect_run}) {
    const Expectation* found = find(*expectations, property);
    if (found == nullptr || verdict == checker::Verdict::violated) continue;
    verdict = found->verdict;
  }
  return verdict;
}

}  // namespace

TEST_CASE("claims: each is decided by stories that are there, and as they say") {
  const std::map<std::string, Scenario> stories = stories_by_id();
  std::ifstream file(in_tree("docs/evidence/claims.md"));
  const std::regex decided("`([a-z0-9-]+)`: ([a-z-]+) (holds|is violated)");
  std::size_t claims = 0;
  std::size_t verdicts = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| ") || line.starts_with("| ---") || line.starts_with("| the document")) continue;
    INFO(line);
    ++claims;
    const std::sregex_iterator first(line.begin(), line.end(), decided);
    CHECK(first != std::sregex_iterator());
    for (auto each = first; each != std::sregex_iterator(); ++each) {
      ++verdicts;
      INFO(each->str());
      const auto story = stories.find(each->str(1));
      REQUIRE(story != stories.end());
      const bool holds = each->str(3) == "holds";
      CHECK(verdict_of(story->second, each->str(2)) == (holds ? checker::Verdict::holds : checker::Verdict::violated));
    }
    // No story is named without a verdict.
    CHECK(std::count(line.begin(), line.end(), '`') == 2 * std::distance(first, std::sregex_iterator()));
  }
  CHECK(claims >= 20);
  CHECK(verdicts >= 30);
}

}  // namespace lockstep::scenarios::claims_test
