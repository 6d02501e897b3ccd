#include "checker/linearizability/conflict.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace lockstep::checker {
namespace {

// Work is counted in steps of the specification; a configuration and an operation count ten. Some 10^7 a second.
constexpr std::uint64_t configurations_each = 20'000;  // of one question, and as many again for each operation
constexpr std::uint64_t work_min = 10'000'000;         // of all questions
constexpr std::uint64_t work_each_operation = 1'000;
constexpr std::uint64_t work_max = 40'000'000;

class Minimizer {
 public:
  Minimizer(std::vector<SearchOperation>& operations, Specification& specification, const SearchLimits& limits)
      : operations_(operations), specification_(specification), limits_(limits) {
    limits_.max_configurations = configurations_each + 4 * operations.size();
    limits_.needs_culprit = false;
    work_left_ = std::min(work_min + work_each_operation * operations.size(), work_max);
  }

  bool is_exhausted() const { return work_left_ == 0; }

  enum class Answer : std::uint8_t { yes, no, unknown };

  /// Is there still no order?
  Answer is_conflict() {
    if (is_exhausted()) return Answer::unknown;
    const SearchResult result = search_linearization(operations_, specification_, limits_);
    const std::uint64_t work = 10 * (result.configurations + operations_.size()) + result.steps;
    work_left_ -= result.bound == SearchBound::time ? work_left_ : std::min(work, work_left_);
    if (result.verdict == Verdict::unknown) return Answer::unknown;
    return result.verdict == Verdict::violated ? Answer::yes : Answer::no;
  }

 private:
  std::vector<SearchOperation>& operations_;
  Specification& specification_;
  SearchLimits limits_;
  std::uint64_t work_left_ = 0;
};

}  // namespace

std::vector<std::uint32_t> returned_by(std::span<const SearchOperation> operations, std::uint32_t culprit) {
  std::vector<std::uint32_t> members;
  for (std::uint32_t o = 0; o < operations.size(); ++o) {
    const bool counts = operations[o].is_required && operations[o].action.effect != Action::Effect::none;
    if (counts && operations[o].returned <= operations[culprit].returned) members.push_back(o);
  }
  return members;
}

Conflict minimal_conflict(std::span<const SearchOperation> all, std::span<const std::uint32_t> given,
                          Specification& specification, const SearchLimits& limits) {
  using Answer = Minimizer::Answer;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const std::uint32_t o : given) end = std::max(end, all[o].returned);
  // What is invoked later can do nothing for it.
  std::vector<SearchOperation> operations;
  std::vector<std::uint32_t> positions;
  std::vector<std::uint32_t> members;  // from the last return back
  for (std::uint32_t o = 0; o < all.size(); ++o) {
    if (all[o].invoked > end || all[o].action.effect == Action::Effect::none) continue;
    if (std::binary_search(given.begin(), given.end(), o))
      members.push_back(static_cast<std::uint32_t>(positions.size()));
    positions.push_back(o);
    operations.push_back(all[o]);
    operations.back().is_required = false;
  }
  std::sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(operations[b].returned, b) < std::pair(operations[a].returned, a);
  });

  Minimizer minimizer(operations, specification, limits);
  for (std::size_t count = 1; count < members.size(); count *= 2) {
    for (std::size_t i = 0; i < members.size(); ++i) operations[members[i]].is_required = i < count;
    if (minimizer.is_conflict() != Answer::yes) continue;
    members.resize(count);
    break;
  }
  for (const std::uint32_t o : members) operations[o].is_required = true;

  Conflict conflict{.is_minimal = true};
  // Many at once as long as that works, from the earliest on; the culprit last.
  for (std::size_t chunk = std::max<std::size_t>(1, members.size() / 2); !minimizer.is_exhausted(); chunk /= 2) {
    for (std::size_t end_of_chunk = members.size(); end_of_chunk > 0;) {
      const std::size_t begin = end_of_chunk > chunk ? end_of_chunk - chunk : 0;
      const std::span<const std::uint32_t> part = std::span(members).subspan(begin, end_of_chunk - begin);
      for (const std::uint32_t o : part) operations[o].is_required = false;
      const Answer answer = minimizer.is_conflict();
      if (answer != Answer::yes) {
        for (const std::uint32_t o : part) operations[o].is_required = true;
        if (chunk == 1 && answer == Answer::unknown) conflict.is_minimal = false;
      }
      end_of_chunk = begin;
    }
    std::erase_if(members, [&](std::uint32_t o) { return !operations[o].is_required; });
    if (chunk == 1) break;
  }
  conflict.is_minimal = conflict.is_minimal && !minimizer.is_exhausted();
  for (const std::uint32_t o : members) conflict.operations.push_back(positions[o]);
  std::sort(conflict.operations.begin(), conflict.operations.end());
  return conflict;
}

}  // namespace lockstep::checker
