#pragma once

// The lengths of a story, by the names in which a formula speaks of them: what the file sets, what the algorithm has by
// default, and how long faults may be.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios {

struct StoryLength {
  enum class Kind : std::uint8_t {
    exact,
    least,     ///< of a range
    greatest,  ///< of a range
    fault      ///< the most that faults of [[may]] may have of it; jumps and skews to either side
  };
  std::string name;   ///< "ttl", "hold", "hold of A", "least latency", "greatest latency", "pause"
  std::string range;  ///< what it is an end of: equal for both ends, and for nothing else
  Kind kind = Kind::exact;
  sim::Duration value;
  /// The algorithm's own, which many send in whole milliseconds: another value should be whole milliseconds, too.
  bool is_setting = false;
  bool is_work = false;        ///< how long a client works with the lock, at most
  bool is_one_length = false;  ///< a fault that is explored with one length, and not with all up to it
  std::function<void(Scenario&, sim::Duration)> set;
};

/// In the order of the file. What all clients have alike is one length. Restarts have none: of them more may be better.
/// Nor have clocks that are off or drift from the beginning.
std::vector<StoryLength> lengths_of(const Scenario& story, const models::locks::Catalogue& catalogue);

}  // namespace lockstep::scenarios
