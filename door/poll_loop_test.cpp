// With sockets: in which order clients are served.

#include "door/poll_loop.hpp"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "door/redis/redis_door.hpp"

namespace lockstep::door::poll_loop_test {
namespace {

constexpr int kPatienceMs = 10'000;

/// One server at a port, with a loop that runs when the test says so. Time stands still.
class Place {
 public:
  Place() : door_(Door::Time::is_stepped), node_(scripts_) {
    const sim::ProcessId server = world_.add(node_, "redis", {});
    world_.add(door_, "door", {});
    auto listener = listen_on_loopback(0, server);
    REQUIRE(std::holds_alternative<Listener>(listener));
    port = std::get<Listener>(listener).port;
    std::vector<Listener> listeners;
    listeners.push_back(std::get<Listener>(std::move(listener)));
    world_.start(door_.id(), {});
    loop_.emplace(world_, simulation_, door_, std::move(listeners), nullptr);
  }
  /// Until `is_done`, or for a hundred rounds in which nothing happens any more.
  void serve(const std::function<bool()>& is_done) {
    int rounds = 0;
    loop_->run([&] { return is_done() || ++rounds > 100; });
    loop_.reset();
  }

  std::uint16_t port = 0;

 private:
  sim::DefaultDecisions decisions_;
  models::redis::ScriptEngine scripts_;
  sim::World world_{decisions_};
  sim::Simulation simulation_{world_};
  RedisDoor door_;
  models::redis::Node node_;
  std::optional<PollLoop> loop_;
};

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  void say(std::string_view bytes) const {
    REQUIRE(send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  bool has_mail() const {
    pollfd waiting{socket_.number(), POLLIN, 0};
    return poll(&waiting, 1, 0) == 1;
  }
  std::string hear() const {
    pollfd waiting{socket_.number(), POLLIN, 0};
    REQUIRE(poll(&waiting, 1, kPatienceMs) == 1);
    std::array<char, 4096> piece;
    const ssize_t size = recv(socket_.number(), piece.data(), piece.size(), 0);
    return size > 0 ? std::string(piece.data(), static_cast<std::size_t>(size)) : "the end";
  }
  void close_for_writing() const { shutdown(socket_.number(), SHUT_WR); }

 private:
  File socket_;
};

}  // namespace

TEST_CASE("of two clients that race, the one whose bytes came first is served first, whoever was let in first") {
  Place place;
  std::array<Client, 3> clients{Client(place.port), Client(place.port), Client(place.port)};
  // Each round another order; in the round before each has been read, so that a list of ready sockets may remember it.
  constexpr std::array<std::array<std::size_t, 3>, 6> kOrders = {
      {{2, 1, 0}, {1, 2, 0}, {0, 1, 2}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}}};
  constexpr std::size_t kRaces = 60;
  std::size_t race = 0;
  std::string wrong;
  const auto begin = [&] {
    for (const std::size_t who : kOrders[race % kOrders.size()]) {
      clients[who].say("SET race" + std::to_string(race) + " " + std::to_string(who) + " NX\r\n");
    }
  };
  // First all are let in, in the order in which they came.
  for (const Client& client : clients) client.say("PING\r\n");
  bool is_in = false;
  place.serve([&] {
    if (!clients[0].has_mail() || !clients[1].has_mail() || !clients[2].has_mail()) return false;
    if (!std::exchange(is_in, true)) {
      for (const Client& client : clients) CHECK(client.hear() == "+PONG\r\n");
      begin();
      return false;
    }
    const std::size_t first = kOrders[race % kOrders.size()][0];
    for (std::size_t who = 0; who < clients.size(); ++who) {
      if ((clients[who].hear() == "+OK\r\n") != (who == first)) wrong += std::to_string(race) + " ";
    }
    if (++race == kRaces) return true;
    begin();
    return false;
  });
  CHECK(race == kRaces);
  CHECK(wrong == "");
}

TEST_CASE("a client that says no more hears its replies before the end") {
  Place place;
  const Client client(place.port);
  client.say("PING\r\nPING\r\n");
  client.close_for_writing();
  place.serve([&] { return client.has_mail(); });
  CHECK(client.hear() == "+PONG\r\n+PONG\r\n");
  CHECK(client.hear() == "the end");
}

TEST_CASE("a client that reads late gets all that it has asked for") {
  Place place;
  const Client client(place.port);
  const std::string word(1 << 20, 'x');
  client.say("SET k " + word.substr(0, 60'000) + "\r\n");
  std::string wanted = "+OK\r\n", heard;
  for (int i = 0; i < 200; ++i) {
    client.say("GET k\r\n");
    wanted += "$60000\r\n" + word.substr(0, 60'000) + "\r\n";
  }
  int rounds = 0;
  place.serve([&] {
    // More than the system's buffers hold is left unread at first.
    if (++rounds < 3) return false;
    while (client.has_mail()) heard += client.hear();
    rounds = 0;
    return heard.size() >= wanted.size();
  });
  CHECK(heard.size() == wanted.size());
  CHECK((heard == wanted));
}

}  // namespace lockstep::door::poll_loop_test
