#include "checker/linearizability/look_ahead.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::checker {
namespace {

using Index = std::uint32_t;
constexpr std::size_t reads_ahead = 16;

}  // namespace

ReadsAhead::ReadsAhead(std::span<const SearchOperation> operations, std::span<const SearchEvent> events,
                       const Specification& specification) {
  std::vector<Index> overwrites;
  invoked_.reserve(events.size());
  for (const SearchEvent& e : events) {
    const SearchOperation& o = operations[e.operation];
    const bool is_read = o.is_required && o.action.effect == Action::Effect::reads;
    if (is_read && e.is_return) last_return_ = static_cast<Index>(invoked_.size());
    if (is_read && !e.is_return) reads_.push_back(e.operation);
    if (!e.is_return && o.action.effect == Action::Effect::overwrites) overwrites.push_back(e.operation);
    invoked_.push_back(static_cast<Index>(reads_.size()));
  }
  // A read is asked about from when it is one of the next; what has returned by then is ordered.
  sources_.resize(operations.size());
  std::vector<Index> recent;
  std::size_t next = 0;
  for (std::size_t k = 0; k < reads_.size(); ++k) {
    const SearchOperation& read = operations[reads_[k]];
    while (next < overwrites.size() && operations[overwrites[next]].invoked <= read.returned) {
      recent.push_back(overwrites[next++]);
    }
    if (k > reads_ahead) {
      const std::int64_t asked = operations[reads_[k - reads_ahead - 1]].invoked;
      std::erase_if(recent, [&](Index w) { return operations[w].returned < asked; });
    }
    for (const Index w : recent) {
      const bool is_in_time = operations[w].invoked <= read.returned;
      if (is_in_time && specification.can_lead_to_after(operations[w].action, read.action)) {
        sources_[reads_[k]].push_back(w);
      }
    }
  }
}

std::span<const Index> ReadsAhead::after(Index event) const {
  const std::size_t first = invoked_[event];
  return std::span(reads_).subspan(first, std::min(reads_.size() - first, reads_ahead));
}

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
    SearchResult result = search_linearization(known, specification, verdict_only);
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

}  // namespace lockstep::checker
