#pragma once

// What a program says of its locks, in lines of its output: "lockstep: acquired stock token=7".

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/worlds/world.hpp"

namespace lockstep::programs {

struct BeliefLine {
  enum class Kind : std::uint8_t { acquired, releasing, released, lost };
  Kind kind = Kind::acquired;
  std::string lock;
  std::optional<std::int64_t> token;
  bool operator==(const BeliefLine&) const = default;
};

/// Nothing: the line has nothing to do with locks.
std::optional<BeliefLine> read_belief(std::string_view line);

/// Writes what one program believes into the history of its world, at the moment at which it says so.
class Beliefs {
 public:
  /// What is wrong with it, in a sentence; nothing: it has been written down. Until when a program believed must be
  /// known: a lock that is given back in a call is another's before the call returns.
  std::optional<std::string> take(sim::World& world, sim::ProcessId process, const BeliefLine& line);
  /// The program has come to its end: nobody is there any more who believes.
  void end(sim::World& world, sim::ProcessId process);
  /// The process has died, which its world knows.
  void forget() { holds_.clear(); }

 private:
  struct Hold {
    sim::OperationId acquire = 0;
    sim::OperationId release = 0;  ///< 0: not begun
  };
  std::map<std::string, Hold> holds_;  ///< by lock
};

}  // namespace lockstep::programs
