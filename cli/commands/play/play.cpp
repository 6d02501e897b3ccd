// `lockstep play`: what a call of it says; its socket is play_server.hpp, its pages are reports/play.

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <variant>

#include "cli/commands/play/play_server.hpp"
#include "cli/formats/format.hpp"
#include "cli/interrupt.hpp"
#include "cli/seconds_now.hpp"
#include "reports/json/json.hpp"
#include "reports/play/bench.hpp"
#include "scenarios/format/new_story.hpp"
#include "scenarios/story/diagnostic.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
namespace bench = reports::play;

constexpr const char* kHost = "127.0.0.1";

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
  PlayServer server;
  const std::optional<std::uint16_t> port = server.listen(port_);
  if (!port) {
    return refuse(output,
                  fmt::format("nobody can listen at {}:{}: choose another --port, or 0 for a free one", kHost, port_));
  }
  setup.door.port = *port;
  const bench::Door door = setup.door;
  bench::Bench stories(std::move(setup), catalogue, seconds_now);
  announce(*port, *token, output);
  server.serve([&](const bench::Request& head) { return bench::refusal(head, door); },
               [&](const bench::Request& request) { return stories.answer(request); },
               [&] {
                 if (interrupt.is_requested()) stories.end();  // or answers that were begun would be waited for
                 return interrupt.is_requested();
               });
  return Exit::as_expected;
}

}  // namespace

std::unique_ptr<Call> play_call() { return std::make_unique<Play>(); }

}  // namespace lockstep::cli
