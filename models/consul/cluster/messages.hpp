#pragma once

// What servers of Consul send each other besides Raft's own messages.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "models/consul/server/consul_server.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/message.hpp"

namespace lockstep::models::consul {

/// Of a request: no two in a cluster have the same, over crashes, too.
using RequestId = std::uint64_t;

/// A request on its way to the leader, and what the leader writes into the log: then a session has its id.
struct Command {
  RequestId id = 0;
  Request request;
  /// For histories; invalid: the leader has found that a session's TTL is over.
  sim::ProcessId by;

  std::string describe() const;
  std::uint64_t digest() const;
};

/// An RPC between servers.
class ServerMessage final : public sim::Message {
 public:
  /// The first one on a connection: whoever hears it hears, too, when its sender dies.
  struct Connect {};
  struct Forward {
    Command command;
  };
  struct Answered {
    RequestId id = 0;
    Told told;
  };

  explicit ServerMessage(std::variant<Connect, Forward, Answered> c) : content(std::move(c)) {
    opens_session = std::holds_alternative<Connect>(content);
  }

  std::string_view name() const override;
  std::string describe() const override;
  std::uint64_t digest() const override;

  std::variant<Connect, Forward, Answered> content;
};

}  // namespace lockstep::models::consul
