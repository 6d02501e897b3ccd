#include "door/poll_loop.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace lockstep::door {
namespace {

constexpr int kLongestWaitMs = 100;
/// Between so many there is a look at the sockets and at Ctrl-C: some hundredths of a second.
constexpr std::uint64_t kEventsAtOnce = 100'000;
/// Of one client before others have their turn.
constexpr std::size_t kBytesAtOnce = 1 << 20;
/// What epoll tells of a client is its visit; of a listener this and its number.
constexpr std::uint64_t kListener = std::uint64_t{1} << 32;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

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
      elapsed_(std::move(elapsed)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = kListener | i;
    epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, listeners_[i].socket.number(), &wanted);
  }
}

/// A clock that went back would ask for events of the past.
sim::Duration PollLoop::present() const {
  const sim::Duration wanted = elapsed_ ? elapsed_() : door_.stepped_to().offset();
  return std::max(wanted, world_.now().offset());
}

/// A client that is ahead of its replies has to wait for them, but that it is gone is heard at once.
bool PollLoop::may_read(VisitId visit) const { return clients_[visit]->is_ending || door_.wants_input(visit); }

/// Until the world has something to do by itself, but not longer than Ctrl-C may wait.
int PollLoop::patience_ms() const {
  const bool has_input = std::any_of(readers_.begin(), readers_.end(), [&](VisitId id) { return may_read(id); });
  if (is_behind_ || has_input) return 0;
  if (!elapsed_) return kLongestWaitMs;
  const std::optional<sim::Instant> due = simulation_.next_due();
  if (!due) return kLongestWaitMs;
  const std::int64_t left = (due->offset() - present() + sim::Duration::microseconds(999)).floor_ms();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongestWaitMs));
}

void PollLoop::run(const std::function<bool()>& is_stopped) {
  while (!is_stopped()) {
    wait(patience_ms());
    read_all();
    advance();
    for (VisitId id = 0; id < clients_.size(); ++id) {
      if (clients_[id] && !clients_[id]->is_gone) write_to(id, *clients_[id]);
    }
    dismiss_gone();
  }
  clients_.clear();
}

/// Hears of new clients, and of those that have something to read.
void PollLoop::wait(int milliseconds) {
  std::array<epoll_event, 256> events;
  const int count = epoll_wait(epoll_.number(), events.data(), events.size(), milliseconds);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if ((event.data.u64 & kListener) != 0) {
      accept_from(listeners_[event.data.u64 & ~kListener]);
      continue;
    }
    const auto id = static_cast<VisitId>(event.data.u64);
    Client& client = *clients_[id];
    if ((event.events & EPOLLOUT) != 0) client.is_stuck = false;
    if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLET | EPOLLHUP | EPOLLERR)) == 0) continue;
    client.has_input = true;
    client.is_ending = client.is_ending || (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (!std::exchange(client.is_reading, true)) readers_.push_back(id);
  }
}

/// Of the socket of a client. That it takes bytes again is asked only of one that did not: it would be an event like
/// the arrival of bytes, and put the client into the row too early.
void PollLoop::watch(VisitId visit, const Client& client, int operation) const {
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLRDHUP | EPOLLET | (client.is_stuck ? std::uint32_t{EPOLLOUT} : 0);
  wanted.data.u64 = visit;
  epoll_ctl(epoll_.number(), operation, client.socket.number(), &wanted);
}

void PollLoop::accept_from(const Listener& listener) {
  while (true) {
    File socket(accept4(listener.socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.number() < 0) return;
    if (client_count_ == kMostVisits) {
      const std::string_view refusal = door_.refusal();
      (void)send(socket.number(), refusal.data(), refusal.size(), MSG_NOSIGNAL);
      continue;
    }
    const int yes = 1;
    setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const VisitId id = door_.open(listener.server);
    if (clients_.size() <= id) clients_.resize(id + 1);
    Client& client = clients_[id].emplace();
    client.socket = std::move(socket);
    ++client_count_;
    watch(id, client, EPOLL_CTL_ADD);
  }
}

/// Whoever may not be read yet, or had enough for now, keeps its place.
void PollLoop::read_all() {
  for (const VisitId id : readers_) read_from(id, *clients_[id]);
  std::erase_if(readers_, [&](VisitId id) {
    clients_[id]->is_reading = clients_[id]->has_input;
    return !clients_[id]->has_input;
  });
}

void PollLoop::read_from(VisitId visit, Client& client) {
  std::array<char, 64 * 1024> piece;
  for (std::size_t read = 0; read < kBytesAtOnce && client.has_input && may_read(visit);) {
    const ssize_t size = recv(client.socket.number(), piece.data(), piece.size(), 0);
    if (size > 0) {
      read += static_cast<std::size_t>(size);
      door_.feed(visit, {piece.data(), static_cast<std::size_t>(size)});
      if (static_cast<std::size_t>(size) < piece.size()) {
        // That was all: what comes now is a new event. An end is read in the next round, after the replies are sent.
        client.has_input = client.is_ending;
        return;
      }
    } else {
      client.has_input = false;
      client.is_gone = client.is_gone || size == 0 || !would_block();
    }
  }
}

void PollLoop::write_to(VisitId visit, Client& client) {
  std::string& output = door_.output(visit);
  std::string_view rest = output;
  while (!rest.empty() && !client.is_stuck) {
    const ssize_t size = send(client.socket.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (size < 0) {
      if (errno == EINTR) continue;
      client.is_gone = !would_block();
      client.is_stuck = !client.is_gone;
      if (client.is_stuck) watch(visit, client, EPOLL_CTL_MOD);
      break;
    }
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
  output.erase(0, output.size() - rest.size());
  if (door_.is_flooded(visit) || (output.empty() && door_.is_over(visit))) client.is_gone = true;
}

/// False: there is more to do before that moment than may be done at once.
bool PollLoop::run_to(sim::Duration moment) {
  is_behind_ = simulation_.run(sim::Instant::at(moment), kEventsAtOnce) == sim::Simulation::End::too_many_events;
  return !is_behind_;
}

/// The world's own events up to now, and then one client after the other. A long step of time is taken in pieces:
/// meanwhile clients come and go, and what they ask is answered after it, as it was asked.
void PollLoop::advance() {
  while (true) {
    const sim::Duration moment = present();
    if (!run_to(moment) || !door_.has_work()) break;
    world_.start(door_.id(), sim::DurationRange::exactly(moment));
    if (!run_to(moment)) break;
  }
  door_.notice_ends();
  // Nobody will ever judge this run.
  world_.history().effects.clear();
  world_.history().interruptions.clear();
}

void PollLoop::dismiss_gone() {
  for (VisitId id = 0; id < clients_.size(); ++id) {
    if (!clients_[id] || !clients_[id]->is_gone) continue;
    std::erase(readers_, id);
    clients_[id].reset();
    --client_count_;
    door_.hang_up(id);
  }
}

}  // namespace lockstep::door
