#pragma once

// What holds during the whole of a search.

#include <utility>

#include "checker/explorer/explorer.hpp"
#include "checker/explorer/trace/possible_faults.hpp"
#include "checker/explorer/trace/search_mutant.hpp"

namespace lockstep::checker::explorer {

struct SearchRules {
  explicit SearchRules(ExplorerOptions asked) : options(std::move(asked)), faults(options.faults) {}
  SearchRules(const SearchRules&) = delete;
  SearchRules& operator=(const SearchRules&) = delete;

  ExplorerOptions options;
  PossibleFaults faults;
  OrderInTime order;
  SearchMutant mutant = SearchMutant::none;

  /// Whether the reasons why an event is infeasible are asked for.
  bool asks_why() const { return options.reduction && !options.thorough; }
};

}  // namespace lockstep::checker::explorer
