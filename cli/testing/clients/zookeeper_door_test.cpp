// `lockstep serve` and ZooKeeper's protocol: random requests beside the engine, and hostile bytes beside a real server,
// where one is installed.

#include <catch2/catch.hpp>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/testing/served_testing.hpp"
#include "models/zookeeper/conformance/comparison.hpp"
#include "models/zookeeper/server/zookeeper_server.hpp"
#include "models/zookeeper/wire/records.hpp"
#include "sim/testing/local_socket.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::zookeeper_door_test {
namespace {

using models::zookeeper::conformance::RealZooKeeper;
namespace wire = models::zookeeper::wire;

/// What is written as values one after the other.
class Bytes {
 public:
  Bytes& number(std::int32_t value) {
    wire::put_int(text_, value);
    return *this;
  }
  Bytes& wide(std::int64_t value) {
    wire::put_long(text_, value);
    return *this;
  }
  Bytes& yes_or_no(bool value) {
    wire::put_bool(text_, value);
    return *this;
  }
  Bytes& text(std::string_view value) {
    wire::put_text(text_, value);
    return *this;
  }
  Bytes& raw(std::string_view value) {
    text_ += value;
    return *this;
  }
  Bytes& open_access() {
    wire::put_open_access_list(text_);
    return *this;
  }
  const std::string& written() const { return text_; }

