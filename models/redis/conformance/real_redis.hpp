#pragma once

// For the tests of this folder: a real redis-server to compare with.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/wire/resp.hpp"

namespace lockstep::models::redis {

/// A redis-server process of our own, on a socket and a free port of the loopback interface, in a temporary folder of its own: no
/// configuration, and no persistence unless `arguments` ask for it. Both are gone with the object.
class RealRedis {
 public:
  /// Null if no redis-server is installed, or it is not of the version that is simulated; `why` says so.
  static std::unique_ptr<RealRedis> start(std::string& why, std::vector<std::string> arguments = {});
  /// Kills it, as kill -9 does, and starts it again in the same folder.
  void restart();
  int port() const { return port_; }
  ~RealRedis();
  RealRedis(const RealRedis&) = delete;
  RealRedis& operator=(const RealRedis&) = delete;

  class Connection {
   public:
    explicit Connection(const std::string& path);
    ~Connection();
    Connection(Connection&& other) noexcept : fd_(other.fd_), parser_(std::move(other.parser_)) { other.fd_ = -1; }
    Connection& operator=(Connection&&) = delete;
    Connection(const Connection&) = delete;
    void send(std::string_view bytes);
    /// Waits for the next reply; fails the test after some seconds.
    Reply receive();
    /// One that is there within this time, or nothing.
    std::optional<Reply> receive_within(int milliseconds);

   private:
    int fd_ = -1;
    ReplyParser parser_;
  };
  Connection connect() const { return Connection(socket_); }

 private:
  RealRedis(std::string folder, std::vector<std::string> arguments)
      : arguments_(std::move(arguments)), folder_(std::move(folder)), socket_(folder_ + "/s") {}
  void launch();
  void end();

  int pid_ = 0;
  int port_ = 0;
  std::vector<std::string> arguments_;
  std::string folder_;
  std::string socket_;
};

}  // namespace lockstep::models::redis
