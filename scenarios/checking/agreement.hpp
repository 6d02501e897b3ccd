#pragma once

// What a file expects of an exploration (`[expect.check]`) beside what was found.

#include <cstdint>
#include <span>
#include <string_view>

#include "scenarios/exploring/exploration_result.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// How an exploration stands to its file. An exploration that a bound has ended may leave an expectation open: what it
/// has not found may still be there, and the least value that it has found may not be the least.
enum class Agreement : std::uint8_t { agrees, open, differs };

/// Of one property, by `property.expected`; agrees if nothing is expected, unless the algorithm claims it: then it is
/// open while it is unknown, and differs if it is violated and the file expects nothing at all. Verdict; `violated_by`
/// as a set, in which those who are alike may stand for each other (`Exploration::alike`); thresholds exactly, by
/// value. `parameter` is the only one whose threshold was looked for; empty: all were.
Agreement agreement(const Exploration& exploration, const ExploredProperty& property, std::string_view parameter = {});
/// Of the number of traces. Requires: it was explored with the reduction, and not on a grid.
Agreement trace_agreement(const Exploration& exploration);
/// Of everything: differs if anything does, else open if anything is.
Agreement agreement(const Exploration& exploration, std::string_view parameter = {});

struct Comparison {
  std::string_view parameter;  ///< as in `agreement`
  bool counts_traces = true;   ///< false: another search, whose number of traces the file does not tell
  std::span<const std::string_view> claims = {};  ///< of the algorithm
};

/// Fills in what the file expects and whether it was found: `expected` and `as_expected` of each property, of the
/// number of traces, and of the whole. What is left open is not as expected.
void compare(const Scenario& scenario, Exploration& exploration, const Comparison& comparison = {});

}  // namespace lockstep::scenarios
