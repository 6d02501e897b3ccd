#pragma once

// The faults of the present trace, within their budgets: whom they strike, and what is known of them.
//
// Who crashes, and whose clock jumps or is off, is decided before the first event; a crash is then an event of its
// process like others, at any time. Pauses and losses are decided where they strike. Budgets are counts, so they do not
// depend on the order of events.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checker/explorer/execution/questions.hpp"
#include "checker/explorer/explored.hpp"
#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/coroutines/region.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/faults.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

class FaultChoices {
 public:
  FaultChoices(const SearchRules& rules, Trace& trace, const Moment& moment, Timing& timing, Questions& questions)
      : rules_(rules),
        trace_(trace),
        moment_(moment),
        timing_(timing),
        questions_(questions),
        armed_(rules.faults.most_planned()) {}

  /// In the order in which they were met.
  std::span<const ExploredFault> faults() const { return faults_; }
  std::span<const ExploredParameter> parameters() const { return parameters_; }
  /// Whether no message had to wait for the end of some partition of this trace: the same trace without it is explored
  /// elsewhere.
  bool has_idle_partition() const;

  void note(StepMark& mark) const {
    mark.faults = faults_.size();
    mark.parameters = parameters_.size();
  }
  void undo(const StepMark& mark) {
    faults_.resize(mark.faults);
    parameters_.resize(mark.parameters);
  }
  void clear() { faults_.clear(); }

  // --- Before the first event.

  /// Decides what is decided beforehand. The world has begun again, inside of this region, and has emitted nothing.
  /// `is_new`: nothing of the trace stands.
  void decide(sim::Region* region, bool is_new);
  /// What is planned now strikes at any time. Called inside of the world's region.
  void arm();

  // --- While an event is executed.

  void begin() { emissions_ = 0; }
  /// The present event has emitted something. It is counted as the world does: with what is lost.
  void count_emission() { ++emissions_; }

  /// The budget of a pause that strikes now; nothing: none does. `of_work`: its process works meanwhile. Budgets
  /// before `first_budget` are not asked. `is_afterwards`: it begins when the present event has been
  /// handled, and only then it is known what its process is at: `is_void`.
  std::optional<std::size_t> ask_for_pause(sim::ProcessId process, bool of_work, std::size_t first_budget = 0,
                                           bool is_afterwards = false);
  /// A pause of this budget, and more that follow at the same place, one after the other; returns the end of the last.
  /// The first begins at `from` and ends at `until`. `of_work`: as in `ask_for_pause`.
  sim::Instant add_pauses(const Step& step, std::size_t budget, ExploredFault::Place place, sim::Instant from,
                          sim::Instant until, bool of_work = false);
  /// Another parameter of the trace: how long a pause takes.
  std::uint32_t add_length(const ExploredFault& pause, sim::DurationRange range) {
    parameters_.push_back({pause.budget, pause.process, range});
    return static_cast<std::uint32_t>(parameters_.size() - 1);
  }
  /// Whether the process of this event crashes in the pause that was added last, after it: then at this moment.
  std::optional<sim::Instant> ask_for_doom(const Step& step);
  /// It crashes in the pause that was added last, not before the one before it is over.
  void cut_last_pause(sim::Instant at);
  /// Crashes, restarts and jumps are events; what is known of them as faults is noted when they are executed.
  void note_fault(const Step& step, const sim::Event& event);
  /// The parameter by which the clock jumps, if this is a jump by a range.
  std::optional<std::uint32_t> parameter_of(const sim::PlannedFault& fault) const;
  /// Whether a message that is about to leave is lost. Another that is struck leaves later.
  bool strikes(sim::Event& message);
  /// Whether some message can be struck at all.
  bool may_strike() const { return rules_.faults.may_lose() || rules_.faults.may_delay(); }

  /// When a message was sent that leaves at `base`: earlier, if a fault delays it. What waits in the network has left
  /// its sender, and a connection that is lost meanwhile takes it along.
  sim::Instant departure_of(sim::Instant base) const;

  /// For checks: no more faults struck, up to the present event, than are allowed.
  bool are_within_budgets() const;
  /// Whether a pause that begins when an event has been handled may strike only who is at something that its process
  /// turns out not to be at; or one is cut short by a crash that strikes only who is at something else. No execution of
  /// the story has it.
  bool is_void(std::uint32_t position) const;

 private:
  /// A fault that was decided on before the first event, and is one.
  struct Armed {
    sim::PlannedFault fault;
    std::size_t budget = 0;
    std::optional<std::uint32_t> parameter;
  };
  const FaultBudget& budget(std::size_t i) const { return rules_.faults.budgets()[i]; }
  std::uint32_t spent(std::size_t budget) const;
  void choose_partitions(std::size_t budget, std::size_t& partitions, bool is_new);
  void choose_victims(std::size_t budget, bool is_new);
  void separate(std::size_t budget, std::size_t side, std::size_t number, bool is_new);
  void skew(std::size_t budget, sim::ProcessId victim, bool is_new);
  void plan(std::size_t budget, sim::ProcessId victim, bool is_new);
  std::uint32_t plan_parameter(std::size_t budget, sim::ProcessId victim, bool is_new);
  void add_pause(const Step& step, std::size_t budget, ExploredFault::Place place, sim::Instant from,
                 sim::Instant until, bool is_further);
  /// Where one execution is followed what lasts no time is nothing: a run would not show it.
  void keep_apart(sim::Instant from, sim::Instant until) {
    if (rules_.order.events > 0) timing_.add(Constraint::less_than(from, until));
  }
  std::vector<std::size_t> message_faults(const sim::Event& message) const;
  void put_off(sim::Event& message);

  const SearchRules& rules_;
  Trace& trace_;
  const Moment& moment_;
  Timing& timing_;
  Questions& questions_;
  sim::Region* region_ = nullptr;

  std::vector<ExploredFault> faults_;
  std::vector<ExploredParameter> parameters_;  ///< first those that are decided before the first event
  std::size_t planned_parameters_ = 0;         ///< of those, so far
  std::vector<Armed> armed_;                   ///< room for all that the budgets allow: events point at them
  std::size_t armed_count_ = 0;
  std::uint32_t emissions_ = 0;
};

}  // namespace lockstep::checker::explorer
