#pragma once

// Which telling states an exploration reached, so that nothing holds for want of trouble.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "scenarios/exploring/exploration_result.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::scenarios {

/// Counts traces. All of it is read from orders of one process or of one server's object, so no constraint is asked.
class TraceMarks {
 public:
  /// `clients`: processes below this number are clients.
  explicit TraceMarks(std::size_t clients = 0) : clients_(clients) {}

  /// Requires: called at the end of a trace.
  void look(const checker::Explorer& explorer, const sim::History& story);
  void merge(const TraceMarks& other);

  /// Without that nothing was tried.
  bool somebody_got_the_lock() const;
  /// Those that the story could reach: a fault that may not happen is left out, and that a client got the lock goes
  /// without saying.
  std::vector<Mark> marks(std::span<const checker::FaultBudget> budgets) const;

  /// Five that are no fault's, and those that the faults have.
  static constexpr std::size_t kCount = [] {
    std::size_t count = 5;
    for (const sim::FaultKind kind : sim::kFaultKinds) {
      for (const sim::FaultMark& mark : sim::words_of(kind).marks)
        count += mark.of != sim::FaultMark::Of::nobody ? 1 : 0;
    }
    return count;
  }();
  /// Of all marks, in English and Chinese.
  static const std::array<std::pair<std::string_view, std::string_view>, kCount>& names();
  const std::array<std::uint64_t, kCount>& counts() const { return counts_; }
  void set_counts(const std::array<std::uint64_t, kCount>& counts) { counts_ = counts; }

 private:
  bool is_of(sim::FaultMark::Of of, const sim::History& story, const checker::ExploredFault& fault) const;

  std::size_t clients_;
  std::array<std::uint64_t, kCount> counts_{};
};

}  // namespace lockstep::scenarios
