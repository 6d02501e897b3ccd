#pragma once

// How much of something each process has, packed into the words of a state: 16 bits for each process that occurs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checker/linearizability/operation_history.hpp"

namespace lockstep::checker::specifications {

class ProcessCounts {
 public:
  static constexpr std::uint64_t count_max = 0xffff;

  ProcessCounts(const OperationHistory& history, std::span<const std::uint32_t> positions) {
    // As a rule processes are numbered densely; if not, a table as long as the history is still no waste.
    const std::size_t dense_max = 2 * positions.size() + 1024;
    for (const std::uint32_t i : positions) {
      const std::uint32_t process = history.operations[i].process;
      if (process >= index_.size()) {
        is_dense_ = process < dense_max;
        if (!is_dense_) break;
        index_.resize(process + std::size_t{1}, none);
      }
      index_[process] = 0;
    }
    if (is_dense_) {
      for (std::uint32_t p = 0; p < index_.size(); ++p) {
        if (index_[p] == none) continue;
        index_[p] = static_cast<std::uint32_t>(processes_.size());
        processes_.push_back(p);
      }
    } else {
      for (const std::uint32_t i : positions) processes_.push_back(history.operations[i].process);
      std::sort(processes_.begin(), processes_.end());
      processes_.erase(std::unique(processes_.begin(), processes_.end()), processes_.end());
    }
  }

  std::size_t words() const { return (processes_.size() + 3) / 4; }
  std::size_t processes() const { return processes_.size(); }
  std::uint32_t process(std::size_t index) const { return processes_[index]; }

  /// From 0 to processes() - 1. Requires: the process occurs.
  std::uint32_t index_of(std::uint32_t process) const {
    if (is_dense_) return index_[process];
    return static_cast<std::uint32_t>(std::lower_bound(processes_.begin(), processes_.end(), process) -
                                      processes_.begin());
  }

  static std::uint64_t get(const std::uint64_t* words, std::uint32_t index) {
    return words[index / 4] >> (index % 4 * 16) & count_max;
  }
  /// Requires: the count stays within 0 and count_max.
  static void add(std::uint64_t* words, std::uint32_t index, std::int64_t change) {
    words[index / 4] += static_cast<std::uint64_t>(change) << (index % 4 * 16);
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  bool is_dense_ = true;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> processes_;
};

}  // namespace lockstep::checker::specifications
