#pragma once

// Which clients of a story differ in their names alone.
//
// Every execution of such clients, faults included, is an execution with their names exchanged, and it breaks the same
// properties. So an exploration need look only at those in which they start in the order of the file, and whom it
// blames is said up to an exchange.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// The clients, by index and in ascending order, in lists of two or more that are alike: the same settings but for the
/// name, and each `[[may]]` that can strike one of them can strike all. Nobody is in two lists.
///
/// A client of a market, one that sends commands of the file, and one with several threads is like nobody. Nor is
/// anybody where the algorithm does more with names than ask whether two are the same (`Entry::is_blind_to_names`), or
/// where sentinels know the clients.
std::vector<std::vector<std::size_t>> alike_clients(const Scenario& scenario,
                                                    const models::locks::Catalogue& catalogue);

/// The same as names.
std::vector<std::vector<std::string>> alike_names(const Scenario& scenario, const models::locks::Catalogue& catalogue);

/// Whether the two lists of names are the same, in any order, when those who are alike exchange their names.
bool are_same_but_for_names(std::vector<std::string> a, std::vector<std::string> b,
                            std::span<const std::vector<std::string>> alike);

}  // namespace lockstep::scenarios
