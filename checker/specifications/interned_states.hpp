#pragma once

// States that do not fit into a word: sequences of numbers, each kept once and named by an index. Equal sequences have
// equal indices.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/schedules/random.hpp"

namespace lockstep::checker::specifications {

class InternedStates {
 public:
  /// Index 0 is the empty sequence.
  InternedStates() : slots_(64, none) { intern({}); }

  std::span<const std::int64_t> at(std::uint64_t index) const {
    return std::span(values_).subspan(begins_[index], begins_[index + 1] - begins_[index]);
  }

  /// Requires: `sequence` is not part of this table.
  std::uint64_t intern(std::span<const std::int64_t> sequence) {
    std::uint64_t hash = sequence.size();
    for (const std::int64_t value : sequence) hash = sim::combine64(hash, static_cast<std::uint64_t>(value));
    std::size_t slot = hash & (slots_.size() - 1);
    for (; slots_[slot] != none; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::uint32_t index = slots_[slot];
      if (hashes_[index] == hash && std::ranges::equal(at(index), sequence)) return index;
    }
    const auto index = static_cast<std::uint32_t>(hashes_.size());
    slots_[slot] = index;
    hashes_.push_back(hash);
    values_.insert(values_.end(), sequence.begin(), sequence.end());
    begins_.push_back(values_.size());
    if (2 * hashes_.size() > slots_.size()) grow();
    return index;
  }

  std::size_t bytes() const {
    return values_.capacity() * 8 + begins_.capacity() * 8 + hashes_.capacity() * 8 + slots_.capacity() * 4;
  }

 private:
  void grow() {
    slots_.assign(slots_.size() * 2, none);
    for (std::uint32_t index = 0; index < hashes_.size(); ++index) {
      std::size_t slot = hashes_[index] & (slots_.size() - 1);
      while (slots_[slot] != none) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = index;
    }
  }

  static constexpr std::uint32_t none = 0xffffffff;
  std::vector<std::int64_t> values_;
  std::vector<std::size_t> begins_ = {0};
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;  ///< open addressing
};

}  // namespace lockstep::checker::specifications
