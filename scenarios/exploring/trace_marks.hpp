#pragma once

// Which telling states an exploration reached, so that nothing holds for want of trouble.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "scenarios/exploring/exploration_result.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/worlds/fault_words.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::scenarios {

/// Counts traces. All of it is read from orders of one process or of one server's object, so no constraint is asked.
class TraceMarks {
 public:
  /// Requires: both outlive it. A budget for each [[may]], in the order of the file.
  TraceMarks(const Scenario& scenario, bool is_semaphore, std::span<const checker::FaultBudget> budgets)
      : scenario_(&scenario), is_semaphore_(is_semaphore), budgets_(budgets) {}

  /// Requires: called at the end of a trace.
  void look(const checker::Explorer& explorer, const sim::World& world);
  void merge(const TraceMarks& other);

  /// Without that nothing was tried.
  bool somebody_got_the_lock() const;
  /// Those that the story could reach: a fault that may not happen is left out, and that a client got the lock goes
  /// without saying.
  std::vector<Mark> marks() const;
  /// What made no difference in all of these traces. Requires: they are all there are.
  std::vector<Idle> idle() const;

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
  /// All that it knows, as numbers; and back. False: it is something else.
  void write(std::ostream& out) const;
  bool read(std::istream& in);

 private:
  /// Bits, by number. What has a higher number than there are bits is taken to be noticed.
  struct Noticed {
    std::uint64_t struck = 0;   ///< by budget
    std::uint64_t crossed = 0;  ///< by budget: a message went from one of its sides to the other
    std::uint64_t met = 0;      ///< by process: it and a client sent each other something, or a server told of it
    std::uint64_t read = 0;     ///< by process: it asked its wall clock
  };

  bool is_of(sim::FaultMark::Of of, const sim::History& story, const checker::ExploredFault& fault) const;
  void notice(const checker::Explorer& explorer, const sim::World& world);
  bool is_client(sim::ProcessId process) const { return process.index < scenario_->clients.size(); }
  /// A server or a sentinel; else a client, its thread, the probe or the resource.
  bool is_service(sim::ProcessId process) const;
  bool is_met(sim::ProcessId process) const;
  bool reads_clock(sim::ProcessId process) const;
  std::optional<Idle::Why> why_idle(std::size_t budget) const;

  const Scenario* scenario_;
  bool is_semaphore_;
  std::span<const checker::FaultBudget> budgets_;
  std::array<std::uint64_t, kCount> counts_{};
  Noticed noticed_;
};

}  // namespace lockstep::scenarios
