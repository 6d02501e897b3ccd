// `lockstep play` as a program: its address, its socket, its end; and in a browser, if there is one.

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/testing/called.hpp"
#include "cli/testing/served_testing.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

using namespace lockstep;
using nlohmann::json;

namespace {

/// `lockstep play` as a program of its own.
class Playing {
 public:
  explicit Playing(const std::string& file) {
    std::array<int, 2> out{};
    REQUIRE(pipe(out.data()) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      close(out[0]);
      close(out[1]);
      signal(SIGINT, SIG_DFL);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string program = built_program();
      execl(program.c_str(), program.c_str(), "play", file.c_str(), "--json", nullptr);
      _exit(127);
    }
    close(out[1]);
    const json said =
        json::parse(cli::read_until(out[0], [](const std::string& text) { return text.ends_with("}\n"); }));
    close(out[0]);
    address = said.at("address");
    port = said.at("port");
    token = address.substr(address.find("token=") + 6);
  }
  ~Playing() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Playing(const Playing&) = delete;
  Playing& operator=(const Playing&) = delete;

  int interrupt() {
    int status = 0;
    kill(pid_, SIGINT);
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// All that it answers to these bytes, until it closes.
  std::string answer(const std::string& bytes) const {
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    inet_pton(AF_INET, "127.0.0.1", &where.sin_addr);
    REQUIRE(connect(file, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0);
    // It may close before it has read all.
    (void)send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    const std::string text = cli::read_until(file, [](const std::string&) { return false; });
    close(file);
    return text;
  }
  std::string post(const std::string& path, const json& body, const std::string& more = "") const {
    const std::string text = body.dump();
    return answer("POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                  "\r\nX-Lockstep-Token: " + token + "\r\nContent-Type: application/json\r\n" + more +
                  "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
  }

  /// Bytes that it has had at most.
  std::size_t memory() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    std::size_t kilobytes = 0;
    for (std::string word; status >> word;) {
      if (word == "VmHWM:") status >> kilobytes;
    }
    REQUIRE(kilobytes > 0);
    return kilobytes * 1024;
  }

  std::string address, token;
  std::uint16_t port = 0;

 private:
  pid_t pid_ = -1;
};

std::string a_story() { return in_tree("scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml"); }

}  // namespace

TEST_CASE("play: a browser gets the page with the token of the printed address, and Ctrl-C ends it") {
  Playing playing(a_story());
  CHECK(playing.address == "http://127.0.0.1:" + std::to_string(playing.port) + "/?token=" + playing.token);
  CHECK(playing.token.size() == 32);
  const std::string host = "Host: 127.0.0.1:" + std::to_string(playing.port) + "\r\n\r\n";
  const std::string page = playing.answer("GET /?token=" + playing.token + " HTTP/1.1\r\n" + host);
  CHECK(page.starts_with("HTTP/1.1 200"));
  CHECK(cli::contains(page, "Content-Security-Policy: frame-ancestors 'none'"));
  CHECK(cli::contains(page, "X-Content-Type-Options: nosniff"));
  CHECK_FALSE(cli::contains(page, "Access-Control-Allow"));
  CHECK_FALSE(cli::contains(page, "Set-Cookie"));
  CHECK(cli::contains(page, "connect-src 'self'"));
  CHECK(cli::contains(page, "setnx-ts-del-setnx"));
  CHECK(playing.answer("GET / HTTP/1.1\r\n" + host).starts_with("HTTP/1.1 403"));
  CHECK(playing.answer("GET /?token=" + playing.token + " HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            .starts_with("HTTP/1.1 421"));
  CHECK(playing.answer("GET /../../etc/passwd?token=" + playing.token + " HTTP/1.1\r\n" + host)
            .starts_with("HTTP/1.1 404"));
  CHECK(playing.answer("OPTIONS /run HTTP/1.1\r\nOrigin: http://evil.example\r\n" + host).starts_with("HTTP/1.1 403"));
  CHECK(playing.answer("OPTIONS /run HTTP/1.1\r\n" + host).starts_with("HTTP/1.1 405"));
  CHECK(playing.interrupt() == 0);
  Playing other(a_story());
  CHECK(other.token != playing.token);
}

TEST_CASE("play: it runs what it is sent, and neither for strangers nor without end") {
  const Playing playing(a_story());
  const json story = {
      {"text", "title = \"x\"\n[lock]\nalgorithm = \"setnx-del\"\n[[client]]\nname = \"A\"\nhold = \"5ms\"\n"}};
  CHECK(cli::contains(playing.post("/run", story), "SETNX"));
  CHECK(playing.post("/run", story, "Origin: http://evil.example\r\n").starts_with("HTTP/1.1 403"));
  const std::string large =
      playing.answer("POST /run HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(playing.port) +
                     "\r\nX-Lockstep-Token: " + playing.token + "\r\nContent-Length: 17000000\r\n\r\n");
  CHECK(large.starts_with("HTTP/1.1 413"));
  CHECK(cli::contains(playing.post("/run", story), "SETNX"));
}

TEST_CASE("play: what a stranger sends takes no memory") {
  constexpr std::size_t kMegabyte = 1'000'000;
  // A sanitizer keeps up to 256 MB of what was freed, in order to notice a later use.
  constexpr std::size_t kSlack = (sim::is_sanitized ? 400 : 20) * kMegabyte;
  const Playing playing(a_story());
  const std::size_t before = playing.memory();
  const std::string host = " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(playing.port) + "\r\n";
  const std::string much(80 * kMegabyte, 'a');
  std::string packed(1 * kMegabyte, '\0');
  uLongf size = packed.size();
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(much.data()),
                   much.size()) == Z_OK);
  packed.resize(size);
  for (const std::string& token : {std::string(), "X-Lockstep-Token: " + playing.token + "\r\n"}) {
    playing.answer("POST /run" + host + token + "Content-Encoding: deflate\r\nContent-Length: " + std::to_string(size) +
                   "\r\n\r\n" + packed);
    playing.answer("POST /run" + host + token + "Transfer-Encoding: chunked\r\n\r\n4C4B400\r\n" + much +
                   "\r\n0\r\n\r\n");
    playing.answer("POST /run" + host + token + "Content-Length: 80000000\r\n\r\n" + much);
  }
  playing.answer("GET /" + much);
  playing.answer("GET /" + host + "X: " + much);
  CHECK(playing.memory() < before + kSlack);
  CHECK(playing.answer("GET /?token=" + playing.token + host + "\r\n").starts_with("HTTP/1.1 200"));
}

TEST_CASE("play: what cannot be opened is one message and exit 2") {
  const auto refused = [](const std::vector<std::string>& args, const std::string& message) {
    const cli::Called called = cli::called(args);
    INFO(called.err);
    CHECK(called.exit == 2);
    CHECK(called.out.empty());
    CHECK(cli::contains(called.err, message));
  };
  refused({"play", "no-such-file.toml"}, "no such file");
  refused({"play", in_tree("scenarios")}, "a directory");
  refused({"play", "/dev/zero"}, "not a regular file");
  refused({"play", a_story(), a_story()}, "one scenario file");
  refused({"play", a_story(), "--port", "70000"}, "0 to 65535");
  refused({"play", "--prot", "1"}, "--port");
  const Playing playing(a_story());
  refused({"play", a_story(), "--port", std::to_string(playing.port)}, "choose another --port");
}

TEST_CASE("play: in a browser the page draws, and its script talks to the program") {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) {
    std::cout << "SKIPPED: no chromium is installed; the page was opened by no browser\n";
    return;
  }
  const Playing playing(a_story());
  std::string name = (std::filesystem::temp_directory_path() / "lockstep-browser-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  const std::string command = "HOME=" + folder.string() +
                              " timeout 60 chromium --headless --no-sandbox --disable-gpu " +
                              "--user-data-dir=" + folder.string() +
                              "/profile --enable-logging=stderr --virtual-time-budget=20000 --dump-dom '" +
                              playing.address + "' 2>" + folder.string() + "/log";
  std::string page;
  FILE* browser = popen(command.c_str(), "r");
  REQUIRE(browser != nullptr);
  std::array<char, 4096> piece{};
  for (std::size_t n = 0; (n = fread(piece.data(), 1, piece.size(), browser)) > 0;) page.append(piece.data(), n);
  const int status = pclose(browser);
  std::ifstream in(folder / "log");
  const std::string log{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove_all(folder);
  INFO(log);
  CHECK(status == 0);
  CHECK_FALSE(cli::contains(log, "CONSOLE"));
  // Only the script makes the form, of what the program has answered.
  CHECK(cli::contains(page, "id=\"f-lock.ttl\""));
  CHECK(cli::contains(page, "value=\"f000-2-both-delete-expired.toml\""));
}
