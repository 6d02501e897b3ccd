#pragma once

// Somebody beside a simulated server who carries out the same commands at another one, and whose answers count.

#include <optional>

#include "models/redis/database/session.hpp"
#include "models/redis/wire/messages.hpp"
#include "models/redis/wire/reply.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::models::redis {

class Node;

/// What it is told has happened at the simulated server already; what it gives back is what clients get. So they hear
/// what the other server says, and of both servers one can say where they differ.
class Relay {
 public:
  virtual ~Relay() = default;

  /// The node has carried out a request of a client or a sentinel. Nothing, here and as the result: the client is kept
  /// waiting.
  virtual std::optional<Reply> answered(Node& node, sim::ConnectionId connection, const Request& request,
                                        std::optional<Reply> answer) = 0;
  /// The node is about to send a message, the answer to a request that was kept waiting, or the end of a connection.
  /// Nothing: it is not sent.
  virtual std::optional<Reply> delivered(Node& node, const Delivery& delivery) = 0;
  /// The client of this connection has died, or has given up waiting: what its session held is gone.
  virtual void closed(Node& node, sim::ConnectionId connection) = 0;
  /// The node has crashed. `keep`: it has lost nothing but its connections.
  virtual void crashed(Node& node, bool keep) = 0;
  /// It has come back, and has answered nobody yet.
  virtual void restarted(Node& node) = 0;
};

}  // namespace lockstep::models::redis
