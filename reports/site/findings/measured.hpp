#pragma once

// What pages about locks show besides stories and matrix: what each costs, what the market's guards cost, the states of
// each. Computed in virtual time: the same for everybody.

#include <functional>
#include <span>
#include <vector>

#include "reports/site/findings/findings.hpp"

namespace lockstep::reports::site {

struct Measured {
  std::vector<scenarios::ComparedRun> costs;
  scenarios::CompareOptions how_compared;
  std::vector<ComparedMarket> markets;  ///< of the stories that are one
  scenarios::MarketOptions how_traded;
  std::vector<ListedGraph> graphs;
};

/// What fills it in, to be called once each: in any order, by any threads. All that is given outlives the calls.
/// Interrupted, it is not complete.
std::vector<std::function<void()>> measuring(const models::locks::Catalogue& catalogue,
                                             std::span<const scenarios::Scenario> stories,
                                             const std::function<bool()>& interrupted, Measured& into);

/// All pages about more than one story: the index, algorithms, the history, the market. One for each algorithm of the
/// catalogue. Calls `work(i)` for each i below a number by `for_each`.
std::vector<Page> pages_about_locks(
    const Findings& findings,
    const std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>& for_each);

}  // namespace lockstep::reports::site
