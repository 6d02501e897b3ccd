#pragma once

// A run that breaks a property, made small: fewer faults, clients, operations and servers, shorter and rounder times,
// no order that is not needed.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/running/run_recorder.hpp"
#include "scenarios/story/scenario.hpp"
#include "scenarios/witness/witness.hpp"

namespace lockstep::scenarios {

struct Shrunk {
  /// With the violation as the expectation of `run`; its [[may]] are those of the world whose kinds it still needs, for
  /// `check`.
  Scenario story;
  std::string text;  ///< the same as a file
  std::string why;   ///< what run says of it
  /// What makes two findings one: the property, the algorithm, the faults by kind and by whether they strike a client
  /// or a server ("crash", "server-crash"), and the reason without names and times.
  std::string cause;
  std::vector<std::string> faults;  ///< of these, ascending, each once
  std::uint64_t tried = 0;          ///< stories that were run
  /// Removing any one of its faults or clients makes it pass: all were tried.
  bool is_minimal = false;
};

/// `found`: a story with exact times (`RandomRuns::story`) of a run in `world` that violates the property; `delays`: of
/// the same run. Of its smaller versions the first that still violates it is taken, and so on (RapidCheck's search for
/// a local minimum), until so many runs were tried, or events were played, or `is_late`: asked between two runs, null
/// if there is time. The same arguments give the same result as long as it is not late.
/// Unconfirmed: the story itself does not show it.
std::variant<Shrunk, Unconfirmed> shrink(const Scenario& found, const std::vector<NamedDelay>& delays,
                                         const Scenario& world, const models::locks::Catalogue& catalogue,
                                         std::string_view property, std::function<bool()> is_late = nullptr,
                                         std::uint64_t max_tries = 2'000, std::uint64_t max_events = 1'000'000);

}  // namespace lockstep::scenarios
