#include "door/poll_loop.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace lockstep::door {
namespace {

constexpr int kLongestWaitMs = 100;
constexpr std::uint64_t kEventsAtOnce = 100'000;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

File& File::operator=(File&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

File::~File() {
  if (number_ >= 0) close(number_);
}

std::variant<Listener, Trouble> listen_on_loopback(std::uint16_t port, sim::ProcessId server) {
  File socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto fail = [&](const std::string& what) {
    return Trouble{what + " port " + std::to_string(port) + " of 127.0.0.1: " + std::strerror(errno)};
  };
  if (socket.number() < 0) return fail("cannot open a socket for");
  // A port of a server that has just ended may be had again at once.
  const int yes = 1;
  setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = loopback(port);
  if (bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket.number(), SOMAXCONN) != 0) {
    if (errno == EADDRINUSE) return Trouble{"port " + std::to_string(port) + " of 127.0.0.1 is taken"};
    return fail("cannot listen on");
  }
  socklen_t size = sizeof address;
  getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size);
  return Listener{std::move(socket), ntohs(address.sin_port), server};
}

PollLoop::PollLoop(sim::World& world, sim::Simulation& simulation, Door& door, std::vector<Listener> listeners,
                   Elapsed elapsed)
    : world_(world),
      simulation_(simulation),
      door_(door),
      listeners_(std::move(listeners)),
      elapsed_(std::move(elapsed)) {}

/// A clock that went back would ask for events of the past.
sim::Duration PollLoop::present() const {
  const sim::Duration wanted = elapsed_ ? elapsed_() : door_.stepped_to().offset();
  return std::max(wanted, world_.now().offset());
}

/// Until the world has something to do by itself, but not longer than Ctrl-C may wait.
int PollLoop::patience_ms() const {
  if (!elapsed_) return kLongestWaitMs;
  const std::optional<sim::Instant> due = simulation_.next_due();
  if (!due) return kLongestWaitMs;
  const std::int64_t left = (due->offset() - present() + sim::Duration::microseconds(999)).floor_ms();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongestWaitMs));
}

void PollLoop::run(const std::function<bool()>& is_stopped) {
  while (!is_stopped()) {
    wait(patience_ms());
    advance();
    for (Client& client : clients_) {
      if (!client.is_gone) write_to(client);
    }
    dismiss_gone();
  }
  clients_.clear();
}

/// Reads what there is to read.
void PollLoop::wait(int milliseconds) {
  std::vector<pollfd> files;
  for (const Listener& listener : listeners_) files.push_back({listener.socket.number(), POLLIN, 0});
  for (const Client& client : clients_) {
    short wanted = 0;
    if (door_.wants_input(client.visit)) wanted |= POLLIN;
    if (!door_.output(client.visit).empty()) wanted |= POLLOUT;
    files.push_back({client.socket.number(), wanted, 0});
  }
  if (poll(files.data(), files.size(), milliseconds) <= 0) return;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const short happened = files[listeners_.size() + i].revents;
    if ((happened & (POLLIN | POLLHUP | POLLERR)) != 0) read_from(clients_[i]);
  }
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    if ((files[i].revents & POLLIN) != 0) accept_from(listeners_[i]);
  }
}

void PollLoop::accept_from(const Listener& listener) {
  while (true) {
    File socket(accept4(listener.socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.number() < 0) return;
    if (clients_.size() == kMostVisits) {
      constexpr std::string_view kRefusal = "-ERR max number of clients reached\r\n";
      (void)send(socket.number(), kRefusal.data(), kRefusal.size(), MSG_NOSIGNAL);
      continue;
    }
    const int yes = 1;
    setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    clients_.push_back({std::move(socket), door_.open(listener.server)});
  }
}

void PollLoop::read_from(Client& client) {
  std::array<char, 64 * 1024> piece;
  const ssize_t size = recv(client.socket.number(), piece.data(), piece.size(), 0);
  if (size > 0) {
    door_.feed(client.visit, {piece.data(), static_cast<std::size_t>(size)});
  } else if (size == 0 || !would_block()) {
    client.is_gone = true;
  }
}

void PollLoop::write_to(Client& client) {
  std::string& output = door_.output(client.visit);
  std::string_view rest = output;
  while (!rest.empty()) {
    const ssize_t size = send(client.socket.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (size < 0) {
      if (!would_block()) client.is_gone = true;
      break;
    }
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
  output.erase(0, output.size() - rest.size());
  if (door_.is_flooded(client.visit) || (output.empty() && door_.is_over(client.visit))) client.is_gone = true;
}

/// The world's own events up to now, and then what came from outside.
void PollLoop::advance() {
  const auto run_to = [&](sim::Duration moment) {
    while (simulation_.run(sim::Instant::at(moment), kEventsAtOnce) == sim::Simulation::End::too_many_events) {
    }
  };
  run_to(present());
  if (door_.has_work()) {
    world_.start(door_.id(), sim::DurationRange::exactly(present()));
    run_to(present());
  }
  // Nobody will ever judge this run.
  world_.history().effects.clear();
  world_.history().interruptions.clear();
}

void PollLoop::dismiss_gone() {
  for (const Client& client : clients_) {
    if (client.is_gone) door_.hang_up(client.visit);
  }
  std::erase_if(clients_, [](const Client& client) { return client.is_gone; });
}

}  // namespace lockstep::door
