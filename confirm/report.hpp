#pragma once

// What was played, for people and for programs.

#include <span>
#include <string>
#include <vector>

#include "confirm/confirm.hpp"
#include "reports/run/junit.hpp"
#include "reports/text/line.hpp"

namespace lockstep::confirm {

/// One story: what was said, and what became of it.
reports::Lines report(const Confirmation& confirmation, std::size_t width);
/// Several: a row for each, and how many were confirmed.
reports::Lines report(std::span<const Confirmation> confirmations, std::size_t width);
/// What came out, in a line: "violated: mutual-exclusion", or the first difference, or why there is nothing.
std::string observed_text(const Confirmation& confirmation);
/// "10 times slower than told"; empty: as told.
std::string pace_text(const scenarios::TimeScale& scale);
/// Requires: `stories` are those that were played, in the same order. What could not be played, or was disturbed, is an
/// error.
std::vector<reports::JUnitCase> junit_cases(std::span<const scenarios::Scenario> stories,
                                            std::span<const Confirmation> confirmations);
std::string json(std::span<const Confirmation> confirmations);

}  // namespace lockstep::confirm
