#pragma once

// For the tests of this folder: a database with a clock that the test moves.

#include <catch2/catch.hpp>

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/redis/database/database.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

/// What was sent to a real redis-server 7.0.15, and the bytes that it sent back.
struct Exchange {
  std::string_view sent;  ///< a line for redis-cli, or a script
  std::string_view reply;
};

class TestServer {
 public:
  explicit TestServer(ScriptLimits limits = {}) : engine(limits), database(engine) {}

  Reply send(const Command& command) { return database.execute(command, clock); }
  Reply send(std::string_view line) {
    auto parsed = parse_command_line(line);
    REQUIRE(std::holds_alternative<Command>(parsed));
    return send(std::get<Command>(parsed));
  }
  std::string resp(std::string_view line) { return send(line).resp(); }
  /// With one key, "key", and one argument, "argument".
  Reply eval(std::string_view script) { return send(Command{"EVAL", script, 1, "key", "argument"}); }

  void advance(sim::Duration d) { clock.jump(d); }

  /// The changes of the last command: "read a, write b".
  std::string changes() const {
    static constexpr std::string_view kKinds[] = {"read", "touch", "write", "remove", "expire", "reject"};
    std::string out;
    for (const KeyChange& change : database.changes()) {
      if (!out.empty()) out += ", ";
      out += kKinds[static_cast<std::size_t>(change.kind)];
      out += ' ';
      out += change.key;
    }
    return out;
  }

 private:
  sim::DefaultDecisions decisions_;
  sim::World world_{decisions_};
  sim::Simulation simulation_{world_};

 public:
  sim::Clock clock{world_, sim::Duration::seconds(1000), 0};
  ScriptEngine engine;
  Database database;
};

/// The same conversation with a new server.
inline void check_conversation(std::span<const Exchange> exchanges) {
  TestServer server;
  for (const auto& [sent, reply] : exchanges) {
    INFO(sent);
    CHECK(server.resp(sent) == reply);
  }
}

/// The same scripts, one after the other, on a server where the key "text" holds "abc".
inline void check_scripts(std::span<const Exchange> exchanges) {
  TestServer server;
  server.send("SET text abc");
  for (const auto& [sent, reply] : exchanges) {
    INFO(sent);
    CHECK(server.eval(sent).resp() == reply);
    CHECK_FALSE(server.database.limit_hit());
  }
}

}  // namespace lockstep::models::redis
