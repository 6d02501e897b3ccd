#pragma once

// The matrix of algorithms and faults, for people and for programs.

#include <string>

#include "reports/run/verdicts.hpp"
#include "reports/text/line.hpp"
#include "scenarios/matrix/matrix.hpp"

namespace lockstep::reports {

struct MatrixReportOptions {
  std::size_t width = 100;
  Language language = Language::en;
};

/// One table for each question, a legend, and the bounds within which all this was found.
Lines matrix(const scenarios::Matrix& matrix, const scenarios::MatrixOptions& bounds,
             const MatrixReportOptions& options);

/// `lockstep matrix --json`. "ground" is "proved", "fuzzed", "broken" or "inapplicable"; null in a cell that was not
/// begun. "witness" is the text of a scenario file that `run` shows to be broken, or null.
std::string matrix_json(const scenarios::Matrix& matrix, const scenarios::MatrixOptions& bounds);

}  // namespace lockstep::reports
