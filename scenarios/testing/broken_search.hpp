#pragma once

// Explorations that are broken on purpose. Whatever runs a story, too, must contradict them.

#include <functional>

#include "checker/testing/explorer_mutants.hpp"
#include "checker/violations/violations.hpp"

namespace lockstep::scenarios::testing {

/// For `ExplorationOptions::alter_search`.
inline std::function<void(checker::Explorer&, checker::ViolationFinder&)> broken(
    checker::JudgingMutant judge, checker::SearchMutant search = checker::SearchMutant::none) {
  return [=](checker::Explorer& explorer, checker::ViolationFinder& finder) {
    checker::ExplorerForTests::break_search(explorer, search);
    finder.break_on_purpose(judge);
  };
}

}  // namespace lockstep::scenarios::testing
