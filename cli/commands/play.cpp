// `lockstep play`: the socket under reports/play, which knows nothing of sockets.

#include <fmt/format.h>
#include <httplib.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>
#include <variant>

#include "cli/commands/commands.hpp"
#include "cli/interrupt.hpp"
#include "reports/play/bench.hpp"
#include "scenarios/format/new_story.hpp"
#include "scenarios/story/diagnostic.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
namespace bench = reports::play;
using Server = httplib::Server;

constexpr const char* kHost = "127.0.0.1";

double play_seconds() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();  // tidy: real clients
}

/// 128 bits from the system; nothing if it has none.
std::optional<std::string> fresh_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

/// A story that has mistakes is shown with them; what is no text of a story is not.
std::variant<std::string, scenarios::Diagnostic> text_of(const fs::path& file) {
  const auto no = [&](const char* why) { return scenarios::Diagnostic{.file = file.string(), .message = why}; };
  std::error_code error;
  if (fs::is_directory(file, error)) return no("a directory; name a single scenario file");
  if (!fs::exists(file, error)) return no("no such file");
  if (!fs::is_regular_file(file, error)) return no("not a regular file");
  if (fs::file_size(file, error) > bench::kStoryBytesMax) return no("longer than 1 MB; is this a story?");
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) return no("cannot be read, or is empty");
  return std::move(content).str();
}

bench::Request request_of(const httplib::Request& asked) {
  bench::Request request;
  request.method = asked.method;
  request.path = asked.path;
  for (std::size_t i = 0; i < asked.get_header_value_count("Host"); ++i)
    request.hosts.push_back(asked.get_header_value("Host", i));
  if (asked.has_header("Origin")) request.origin = asked.get_header_value("Origin");
  request.token = asked.get_header_value("X-Lockstep-Token");
  request.query_token = asked.get_param_value("token");
  request.query_number = asked.get_param_value("n");
  request.body = asked.body;
  return request;
}

void set_common_headers(httplib::Response& answer) {
  answer.set_header("X-Content-Type-Options", "nosniff");
  answer.set_header("Cache-Control", "no-store");
  answer.set_header("Referrer-Policy", "no-referrer");
  answer.set_header("Cross-Origin-Resource-Policy", "same-origin");
}

void set_up(Server& server, bench::Bench& stories) {
  const auto answer = [&stories](const httplib::Request& asked, httplib::Response& given) {
    const bench::Response response = stories.answer(request_of(asked));
    given.status = response.status;
    set_common_headers(given);
    given.set_header("Content-Security-Policy", response.policy);
    given.set_content(response.body, response.content_type);
  };
  server.Get(".*", answer);
  server.Post(".*", answer);  // other methods are nobody's: 404, without a header that would allow them
  server.set_payload_max_length(bench::kBodyBytesMax);
  // A connection that is kept would keep a thread.
  server.set_keep_alive_max_count(1);
}

/// Nobody else may listen at the same port, as the library's own options would allow.
void set_socket_options(Server& server) {
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

void announce_play(const Call& call, std::uint16_t port, const std::string& token, Output& output) {
  const std::string address = fmt::format("http://{}:{}/?token={}", kHost, port, token);
  if (call.json)
    output.out << nlohmann::ordered_json{{"address", address}, {"port", port}}.dump(2) << '\n';
  else
    output.out << address << "\nopen it in a browser on this machine; Ctrl-C ends\n";
  output.out.flush();
}

}  // namespace

Exit play(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  bench::BenchSetup setup;
  std::error_code error;
  if (call.files.empty()) {
    setup.file = "story.toml";
    setup.text = scenarios::new_story(*catalogue.find("set-nx-px-lua"), "A story of my own", "story.toml");
    setup.folder = fs::current_path(error);
  } else {
    setup.file = call.files.front();
    auto text = text_of(setup.file);
    if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&text)) {
      output.err << trouble->to_string() << '\n';
      return Exit::bad_input;
    }
    setup.text = std::get<std::string>(std::move(text));
    setup.folder = fs::absolute(setup.file, error).parent_path();
  }
  const auto token = fresh_token();
  if (!token) {
    output.err << "lockstep: the system has no random numbers for a token\n";
    return Exit::bad_input;
  }
  setup.door.token = *token;
  setup.jobs = static_cast<unsigned>(call.jobs);

  const Interrupt interrupt;
  Server server;
  set_socket_options(server);
  int port = call.play.port;
  if (port == 0) {
    port = server.bind_to_any_port(kHost);
  } else if (!server.bind_to_port(kHost, port)) {
    port = -1;
  }
  if (port <= 0) {
    output.err << fmt::format("lockstep: nobody can listen at {}:{}: choose another --port, or 0 for a free one\n",
                              kHost, call.play.port);
    return Exit::bad_input;
  }
  setup.door.port = static_cast<std::uint16_t>(port);
  bench::Bench stories(std::move(setup), catalogue, play_seconds);
  set_up(server, stories);
  announce_play(call, static_cast<std::uint16_t>(port), *token, output);
  std::thread listening([&] { server.listen_after_bind(); });
  while (!interrupt.is_requested()) {
    const timespec moment{0, 50'000'000};
    nanosleep(&moment, nullptr);
  }
  server.stop();
  listening.join();
  return Exit::as_expected;
}

}  // namespace lockstep::cli
