#pragma once

// What a file expects of one execution (`[expect.run]`) beside what was found.

#include <span>
#include <string_view>

#include "checker/properties/verdict.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// What is expected of this property; null if nothing is.
const Expectation* expectation_of(std::span<const Expectation> expectations, std::string_view property);

/// Whether it is what was expected. Who expects that it is unknown, says that nothing can be known: also where nothing
/// is judged.
bool is_as_expected(checker::Verdict expected, checker::Verdict found);

/// How a property stands to what the algorithm claims. `expectations`: those of the file, of a run or of an
/// exploration.
Claim claim_of(std::span<const std::string_view> claims, std::string_view property,
               std::span<const Expectation> expectations);

/// One execution: the verdict, whom it blames (in any order), and the moment. `claims`: of the algorithm.
Judgement judge(checker::Finding finding, const Scenario& scenario, const checker::Names& names,
                std::span<const std::string_view> claims = {});

}  // namespace lockstep::scenarios
