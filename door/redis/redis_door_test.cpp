// Bytes in, bytes out, without sockets: what a door makes of real clients.

#include "door/redis/redis_door.hpp"

#include <catch2/catch.hpp>

#include <optional>

#include "sim/schedules/simulation.hpp"

namespace lockstep::door::redis_door_test {
namespace {

using namespace sim::literals;

/// One server and a door to it. Time moves when the test says so.
class House {
 public:
  explicit House(Door::Time time = Door::Time::is_stepped, DoorLimits limits = {},
                 models::redis::RespLimits resp = RedisDoor::kLimits)
      : door(time, limits, resp), node(scripts_) {
    server = world.add(node, "redis", {});
    world.add(door, "door", {});
  }
  VisitId enter() { return door.open(server); }
  /// What comes back at once.
  std::string say(VisitId visit, std::string_view bytes) {
    door.feed(visit, bytes);
    settle();
    return hear(visit);
  }
  std::string hear(VisitId visit) { return std::exchange(door.output(visit), {}); }
  void leave(VisitId visit) {
    door.hang_up(visit);
    settle();
  }
  void settle() {
    now_ = std::max(now_, door.stepped_to().offset());
    simulation.run(sim::Instant::at(now_), 100'000);
    while (door.has_work()) {
      world.start(door.id(), sim::DurationRange::exactly(now_));
      simulation.run(sim::Instant::at(now_), 100'000);
    }
    door.notice_ends();
    if (door.stepped_to().offset() > now_) settle();
  }
  void wait(sim::Duration length) {
    now_ += length;
    settle();
  }

 private:
  sim::DefaultDecisions decisions_;
  models::redis::ScriptEngine scripts_;
  sim::Duration now_;

 public:
  sim::World world{decisions_};
  sim::Simulation simulation{world};
  RedisDoor door;
  models::redis::Node node;
  sim::ProcessId server;
};

}  // namespace

TEST_CASE("requests come as lines or as arrays, in pieces of any size, several at once") {
  House house;
  const VisitId a = house.enter();
  CHECK(house.say(a, "PING\r\n") == "+PONG\r\n");
  CHECK(house.say(a, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\nGET k\r\n\r\nNONSENSE\r\n") ==
        "+OK\r\n$1\r\nv\r\n-ERR unknown command 'NONSENSE', with args beginning with: \r\n");
  const std::string_view request = "*2\r\n$4\r\nECHO\r\n$2\r\nab\r\n";
  for (std::size_t i = 0; i + 1 < request.size(); ++i) CHECK(house.say(a, request.substr(i, 1)).empty());
  CHECK(house.say(a, request.substr(request.size() - 1)) == "$2\r\nab\r\n");
  CHECK(house.say(a, "EVAL \"return {KEYS[1], redis.call('GET', KEYS[1])}\" 1 k\r\n") ==
        "*2\r\n$1\r\nk\r\n$1\r\nv\r\n");
}

TEST_CASE("what breaks the protocol gets Redis' error and the end of the connection") {
  const auto last_words = [](std::string_view bytes) {
    House house;
    const VisitId a = house.enter();
    const std::string answer = house.say(a, bytes);
    CHECK(house.door.is_over(a));
    CHECK(house.say(a, "PING\r\n").empty());
    return answer;
  };
  CHECK(last_words("*1\r\n$99999999999\r\n") == "-ERR Protocol error: invalid bulk length\r\n");
  CHECK(last_words("*99999999\r\n") == "-ERR Protocol error: invalid multibulk length\r\n");
  CHECK(last_words("*1\r\n:1\r\n") == "-ERR Protocol error: expected '$', got ':'\r\n");
  CHECK(last_words("SET \"a\r\n") == "-ERR Protocol error: unbalanced quotes in request\r\n");
  CHECK(last_words("PING\r\n*x\r\nPING\r\n") == "+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n");
  CHECK(last_words(std::string(70'000, 'x')) == "-ERR Protocol error: too big inline request\r\n");
}

TEST_CASE("a client can make a door hold no more than its limits") {
  DoorLimits limits;
  limits.read_ahead_bytes = 100;
  limits.unread_bytes = 500;
  models::redis::RespLimits resp = RedisDoor::kLimits;
  resp.request_bytes = 1000;
  House house(Door::Time::is_stepped, limits, resp);
  const VisitId a = house.enter();
  std::string many = "*1000\r\n";
  for (int i = 0; i < 1000; ++i) many += "$0\r\n\r\n";
  CHECK(house.say(a, many) == "-ERR Protocol error: too big a request\r\n");

  const VisitId b = house.enter();
  CHECK(house.say(b, "BLPOP list 0\r\n").empty());
  CHECK(house.door.wants_input(b));
  house.door.feed(b, std::string(200, ' '));
  CHECK_FALSE(house.door.wants_input(b));

  const VisitId c = house.enter();
  CHECK_FALSE(house.door.is_flooded(c));
  house.door.feed(c, "ECHO " + std::string(600, 'x') + "\r\n");
  house.settle();
  CHECK(house.door.is_flooded(c));
}

TEST_CASE("requests that are never finished take no more than a bound in all, and whoever has most of them pays") {
  DoorLimits limits;
  limits.unfinished_bytes = 1000;
  House house(Door::Time::is_stepped, limits);
  const VisitId small = house.enter();
  CHECK(house.say(small, "*2\r\n$4\r\nECHO\r\n$300\r\n").empty());
  CHECK(house.say(small, std::string(200, 'a')).empty());
  const VisitId large = house.enter();
  // Some of it has been taken for arguments already, some waits for its end.
  CHECK(house.say(large, "*3\r\n$4\r\nMSET\r\n$300\r\n" + std::string(300, 'k') + "\r\n$900\r\n").empty());
  CHECK(house.say(large, std::string(200, 'b')).empty());
  CHECK_FALSE(house.door.is_over(large));
  const VisitId third = house.enter();
  CHECK(house.say(third, "*2\r\n$4\r\nECHO\r\n$300\r\n" + std::string(250, 'c')).empty());
  CHECK(house.door.is_over(large));
  CHECK(house.say(large, "PING\r\n").empty());
  CHECK(house.say(small, std::string(100, 'a') + "\r\n") == "$300\r\n" + std::string(300, 'a') + "\r\n");
  CHECK(house.say(third, std::string(50, 'c') + "\r\n") == "$300\r\n" + std::string(300, 'c') + "\r\n");
  // What is done, or was hung up on, does not count.
  for (int i = 0; i < 20; ++i) {
    CHECK(house.say(small, "ECHO " + std::string(100, 'd') + "\r\n").size() > 100);
    const VisitId other = house.enter();
    CHECK(house.say(other, "*1\r\n$300\r\n" + std::string(200, 'e')).empty());
    house.door.hang_up(other);
  }
  CHECK_FALSE(house.door.is_over(small));
  CHECK_FALSE(house.door.is_over(third));
}

TEST_CASE("a request behind a blocked one waits for its reply") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  CHECK(house.say(a, "BLPOP list 0\r\nPING\r\n").empty());
  CHECK(house.say(b, "RPUSH list x\r\n") == ":1\r\n");
  CHECK(house.hear(a) == "*2\r\n$4\r\nlist\r\n$1\r\nx\r\n+PONG\r\n");
}

TEST_CASE("messages of channels come unasked") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  CHECK(house.say(a, "SUBSCRIBE news c\r\n") ==
        "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:2\r\n");
  CHECK(house.say(b, "PUBLISH news hello\r\n") == ":1\r\n");
  CHECK(house.hear(a) == "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
  CHECK(house.say(a, "GET k\r\n").starts_with("-ERR Can't execute 'get'"));
  house.leave(a);
  CHECK(house.say(b, "PUBLISH news hello\r\n") == ":0\r\n");
}

TEST_CASE("one client's requests are answered before the next one's, and what waits behind a blocked one comes last") {
  House house;
  const VisitId a = house.enter(), b = house.enter(), c = house.enter();
  CHECK(house.say(c, "BLPOP q 0\r\nRPUSH l c\r\n").empty());
  house.door.feed(a, "RPUSH q x\r\nRPUSH l a1\r\nRPUSH l a2\r\n");
  house.door.feed(b, "RPUSH l b1\r\nRPUSH l b2\r\n");
  house.settle();
  // As redis-server 7.0.15, stopped while the bytes came in this order.
  CHECK(
      house.say(a, "LRANGE l 0 -1\r\n").ends_with("*5\r\n$2\r\na1\r\n$2\r\na2\r\n$2\r\nb1\r\n$2\r\nb2\r\n$1\r\nc\r\n"));
}

TEST_CASE("a blocked client that says more has its turn there, if it is let go before") {
  House house;
  const VisitId a = house.enter(), b = house.enter(), c = house.enter();
  CHECK(house.say(c, "BLPOP q 0\r\nRPUSH l c1\r\n").empty());
  house.door.feed(a, "RPUSH q x\r\n");
  house.door.feed(c, "RPUSH l c2\r\n");
  house.door.feed(b, "RPUSH l b\r\n");
  house.settle();
  CHECK(house.say(a, "LRANGE l 0 -1\r\n").ends_with("*3\r\n$2\r\nc1\r\n$2\r\nc2\r\n$1\r\nb\r\n"));
}

TEST_CASE("who is let go twice in one round goes on in the order of the first time") {
  House house;
  const VisitId a = house.enter(), b = house.enter(), c = house.enter(), d = house.enter();
  CHECK(house.say(b, "BLPOP q 0\r\n").empty());
  CHECK(house.say(c, "BLPOP r 0\r\nRPUSH l c\r\n").empty());
  house.door.feed(a, "RPUSH q x\r\n");
  house.door.feed(b, "BLPOP r 0\r\nRPUSH l b\r\n");
  house.door.feed(d, "RPUSH r x y\r\n");
  house.settle();
  // As redis-server 7.0.15: C waited longer for r, but B had been let go already.
  CHECK(house.say(a, "LRANGE l 0 -1\r\n").ends_with("*2\r\n$1\r\nb\r\n$1\r\nc\r\n"));
}

TEST_CASE("each connection speaks the protocol that it has asked for") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  CHECK(house.say(a, "HELLO 3 SETNAME a\r\n").starts_with("%7\r\n"));
  CHECK(house.say(a, "GET none\r\nSUBSCRIBE c\r\n") == "_\r\n>3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
  CHECK(house.say(b, "GET none\r\nPUBLISH c x\r\n") == "$-1\r\n:1\r\n");
  CHECK(house.hear(a) == ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n");
  CHECK(house.say(a, "BLPOP q 1\r\n").empty());
  house.wait(2_s);
  CHECK(house.hear(a) == "_\r\n");
  // Whoever comes on the same connection later begins with RESP2.
  house.leave(a);
  CHECK(house.say(house.enter(), "GET none\r\n") == "$-1\r\n");
}

TEST_CASE("a browser that was lured here is hung up on without a word") {
  for (const std::string_view request : {"POST / HTTP/1.1\r\nPING\r\n", "GET / HTTP/1.1\r\nHost: redis\r\n\r\n",
                                         "PING\r\n*1\r\n$4\r\npost\r\n", "MULTI\r\nHOST: x\r\n"}) {
    House house;
    const VisitId a = house.enter();
    CHECK(house.say(a, request).empty());
    CHECK(house.door.is_over(a));
  }
}

TEST_CASE("a step inside a transaction is refused, and so is its EXEC") {
  House house;
  const VisitId a = house.enter();
  CHECK(house.say(a, "MULTI\r\nSET k v\r\nDEBUG STEP 5\r\nEXEC\r\n") ==
        "+OK\r\n+QUEUED\r\n-ERR DEBUG STEP inside MULTI is not allowed: a transaction is one moment; EXEC it first\r\n"
        "-EXECABORT Transaction discarded because of previous errors.\r\n");
  CHECK(house.door.stepped_to().offset() == sim::Duration::zero());
  for (const std::string_view end : {"EXEC\r\n", "DISCARD\r\n", "RESET\r\n", "EXEC x\r\n"}) {
    house.say(a, "MULTI\r\nMULTI\r\n");
    house.say(a, end);
    CHECK(house.say(a, "DEBUG STEP 1\r\n") == "+OK\r\n");
  }
}

TEST_CASE("each connection has its own transaction, and takes it along when it goes") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  CHECK(house.say(a, "WATCH k\r\nMULTI\r\nINCR k\r\n") == "+OK\r\n+OK\r\n+QUEUED\r\n");
  CHECK(house.say(b, "SET k 5\r\n") == "+OK\r\n");
  CHECK(house.say(a, "EXEC\r\n") == "*-1\r\n");
  CHECK(house.say(a, "MULTI\r\nINCR k\r\n") == "+OK\r\n+QUEUED\r\n");
  house.leave(a);
  const VisitId c = house.enter();
  CHECK(c == a);
  CHECK(house.say(c, "EXEC\r\n") == "-ERR EXEC without MULTI\r\n");
}

TEST_CASE("a blocked client that hangs up takes nothing any more, not even on a connection that is used again") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  CHECK(house.say(a, "BLPOP list 0\r\n").empty());
  house.leave(a);
  const VisitId c = house.enter();
  CHECK(house.say(b, "RPUSH list x\r\n") == ":1\r\n");
  CHECK(house.hear(c).empty());
  CHECK(house.say(c, "LLEN list\r\n") == ":1\r\n");
}

TEST_CASE("a reply that is under way to somebody who has hung up reaches nobody") {
  House house;
  const VisitId a = house.enter();
  house.door.feed(a, "PING\r\n");
  house.door.hang_up(a);
  house.settle();
  const VisitId b = house.enter();
  CHECK(house.hear(b).empty());
  CHECK(house.say(b, "ECHO me\r\n") == "$2\r\nme\r\n");
}

TEST_CASE("QUIT and CLIENT KILL end a connection after what was to be said") {
  House house;
  const VisitId a = house.enter(), b = house.enter(), c = house.enter();
  CHECK(house.say(a, "QUIT\r\nPING\r\n") == "+OK\r\n");
  CHECK(house.door.is_over(a));
  const std::string id = house.say(b, "CLIENT ID\r\n").substr(1);
  CHECK(house.say(b, "BLPOP list 0\r\n").empty());
  CHECK(house.say(c, "CLIENT KILL ID " + id) == ":1\r\n");
  CHECK(house.door.is_over(b));
  CHECK(house.hear(b).empty());
  const std::string own = house.say(c, "CLIENT ID\r\n").substr(1);
  CHECK(house.say(c, "CLIENT KILL ID " + own.substr(0, own.size() - 2) + " SKIPME no\r\n") == ":1\r\n");
  CHECK(house.door.is_over(c));
}

TEST_CASE("a server that crashes resets its connections") {
  House house;
  const VisitId a = house.enter(), b = house.enter(), idle = house.enter();
  CHECK(house.say(a, "BLPOP list 0\r\n").empty());
  CHECK(house.say(idle, "HELLO 3\r\n").starts_with("%7"));
  sim::PlannedFault crash;
  crash.kind = sim::PlannedFault::Kind::crash;
  crash.process = house.server;
  crash.restart_after = sim::DurationRange::exactly(10_ms);
  house.world.strike_now(crash, house.world.now());
  CHECK(house.say(b, "PING\r\n").empty());
  CHECK(house.door.is_over(b));
  CHECK(house.door.is_over(a));
  CHECK(house.door.is_over(idle));
  // Nobody is let in before it is back.
  const VisitId early = house.enter();
  CHECK(house.door.is_over(early));
  house.wait(10_ms);
  for (const VisitId each : {a, b, idle, early}) house.leave(each);
  CHECK(house.say(house.enter(), "PING\r\n") == "+PONG\r\n");
}

TEST_CASE("stepped time moves by DEBUG STEP alone, and everything that is due happens on the way") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  CHECK(house.say(a, "SET lock me PX 1000\r\nDEBUG STEP 0.999\r\nPTTL lock\r\nDEBUG STEP 0.001\r\nGET lock\r\n") ==
        "+OK\r\n+OK\r\n:1\r\n+OK\r\n$-1\r\n");
  CHECK(house.say(b, "BLPOP list 2\r\n").empty());
  CHECK(house.say(a, "DEBUG STEP 1.999\r\n") == "+OK\r\n");
  CHECK(house.hear(b).empty());
  CHECK(house.say(a, "DEBUG STEP 1\r\n") == "+OK\r\n");
  CHECK(house.hear(b) == "*-1\r\n");
  CHECK(house.say(a, "DEBUG STEP x\r\n").starts_with("-ERR DEBUG STEP needs seconds"));
  CHECK(house.say(a, "DEBUG STEP -1\r\n").starts_with("-ERR DEBUG STEP needs seconds"));
  House running(Door::Time::runs);
  CHECK(running.say(running.enter(), "DEBUG STEP 1\r\n").starts_with("-ERR DEBUG STEP needs lockstep serve --step"));
}

TEST_CASE("DEBUG SLEEP puts the server to sleep: nobody is answered before it wakes") {
  House running(Door::Time::runs);
  const VisitId a = running.enter(), b = running.enter();
  CHECK(running.say(a, "SET k v PX 400\r\nDEBUG SLEEP 0.5\r\n") == "+OK\r\n");
  CHECK(running.say(b, "GET k\r\n").empty());
  running.wait(499_ms);
  CHECK(running.hear(a).empty());
  running.wait(1_ms);
  CHECK(running.hear(a) == "+OK\r\n");
  CHECK(running.hear(b) == "$-1\r\n");

  House stepped;
  CHECK(stepped.say(stepped.enter(), "SET k v PX 400\r\nDEBUG SLEEP 0.5\r\nGET k\r\n") == "+OK\r\n+OK\r\n$-1\r\n");
}

}  // namespace lockstep::door::redis_door_test
