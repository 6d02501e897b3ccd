#pragma once

// Sockets for a door: one listening port for each server, on the loopback interface and nowhere else, and the loop
// around epoll(7) that carries bytes and lets the world's time run.
//
// Clients are read in the order in which their bytes came, which decides who wins a lock. Edge-triggered, the kernel's
// list of ready sockets is that order. Level-triggered it is not: a socket stays in its place after it was read, so its
// next bytes pass for older than they are. (Two clients were read one after the other; then B's bytes come, then A's: A
// is first in the list.)

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "door/door.hpp"
#include "door/file.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::door {

/// Why nothing could be done: "port 6379 of 127.0.0.1 is taken".
struct Trouble {
  std::string message;
};

/// A port at which one server is to be had.
struct Listener {
  File socket;
  std::uint16_t port = 0;
  sim::ProcessId server;
};

/// Listens at 127.0.0.1. Port 0: a free one.
std::variant<Listener, Trouble> listen_on_loopback(std::uint16_t port, sim::ProcessId server);

class PollLoop {
 public:
  /// What time it is: the true time of the world at this moment. Null: time stands still but for the steps that clients
  /// take.
  using Elapsed = std::function<sim::Duration()>;

  static constexpr std::size_t kMostVisits = 1000;

  /// Requires: all of them outlive the loop, and `door` is a process of the simulation's world.
  PollLoop(sim::World& world, sim::Simulation& simulation, Door& door, std::vector<Listener> listeners,
           Elapsed elapsed);

  /// Serves until `is_stopped`, which is asked at least ten times a second. Whoever is still connected then is hung up
  /// on.
  void run(const std::function<bool()>& is_stopped);

 private:
  struct Client {
    File socket;
    bool has_input = false;   ///< there may be bytes to read
    bool is_ending = false;   ///< the other side has closed: read up to the end
    bool is_reading = false;  ///< stands in `readers_`
    bool is_stuck = false;    ///< its socket took no more bytes
    bool is_gone = false;
  };

  sim::Duration present() const;
  bool may_read(VisitId visit) const;
  int patience_ms() const;
  void wait(int milliseconds);
  void accept_from(const Listener& listener);
  void read_all();
  void read_from(VisitId visit, Client& client);
  void write_to(VisitId visit, Client& client);
  void watch(VisitId visit, const Client& client, int operation) const;
  void advance();
  bool run_to(sim::Duration moment);
  void dismiss_gone();

  sim::World& world_;
  sim::Simulation& simulation_;
  Door& door_;
  std::vector<Listener> listeners_;
  Elapsed elapsed_;
  File epoll_;
  std::vector<std::optional<Client>> clients_;  ///< by visit
  std::size_t client_count_ = 0;
  std::vector<VisitId> readers_;  ///< who has bytes to read, or may have, first come first
  bool is_behind_ = false;        ///< the world has not reached the present moment yet
};

}  // namespace lockstep::door
