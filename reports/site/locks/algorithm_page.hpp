#pragma once

// The page of one algorithm, and the list of all by family.

#include "reports/site/findings/findings.hpp"

namespace lockstep::reports::site {

/// How it works, what it keeps on the server, what it promises, what breaks it, what it costs, its states, its source.
Page algorithm_page(const Findings& findings, const models::locks::Entry& entry);

/// All of the catalogue, family by family: "algorithms/index.html".
Page algorithms_page(const Findings& findings);

/// For every algorithm of the catalogue, in its order, two graphs: its states with one client and with two, without a
/// fault.
std::size_t count_of_graphs(const models::locks::Catalogue& catalogue);
/// The one with this index. One that is too large to look at says so instead.
ListedGraph graph_at(const models::locks::Catalogue& catalogue, std::size_t index);

}  // namespace lockstep::reports::site
