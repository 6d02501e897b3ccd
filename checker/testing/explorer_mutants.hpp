#pragma once

// Searches that are broken on purpose. Whatever compares the search with something else must find each of them out.

#include "checker/explorer/explorer.hpp"
#include "checker/explorer/search/search.hpp"
#include "checker/explorer/trace/search_mutant.hpp"

namespace lockstep::checker {

struct ExplorerForTests {
  /// From now on it is broken like this. Requires: it has not explored anything yet.
  static void break_search(Explorer& explorer, SearchMutant mutant) { explorer.search_->break_on_purpose(mutant); }
};

}  // namespace lockstep::checker
