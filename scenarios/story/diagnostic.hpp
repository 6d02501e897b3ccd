#pragma once

// One message about bad input: where, what is wrong, what was expected.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

struct Diagnostic {
  std::string file;
  Position at;          ///< 0:0 when the file as a whole is meant
  std::string message;  ///< one sentence or two, with the nearest valid name and the remedy

  enum class Kind : std::uint8_t {
    mistake,         ///< something is wrong with the file
    bound,           ///< nothing is: there was more to do than a bound allows
    out_of_order,    ///< the order of [pin] cannot be kept with these delays
    not_repeatable,  ///< nothing is: the same story goes another way the next time, so it has no verdict
  };
  Kind kind = Kind::mistake;
  std::vector<Diagnostic> others = {};  ///< what else is wrong with the file, in its order

  /// "file:line:column: message", or "file: message"; a line for each of the others.
  std::string to_string() const;
};

/// Why this story cannot be taken: a client of it is a program, "which `what`". Nothing: none is.
std::optional<Diagnostic> refusal_of_programs(const Scenario& scenario, std::string_view what);

}  // namespace lockstep::scenarios
