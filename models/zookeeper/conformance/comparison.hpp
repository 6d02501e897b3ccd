#pragma once

// A server that speaks ZooKeeper's protocol, beside the engine: the same random requests of several sessions.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/zookeeper/conformance/real_zookeeper.hpp"
#include "models/zookeeper/engine/engine.hpp"

namespace lockstep::models::zookeeper::conformance {

/// Described events, in their order.
using Heard = std::vector<std::string>;
Heard described(const std::vector<WatchedEvent>& events);

/// What each session has still to hear, as the engine says.
class Expected {
 public:
  void take(Engine& engine);
  Heard of(SessionId session);
  /// Somebody to whom something has been told.
  std::vector<SessionId> listeners() const;

 private:
  std::map<SessionId, Heard> heard_;
};

struct Comparison {
  int requests = 0;
  SessionId sessions = 0;
  std::size_t multis = 0, errors = 0, events = 0;
  std::string difference = {};  ///< the first one; empty: none
};
std::string describe(const Comparison& comparison);

/// Requires: `server` has had the transactions of `engine`, and neither has a session.
Comparison compare_random_requests(RealZooKeeper& server, Engine engine, int requests, std::uint64_t seed);

/// The nodes of a session go in no order: events of its end are compared as sets.
Heard sorted(Heard heard);

}  // namespace lockstep::models::zookeeper::conformance
