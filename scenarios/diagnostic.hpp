#pragma once

// One message about bad input: where, what is wrong, what was expected.

#include <string>
#include <vector>

#include "scenarios/scenario.hpp"

namespace lockstep::scenarios {

struct Diagnostic {
  std::string file;
  Position at;          ///< 0:0 when the file as a whole is meant
  std::string message;  ///< one sentence or two, with the nearest valid name and the remedy

  bool is_bound = false;                ///< nothing is wrong with the file: there was more to do than a bound allows
  bool is_order = false;                ///< the order of [pin] cannot be kept with these delays
  std::vector<Diagnostic> others = {};  ///< what else is wrong with the file, in its order

  /// "file:line:column: message", or "file: message"; a line for each of the others.
  std::string to_string() const;
};

}  // namespace lockstep::scenarios
