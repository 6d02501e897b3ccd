#pragma once

// Results of `check` and `matrix` as text and back, for ranks that tell each other what they have done. Both sides are
// the same program.

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration_result.hpp"
#include "scenarios/matrix/answer.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/workers/text_archive.hpp"

namespace lockstep::scenarios {

void add(Writing& out, const Diagnostic& diagnostic);
Diagnostic read_diagnostic(Reading& in);

/// Without what the story's file expects of it: `compare` tells that again.
void add(Writing& out, const Exploration& exploration);
Exploration read_exploration(Reading& in, const models::locks::Catalogue& catalogue);

/// The answers of a cell; the cell itself is known.
void add(Writing& out, const std::vector<MatrixAnswer>& answers);
std::vector<MatrixAnswer> read_answers(Reading& in, const models::locks::Catalogue& catalogue);

}  // namespace lockstep::scenarios
