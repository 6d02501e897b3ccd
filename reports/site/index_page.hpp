#pragma once

// The first page: what a lock promises, in which order to read, the matrix, claims beside what was found, all stories.

#include "reports/site/findings/findings.hpp"

namespace lockstep::reports::site {

/// Requires: pages of all stories and of the catalogue's algorithms are beside it.
Page index_page(const Findings& findings);

/// The matrix for one question. Cells link to a story that shows it, or to the algorithm's page.
std::string matrix_table(const Findings& findings, std::string_view from, const scenarios::MatrixQuestion& question);
/// What a cell says, as a link.
std::string linked_cell(const Findings& findings, std::string_view from, const scenarios::MatrixCell& cell,
                        std::string_view question);
/// Within which bounds it was found.
std::string matrix_bounds(const Findings& findings);

/// "broken in 3 stories", with a link to the first: what became of a claim.
std::string claim_cell(const Findings& findings, std::string_view from, std::string_view algorithm,
                       std::string_view property);

}  // namespace lockstep::reports::site
