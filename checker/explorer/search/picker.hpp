#pragma once

// Which event a trace goes on with, and when it is over.

#include <cstdint>
#include <optional>

#include "checker/explorer/reduction/arrivals.hpp"
#include "checker/explorer/reduction/search_tree.hpp"
#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

class Picker {
 public:
  Picker(const SearchRules& rules, const Trace& trace, const Moment& moment, const Timing& timing,
         const Arrivals& arrivals, SearchTree& tree)
      : rules_(rules), trace_(trace), moment_(moment), timing_(timing), arrivals_(arrivals), tree_(tree) {}

  /// The event, as a slot, that is tried first in the state after the trace: what follows in a reversal, or else the
  /// event that can be earliest. Nothing: all that can come sleeps.
  std::optional<std::uint32_t> next(const Place& place);
  /// Whether all is over: nothing is pending, or nothing but ticks that come after the story. Ticks repeat for ever;
  /// all that could still follow, follows after the story, if none of them can be due before an event that happened and
  /// is not itself of a tick. While somebody waits for an answer, that is no rest, as in a run
  /// (`sim::Simulation::run`): each of those who tick does so once more.
  bool is_quiet() const;
  /// Whether the next tick, and all else that is awake, comes later than all that is asleep: what follows has been
  /// explored where that was executed, and would go on here for ever.
  bool comes_after_all_sleepers(const Place& place, const sim::Event& tick) const;

 private:
  std::optional<std::uint32_t> followed(const Place& place);
  std::optional<std::uint32_t> earliest(const Place& place) const;
  bool can_come_first(const sim::Event& event) const;
  bool follows_rest(const sim::Event& tick) const;

  const SearchRules& rules_;
  const Trace& trace_;
  const Moment& moment_;
  const Timing& timing_;
  const Arrivals& arrivals_;
  SearchTree& tree_;
  mutable std::vector<sim::Instant> sleepers_;  ///< when each comes at the latest
  mutable std::vector<const sim::Event*> awake_;
};

}  // namespace lockstep::checker::explorer
