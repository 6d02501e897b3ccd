#pragma once

// Which pairs of events of a trace could as well have happened the other way round. Such a pair is a race, and its
// reversal is tried: source-DPOR (Abdulla, Aronis, Jonsson, Sagonas 2014).
//
// - Dependence is what events really did, in the state in which they did it (`World::access`): a SET NX that found the
//   key taken only read it. Of two events of one process only those depend on each other of which one changes what the
//   other reads or changes. At clients likewise, where a reply says what it does with the client's state, as one of
//   several answers that are only counted (`models/redis/client/gather.cpp`): which of them comes last matters, and not
//   in which order the others come.
// - A timer that an event cancels never runs, so it is in no trace that could show its race with that event. The
//   canceller and the cancelled are therefore a race by themselves.
// - Two events that causes and delays alone put into one order are no race: a reply that is there after 20ms at the
//   latest comes before the timeout of 50ms in every execution. Without this each timeout doubles the search for
//   nothing. Only what holds in every execution may be used; that a pair is ordered by the constraints of *this* trace
//   says nothing about the others.

#include <cstdint>
#include <vector>

#include "checker/explorer/branch.hpp"
#include "checker/explorer/reduction/conflicts.hpp"
#include "checker/explorer/reduction/search_tree.hpp"
#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

class Races {
 public:
  Races(const SearchRules& rules, Trace& trace, const Moment& moment, const Timing& timing, Conflicts& conflicts,
        SearchTree& tree)
      : rules_(rules), trace_(trace), moment_(moment), timing_(timing), conflicts_(conflicts), tree_(tree) {}

  // --- While an event is executed.

  void begin() { cancelled_here_.clear(); }
  /// It cancels this timer, which was set before.
  void note_cancelled(const sim::Event& timer);

  // --- When it has been.

  /// What happens before it. Its races were found by whoever came there first.
  void fill_past(std::uint32_t position) {
    if (is_raced(position)) find(position, kNone);
  }
  /// Tries the reversals of its races with those before it: it depends on them, and nothing in between forces the
  /// order. Also fills its past.
  void reverse_all(std::uint32_t position);
  /// The event sleeps with its answers, but others that it was not given need not.
  void note_redundant(std::uint32_t position);

 private:
  struct Cancelled {
    Scheduled timer;
    std::uint32_t cause;
    sim::Duration least_delay;
  };

  /// Nothing of a coda is.
  bool is_raced(std::uint32_t position) const {
    return rules_.options.reduction && !(moment_.is_coda() && position >= *moment_.coda_from());
  }
  void find(std::uint32_t position, std::uint32_t last);
  void reverse_cancelled(std::uint32_t position);
  bool is_last_by_chance(std::uint32_t earlier, std::uint32_t later) const;
  void reverse(std::uint32_t earlier, std::uint32_t later, std::uint32_t last);
  void follow_to(std::uint32_t later);
  void begin_with_past_of(std::uint32_t position);

  const SearchRules& rules_;
  Trace& trace_;
  const Moment& moment_;
  const Timing& timing_;
  Conflicts& conflicts_;
  SearchTree& tree_;

  std::vector<Cancelled> cancelled_here_;
  // Scratch.
  std::vector<std::uint32_t> races_;
  std::vector<std::uint32_t> part_;
  Reversal reversal_;
};

}  // namespace lockstep::checker::explorer
