#pragma once

// Random requests of ZooKeeper's protocol, and what the engine says to them: the comparison with a real server and the
// oracle draw the same ones.

#include <cstdint>
#include <string>
#include <vector>

#include "models/zookeeper/engine/engine.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::zookeeper::conformance {

/// Sessions are numbered in the order in which they were opened; each has one connection, with the same number.
struct Step {
  enum class Kind : std::uint8_t { open, close, reconnect, operation };
  Kind kind = Kind::operation;
  SessionId session = 0;
  Operation operation = {};
};

/// Everything that random requests are about lies below this node, which is to be created first.
inline constexpr std::string_view kTop = "/t";
inline constexpr std::size_t kSessionsMax = 4;

/// Requires: some session is open, and `kTop` is there.
Step random_step(sim::Random& random, const Engine& engine, SessionId last_session);
Answer carry_out(Engine& engine, const Step& step);

std::string describe(const Step& step);

}  // namespace lockstep::models::zookeeper::conformance
