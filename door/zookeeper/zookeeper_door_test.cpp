// Bytes in, bytes out, without sockets: what a door makes of ZooKeeper's clients.

#include "door/zookeeper/zookeeper_door.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/schedules/random.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::door::zookeeper_door_test {
namespace {

using namespace sim::literals;
using models::zookeeper::Create;
using models::zookeeper::CreateMode;
using models::zookeeper::Exists;
using models::zookeeper::GetData;
using models::zookeeper::Operation;
namespace wire = models::zookeeper::wire;

std::string packet(std::string_view content) {
  std::string bytes;
  wire::put_packet(bytes, content);
  return bytes;
}

std::string hello(const wire::ConnectRequest& request = {.timeout_ms = 1000}) {
  std::string content;
  wire::put(content, request);
  return packet(content);
}

std::string request(std::int32_t xid, wire::OpCode type, std::string_view body = "") {
  std::string content;
  wire::put(content, wire::RequestHeader{xid, type});
  content += body;
  return packet(content);
}

std::string request(std::int32_t xid, const Operation& operation) {
  std::string body;
  wire::put(body, operation);
  return request(xid, wire::type_of(operation), body);
}

/// One server and a door to it. Time moves when the test says so.
class House {
 public:
  explicit House(DoorLimits limits = {},
                 models::zookeeper::SessionTimes times = {.tick = 100_ms, .least = 200_ms, .most = {}})
      : door(limits), node(times, {}) {
    server = world.add(node, "zookeeper", {});
    world.add(door, "door", {});
  }
  VisitId enter() { return door.open(server); }
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
    simulation.run(sim::Instant::at(now_), 100'000);
    while (door.has_work()) {
      world.start(door.id(), sim::DurationRange::exactly(now_));
      simulation.run(sim::Instant::at(now_), 100'000);
    }
    door.notice_ends();
  }
  void wait(sim::Duration length) {
    now_ += length;
    settle();
  }
  void crash_for(sim::Duration length) {
    sim::PlannedFault crash;
    crash.kind = sim::PlannedFault::Kind::crash;
    crash.process = server;
    crash.keep = true;
    crash.restart_after = sim::DurationRange::exactly(length);
    world.strike_now(crash, world.now());
    settle();
  }

 private:
  sim::DefaultDecisions decisions_;
  sim::Duration now_;

 public:
  sim::World world{decisions_};
  sim::Simulation simulation{world};
  ZooKeeperDoor door;
  models::zookeeper::Server node;
  sim::ProcessId server;
};

/// What a client hears, packet by packet. Requires: whole packets.
class Heard {
 public:
  explicit Heard(std::string bytes) : bytes_(std::move(bytes)), in_(bytes_) {}
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;

  wire::ConnectResponse hello() {
    in_.take_int();
    return wire::take_connect_response(in_);
  }
  wire::ReplyHeader header() {
    in_.take_int();
    return wire::take_reply_header(in_);
  }
  /// "7: OK", "event NodeDeleted /a"
  std::string reply(wire::OpCode type) {
    const wire::ReplyHeader told = header();
    if (told.xid == wire::kNotificationXid) return "event " + describe(wire::take_event(in_));
    return std::to_string(told.xid) + ": " + describe(wire::take_answer(in_, type, told).result);
  }
  bool is_at_end() const { return in_.is_whole() && in_.is_at_end(); }