 private:
  std::string text_;
};

std::string packet(const Bytes& content) { return Bytes().text(content.written()).written(); }

std::string hello() {
  return packet(Bytes().number(0).wide(0).number(10'000).wide(0).text(std::string(16, '\0')).yes_or_no(false));
}

std::string request(std::int32_t xid, wire::OpCode type, const Bytes& body = {}) {
  return packet(Bytes().number(xid).number(static_cast<std::int32_t>(type)).raw(body.written()));
}

struct Told {
  std::string bytes;
  bool is_closed = false;
};

/// A connection on which something was said.
class Line {
 public:
  Line(std::uint16_t port, std::string_view bytes) : fd_(sim::connect_to_port(port)) {
    REQUIRE(fd_ >= 0);
    REQUIRE(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  Line(Line&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Line() {
    if (fd_ >= 0) close(fd_);
  }
  /// What comes back until it is closed, or nothing has come for so long.
  Told told(int quiet_ms) const {
    Told told;
    pollfd waiting{fd_, POLLIN, 0};
    while (!told.is_closed && poll(&waiting, 1, quiet_ms) == 1) {
      std::array<char, 4096> some;
      const ssize_t size = recv(fd_, some.data(), some.size(), 0);
      if (size > 0) told.bytes.append(some.data(), static_cast<std::size_t>(size));
      told.is_closed = size <= 0;
    }
    return told;
  }

 private:
  int fd_;
};

/// "session; 5: error -6, 0 bytes; …". Without what differs from server to server: numbers of sessions and transactions.
std::string described(const std::string& bytes, bool has_greeting) {
  wire::Reader in(bytes);
  std::string text;
  for (bool is_first = has_greeting; !in.is_at_end() && in.is_whole(); is_first = false) {
    const std::string content = in.take_some_text();
    wire::Reader reply(content);
    if (is_first) {
      text += wire::take_connect_response(reply).session != 0 ? "session" : "expired";
    } else {
      const wire::ReplyHeader header = wire::take_reply_header(reply);
      text += "; " + std::to_string(header.xid) + ": error " + std::to_string(header.error) + ", " +
              std::to_string(reply.rest().size()) + " bytes";
    }
  }
  return text;
}

struct Hostile {
  const char* name;
  std::string bytes;
  bool has_greeting = true;
};

std::vector<Hostile> hostile_bytes() {
  using wire::OpCode;
  const std::string ping = request(wire::kPingXid, OpCode::ping);
  const auto greeting = [](const Bytes& content) { return packet(content); };
  const std::string zeros(16, '\0');
  const auto after_hello = [&](std::string bytes) { return hello() + std::move(bytes); };
  const auto asked = [&](OpCode type, const Bytes& body) { return hello() + request(5, type, body) + ping; };
  return {
      {"nothing", "", false},
      {"no word of four letters", "garb", false},
      {"a browser", "GET / HTTP/1.1\r\n\r\n", false},
      {"a length below zero", Bytes().number(-1).written(), false},
      {"a length beyond memory", Bytes().number(0x7fffffff).written(), false},
      {"a length just too long", Bytes().number(0x100000).written(), false},
      {"a packet that never ends", Bytes().number(0xfffff).raw("xxxxxxxxxx").written(), false},
      {"an empty packet", Bytes().number(0).written(), false},
      {"a greeting that is too short", packet(Bytes().raw("abc")), false},
      {"half a greeting", hello().substr(0, 20), false},
      {"a greeting of before 3.4", greeting(Bytes().number(0).wide(0).number(10'000).wide(0).text(zeros))},
      {"no password", greeting(Bytes().number(0).wide(0).number(10'000).wide(0).number(-1).yes_or_no(false))},
      {"a password of -5 bytes",
       greeting(Bytes().number(0).wide(0).number(10'000).wide(0).number(-5).yes_or_no(false))},
      {"a session that never was",
       greeting(Bytes().number(0).wide(0).number(10'000).wide(12345).text(zeros).yes_or_no(false))},
      {"a zxid of the future",
       greeting(Bytes().number(0).wide(std::int64_t{1} << 50).number(10'000).wide(0).text(zeros).yes_or_no(false))},
      {"a greeting with more behind it",
       greeting(Bytes().number(0).wide(0).number(10'000).wide(0).text(zeros).yes_or_no(false).raw("more"))},
      {"another version of the protocol",
       greeting(Bytes().number(7).wide(0).number(10'000).wide(0).text(zeros).yes_or_no(false))},
      {"then an empty packet", after_hello(Bytes().number(0).written())},
      {"then a length below zero", after_hello(Bytes().number(-1).written())},
      {"then a length too long", after_hello(Bytes().number(0x100000).written())},
      {"then a header that is too short", after_hello(packet(Bytes().raw("abcde")))},
      {"then a second greeting", after_hello(hello())},
      {"an unknown request", after_hello(request(5, static_cast<OpCode>(77)))},
      {"an error as a request", after_hello(request(5, OpCode::error))},
      {"exists, and nothing", asked(OpCode::exists, {})},
      {"exists, a path of -7 bytes", asked(OpCode::exists, Bytes().number(-7).yes_or_no(false))},
      {"exists, no path", asked(OpCode::exists, Bytes().number(-1).yes_or_no(false))},
      {"exists, more behind it", asked(OpCode::exists, Bytes().text("/x").yes_or_no(false).raw("more"))},
      {"getChildren, no path", asked(OpCode::get_children, Bytes().number(-1).yes_or_no(false))},
      {"create, and nothing", asked(OpCode::create, {})},
      {"create, no path", asked(OpCode::create, Bytes().number(-1).number(-1).open_access().number(0))},
      {"create, no data", asked(OpCode::create, Bytes().text("/h1").number(-1).open_access().number(1))},
      {"create, an empty access list", asked(OpCode::create, Bytes().text("/h2").number(0).number(0).number(1))},
      {"create, no access list", asked(OpCode::create, Bytes().text("/h2").number(0).number(-1).number(1))},
      {"create, an access list beyond memory",
       asked(OpCode::create, Bytes().text("/h2").number(0).number(100'000'000).number(1))},
      {"create, an unknown mode", asked(OpCode::create, Bytes().text("/h2").number(0).open_access().number(9))},
      {"create, a mode below zero", asked(OpCode::create, Bytes().text("/h2").number(0).open_access().number(-1))},
      {"create, a time to live", asked(OpCode::create, Bytes().text("/h2").number(0).open_access().number(5))},
      {"createTTL", asked(OpCode::create_ttl, Bytes().text("/h2").number(0).open_access().number(5).wide(1000))},
      {"a container, and its deletion",
       asked(OpCode::create_container, Bytes().text("/h3").number(0).open_access().number(4)) +
           request(6, OpCode::remove, Bytes().text("/h3").number(-1))},
      {"a container by create", asked(OpCode::create, Bytes().text("/h4").number(0).open_access().number(4))},
      {"multi, and nothing", asked(OpCode::multi, {})},
      {"multi of none", asked(OpCode::multi, Bytes().number(-1).yes_or_no(true).number(-1))},
      {"multi of an unknown one", asked(OpCode::multi, Bytes().number(77).yes_or_no(false).number(-1))},
      {"multi of a read",
       asked(
           OpCode::multi,
           Bytes().number(3).yes_or_no(false).number(-1).text("/x").yes_or_no(false).number(-1).yes_or_no(true).number(
               -1))},
      {"multi without an end", asked(OpCode::multi, Bytes().number(2).yes_or_no(false).number(-1).text("/x"))},
      {"multi that fails",
       asked(OpCode::multi,
             Bytes().number(2).yes_or_no(false).number(-1).text("/xyz").number(-1).number(-1).yes_or_no(true).number(
                 -1))},
      {"delete, no version", asked(OpCode::remove, Bytes().text("/x"))},
      {"setData, no data", asked(OpCode::set_data, Bytes().text("/x"))},
      {"getACL of no node", asked(OpCode::get_acl, Bytes().text("/none"))},
      {"getACL", asked(OpCode::get_acl, Bytes().text("/"))},
      {"getACL, and nothing", asked(OpCode::get_acl, {})},
      {"sync", asked(OpCode::sync, Bytes().text("/"))},
      {"sync, and nothing", asked(OpCode::sync, {})},
      {"setWatches, and nothing", asked(OpCode::set_watches, Bytes().wide(0))},
      {"setWatches, no lists", asked(OpCode::set_watches, Bytes().wide(0).number(-1).number(-1).number(-1))},
      {"setWatches, a list of -3", asked(OpCode::set_watches, Bytes().wide(0).number(-3).number(0).number(0))},
      {"setWatches, a list beyond memory",
       asked(OpCode::set_watches, Bytes().wide(0).number(99'999'999).number(0).number(0))},
      {"setWatches2", asked(OpCode::set_watches2, Bytes().wide(0).number(0).number(0).number(0).number(0).number(0))},
      {"removeWatches of none", asked(OpCode::remove_watches, Bytes().text("/x").number(3))},
      {"removeWatches of no kind", asked(OpCode::remove_watches, Bytes().text("/x").number(9))},
      {"checkWatches, no kind", asked(OpCode::check_watches, Bytes().text("/x"))},
      {"a name and a password", asked(OpCode::auth, Bytes().number(0).text("digest").text("u:p"))},
      {"an address", asked(OpCode::auth, Bytes().number(0).text("ip").text(""))},
      {"an unknown scheme", after_hello(request(wire::kAuthXid, OpCode::auth, Bytes().number(0).text("?").text("")))},
      {"auth, and nothing", after_hello(request(wire::kAuthXid, OpCode::auth))},
      {"a login", asked(OpCode::sasl, Bytes().text("token"))},
      {"a session that is closed", after_hello(request(5, OpCode::close_session) + ping)},
  };
}

}  // namespace

TEST_CASE("served ZooKeeper: random requests of several sessions get the engine's answers, and watches its events") {
  cli::Served served({in_tree("door/clients/zookeeper.toml")});
  const auto server = RealZooKeeper::at(served.ports.at(0));
  // With the nodes that a story's server has from the beginning.
  const models::zookeeper::Server inside({}, {"/locks/lock"});
  const auto comparison = compare_random_requests(*server, inside.engine(), sim::cases(7'000, 200), 2);
  CHECK(comparison.difference == "");
  CHECK(comparison.errors > 0);
  CHECK(comparison.events > 0);
  std::cout << "lockstep serve: " << describe(comparison) << ": all as the engine says\n";
  CHECK(served.interrupt() == 0);
}

TEST_CASE("served ZooKeeper: hostile bytes end their connection or get the error that a real one gives") {
  cli::Served served({in_tree("door/clients/zookeeper.toml")});
  std::string why;
  const auto real = RealZooKeeper::start(why);
  if (real == nullptr) std::cout << "SKIPPED: " << why << "; hostile bytes were compared with nothing\n";
  // All at a time: no answer depends on another one, and the last of them have had the time of all.
  constexpr int kQuietMs = 1000;
  constexpr int kStillMs = 20;
  const std::vector<Hostile> all = hostile_bytes();
  std::vector<Line> ours, theirs;
  for (const Hostile& hostile : all) {
    ours.emplace_back(served.ports.at(0), hostile.bytes);
    if (real != nullptr) theirs.emplace_back(real->port(), hostile.bytes);
  }
  poll(nullptr, 0, kQuietMs);
  std::size_t closed = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(all[i].name);
    const Told told = ours[i].told(kStillMs);
    const std::string heard = described(told.bytes, all[i].has_greeting);
    closed += told.is_closed;
    if (real == nullptr) continue;
    const Told other = theirs[i].told(kStillMs);
    const std::string expected = described(other.bytes, all[i].has_greeting);
    CHECK(told.is_closed == other.is_closed);
    // What was still to be said when the connection was closed may be dropped, if more had come than was read.
    CHECK((heard.starts_with(expected) || (told.is_closed && expected.starts_with(heard))));
    if (!other.is_closed) CHECK(heard == expected);
  }
  CHECK(closed > 10);
  if (real != nullptr) {
    std::cout << "hostile bytes of " << all.size() << " kinds: as ZooKeeper " << real->version() << " answers them\n";
  }
  // And it lives on.
  CHECK(Line(served.ports.at(0), "ruok").told(kQuietMs).bytes == "imok");
}

}  // namespace lockstep::zookeeper_door_test
