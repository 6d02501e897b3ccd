#pragma once

// A program's TCP connections. Each is a pair of sockets of the UNIX family, of which the tracer has the other end:
// unlike TCP's on the loopback interface, they wake a reader before the writer's call returns.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "door/file.hpp"
#include "programs/tracer/outside.hpp"
#include "programs/tracer/threads.hpp"

namespace lockstep::programs::tracer {

class Sockets {
 public:
  /// Requires: both outlive it.
  Sockets(Threads& threads, Outside& outside) : threads_(threads), outside_(outside) {}

  // --- For the world.

  /// Tells the world of all that was sent and closed.
  void collect();
  void deliver(SocketId socket, std::string_view bytes);
  /// `error`: ECONNREFUSED and its like; 0: it stands.
  void finish_connect(SocketId socket, int error);
  /// The other side sends nothing more.
  void close(SocketId socket);
  void reset(SocketId socket);

  // --- Calls. Requires: the thread stands before one of this name.

  Turn socket(Thread& thread);
  Turn connect(Thread& thread);
  Turn bind(Thread& thread);
  Turn setsockopt(Thread& thread);
  Turn getsockopt(Thread& thread);
  Turn getsockname(Thread& thread);
  Turn getpeername(Thread& thread);
  /// When a read of this descriptor gives up. Nothing: never.
  std::optional<std::int64_t> patience(Thread& thread);

 private:
  struct Socket {
    enum class State : std::uint8_t { fresh, connecting, connected, gone };
    SocketId id = 0;
    std::uint64_t number = 0;  ///< the system's
    door::File other_end;
    std::shared_ptr<AddressSpace> space;  ///< of the process that connects, and its number for the socket: a duplicate
    int descriptor = -1;                  ///< that we kept would hide that the program gives up and closes it
    State state = State::fresh;
    bool is_version_6 = false;
    int error = 0;                      ///< as SO_ERROR tells it, once
    std::uint16_t port = 0;             ///< of the server
    Thread* waiting = nullptr;          ///< in connect
    std::int64_t receive_patience = 0;  ///< nanoseconds; 0: for ever
  };

  Socket* find(Thread& thread);
  Turn make_pair(Thread& thread);
  void keep(Thread& thread, int mine, int other, const Registers& asked);
  static void fill(int own_end);
  static bool is_given_up(const Socket& socket);
  void collect(Socket& socket);
  void tell_address(Thread& thread, const Socket& socket, std::uint16_t port);

  Threads& threads_;
  Outside& outside_;
  std::vector<std::unique_ptr<Socket>> sockets_;  ///< by id
};

}  // namespace lockstep::programs::tracer
