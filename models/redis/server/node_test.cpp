// What needs a world: clients that wait for each other, messages on their way, and what a crash leaves of a connection.

#include "models/redis/server/node.hpp"

#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::redis::node_test {
namespace {

using namespace sim::literals;

/// A server, and clients that each run one program and write down what they see.
class Story {
 public:
  Story() { server_ = world_.add(node_, "redis", {}); }

  using Program = std::function<sim::Task<void>(Client&, Story&)>;
  Client& add(std::string name, Program program, sim::Duration starts = 0_ms) {
    Client& client = clients_.emplace_back([this, program](Client& c) { return program(c, *this); });
    const sim::ProcessId id = world_.add(client, std::move(name), {});
    for (int i = 0; i < 2; ++i) {
      client.connect<Endpoint>().add_server(world_.connect(id, server_, sim::DurationRange::exactly(1_ms)),
                                            std::nullopt);
    }
    world_.start(id, sim::DurationRange::exactly(starts));
    return client;
  }
  void crash(Client& client, sim::Duration at, std::optional<sim::Duration> restart_after = std::nullopt) {
    sim::PlannedFault fault;
    fault.kind = sim::PlannedFault::Kind::crash;
    fault.process = client.id();
    fault.at = at;
    if (restart_after) fault.restart_after = sim::DurationRange::exactly(*restart_after);
    world_.plan(std::move(fault));
  }
  std::vector<std::string> run() {
    world_.arm_faults();
    simulation_.run(sim::Instant::at(10_s), 10'000);
    return seen_;
  }
  void see(const Client& client, const std::string& what) {
    seen_.push_back(client.name() + " at " + sim::to_string(world_.now().offset()) + ": " + what);
  }
  sim::World& world() { return world_; }
  sim::Simulation& simulation() { return simulation_; }

 private:
  sim::DefaultDecisions decisions_;
  sim::World world_{decisions_};
  sim::Simulation simulation_{world_};
  ScriptEngine scripts_;
  Node node_{scripts_};
  sim::ProcessId server_;
  std::deque<Client> clients_;
  std::vector<std::string> seen_;
};

/// Sends one command and writes down its reply.
Story::Program says(std::string line) {
  return [line](Client& client, Story& story) -> sim::Task<void> {
    Command command = std::get<Command>(parse_command_line(line));
    const Reply reply = co_await server_of(client).call(std::move(command));
    story.see(client, reply.describe());
  };
}

}  // namespace

TEST_CASE("a key whose end somebody listens for ends by itself, when its time is over") {
  Story story;
  story.add("listener", [](Client& client, Story& told) -> sim::Task<void> {
    co_await server_of(client).subscribe("__keyevent@0__:expired");
    const std::optional<Reply> message = co_await server_of(client).next_message(9_s);
    told.see(client, message ? message->describe() : "nothing");
  });
  story.add(
      "holder",
      [](Client& client, Story&) -> sim::Task<void> {
        co_await server_of(client).call(Command{"SET", "before", "v", "PX", 60'000});
        co_await server_of(client).call(Command{"CONFIG", "SET", "notify-keyspace-events", "Ex"});
        co_await server_of(client).call(Command{"SET", "lock", "v", "PX", 500});
        co_await server_of(client).call(Command{"PEXPIRE", "lock", 100});
      },
      10_ms);
  // The last request arrives at 17ms; its event is 1ms on its way.
  CHECK(story.run() ==
        std::vector<std::string>{"listener at 118ms: 1) \"message\" 2) \"__keyevent@0__:expired\" 3) \"lock\""});
}

TEST_CASE("a blocked pop is answered when somebody pushes, first come, first served") {
  Story story;
  story.add("A", says("BLPOP l 0"));
  story.add("B", says("BRPOP l 0"), 1_ms);
  story.add("C", says("RPUSH l x y"), 100_ms);
  CHECK(story.run() == std::vector<std::string>{"C at 102ms: (integer) 2", "A at 102ms: 1) \"l\" 2) \"x\"",
                                                "B at 102ms: 1) \"l\" 2) \"y\""});
}

TEST_CASE("a blocked pop whose time is out takes nothing later") {
  Story story;
  story.add("A", says("BLPOP l 0.05"));
  story.add("B", says("WAIT 1 20"));
  story.add("C", says("RPUSH l x"), 100_ms);
  story.add("D", says("LLEN l"), 200_ms);
  CHECK(story.run() == std::vector<std::string>{"B at 22ms: (integer) 0", "A at 52ms: (nil)", "C at 102ms: (integer) 1",
                                                "D at 202ms: (integer) 1"});
}

TEST_CASE("a dead client's blocked pop takes nothing") {
  Story story;
  Client& dead = story.add("A", says("BLPOP l 0"));
  story.crash(dead, 50_ms);
  story.add("C", says("RPUSH l x"), 100_ms);
  story.add("D", says("LLEN l"), 200_ms);
  CHECK(story.run() == std::vector<std::string>{"C at 102ms: (integer) 1", "D at 202ms: (integer) 1"});
}

TEST_CASE("what a push did for a blocked client is that client's doing") {
  Story story;
  story.add("A", says("BLPOP l 0"));
  story.add("C", says("RPUSH l x"), 100_ms);
  story.run();
  std::string effects;
  for (const sim::Effect& effect : story.world().history().effects) {
    effects += story.world().name(effect.by) + (effect.kind == sim::Effect::Kind::remove  ? " removes; "
                                                : effect.kind == sim::Effect::Kind::write ? " writes; "
                                                                                          : " reads; ");
  }
  CHECK(effects == "A reads; C writes; A removes; ");
}

TEST_CASE("an effect knows which parts of its object it is about, whatever command or script changed them") {
  using Kind = sim::MemberChange::Kind;
  struct Case {
    std::string_view command;
    std::string expected;
  };
  // 'w': written, 'r': removed, 'n': without a name.
  const std::vector<Case> cases{{"HSET h a 1 b 2", "h w:a w:b"},
                                {"HSETNX h a 9", "h"},
                                {"HINCRBY h c 1", "h w:c"},
                                {"HINCRBYFLOAT h c 1", "h w:c"},
                                {"HDEL h a nobody", "h r:a"},
                                {"HDEL h b c", "h r:b r:c"},
                                {"SADD s a b", "s w:a w:b"},
                                {"SADD s a", "s"},
                                {"SMOVE s t a", "s r:a; t w:a"},
                                {"SREM s b", "s r:b"},
                                {"ZADD z 1 a 2 b", "z w:a w:b"},
                                {"ZADD z 1 a", "z"},
                                {"ZINCRBY z 1 a", "z w:a"},
                                {"ZPOPMIN z", "z r:a"},
                                {"ZADD z 5 c", "z w:c"},
                                {"ZREMRANGEBYSCORE z 0 3", "z r:b"},
                                {"ZREM z c", "z r:c"},
                                {"RPUSH l x y", "l n:"},
                                {"LPOP l", "l n:"},
                                {"LPOP l", "l n:"},
                                {"INCR i", "i n:"},
                                {"DECRBY i 3", "i n:"},
                                {"SET i 5", "i"},
                                {"DEL i", "i"},
                                {"SINTERSTORE u t t", "t; u n:"}};
  for (const bool is_scripted : {false, true}) {
    Story story;
    story.add("A", [&](Client& client, Story&) -> sim::Task<void> {
      for (const Case& each : cases) {
        Command command;
        if (is_scripted) {
          command.push_back("EVAL");
          command.push_back("return redis.call(unpack(ARGV))");
          command.push_back("0");
        }
        std::string_view rest = each.command;
        while (!rest.empty()) {
          const std::size_t end = std::min(rest.find(' '), rest.size());
          command.push_back(Value(std::string(rest.substr(0, end))));
          rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        co_await server_of(client).call(std::move(command));
      }
    });
    story.run();
    const sim::History& history = story.world().history();
    std::vector<std::string> done;
    std::optional<sim::Step> step;
    for (const sim::Effect& effect : history.effects) {
      if (step == effect.step) {
        done.back() += "; ";
      } else {
        done.emplace_back();
      }
      step = effect.step;
      done.back() += effect.object;
      for (const sim::MemberChange& change : history.members_of(effect)) {
        done.back() += change.kind == Kind::written ? " w:" : change.kind == Kind::removed ? " r:" : " n:";
        done.back() += change.member;
      }
    }
    REQUIRE(done.size() == cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      INFO(cases[i].command);
      CHECK(done[i] == cases[i].expected);
    }
  }
}

TEST_CASE("messages reach who is subscribed, in the order in which they were sent") {
  Story story;
  story.add(
      "A",
      [](Client& client, Story& s) -> sim::Task<void> {
        co_await server_of(client).subscribe("news");
        for (int i = 0; i < 3; ++i) {
          const std::optional<Reply> message = co_await server_of(client).next_message(500_ms);
          s.see(client, message ? message->describe() : "nothing");
        }
        const std::optional<Reply> none = co_await server_of(client).next_message(500_ms);
        s.see(client, none ? none->describe() : "nothing");
      },
      10_ms);
  story.add("B", [](Client& client, Story& s) -> sim::Task<void> {
    co_await server_of(client).publish("news", "too early");
    co_await client.sleep(100_ms);
    Command both{"EVAL", "redis.call('publish', 'news', 1) redis.call('publish', 'news', 2) return 0", 0};
    co_await server_of(client).call(std::move(both));
    const Reply reached = co_await server_of(client).publish("news", "3");
    s.see(client, reached.describe());
  });
  CHECK(story.run() ==
        std::vector<std::string>{"A at 104ms: 1) \"message\" 2) \"news\" 3) \"1\"",
                                 "A at 104ms: 1) \"message\" 2) \"news\" 3) \"2\"", "B at 106ms: (integer) 1",
                                 "A at 106ms: 1) \"message\" 2) \"news\" 3) \"3\"", "A at 606ms: nothing"});
}

TEST_CASE("a subscription dies with its client") {
  Story story;
  int lives = 0;
  Client& client = story.add("A", [&lives](Client& c, Story& s) -> sim::Task<void> {
    if (++lives == 1) co_await server_of(c).subscribe("news");
    if (lives == 2) {
      const Reply reply = co_await server_of(c).get("k");
      s.see(c, reply.describe());
    }
    const std::optional<Reply> message = co_await server_of(c).next_message(1_s);
    s.see(c, message ? message->describe() : "nothing");
  });
  story.crash(client, 50_ms, 10_ms);
  story.add("B", says("PUBLISH news x"), 200_ms);
  CHECK(story.run() == std::vector<std::string>{"A at 62ms: (nil)", "B at 202ms: (integer) 0", "A at 1062ms: nothing"});
}

TEST_CASE("a transaction dies with its client") {
  Story story;
  int lives = 0;
  Client& client = story.add("A", [&lives](Client& c, Story& s) -> sim::Task<void> {
    const Reply reply = ++lives == 1 ? co_await server_of(c).call(Command{"MULTI"}) : co_await server_of(c).get("k");
    s.see(c, reply.describe());
  });
  story.crash(client, 50_ms, 10_ms);
  CHECK(story.run() == std::vector<std::string>{"A at 2ms: OK", "A at 62ms: (nil)"});
}

TEST_CASE("a killed connection's call has an unknown outcome, and its next request finds a new session") {
  Story story;
  story.add("A", [](Client& client, Story& s) -> sim::Task<void> {
    co_await server_of(client).call(Command{"CLIENT", "ID"});
    const Reply popped = co_await server_of(client).call(Command{"BLPOP", "l", 0});
    s.see(client, popped.describe());
    const Reply size = co_await server_of(client).call(Command{"LLEN", "l"});
    s.see(client, size.describe());
  });
  story.add("B", says("CLIENT KILL ID 1"), 100_ms);
  CHECK(story.run() ==
        std::vector<std::string>{"B at 102ms: (integer) 1", "A at 102ms: (no answer)", "A at 104ms: (integer) 0"});
}

TEST_CASE("a paused server answers when the pause is over, readers at once if only writers wait") {
  Story story;
  story.add("P", says("CLIENT PAUSE 100 WRITE"));
  story.add("W", says("SET k v"), 10_ms);
  story.add("R", says("GET k"), 20_ms);
  CHECK(story.run() == std::vector<std::string>{"P at 2ms: OK", "R at 22ms: (nil)", "W at 102ms: OK"});
  Story all;
  all.add("P", says("CLIENT PAUSE 100"));
  all.add("R", says("GET k"), 20_ms);
  all.add("W", says("SET k v"), 10_ms);
  all.add("U", says("CLIENT UNPAUSE"), 30_ms);
  CHECK(all.run() == std::vector<std::string>{"P at 2ms: OK", "W at 102ms: OK", "R at 102ms: \"v\"", "U at 102ms: OK"});
}

TEST_CASE("UNPAUSE lets writers go on at once") {
  Story story;
  story.add("P", says("CLIENT PAUSE 1000 WRITE"));
  story.add("W", says("SET k v"), 10_ms);
  story.add("U", says("CLIENT UNPAUSE"), 30_ms);
  CHECK(story.run() == std::vector<std::string>{"P at 2ms: OK", "U at 32ms: OK", "W at 32ms: OK"});
}

}  // namespace lockstep::models::redis::node_test
