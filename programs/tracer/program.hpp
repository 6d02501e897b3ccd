#pragma once

// Somebody else's program, unmodified, in virtual time. Start here.
//
// It runs only while `run` does, until each of its threads waits; then time may go on: set its clocks, end the waits
// whose time has come, hand it what has come for it, and run it again. Linux on x86-64 only.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/tracer/clock_page.hpp"
#include "programs/tracer/command.hpp"
#include "programs/tracer/outside.hpp"
#include "programs/tracer/tracee.hpp"

namespace lockstep::programs::tracer {

class Program {
 public:
  /// It has not run yet. `seed`: of all that it draws at random. Throws TracerTrouble. Requires: `outside` outlives it,
  /// and the thread that makes it is the one that runs it.
  Program(const Command& command, std::uint64_t seed, Readings readings, Outside& outside);
  /// Kills it, with everything that it has started.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void set_clocks(Readings readings);
  /// Until all threads wait. Calls `Outside`.
  void run();
  /// What its monotonic clock must show for a thread to go on. Nothing: none waits for that.
  std::optional<std::int64_t> next_deadline() const;

  void deliver(SocketId socket, std::string_view bytes);
  void finish_connect(SocketId socket, int error);
  void close(SocketId socket);
  void reset(SocketId socket);

  bool is_over() const;
  /// As by wait(2). Nothing: it was killed by us, or goes on.
  std::optional<int> status() const;
  /// What of it is not deterministic, in sentences.
  const std::vector<std::string>& escapes() const;
  /// The system calls that it made so far, of those that are followed, in their order.
  const std::vector<CallMade>& calls() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lockstep::programs::tracer
