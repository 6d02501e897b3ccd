#pragma once

// A Redis server as a process: requests come in, commands are executed one at a time, replies go out.

#include <string_view>

#include "models/redis/command.hpp"
#include "models/redis/database.hpp"
#include "models/redis/reply.hpp"
#include "models/redis/script_engine.hpp"
#include "sim/message.hpp"
#include "sim/process.hpp"
#include "sim/world.hpp"

namespace lockstep::models::redis {

class Request final : public sim::Message {
 public:
  explicit Request(Command c) : command(std::move(c)) {}
  std::string_view name() const override { return command.name(); }
  std::string describe() const override { return command.describe(); }
  std::uint64_t digest() const override { return command.digest(); }

  Command command;
};

class Response final : public sim::Message {
 public:
  Response(std::string_view request_name, Reply reply) : content(std::move(reply)), request_name_(request_name) {}
  std::string_view name() const override { return request_name_; }
  std::string describe() const override { return content.describe(); }
  std::uint64_t digest() const override { return content.digest(); }

  Reply content;

 private:
  std::string_view request_name_;  ///< of the command table, so it outlives the request
};

/// Handling a command takes no time of its own; a slow server is a latency, or a pause. What a command did to which key
/// goes into the history as effects.
class Node final : public sim::Process {
 public:
  /// `scripts` may serve all nodes of a world. Requires: it outlives the node.
  explicit Node(ScriptEngine& scripts) : database_(scripts) {}

  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;

  const Database& database() const { return database_; }

 private:
  Database database_;
};

}  // namespace lockstep::models::redis
