#pragma once

// Mistakes that lock libraries have made, each as one change of a lock of the catalogue, with a small story in which it
// shows: for whoever has to find them. Not part of the program.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "models/locks/redis/rlock.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

struct LockMutant {
  std::string_view name;                                   ///< what was wrong
  std::string_view made_by;                                ///< where it was so, or what it is like
  std::string_view original;                               ///< id of the algorithm
  std::function<void(models::locks::RLockRules&)> change;  ///< of Redisson's lock; empty: it is one of the parameters
  std::string parameters;                                  ///< of the story, with the mistake
  std::string_view story;
  std::string_view property;
  std::string repaired;            ///< parameters without the mistake
  std::string_view repaired_by{};  ///< another algorithm, if it is not the same without the mistake
};

std::vector<LockMutant> lock_mutants();
/// Those among them of recipes with sessions: Consul, etcd.
std::vector<LockMutant> mutants_of_sessions();

/// The built-in locks, and the mistaken one under its own name, "mutant", if it is a change.
models::locks::Catalogue catalogue_with(const LockMutant& mutant);
/// Its story, with the mistake.
Scenario story_of(const LockMutant& mutant, const models::locks::Catalogue& catalogue);
/// The same without it.
Scenario repaired_story_of(const LockMutant& mutant, const models::locks::Catalogue& catalogue);

}  // namespace lockstep::scenarios
