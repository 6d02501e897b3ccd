#pragma once

// A Redis server as a process: requests come in, commands are executed one at a time, replies and messages go out.

#include <memory>
#include <string_view>
#include <vector>

#include "models/redis/command.hpp"
#include "models/redis/database.hpp"
#include "models/redis/reply.hpp"
#include "models/redis/script_engine.hpp"
#include "sim/message.hpp"
#include "sim/process.hpp"
#include "sim/world.hpp"

namespace lockstep::models::redis {

/// One packet: a command, and what was written in front of it. The server reads them without anything in between, and
/// nobody waits for the replies of those in front.
class Request final : public sim::Message {
 public:
  explicit Request(Command c) : command(std::move(c)) {}
  std::string_view name() const override { return command.name(); }
  /// With commands in front: `EXEC: DEL lock; …`, without their MULTI.
  std::string describe() const override;
  std::uint64_t digest() const override;

  Command command;
  std::vector<Command> in_front;
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
///
/// A connection is one session of the server for as long as neither side dies. Of a client that died while it was blocked,
/// the server knows at once (its machine closed the connection): its BLPOP takes nothing any more.
class Node final : public sim::Process, private KeyWatcher {
 public:
  /// `scripts` may serve all nodes of a world. Requires: it outlives the node.
  explicit Node(ScriptEngine& scripts) : database_(scripts), pause_end_(*this) {}

  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;
  bool describes_accesses() const override { return true; }

  /// See `Database::set_script_memory`.
  void set_script_memory(ScriptMemory* memory) { database_.set_script_memory(memory); }
  const Database& database() const { return database_; }

 private:
  /// A request whose reply is still to come.
  struct Pending final : sim::TimerOwner {
    Pending(Node& n, sim::ConnectionId c, const Request& r) : node(n), connection(c), request(r) {}
    void timer_fired() override { node.time_out(*this); }
    Node& node;
    sim::ConnectionId connection;
    Request request;
    sim::TimerRef timer;
  };
  struct PauseEnd final : sim::TimerOwner {
    explicit PauseEnd(Node& n) : node(n) {}
    void timer_fired() override { node.release_held(); }
    Node& node;
  };

  void key_accessed(std::uint64_t key, bool changes) override { world().access(key, changes); }
  bool is_held_back(const Request& request);
  void handle(const Request& request, sim::ConnectionId connection);
  void record_effects(sim::OperationId operation);
  void send_deliveries();
  void block(const Request& request, sim::ConnectionId connection);
  void time_out(const Pending& blocked);
  void reply(const Request& request, sim::ConnectionId connection, Reply reply);
  void forget_dead_clients();
  void release_held();
  std::unique_ptr<Pending> take_blocked(sim::ConnectionId connection);

  Database database_;
  std::vector<std::uint32_t> incarnations_;  ///< by connection: which life of its client speaks on it
  std::vector<std::unique_ptr<Pending>> blocked_;
  std::vector<std::unique_ptr<Pending>> held_;  ///< by CLIENT PAUSE, in order of arrival
  PauseEnd pause_end_;
};

}  // namespace lockstep::models::redis
