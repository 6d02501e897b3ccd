// Mistakes that lock libraries have made, each as one change of a lock of the catalogue: `check` finds every one. The same story without
// the change keeps the property, so that it is the change that is found. docs/evidence/lock-mutants.md is what this test finds.

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/fuzzing/lock_mutants.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::mutants_test {
namespace {

using models::locks::Catalogue;

checker::Verdict verdict_within(const Scenario& scenario, const Catalogue& catalogue, std::string_view property,
                                std::uint64_t traces, std::uint64_t& explored, std::string& why) {
  ExplorationOptions options;
  options.max_traces = traces;
  auto result = explore(scenario, catalogue, options);
  if (const auto* diagnostic = std::get_if<Diagnostic>(&result)) FAIL(diagnostic->to_string());
  const auto& exploration = std::get<Exploration>(result);
  explored = exploration.counts.traces;
  why = exploration.property(property).why;
  return exploration.property(property).verdict;
}

/// The first random run that shows it: of delays and ties alone, since what a file allows strikes only where it is explored.
std::optional<std::uint64_t> first_random_run(const Scenario& scenario, const Catalogue& catalogue,
                                              std::string_view property) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    auto result = run(scenario, catalogue, {.seed = seed});
    if (const auto* diagnostic = std::get_if<Diagnostic>(&result)) FAIL(diagnostic->to_string());
    for (const Judgement& judgement : std::get<Outcome>(result).properties) {
      if (judgement.finding.property == property && judgement.finding.verdict == checker::Verdict::violated)
        return seed;
    }
  }
  return std::nullopt;
}

constexpr std::string_view kPage = "docs/evidence/lock-mutants.md";

constexpr std::string_view kRecipeBugs = "docs/evidence/recipe-bugs.md";

constexpr std::string_view kHead =
    "# Mistakes of lock libraries, found\n\n"
    "Each row is one change of a lock of the catalogue that somebody made, or nearly. `lockstep check` finds every one "
    "of them in "
    "the small story that comes with it (two or three clients, a fault if the mistake needs one), after at most so "
    "many traces; "
    "random runs of the same story, which have random delays but no faults, find some, in the run with that seed. The "
    "lock without the "
    "change keeps the property in the same story. The table is written by "
    "`scenarios/exploring/oracles/mutants_test.cpp`, which fails "
    "when it "
    "is not what the program finds. What the trackers say of those of ZooKeeper, etcd and Consul is in "
    "[recipe-bugs.md](recipe-bugs.md).\n\n"
    "| mistake | as in | lock | property | check: traces | random: run |\n| --- | --- | --- | --- | --- | --- |\n";

}  // namespace

TEST_CASE("mutants: every mistake is found by check, and the lock without it is not blamed") {
  std::string page(kHead);
  std::size_t count = 0;
  for (const LockMutant& mistake : lock_mutants()) {
    INFO(mistake.name);
    const Catalogue catalogue = catalogue_with(mistake);
    const Scenario broken = story_of(mistake, catalogue);
    std::uint64_t explored = 0;
    std::string why;
    checker::Verdict verdict = checker::Verdict::unknown;
    for (std::uint64_t traces = 1; traces <= 20'000 && verdict != checker::Verdict::violated; traces *= 2) {
      verdict = verdict_within(broken, catalogue, mistake.property, traces, explored, why);
    }
    INFO(why);
    CHECK(verdict == checker::Verdict::violated);
    const std::optional<std::uint64_t> seed = first_random_run(broken, catalogue, mistake.property);
    page += fmt::format("| {} | {} | {} | {} | {} | {} |\n", mistake.name, mistake.made_by, mistake.original,
                        mistake.property, explored, seed ? std::to_string(*seed) : "-");
    ++count;

    constexpr std::uint64_t kEnough = 300;
    const Scenario repaired = repaired_story_of(mistake, catalogue);
    const checker::Verdict without = verdict_within(repaired, catalogue, mistake.property, kEnough, explored, why);
    INFO("without the mistake: " << why);
    CHECK(without != checker::Verdict::violated);
  }
  CHECK(count >= 25);

  std::ifstream in(in_tree(kPage), std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (written != page) std::ofstream("lock-mutants.md", std::ios::binary) << page;
  INFO("what it should be is in lock-mutants.md, where this test ran: copy it to " << kPage);
  CHECK(written == page);
}

TEST_CASE("mutants: the recipes with sessions, repaired, are explored to the end, and the page of their bugs has all") {
  std::ifstream in(in_tree(kRecipeBugs), std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (const LockMutant& mistake : mutants_of_sessions()) {
    INFO(mistake.name);
    CHECK(page.find(fmt::format("| {} |", mistake.name)) != std::string::npos);
    CHECK(page.find(fmt::format("| {} |", mistake.made_by)) != std::string::npos);
    const Catalogue catalogue = catalogue_with(mistake);
    std::uint64_t explored = 0;
    std::string why;
    CHECK(verdict_within(repaired_story_of(mistake, catalogue), catalogue, mistake.property, 0, explored, why) ==
          checker::Verdict::holds);
    INFO(why);
  }
  CHECK(mutants_of_sessions().size() >= 15);
}

}  // namespace lockstep::scenarios::mutants_test
