#include "checker/linearizability/search/search.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "checker/linearizability/search/configurations.hpp"

namespace lockstep::checker {

namespace {

using Index = std::uint32_t;

/// Of a violated history that the search gave up early: the return up to which there is no order, and an order of what
/// returned before. `all`: the search's result, whose culprit returns no later than that. The verdict becomes unknown
/// if a bound is hit.
SearchResult first_violation(SearchResult all, std::span<const SearchOperation> operations,
                             Specification& specification, const SearchLimits& limits) {
  SearchLimits verdict_only = limits;
  verdict_only.needs_culprit = false;
  // What was known at a moment: whatever returned later may have taken effect or not.
  std::vector<SearchOperation> known;
  const auto search_until = [&](std::int64_t moment) {
    known.clear();
    for (const SearchOperation& o : operations) {
      known.push_back(o);
      if (o.returned <= moment) continue;
      known.back().is_required = false;
      known.back().returned = never;
      if (o.invoked > moment) known.back().action.effect = Action::Effect::none;
    }
    SearchResult result = search_configurations(known, specification, verdict_only).result;
    all.configurations += result.configurations;
    all.steps += result.steps;
    all.bytes = std::max(all.bytes, result.bytes);
    return result;
  };
  // Everything up to the return that was reached has an order. From there in growing steps, then by halves.
  std::vector<std::pair<std::int64_t, Index>> returns;
  for (Index o = 0; o < operations.size(); ++o) {
    if (operations[o].is_required && operations[o].action.effect != Action::Effect::none) {
      returns.emplace_back(operations[o].returned, o);
    }
  }
  std::sort(returns.begin(), returns.end());
  std::size_t begin =
      std::lower_bound(returns.begin(), returns.end(), std::pair(operations[all.culprit].returned, Index{0})) -
      returns.begin();
  std::size_t end = returns.size() - 1;  // violated up to here
  bool is_doubling = true;
  for (std::size_t step = 1; begin < end;) {
    const std::size_t middle = is_doubling ? std::min(begin + step - 1, end - 1) : begin + (end - begin) / 2;
    const SearchResult result = search_until(returns[middle].first);
    if (result.verdict == Verdict::unknown) {
      all.verdict = Verdict::unknown;
      all.bound = result.bound;
      return all;
    }
    if (result.verdict == Verdict::holds) {
      begin = middle + 1;
      step *= 2;
    } else {
      end = middle;
      is_doubling = false;
    }
  }
  all.culprit = returns[begin].second;
  SearchResult prefix = search_until(returns[begin].first - 1);
  all.order = std::move(prefix.order);
  if (prefix.verdict != Verdict::holds) {
    all.verdict = Verdict::unknown;
    all.bound = prefix.bound;
  }
  return all;
}

}  // namespace

SearchResult search_linearization(std::span<const SearchOperation> operations, Specification& specification,
                                  const SearchLimits& limits) {
  SearchedConfigurations all = search_configurations(operations, specification, limits);
  const bool is_late = all.result.verdict == Verdict::violated && all.gave_up && limits.needs_culprit;
  return is_late ? first_violation(std::move(all.result), operations, specification, limits) : std::move(all.result);
}

}  // namespace lockstep::checker
