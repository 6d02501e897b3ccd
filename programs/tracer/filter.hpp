#pragma once

// Which system calls of a program its tracer sees. All others go to the kernel as they are, at full speed.

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::programs::tracer {

enum class Seen : std::uint8_t {
  always,
  on_sockets,  ///< if its first argument is one: `kFirstSocket` or above
  on_output    ///< if its first argument is the output of the program: `kFirstOutput` to `kLastOutput`
};

/// Where sockets have their descriptors, so that a filter can tell them from files.
inline constexpr int kFirstSocket = 700;
/// Standard output and error, and what beliefs may be written to.
inline constexpr int kFirstOutput = 1;
inline constexpr int kLastOutput = 3;

struct SeenCall {
  long number;
  Seen seen;
};

/// In the child, before it executes the program: from now on its tracer sees these calls of it and of all that it
/// makes. False: the kernel refuses; `errno` says why.
bool install_filter(std::span<const SeenCall> calls);

}  // namespace lockstep::programs::tracer
