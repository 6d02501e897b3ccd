#pragma once

// The delays of a run by the names of what was delayed, so that a story from which something was taken away can be
// played as nearly the same run.
//
// A [[schedule]] is exact: where a client is missing, somebody else gets the lock, sends other commands, and the
// schedule cannot happen. Names stay ("B's second SET, at redis1"), so each event that is still there takes as long as
// it took, and what is new comes as fast as it can.

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/running/run_recorder.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// A story, and how long what takes its time takes, by key.
struct LooseStory {
  Scenario story;
  std::vector<NamedDelay> delays;  ///< ascending
};

struct LooseRun {
  bool violates = false;
  std::uint64_t events = 0;
  Scenario exact;  ///< if it violates: the same run with a schedule
};

/// Plays it, and asks whether the property is violated. What does not end violates nothing.
LooseRun play_loosely(const LooseStory& story, const models::locks::Catalogue& catalogue, std::string_view property,
                      std::uint64_t max_events);

}  // namespace lockstep::scenarios
