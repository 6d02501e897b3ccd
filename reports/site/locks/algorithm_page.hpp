#pragma once

// The page of one algorithm, and the list of all by family.

#include "reports/site/findings/findings.hpp"

namespace lockstep::reports::site {

/// How it works, what it keeps on the server, what it promises, what breaks it, what it costs, its states, its source.
Page algorithm_page(const Findings& findings, const models::locks::Entry& entry);

/// All of the catalogue, family by family: "algorithms/index.html".
Page algorithms_page(const Findings& findings);

/// The states of the algorithm with one client and with two, without a fault. Every algorithm of the catalogue, in its
/// order; a graph that is too large to look at says so instead. `jobs`: threads; the result is the same for any number.
std::vector<ListedGraph> graphs_of(const models::locks::Catalogue& catalogue, std::size_t jobs);

}  // namespace lockstep::reports::site
