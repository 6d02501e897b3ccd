#pragma once

// Processes that are alike, and the order in which they come: a rule of the world that is explored, as first in, first
// out is, and not of the reduction. docs/argument/exploring.md, "Clients that are alike", says why nothing is lost.

#include <cstdint>
#include <vector>

#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

class AlikeOrder {
 public:
  AlikeOrder(const SearchRules& rules, const Trace& trace, const Moment& moment)
      : rules_(rules), trace_(trace), moment_(moment) {}

  /// Whom the options call alike, in this moment's world.
  void watch();
  /// Whether it cannot come yet, since the one before it in order has not.
  bool keeps_waiting(const sim::Event& event) const { return !before_.empty() && waits(event); }
  /// Where, of the first `end` events, that stands which it comes after; `kNone`: it may come any time.
  std::uint32_t position_before(const sim::Event& event, std::uint32_t end) const;

 private:
  /// Who has to come before a process that is alike.
  struct Before {
    sim::ProcessId process;  ///< invalid: nobody
    bool by_start = false;   ///< it is their starts that are in order, and not their first requests
    std::uint32_t channel = sim::Event::kNoChannel;  ///< of first requests: those of `process`
    std::uint32_t own_channel = sim::Event::kNoChannel;
  };
  const Before* before(const sim::Event& event) const;
  bool waits(const sim::Event& event) const;

  const SearchRules& rules_;
  const Trace& trace_;
  const Moment& moment_;
  std::vector<Before> before_;  ///< by process; empty if nobody is alike
};

}  // namespace lockstep::checker::explorer
