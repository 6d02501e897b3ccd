#pragma once

// What a program notices of the world, and the world of it.

#include <cstdint>
#include <string_view>

namespace lockstep::programs::tracer {

/// Names a socket of a program for as long as that lives. The first is 0.
using SocketId = std::uint32_t;

/// Called while the program runs, in the order in which it does these things.
class Outside {
 public:
  virtual ~Outside() = default;
  /// It wants a connection to this port of 127.0.0.1: `Program::finish_connect` answers, now or later.
  virtual void connects(SocketId socket, std::uint16_t port) = 0;
  virtual void sent(SocketId socket, std::string_view bytes) = 0;
  virtual void hung_up(SocketId socket) = 0;
  /// To standard output (1) or error (2), or to descriptor 3.
  virtual void wrote(int descriptor, std::string_view bytes) = 0;
};

}  // namespace lockstep::programs::tracer
