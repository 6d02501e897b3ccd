#pragma once

// The rows of a diagram as steps that one can follow: what each changed on the servers, and who believes to hold the
// lock after it.

#include <optional>
#include <string>
#include <vector>

#include "reports/picture/diagram.hpp"

namespace lockstep::reports::site {

struct KeyContent {
  std::string text;
  std::string until;  ///< when its time to live is over, in true time; empty: it has none
  bool operator==(const KeyContent&) const = default;
};

struct KeyChange {
  std::string server;
  std::string key;
  std::optional<KeyContent> before;  ///< nothing: the key was not there
  std::optional<KeyContent> after;
};

struct StepOfRun {
  std::size_t row = 0;
  std::vector<std::string> holders;  ///< who believes to hold the lock, or one of them, in the order of the lanes
  std::vector<std::pair<std::string, std::string>>
      clocks;  ///< whose own clock shows something else than true time, and what
  std::vector<KeyChange> changes;
};

/// One for each row of the diagram.
std::vector<StepOfRun> steps_of(const Story& story, const picture::Diagram& diagram);

}  // namespace lockstep::reports::site
