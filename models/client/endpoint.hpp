#pragma once

// A client's side of its servers: one class for each kind of server, derived from this one, with whatever a client
// library of that kind offers.

#include "sim/worlds/ids.hpp"
#include "sim/worlds/message.hpp"

namespace lockstep::models {

/// The connections of one client to the servers of one kind. Algorithms know which kind theirs is and ask for it:
/// `client.to<redis::Endpoint>()`.
class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  /// A life of the client begins, and its program is about to: the place to open a session and to keep it alive.
  virtual void started() {}
  /// Its program has come to its end: the place to close a session. Not after a crash.
  virtual void ended() {}
  /// A server sent something that is no reply. Only after `Client::expect_unasked`.
  virtual void notified(sim::Message& message, sim::ConnectionId connection) {
    static_cast<void>(message);
    static_cast<void>(connection);
  }
  /// The client has died, or the world starts over: connections are as at the beginning.
  virtual void forget() {}
};

}  // namespace lockstep::models
