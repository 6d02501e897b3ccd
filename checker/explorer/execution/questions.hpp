#pragma once

// Questions of the world, or of the explorer itself, while one event is executed: each is answered as this trace is to
// have it, and a new one with the first answer. A replay gets the answers that it got before.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checker/explorer/branch.hpp"
#include "checker/explorer/reduction/conflicts.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/last_words.hpp"

namespace lockstep::checker::explorer {

class Questions {
 public:
  Questions(Trace& trace, Timing& timing, Conflicts& conflicts)
      : trace_(trace), timing_(timing), conflicts_(conflicts) {}

  /// The present event begins, or what is decided before the first one.
  void begin() {
    next_ = 0;
    if (!timing_.is_infeasible()) beyond_time_ = 0;
  }
  /// The explorer's own questions are not asked again.
  void skip_own() { next_ = trace_.present().own_answers; }
  /// So far only the explorer has asked.
  void note_own() { trace_.present().own_answers = next_; }

  /// The present event has been executed. What it was to be answered it has asked.
  void end() {
    if (!timing_.is_infeasible() && next_ != trace_.answers().size()) sim::end_with_divergence();
  }

  /// Which of so many. Beyond the first infeasible event, and if there is but one, the first. `is_choice`: also a run
  /// would ask this.
  std::uint64_t ask(std::uint64_t options, bool is_choice = false) {
    if (options < 2 || (timing_.is_infeasible() && !trace_.is_replay())) return 0;
    std::vector<Answer>& known = trace_.answers();
    if (is_new(known)) known.push_back({static_cast<std::uint32_t>(options), 0});
    if (known[next_].options != options) sim::end_with_divergence();
    known[next_].is_choice = is_choice ? 1 : 0;
    return known[next_++].index;
  }

  /// A question of time. Asks only if both answers are feasible: `yes` and `no` are tried on the constraints. Answers
  /// that follow from these are noted all the same, since a replay does not look at them.
  template <class Yes, class No>
  bool decide(const Yes& yes, const No& no) {
    // Beyond the first infeasible event any answer will do, but "not yet" for ever would keep those waiting who ask
    // until it is time.
    constexpr std::uint32_t kPatience = 32;
    if (timing_.is_infeasible() && !trace_.is_replay()) return beyond_time_++ >= kPatience;
    std::vector<Answer>& known = trace_.answers();
    if (is_new(known)) {
      const auto deny = [&] { conflicts_.deny(); };
      const bool can_be = timing_.would_be_feasible(yes, deny);
      const bool cannot_be = timing_.would_be_feasible(no, deny);
      // Neither: it is no part of an execution here, whatever the answer.
      known.push_back(can_be && cannot_be ? Answer{2, 0} : Answer{1, cannot_be ? 1u : 0u});
    }
    const bool answer = known[next_++].index == 0;
    if (!trace_.is_replay()) answer ? yes() : no();
    return answer;
  }

 private:
  bool is_new(const std::vector<Answer>& known) const {
    if (next_ < known.size()) return false;
    if (trace_.is_replay()) sim::end_with_divergence();
    return true;
  }

  Trace& trace_;
  Timing& timing_;
  Conflicts& conflicts_;
  std::size_t next_ = 0;           ///< of the present answers
  std::uint32_t beyond_time_ = 0;  ///< questions of time since the first infeasible event
};

}  // namespace lockstep::checker::explorer
