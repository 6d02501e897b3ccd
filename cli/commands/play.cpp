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
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>
#include <variant>

#include "cli/formats/format.hpp"
#include "cli/interrupt.hpp"
#include "reports/json/json.hpp"
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

class Play final : public Call {
 public:
  Manual manual() override {
    return {
        .name = "play",
        .summary = "a story in your browser: edit it, let things go wrong by a click, check it",
        .example = "play scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml",
        .head =
            R"(Opens a story in your browser: its text on one side, on the other what happens, anew after every change. Sliders move
its figures, a click on the diagram pauses, crashes or loses something just there, check runs behind the page, and a
history that is dropped onto it is judged.

usage: lockstep play [FILE] [OPTIONS]

Prints an address of 127.0.0.1 with a token, which nobody else knows; open it. Without FILE it begins with a new story.
Stories are saved into the folder of FILE, or into the one that it was called in, and nowhere else; a file that is there
is overwritten only after a question. Ctrl-C ends it. docs/manual/play.md has more.

)",
        .options = {whole({"--port", "N", "of 127.0.0.1; 0: a free one (0)"}, {0, 65535}, port_)},
        .tail = R"(
Exit status: 0 ended by Ctrl-C, 2 the file cannot be read, the call was wrong, or the port is taken.

example: lockstep play scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml
)",
        .json = "the address as one JSON document on stdout, nothing else",
        .jobs = "threads of a check (as many as there are cores)",
        .is_laid_out = false};
  }

  std::string mistake() override {
    if (files.size() <= 1) return "";
    return "play takes one scenario file, e.g. lockstep play mine.toml; without one it begins with a new story";
  }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  void announce(std::uint16_t port, const std::string& token, Output& output) {
    const std::string address = fmt::format("http://{}:{}/?token={}", kHost, port, token);
    const auto lines = [&] {
      return reports::Lines{reports::Line(address), reports::Line("open it in a browser on this machine; Ctrl-C ends")};
    };
    const auto json = [&] { return reports::Json{{"address", address}, {"port", port}}.dump(2) + '\n'; };
    report(*this, {.lines = lines, .json = json}, output);
    output.out.flush();
  }

  std::uint16_t port_ = 0;  ///< 0: a free one
};

Exit Play::perform(const models::locks::Catalogue& catalogue, Output& output) {
  bench::BenchSetup setup;
  std::error_code error;
  if (files.empty()) {
    setup.file = "story.toml";
    setup.text = scenarios::new_story(*catalogue.find("set-nx-px-lua"), "A story of my own", "story.toml");
    setup.folder = fs::current_path(error);
  } else {
    setup.file = files.front();
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
    return refuse(output, "the system has no random numbers for a token");
  }
  setup.door.token = *token;
  setup.jobs = static_cast<unsigned>(jobs);

  const Interrupt interrupt;
  Server server;
  set_socket_options(server);
  int port = port_;
  if (port == 0) {
    port = server.bind_to_any_port(kHost);
  } else if (!server.bind_to_port(kHost, port)) {
    port = -1;
  }
  if (port <= 0) {
    return refuse(output,
                  fmt::format("nobody can listen at {}:{}: choose another --port, or 0 for a free one", kHost, port_));
  }
  setup.door.port = static_cast<std::uint16_t>(port);
  bench::Bench stories(std::move(setup), catalogue, play_seconds);
  set_up(server, stories);
  announce(static_cast<std::uint16_t>(port), *token, output);
  std::thread listening([&] { server.listen_after_bind(); });
  while (!interrupt.is_requested()) {
    const timespec moment{0, 50'000'000};
    nanosleep(&moment, nullptr);
  }
  stories.end();
  server.stop();
  listening.join();
  return Exit::as_expected;
}

}  // namespace

std::unique_ptr<Call> play_call() { return std::make_unique<Play>(); }

}  // namespace lockstep::cli
