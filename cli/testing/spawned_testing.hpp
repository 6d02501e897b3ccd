#pragma once

// For tests: the program as the system sees it, with signals, limits and special files.

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::cli {

struct Spawned {
  int exit = 0;              ///< its exit status; minus the signal that killed it
  bool is_hanging = false;   ///< it was killed for that
  std::uint64_t memory = 0;  ///< bytes that it had at most
  std::string out, err;
};

struct SpawnOptions {
  std::uint64_t address_space = 0;  ///< bytes; 0: no limit
  std::uint64_t file_size = 0;      ///< bytes, as by ulimit -f; 0: no limit
  int interrupt_after_ms = -1;      ///< Ctrl-C then
  int patience_ms = 30'000;         ///< then it hangs
  std::string folder;               ///< where it runs; empty: here
  std::string out;                  ///< a file that standard output goes to instead, such as /dev/full
};

/// The program of this build with these arguments, until it ends.
Spawned spawned(std::vector<std::string> arguments, const SpawnOptions& options = {});

}  // namespace lockstep::cli
