#pragma once

// For tests: a program that uses a client library, and a server of its own that it visits.

#include <array>
#include <cstdio>
#include <string>

#include "cli/testing/served_testing.hpp"

namespace lockstep::cli {

struct Ended {
  int exit = 0;
  std::string output;  ///< of both kinds
};

/// Reads what a program writes until it ends.
inline Ended end_of(FILE* pipe) {
  Ended ended;
  std::array<char, 4096> piece;
  while (const std::size_t size = fread(piece.data(), 1, piece.size(), pipe)) ended.output.append(piece.data(), size);
  const int status = pclose(pipe);
  ended.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

inline Ended output_of(const std::string& command) { return end_of(popen((command + " 2>&1").c_str(), "r")); }

/// Runs beside others until its end is asked for, a minute at most.
class LibraryRun {
 public:
  /// `command` gets the port of a server of door/clients/restart.toml, with stepped time.
  explicit LibraryRun(const std::string& command)
      : server_({in_tree("door/clients/restart.toml"), "--step"}),
        pipe_(popen(("timeout 60 env " + command + " " + std::to_string(server_.ports.at(0)) + " 2>&1").c_str(), "r")) {
  }
  LibraryRun(const LibraryRun&) = delete;
  LibraryRun& operator=(const LibraryRun&) = delete;
  ~LibraryRun() {
    if (pipe_ != nullptr) pclose(pipe_);
  }
  Ended end() { return end_of(std::exchange(pipe_, nullptr)); }

 private:
  Served server_;
  FILE* pipe_;
};

}  // namespace lockstep::cli
