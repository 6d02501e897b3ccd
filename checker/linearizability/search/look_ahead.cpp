#include "checker/linearizability/search/look_ahead.hpp"

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

}  // namespace lockstep::checker
