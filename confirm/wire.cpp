#include "confirm/wire.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lockstep::confirm {
namespace {

int connect_to_path(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) throw ServerTrouble("the path " + path + " is too long for a socket");
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

int connect_to_host(const Endpoint& endpoint) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &wanted, &found) != 0) return -1;
  int fd = -1;
  for (const addrinfo* each = found; each != nullptr && fd < 0; each = each->ai_next) {
    fd = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, each->ai_addr, each->ai_addrlen) == 0) break;
    if (fd >= 0) close(fd);
    fd = -1;
  }
  freeaddrinfo(found);
  const int on = 1;
  if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

}  // namespace

Wire::Wire(const Endpoint& endpoint)
    : fd_(endpoint.port == 0 ? connect_to_path(endpoint.host) : connect_to_host(endpoint)) {
  if (fd_ >= 0) return;
  const std::string where = endpoint.port == 0 ? endpoint.host : endpoint.host + ":" + std::to_string(endpoint.port);
  throw ServerTrouble("no server answers at " + where + ": start one there, or leave the address out");
}

Wire& Wire::operator=(Wire&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(is_over_, other.is_over_);
  std::swap(parser_, other.parser_);
  return *this;
}

Wire::~Wire() {
  if (fd_ >= 0) close(fd_);
}

bool Wire::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      is_over_ = true;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::optional<models::redis::Reply> Wire::receive_within(int milliseconds) {
  while (true) {
    auto result = parser_.next();
    if (auto* reply = std::get_if<models::redis::Reply>(&result)) return std::move(*reply);
    if (const auto* error = std::get_if<models::redis::ProtocolError>(&result))
      throw ServerTrouble("what answers there is no Redis server: " + error->message);
    if (is_over_) return std::nullopt;
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = poll(&waiting, 1, milliseconds);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    std::array<char, 65536> piece;
    const ssize_t size = recv(fd_, piece.data(), piece.size(), 0);
    if (size > 0)
      parser_.feed({piece.data(), static_cast<std::size_t>(size)});
    else
      is_over_ = size == 0 || errno != EINTR;
  }
}

models::redis::Reply Wire::ask(const models::redis::Command& command) {
  std::string bytes;
  models::redis::append_request(bytes, command);
  send(bytes);
  constexpr int kPatience = 5'000;
  std::optional<models::redis::Reply> reply = receive_within(kPatience);
  if (!reply) throw ServerTrouble("the real server does not answer " + std::string(command.name()));
  return std::move(*reply);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  const bool is_bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                        getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(fd);
  if (!is_bound) throw ServerTrouble("127.0.0.1 has no free port");
  return ntohs(address.sin_port);
}

}  // namespace lockstep::confirm
