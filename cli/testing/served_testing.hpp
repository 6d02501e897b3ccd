#pragma once

// For tests: `lockstep serve` as a program, for clients outside of it.

#include <catch2/catch.hpp>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/testing/in_tree.hpp"

namespace lockstep::cli {

constexpr int kPatienceMs = 20'000;

/// Reads until `wanted` is there, or fails.
inline std::string read_until(int file, const std::function<bool(const std::string&)>& is_enough) {
  std::string text;
  while (!is_enough(text)) {
    pollfd waiting{file, POLLIN, 0};
    REQUIRE(poll(&waiting, 1, kPatienceMs) == 1);
    std::array<char, 4096> piece;
    const ssize_t size = read(file, piece.data(), piece.size());
    if (size <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  return text;
}

/// `lockstep serve` as a program of its own, and the ports that it has printed.
class Served {
 public:
  explicit Served(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {built_program(), "serve"});
    arguments.emplace_back("--json");
    std::array<int, 2> out{};
    REQUIRE(pipe(out.data()) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      close(out[0]);
      close(out[1]);
      signal(SIGINT, SIG_DFL);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::vector<char*> words;
      for (std::string& argument : arguments) words.push_back(argument.data());
      words.push_back(nullptr);
      execv(words.front(), words.data());
      _exit(127);
    }
    close(out[1]);
    out_ = out[0];
    const std::string text = read_until(out_, [](const std::string& t) { return t.ends_with("}\n"); });
    const auto announced = nlohmann::json::parse(text);
    for (const auto& server : announced.at("servers")) {
      ports.push_back(server.at("port").get<std::uint16_t>());
    }
  }
  ~Served() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(out_);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  /// Its exit status after Ctrl-C.
  int interrupt() {
    int status = 0;
    kill(pid_, SIGINT);
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::vector<std::uint16_t> ports;

 private:
  pid_t pid_ = -1;
  int out_ = -1;
};

}  // namespace lockstep::cli
