#pragma once

// What goes between a client and a Redis server. All that a client needs to know of the server.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/redis/wire/command.hpp"
#include "models/redis/wire/reply.hpp"
#include "sim/worlds/message.hpp"

namespace lockstep::models::redis {

/// One packet: a command, and those written in front of it. The server reads them without anything in between; the
/// replies of those in front are not awaited.
class Request final : public sim::Message {
 public:
  explicit Request(const Command& c);
  explicit Request(Command&& c);
  std::string_view name() const override { return command.name(); }
  /// With commands in front: `EXEC: DEL lock; …`, without their MULTI.
  std::string describe() const override;
  std::uint64_t digest() const override;

  Command command;
  std::vector<Command> in_front;
};

class Response final : public sim::Message {
 public:
  Response(std::string_view request_name, Reply&& reply) : content(std::move(reply)), request_name_(request_name) {}
  std::string_view name() const override { return request_name_; }
  std::string describe() const override { return content.describe(); }
  std::uint64_t digest() const override { return content.digest(); }

  Reply content;
  bool closes = false;  ///< the server ends the connection after it

 private:
  std::string_view request_name_;  ///< of the command table, so it outlives the request
};

}  // namespace lockstep::models::redis
