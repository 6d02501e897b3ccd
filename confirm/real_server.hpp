#pragma once

// A redis-server process of our own, in a temporary folder on the loopback interface, to be killed, stopped and started
// again.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "confirm/wire.hpp"

namespace lockstep::confirm {

/// "7.0.15" of the redis-server that is installed; empty: there is none.
std::string installed_redis_version();

/// Whether the library is there by which a server's clock can be off from the machine's.
bool can_shift_clocks();

/// A folder that is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Also if this program is killed nothing of it is left but its folder: the kernel ends the process with the thread
/// that started it.
class RealServer {
 public:
  enum class Clock : std::uint8_t { of_machine, shifted };
  /// `arguments`: as redis-server takes them, after those that all have. A clock that is to be off needs
  /// `can_shift_clocks`. Throws ServerTrouble.
  RealServer(std::string folder, std::vector<std::string> arguments, Clock clock = Clock::of_machine);
  /// A sentinel, with these lines in its configuration.
  static std::unique_ptr<RealServer> sentinel(std::string folder, const std::string& configuration);
  ~RealServer();
  RealServer(const RealServer&) = delete;
  RealServer& operator=(const RealServer&) = delete;

  /// As kill -9 does.
  void kill();
  /// Begins to start it again, in the same folder; nobody waits for that.
  void launch();
  /// Waits until it answers, and has read its disk. Throws ServerTrouble.
  void await_ready() const;
  bool is_up() const { return pid_ > 0; }
  /// The process stands still, as in a long pause of its machine, or goes on.
  void stop();
  void go_on();
  bool is_stopped() const { return is_stopped_; }

  /// From now on its wall clock shows so much more than the machine's. Requires: its clock is shifted.
  void shift_clock(std::int64_t nanoseconds);

  /// For clients.
  Endpoint endpoint() const { return {folder_ + "/s", 0}; }
  /// For other servers.
  std::uint16_t port() const { return port_; }
  /// Bytes of the append-only file that belong to commands; 0: there is none.
  std::uint64_t log_size() const;
  /// Throws away what of it lies behind: what a disk has that lost its power before it was told to keep the rest.
  /// Requires: the process is dead.
  void cut_log(std::uint64_t size) const;

 private:
  explicit RealServer(std::string folder) : folder_(std::move(folder)), port_(free_port()) {}
  std::string log_file() const;

  std::string folder_;
  std::vector<std::string> words_;        ///< the whole command
  std::vector<std::string> environment_;  ///< besides this program's own
  std::int64_t* shift_ = nullptr;         ///< in a file that the process reads
  std::uint16_t port_ = 0;
  pid_t pid_ = 0;
  bool is_stopped_ = false;
};

}  // namespace lockstep::confirm