 private:
  std::string bytes_;
  wire::Reader in_;
};

wire::ConnectResponse greeted(House& house, VisitId visit, const wire::ConnectRequest& request = {.timeout_ms = 1000}) {
  Heard heard(house.say(visit, hello(request)));
  wire::ConnectResponse response = heard.hello();
  CHECK(heard.is_at_end());
  return response;
}

}  // namespace

TEST_CASE("a client that comes back with its session and password has it again; with another password it has expired") {
  House house;
  const VisitId a = house.enter();
  const wire::ConnectResponse first = greeted(house, a);
  CHECK(first.session != 0);
  CHECK(first.timeout_ms == 1000);
  house.leave(a);
  const VisitId b = house.enter();
  const wire::ConnectRequest again{.timeout_ms = 1000, .session = first.session, .password = first.password};
  CHECK(greeted(house, b, again).session == first.session);
  wire::ConnectRequest wrong = again;
  wrong.password[3] ^= 1;
  const VisitId c = house.enter();
  const wire::ConnectResponse refused = greeted(house, c, wrong);
  CHECK(refused.session == 0);
  CHECK(refused.timeout_ms == 0);
  CHECK(house.door.is_over(c));
  CHECK_FALSE(house.door.is_over(b));
}

TEST_CASE("a session gets the timeout that it asks for within the server's limits, and no less than a moment") {
  House house;
  CHECK(greeted(house, house.enter(), {.timeout_ms = 5000}).timeout_ms == 5000);
  CHECK(greeted(house, house.enter(), {.timeout_ms = 1}).timeout_ms == 200);
  CHECK(greeted(house, house.enter(), {.timeout_ms = -7}).timeout_ms == 200);
  // A timeout of none would tell the client that its session has expired.
  House without_ticks({}, {});
  CHECK(greeted(without_ticks, without_ticks.enter(), {.timeout_ms = -7}).timeout_ms == 1);
}

TEST_CASE("a request that ZooKeeper does not know ends the connection, one that is not done here does not") {
  House house;
  const VisitId a = house.enter();
  greeted(house, a);
  CHECK(Heard(house.say(a, request(1, wire::OpCode::who_am_i))).header().error == -6);
  CHECK_FALSE(house.door.is_over(a));
  CHECK(Heard(house.say(a, request(2, static_cast<wire::OpCode>(77)))).header().error == -6);
  CHECK(house.door.is_over(a));
}

TEST_CASE("a client of before 3.4 does not say whether it may be read only, and is not told") {
  House house;
  CHECK_FALSE(greeted(house, house.enter(), {.timeout_ms = 1000, .may_be_read_only = std::nullopt}).is_read_only);
  CHECK(greeted(house, house.enter()).is_read_only);
}

TEST_CASE("ZooKeeper's requests come in pieces of any size, several at once, and are answered in their order") {
  House house;
  const VisitId a = house.enter();
  greeted(house, a);
  const std::string all = request(1, Create{"/a", "one"}) + request(2, GetData{"/a"}) + request(3, Exists{"/b"}) +
                          request(wire::kPingXid, wire::OpCode::ping);
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, all.size()}) {
    std::string told;
    for (std::size_t at = 0; at < all.size(); at += size) told += house.say(a, std::string_view(all).substr(at, size));
    Heard heard(std::move(told));
    CHECK(heard.reply(wire::OpCode::create) == (size == 1 ? "1: /a" : "1: NodeExists"));
    CHECK(heard.reply(wire::OpCode::get_data).starts_with("2: \"one\", czxid 2"));
    CHECK(heard.reply(wire::OpCode::exists) == "3: NoNode");
    CHECK(heard.header().xid == wire::kPingXid);
    CHECK(heard.is_at_end());
  }
}

TEST_CASE("a watch is told before the answer to the change, and not once its client has gone") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  const wire::ConnectResponse session = greeted(house, a);
  greeted(house, b);
  house.say(a, request(1, Exists{"/a", true}));
  {
    Heard heard(house.say(a, request(2, Create{"/a"})));
    CHECK(heard.reply(wire::OpCode::create) == "event NodeCreated /a");
    CHECK(heard.reply(wire::OpCode::create) == "2: /a");
    CHECK(heard.is_at_end());
  }
  house.say(a, request(3, GetData{"/a", true}));
  {
    Heard heard(house.say(b, request(1, models::zookeeper::SetData{"/a", "x"})));
    CHECK(heard.reply(wire::OpCode::set_data).starts_with("1: "));
    CHECK(heard.is_at_end());
    Heard other(house.hear(a));
    CHECK(other.reply(wire::OpCode::get_data) == "event NodeDataChanged /a");
    CHECK(other.is_at_end());
  }
  house.say(a, request(4, GetData{"/a", true}));
  house.leave(a);
  // Another client on the same connection.
  const VisitId c = house.enter();
  CHECK(c == a);
  greeted(house, c);
  house.say(b, request(2, models::zookeeper::SetData{"/a", "y"}));
  CHECK(house.hear(c).empty());
  // And the first one elsewhere, which has not asked for its watch again.
  const VisitId d = house.enter();
  CHECK(greeted(house, d, {.timeout_ms = 1000, .session = session.session, .password = session.password}).session ==
        session.session);
  house.say(b, request(3, models::zookeeper::SetData{"/a", "z"}));
  CHECK(house.hear(d).empty());
}

