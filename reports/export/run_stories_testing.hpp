#pragma once

// Stories of the repository, run as exports need them.

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "reports/run/verdicts.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::reports::testing {

inline Story run_for_exports(const std::filesystem::path& path) {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  Story story{std::get<scenarios::Scenario>(scenarios::load(path, catalogue)), {}};
  story.outcome =
      std::get<scenarios::Outcome>(scenarios::run(story.scenario, catalogue, {.trace = true, .key_states = true}));
  return story;
}

/// All but those with very many events; with sanitizers one of eight.
inline const std::vector<Story>& stories_for_exports() {
  static const std::vector<Story> all = [] {
    constexpr std::uint64_t kEventsMax = 3'000;
    std::vector<Story> stories;
    std::size_t so_far = 0;
    for (const std::filesystem::path path : repository_stories()) {
      if (sim::takes_few_cases() && so_far++ % 8 != 0) continue;
      Story story = run_for_exports(path);
      if (story.outcome.events <= kEventsMax) stories.push_back(std::move(story));
    }
    return stories;
  }();
  return all;
}

}  // namespace lockstep::reports::testing
