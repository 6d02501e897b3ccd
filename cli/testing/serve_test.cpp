// `lockstep serve` as its users meet it: a program with ports.

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/run.hpp"
#include "cli/testing/called.hpp"
#include "cli/testing/served_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::serve_test {

using namespace lockstep;
using cli::read_until;
using Program = cli::Served;

namespace {

const std::string kOneServer = in_tree("scenarios/stories/reference/set-nx-px-lua-3x2.toml");
const std::string kThreeServers = in_tree("scenarios/stories/reference/redlock-seq-3x3.toml");

int connect_to(std::uint16_t port, std::uint32_t host = INADDR_LOOPBACK) {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(host);
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return file;
  close(file);
  return -1;
}

class Visitor {
 public:
  explicit Visitor(std::uint16_t port) : file_(connect_to(port)) { REQUIRE(file_ >= 0); }
  ~Visitor() { close(file_); }
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;
  void say(std::string_view bytes) const {
    REQUIRE(send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  /// As many bytes as `wanted` has, or what came before the connection ended.
  std::string hear(std::size_t size) const {
    return read_until(file_, [&](const std::string& text) { return text.size() >= size; });
  }
  void expect(std::string_view bytes, std::string_view answer) const {
    say(bytes);
    CHECK(hear(answer.size()) == answer);
  }
  bool is_silent() const {
    pollfd waiting{file_, POLLIN, 0};
    return poll(&waiting, 1, 0) == 0;
  }
  /// Until the other side hangs up.
  std::string rest() const {
    return read_until(file_, [](const std::string&) { return false; });
  }

 private:
  int file_;
};

}  // namespace

TEST_CASE("real clients talk to a scenario's server, and Ctrl-C ends it") {
  Program program({kOneServer});
  REQUIRE(program.ports.size() == 1);
  const Visitor a(program.ports[0]), b(program.ports[0]);
  a.expect("*1\r\n$4\r\nPING\r\n", "+PONG\r\n");
  a.expect("SET k 1\r\nINCR k\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "+OK\r\n:2\r\n$1\r\n2\r\n");
  a.expect("EVAL \"return redis.call('INCRBY', KEYS[1], ARGV[1])\" 1 k 40\r\n", ":42\r\n");
  a.expect("MULTI\r\nGET k\r\nDEL k\r\nEXEC\r\n", "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n$2\r\n42\r\n:1\r\n");

  a.say("BLPOP list 0\r\n");
  b.expect("PING\r\n", "+PONG\r\n");
  CHECK(a.is_silent());
  b.expect("RPUSH list x\r\n", ":1\r\n");
  CHECK(a.hear(19) == "*2\r\n$4\r\nlist\r\n$1\r\nx\r\n");

  a.expect("SUBSCRIBE news\r\n", "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
  b.expect("PUBLISH news hi\r\n", ":1\r\n");
  CHECK(a.hear(34) == "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n");

  const Visitor c(program.ports[0]);
  c.say("*1\r\n$-5\r\n");
  CHECK(c.rest() == "-ERR Protocol error: invalid bulk length\r\n");
  CHECK(program.interrupt() == 0);
  CHECK(b.rest().empty());
}

TEST_CASE("served time is real time") {
  Program program({kOneServer});
  const Visitor a(program.ports[0]);
  a.expect("SET k v PX 100\r\nEXISTS k\r\n", "+OK\r\n:1\r\n");
  a.say("BLPOP none 0.2\r\n");
  CHECK(a.hear(5) == "*-1\r\n");
  a.expect("EXISTS k\r\n", ":0\r\n");
  // A server's clock shows the real time of day, so that an EXPIREAT means what its sender thinks.
  a.expect("SET k v\r\nEXPIREAT k " + std::to_string(::time(nullptr) + 1000) + "\r\n", "+OK\r\n:1\r\n");
  a.say("TTL k\r\n");
  const std::string left = a.hear(5);
  CHECK((left == ":1000\r\n" || left == ":999\r\n" || left == ":998\r\n" || left == ":997\r\n"));
}

TEST_CASE("stepped time stands still, to the millisecond") {
  Program program({kOneServer, "--step"});
  const Visitor a(program.ports[0]), b(program.ports[0]);
  a.expect("SET k v PX 100\r\n", "+OK\r\n");
  usleep(150'000);
  a.expect("PTTL k\r\n", ":100\r\n");
  b.say("BLPOP list 1\r\n");
  a.expect("DEBUG STEP 0.099\r\n", "+OK\r\n");
  a.expect("PTTL k\r\n", ":1\r\n");
  a.expect("DEBUG SLEEP 0.001\r\n", "+OK\r\n");
  a.expect("GET k\r\n", "$-1\r\n");
  CHECK(b.is_silent());
  a.expect("DEBUG STEP 2\r\n", "+OK\r\n");
  CHECK(b.hear(5) == "*-1\r\n");
}

TEST_CASE("whoever takes too long a step can hang up: time stays where it is, and others go on") {
  const Program program({in_tree("scenarios/stories/lock-summary/f001-10-sentinel-failover.toml"), "--step"});
  // Sentinels ping each other all the year: that takes an hour.
  auto impatient = std::make_unique<Visitor>(program.ports[0]);
  impatient->say("DEBUG STEP 31536000\r\n");
  const Visitor patient(program.ports[1]);  // the first crashes in this story
  patient.say("PING\r\n");
  usleep(100'000);
  CHECK(patient.is_silent());
  impatient.reset();
  patient.expect("", "+PONG\r\n");
}

TEST_CASE("each server of a scenario has its port") {
  Program program({kThreeServers});
  REQUIRE(program.ports.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const Visitor visitor(program.ports[i]);
    visitor.expect("SET k " + std::to_string(i) + "\r\nGET k\r\n", "+OK\r\n$1\r\n" + std::to_string(i) + "\r\n");
  }
}

TEST_CASE("replicas follow, and sentinels replace a primary that is gone") {
  // In this story redis2 follows redis1, cut off from it at 900 ms; redis1 dies at 1.5 s.
  Program program({in_tree("scenarios/stories/lock-summary/f001-10-sentinel-failover.toml"), "--step"});
  REQUIRE(program.ports.size() == 2);
  const Visitor first(program.ports[0]), second(program.ports[1]);
  first.expect("SET early 1\r\n", "+OK\r\n");
  first.expect("DEBUG STEP 0.1\r\n", "+OK\r\n");
  second.expect("GET early\r\n", "$1\r\n1\r\n");
  second.expect("SET k 1\r\n", "-READONLY You can't write against a read only replica.\r\n");
  second.expect("DEBUG STEP 4\r\n", "+OK\r\n");
  const Visitor again(program.ports[1]);
  again.expect("SET k 1\r\n", "+OK\r\n");
  first.say("PING\r\n");  // nobody is there any more: its machine would reset the connection
  CHECK(first.rest().empty());
}

TEST_CASE("nobody but this machine is let in") {
  Program program({kOneServer});
  // The listening sockets of this machine, as the kernel tells them: local address and port, in hexadecimal.
  std::ifstream sockets("/proc/net/tcp");
  std::ostringstream port;
  port << std::uppercase << std::hex << program.ports[0];
  std::string line;
  int listening = 0;
  while (std::getline(sockets, line)) {
    if (line.find(":" + std::string(4 - port.str().size(), '0') + port.str() + " 00000000:0000 0A") ==
        std::string::npos)
      continue;
    ++listening;
    CHECK(line.find("0100007F:") != std::string::npos);
  }
  CHECK(listening == 1);
}

TEST_CASE("many clients at once, some of whom vanish") {
  Program program({kOneServer});
  std::vector<std::unique_ptr<Visitor>> visitors;
  for (int i = 0; i < 200; ++i) {
    visitors.push_back(std::make_unique<Visitor>(program.ports[0]));
    visitors.back()->say("INCR n\r\n");
    if (i % 3 == 0) visitors.pop_back();
  }
  for (const auto& visitor : visitors) CHECK(visitor->hear(4).starts_with(":"));
  visitors.clear();
  const Visitor last(program.ports[0]);
  last.say("INCR n\r\n");
  const std::string count = last.hear(6);
  CHECK(std::stoi(count.substr(1)) >= 134);
  CHECK(std::stoi(count.substr(1)) <= 201);
}

TEST_CASE("serve refuses what it cannot do, with one message and exit 2") {
  Program program({kOneServer});
  const std::string taken = std::to_string(program.ports[0]);
  const cli::Called busy = cli::called({"serve", kOneServer, "--port", taken});
  CHECK(busy.exit == 2);
  CHECK(busy.out.empty());
  CHECK(busy.err == "lockstep: port " + taken + " of 127.0.0.1 is taken: choose another --port, or 0 for a free one\n");
  CHECK(cli::called({"serve"}).exit == 2);
  CHECK(cli::called({"serve", kOneServer, kThreeServers}).exit == 2);
  CHECK(cli::called({"serve", "nowhere.toml"}).exit == 2);
  CHECK(cli::called({"serve", in_tree("scenarios/stories/reference")}).err.find("serve needs one scenario") !=
        std::string::npos);
  CHECK(cli::called({"serve", kOneServer, "--port", "65536"}).err.find("0 to 65535") != std::string::npos);
  CHECK(cli::called({"serve", kOneServer, "--prot", "1"}).err.find("--port") != std::string::npos);
  CHECK(cli::called({"serve", kThreeServers, "--port", "65534"}).exit == 2);
  const cli::Called stepped = cli::called({"serve", in_tree("door/clients/zookeeper.toml"), "--step"});
  CHECK(stepped.exit == 2);
  CHECK(stepped.err.find("--step cannot be had: ZooKeeper's protocol has no request that could move time") !=
        std::string::npos);
}

}  // namespace lockstep::serve_test