TEST_CASE("a session that nobody is heard of ends with its nodes, and its connection is closed") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  const wire::ConnectResponse session = greeted(house, a);
  greeted(house, b, {.timeout_ms = 60'000});
  house.say(a, request(1, Create{.path = "/a", .mode = CreateMode::ephemeral}));
  house.say(b, request(1, Exists{"/a", true}));
  house.wait(900_ms);
  house.say(a, request(wire::kPingXid, wire::OpCode::ping));
  house.wait(999_ms);
  CHECK_FALSE(house.door.is_over(a));
  CHECK(house.hear(b).empty());
  house.wait(101_ms);
  CHECK(house.door.is_over(a));
  Heard heard(house.hear(b));
  CHECK(heard.reply(wire::OpCode::exists) == "event NodeDeleted /a");
  CHECK(greeted(house, house.enter(), {.session = session.session, .password = session.password}).session == 0);
}

TEST_CASE("a client that hangs up without a word keeps its session until the timeout") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  greeted(house, a);
  greeted(house, b, {.timeout_ms = 60'000});
  house.say(a, request(1, Create{.path = "/a", .mode = CreateMode::ephemeral}));
  house.leave(a);
  house.wait(999_ms);
  CHECK(Heard(house.say(b, request(1, GetData{"/a"}))).header().error == 0);
  house.wait(101_ms);
  CHECK(Heard(house.say(b, request(2, GetData{"/a"}))).header().error == -101);
}

TEST_CASE("a session that is closed is answered, and then the connection ends") {
  House house;
  const VisitId a = house.enter();
  greeted(house, a);
  Heard heard(house.say(a, request(1, Create{.path = "/a", .mode = CreateMode::ephemeral}) +
                               request(2, wire::OpCode::close_session) + request(3, Exists{"/a"})));
  CHECK(heard.reply(wire::OpCode::create) == "1: /a");
  const wire::ReplyHeader last = heard.header();
  CHECK(last.xid == 2);
  CHECK(last.error == 0);
  CHECK(heard.is_at_end());
  CHECK(house.door.is_over(a));
  CHECK(house.node.engine().paths().empty());
}

TEST_CASE("who connects anew with the same session ends the old connection at its next word") {
  House house;
  const VisitId a = house.enter(), b = house.enter();
  const wire::ConnectResponse session = greeted(house, a);
  greeted(house, b, {.timeout_ms = 1000, .session = session.session, .password = session.password});
  CHECK(house.say(a, request(1, Exists{"/a"})).empty());
  CHECK(house.door.is_over(a));
  CHECK(Heard(house.say(b, request(1, Exists{"/a"}))).header().error == -101);
}

TEST_CASE("a ZooKeeper server that crashes resets its connections, and sessions outlive that") {
  House house;
  const VisitId a = house.enter();
  const wire::ConnectResponse session = greeted(house, a);
  house.say(a, request(1, Create{.path = "/a", .mode = CreateMode::ephemeral}));
  house.crash_for(10_ms);
  CHECK(house.door.is_over(a));
  const VisitId early = house.enter();
  CHECK(house.door.is_over(early));
  house.wait(10_ms);
  house.leave(a);
  house.leave(early);
  const VisitId b = house.enter();
  CHECK(greeted(house, b, {.timeout_ms = 1000, .session = session.session, .password = session.password}).session ==
        session.session);
  CHECK(Heard(house.say(b, request(2, Exists{"/a"}))).header().error == 0);
}

TEST_CASE("whoever has seen more than this server has to try another one") {
  House house;
  const VisitId a = house.enter();
  CHECK(house.say(a, hello({.last_zxid_seen = 1, .timeout_ms = 1000})).empty());
  CHECK(house.door.is_over(a));
}

TEST_CASE("words of four letters are answered, and end the connection") {
  House house;
  const VisitId a = house.enter();
  CHECK(house.say(a, "ruok") == "imok");
  CHECK(house.door.is_over(a));
  CHECK(house.say(house.enter(), "srvr\n").starts_with("Zookeeper version: 3.8"));
  CHECK(house.say(house.enter(), "mntr") == "mntr is not executed because it is not in the whitelist.\n");
}

TEST_CASE("a client of ZooKeeper can make a door hold no more than its limits") {
  House house({.unread_bytes = 500, .read_ahead_bytes = 100});
  const VisitId a = house.enter();
  greeted(house, a);
  std::string length;
  wire::put_int(length, static_cast<std::int32_t>(wire::kLongestPacket) + 1);
  CHECK(house.say(a, length).empty());
  CHECK(house.door.is_over(a));

  const VisitId b = house.enter();
  greeted(house, b);
  std::string many;
  for (int i = 0; i < 50; ++i) many += request(i, Exists{"/a"});
  house.door.feed(b, many);
  house.settle();
  CHECK(house.door.is_flooded(b));
}

TEST_CASE("whatever bytes come to a ZooKeeper server, others are served, and answers are whole packets") {
  std::size_t ended = 0;
  std::size_t answered = 0;
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= sim::cases<std::uint64_t>(3000, 100); ++seed) {
    sim::Random random(seed);
    House house;
    const VisitId honest = house.enter();
    greeted(house, honest);
    const VisitId hostile = house.enter();
    const std::size_t hello_size = hello().size();
    std::string bytes = hello();
    for (int i = 0; i < 4; ++i) {
      switch (random.below(4)) {
        case 0: bytes += request(i, Create{.path = "/a", .mode = CreateMode::ephemeral_sequential}); break;
        case 1: bytes += request(i, models::zookeeper::Multi{{Create{"/b"}, models::zookeeper::Check{"/c", 2}}}); break;
        case 2: bytes += request(i, models::zookeeper::SetWatches{3, {"/a"}, {"/b"}, {"/c"}}); break;
        default:
          bytes += request(i, static_cast<wire::OpCode>(random.between(-12, 110)), std::string(random.below(20), '\1'));
      }
    }
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      // Rarely in its greeting, which is then no greeting.
      const std::size_t from = random.one_in(5) ? 0 : hello_size;
      bytes[from + random.below(bytes.size() - from)] = static_cast<char>(random.below(256));
    }
    std::string told;
    while (!bytes.empty() && !house.door.is_over(hostile)) {
      const std::size_t size = std::min(bytes.size(), static_cast<std::size_t>(random.between(1, 40)));
      told += house.say(hostile, std::string_view(bytes).substr(0, size));
      bytes.erase(0, size);
    }
    ended += house.door.is_over(hostile);
    wire::Reader in(told);
    for (bool is_first = true; !in.is_at_end(); is_first = false) {
      const std::string content = in.take_some_text();
      REQUIRE(in.is_whole());
      if (is_first) continue;
      wire::Reader reply(content);
      const wire::ReplyHeader header = wire::take_reply_header(reply);
      REQUIRE(reply.is_whole());
      ++answered;
      refused += header.error == -5 || header.error == -6;
    }
    Heard heard(house.say(honest, request(1, Exists{"/"})));
    CHECK(heard.header().error == 0);
  }
  CHECK(ended > 0);
  CHECK(answered > ended);
  CHECK(refused > 0);
}

}  // namespace lockstep::door::zookeeper_door_test
