// The socket of `lockstep play` beside strangers, with short deadlines.

#include "cli/commands/play/play_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/testing/called.hpp"
#include "cli/testing/served_testing.hpp"
#include "sim/testing/local_socket.hpp"

namespace lockstep::cli::play_server_test {
namespace {

using reports::play::Request;
using reports::play::Response;
using std::chrono::milliseconds;

/// Who says ?token=t may ask, and is answered with its body.
class Place {
 public:
  explicit Place(PlayLimits limits) : server_(limits), port_(server_.listen(0).value()) {
    serving_ = std::thread([this] {
      const auto refusal = [](const Request& head) -> std::optional<Response> {
        if (head.query_token == "t") return std::nullopt;
        return reports::play::refused(403, "no", "no");
      };
      const auto answer = [this](const Request& request) {
        ++answered;
        return Response{.body = "heard: " + request.body};
      };
      server_.serve(refusal, answer, [this] { return is_stopped_.load(); });
    });
  }
  ~Place() {
    is_stopped_ = true;
    serving_.join();
  }
  int connection() const {
    const int file = sim::connect_to_port(port_);
    REQUIRE(file >= 0);
    return file;
  }

  std::atomic<int> answered = 0;

 private:
  PlayServer server_;
  std::uint16_t port_;
  std::atomic<bool> is_stopped_ = false;
  std::thread serving_;
};

void say(int file, const std::string& bytes) { (void)send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

/// All that comes until it is hung up on.
std::string heard(int file) {
  std::string text = read_until(file, [](const std::string&) { return false; });
  close(file);
  return text;
}

std::string asked(const Place& place, const std::string& bytes) {
  const int file = place.connection();
  say(file, bytes);
  return heard(file);
}

bool is_hung_up_on(int file) {
  pollfd waiting{file, POLLIN, 0};
  char byte = 0;
  return poll(&waiting, 1, 0) == 1 && recv(file, &byte, 1, MSG_DONTWAIT) <= 0;
}

}  // namespace

TEST_CASE("play's server: what may not be read is refused by its head, and strangers before everything else") {
  Place place({});
  CHECK(contains(asked(place, "POST /run?token=t HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), "heard: abc"));
  CHECK(contains(asked(place, "GET /?n=1&token=t HTTP/1.1\r\n\r\n"), "heard: "));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Content-Length: 2\r\nContent-Encoding: gzip\r\n", "415"},
      {"Content-Length: 2\r\nContent-Encoding: identity\r\n", "415"},
      {"Transfer-Encoding: chunked\r\n", "415"},
      {"Transfer-Encoding: gzip, chunked\r\n", "415"},
      {"", "411"},
      {"Content-Length: 2\r\nContent-Length: 2\r\n", "400"},
      {"Content-Length: 2, 2\r\n", "400"},
      {"Content-Length: 16777217\r\n", "413"},
      {"Content-Length: 18446744073709551615\r\n", "413"},
  };
  for (const auto& [head, status] : cases) {
    INFO(head);
    CHECK(asked(place, "POST /?token=t HTTP/1.1\r\n" + head + "\r\n").starts_with("HTTP/1.1 " + status));
    CHECK(asked(place, "POST /?token=T HTTP/1.1\r\n" + head + "\r\n").starts_with("HTTP/1.1 403"));
  }
  for (const char* head :
       {"Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length: -1\r\n", "Content-Length: x\r\n",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "no colon\r\n", "a\x01: b\r\n"}) {
    INFO(head);
    CHECK(asked(place, std::string("POST /?token=t HTTP/1.1\r\n") + head + "\r\n").starts_with("HTTP/1.1 400"));
  }
  const std::string long_line(9000, 'a');
  std::string many_lines;
  for (int i = 0; i < 2000; ++i) many_lines += "a: b\r\n";
  CHECK(asked(place, "GET /?token=t&" + long_line).starts_with("HTTP/1.1 431"));
  CHECK(asked(place, "GET /?token=t HTTP/1.1\r\na: " + long_line).starts_with("HTTP/1.1 431"));
  CHECK(asked(place, "GET /?token=t HTTP/1.1\r\n" + many_lines + "\r\n").starts_with("HTTP/1.1 431"));
  CHECK(place.answered == 2);
}

TEST_CASE("play's server: whoever is slow is hung up on, however many bytes come, before the token and behind it") {
  const Place place({.of_head = milliseconds(100), .of_body = milliseconds(100)});
  for (const char* begin : {"", "GET /", "POST /?token=t HTTP/1.1\r\nContent-Length: 1000\r\n\r\n"}) {
    INFO(begin);
    const int file = place.connection();
    say(file, begin);
    const int enough = 400;  // four seconds; it takes a tenth of one
    int steps = 0;
    for (; steps < enough && !is_hung_up_on(file); ++steps) {
      if (*begin != '\0') say(file, "a");
      poll(nullptr, 0, 10);
    }
    CHECK(steps < enough);
    close(file);
  }
}

TEST_CASE("play's server: strangers who wait do not keep the owner out") {
  Place place({.connections = 8, .of_head = milliseconds(60'000)});
  std::vector<int> strangers;
  for (int i = 0; i < 40; ++i) {
    strangers.push_back(place.connection());
    say(strangers.back(), i % 2 == 0 ? "" : "GET / HTTP/1.1\r\nX: ");
    if (i % 10 == 9) CHECK(contains(asked(place, "GET /?token=t HTTP/1.1\r\n\r\n"), "heard: "));
  }
  // One whose token is known is not the one that makes room, however old it is.
  const int owner = place.connection();
  say(owner, "POST /?token=t HTTP/1.1\r\nContent-Length: 3\r\n\r\na");
  poll(nullptr, 0, 20);
  for (int i = 0; i < 20; ++i) strangers.push_back(place.connection());
  say(owner, "bc");
  CHECK(contains(heard(owner), "heard: abc"));
  CHECK(is_hung_up_on(strangers.front()));
  for (const int file : strangers) close(file);
}

}  // namespace lockstep::cli::play_server_test
