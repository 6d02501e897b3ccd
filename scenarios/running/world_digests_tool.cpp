// Prints what 1,000 random worlds came to, one line each: compared between compilers' optimisation levels and sanitizers.
// Not a test by itself; `.ci/run` runs it in every build and compares the bytes.

#include <cstdint>
#include <variant>

#include <fmt/format.h>

#include "scenarios/exploring/oracles/random_scenario.hpp"
#include "scenarios/running/runner.hpp"

int main() {
  using namespace lockstep;
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const scenarios::Scenario scenario = scenarios::random_scenario(seed, catalogue);
    const auto result = scenarios::run(scenario, catalogue, {.seed = seed});
    const auto* outcome = std::get_if<scenarios::Outcome>(&result);
    if (outcome == nullptr) {
      fmt::print("{} {}\n", seed, std::get<scenarios::Diagnostic>(result).message);
      continue;
    }
    fmt::print("{} {} {:016x} {}", seed, scenario.lock.algorithm, outcome->digest, outcome->events);
    for (const scenarios::Judgement& judgement : outcome->properties) {
      fmt::print(" {}={}", judgement.finding.property, checker::to_string(judgement.finding.verdict));
    }
    fmt::print("\n");
  }
}
