#pragma once

// A connection to a real server.

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "models/redis/wire/resp.hpp"

namespace lockstep::confirm {

/// A real server cannot be had, or went away: not a statement about any lock. The message says what to do.
class ServerTrouble : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where a server listens.
struct Endpoint {
  std::string host;  ///< a name or a number; of a socket in the file system its path, and port 0
  std::uint16_t port = 0;
};

class Wire {
 public:
  /// Throws ServerTrouble.
  explicit Wire(const Endpoint& endpoint);
  Wire(Wire&& other) noexcept : fd_(other.fd_), parser_(std::move(other.parser_)) { other.fd_ = -1; }
  Wire& operator=(Wire&& other) noexcept;
  ~Wire();

  /// False: the server has hung up.
  bool send(std::string_view bytes);
  /// Nothing came in time, or the server has hung up: see `is_over`.
  std::optional<models::redis::Reply> receive_within(int milliseconds);
  /// For what must be answered. Throws ServerTrouble.
  models::redis::Reply ask(const models::redis::Command& command);
  bool is_over() const { return is_over_; }
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
  bool is_over_ = false;
  models::redis::ReplyParser parser_;
};

/// A port of the loopback interface that nobody listens on just now.
std::uint16_t free_port();
/// 127.0.0.1 at this port.
sockaddr_in loopback(std::uint16_t port);

}  // namespace lockstep::confirm
