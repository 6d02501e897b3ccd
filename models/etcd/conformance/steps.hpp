#pragma once

// Random requests of etcd's API, and what the engine says to them: the comparison with a real etcd and the oracle draw
// the same ones.

#include <cstdint>
#include <string>
#include <vector>

#include "models/etcd/engine/engine.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::etcd::conformance {

struct Step {
  enum class Kind : std::uint8_t { operation, txn, compact, grant, revoke, keep_alive, time_to_live };
  Kind kind = Kind::operation;
  Operation operation = {};
  Txn txn = {};
  Revision revision = 0;  ///< of compact
  LeaseId lease = 0;      ///< of what concerns leases
};

struct Outcome {
  Answer answer = {};
  bool lease_lives = false;                  ///< of keep_alive and time_to_live
  std::vector<std::string> lease_keys = {};  ///< of time_to_live
  bool operator==(const Outcome&) const = default;
};

/// Of keys "a" to "f" and leases 1 to 4; revisions are those that are there, and a few that are not.
Step random_step(sim::Random& random, Revision present, Revision compacted);
Span random_span(sim::Random& random);
Outcome carry_out(Engine& engine, const Step& step);

std::string describe(const Step& step);
std::string describe(const Outcome& outcome);

}  // namespace lockstep::models::etcd::conformance
