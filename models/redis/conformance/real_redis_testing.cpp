// The process behind `RealRedis`.

#include "models/redis/conformance/real_redis.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "sim/testing/local_socket.hpp"

namespace lockstep::models::redis {
namespace {

/// What a program writes, or nothing if it cannot be run.
std::optional<std::string> output_of(const char* command) {
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return std::nullopt;
  std::string out;
  std::array<char, 256> piece;
  while (fgets(piece.data(), piece.size(), pipe) != nullptr) out += piece.data();
  return pclose(pipe) == 0 ? std::optional(out) : std::nullopt;
}

}  // namespace

std::unique_ptr<RealRedis> RealRedis::start(std::string& why, std::vector<std::string> arguments) {
  const auto version = output_of("redis-server --version 2>/dev/null");
  if (!version) {
    why = "no redis-server is installed";
    return nullptr;
  }
  if (version->find("v=7.0.") == std::string::npos) {
    why = "the installed redis-server is not 7.0: " + *version;
    return nullptr;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "lockstep-redis-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  std::unique_ptr<RealRedis> server(new RealRedis(std::move(folder), std::move(arguments)));
  server->port_ = sim::free_port();
  server->launch();
  return server;
}

void RealRedis::launch() {
  std::vector<std::string> words{"redis-server",
                                 "--port",
                                 std::to_string(port_),
                                 "--bind",
                                 "127.0.0.1",
                                 "--unixsocket",
                                 socket_,
                                 "--dir",
                                 folder_,
                                 "--databases",
                                 "16",
                                 "--daemonize",
                                 "no",
                                 "--save",
                                 "",
                                 "--enable-debug-command",
                                 "yes"};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(nowhere, fd);
    execvp("redis-server", pointers.data());
    _exit(127);
  }
  for (int i = 0; i < 1000; ++i) {
    const int fd = sim::connect_to(socket_);
    if (fd >= 0) {
      close(fd);
      Connection connection(socket_);
      connection.send("PING\r\n");
      if (connection.receive().is_status("PONG")) return;
    }
    usleep(10'000);
  }
  throw std::runtime_error("redis-server did not come up");
}

void RealRedis::end() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void RealRedis::restart() {
  end();
  std::filesystem::remove(socket_);
  launch();
}

RealRedis::~RealRedis() {
  end();
  std::filesystem::remove_all(folder_);
}

RealRedis::Connection::Connection(const std::string& path) : fd_(sim::connect_to(path)) {
  if (fd_ < 0) throw std::runtime_error("redis-server takes no connection");
}

RealRedis::Connection::~Connection() {
  if (fd_ >= 0) close(fd_);
}

void RealRedis::Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw std::runtime_error("redis-server hung up");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::optional<Reply> RealRedis::Connection::receive_within(int milliseconds) {
  while (true) {
    auto result = parser_.next();
    if (Reply* reply = std::get_if<Reply>(&result)) return std::move(*reply);
    if (const auto* error = std::get_if<ProtocolError>(&result)) throw std::runtime_error(error->message);
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, milliseconds) <= 0) return std::nullopt;
    std::array<char, 65536> piece;
    const ssize_t size = recv(fd_, piece.data(), piece.size(), 0);
    if (size <= 0) throw std::runtime_error("redis-server hung up");
    parser_.feed({piece.data(), static_cast<std::size_t>(size)});
  }
}

Reply RealRedis::Connection::receive() {
  std::optional<Reply> reply = receive_within(10'000);
  if (!reply) throw std::runtime_error("redis-server does not answer");
  return std::move(*reply);
}

}  // namespace lockstep::models::redis
