#pragma once

// One message about bad input: where, what is wrong, what was expected.

#include <string>

#include "scenarios/scenario.hpp"

namespace lockstep::scenarios {

struct Diagnostic {
  std::string file;
  Position at;          ///< 0:0 when the file as a whole is meant
  std::string message;  ///< one sentence or two, with the nearest valid name and the remedy

  /// "file:line:column: message", or "file: message".
  std::string to_string() const;
};

}  // namespace lockstep::scenarios
