#include "confirm/slow_links.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "confirm/wire.hpp"

namespace lockstep::confirm {
namespace {

int listen_at(std::uint16_t& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  port = free_port();
  const sockaddr_in address = loopback(port);
  constexpr int kWaiting = 16;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && listen(fd, kWaiting) == 0)
    return fd;
  close(fd);
  throw ServerTrouble("cannot listen at a port of 127.0.0.1");
}

int connect_to_port(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

SlowLinks::SlowLinks(const std::vector<std::uint16_t>& ports, sim::Duration latency, std::vector<Gap> gaps, Now now)
    : ports_(ports), latency_(latency), gaps_(std::move(gaps)), now_(std::move(now)) {
  for (std::size_t follower = 0; follower < ports.size(); ++follower) {
    for (std::size_t primary = 0; primary < ports.size(); ++primary) {
      if (follower == primary) continue;
      Link link{.follower = follower, .primary = primary};
      link.listener = listen_at(link.port);
      links_.push_back(link);
    }
  }
  if (pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) throw ServerTrouble("cannot make a pipe");
  thread_ = std::thread([this] { run(); });
}

SlowLinks::~SlowLinks() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  static_cast<void>(write(wake_[1], "", 1));
  thread_.join();
  for (Session& session : sessions_) session.is_over = true;
  end_sessions();
  for (const Link& link : links_) close(link.listener);
  for (const int fd : wake_) close(fd);
}

std::uint16_t SlowLinks::port(std::size_t follower, std::size_t primary) const {
  const auto found = std::find_if(links_.begin(), links_.end(), [&](const Link& link) {
    return link.follower == follower && link.primary == primary;
  });
  return found == links_.end() ? 0 : found->port;
}

void SlowLinks::cut(std::size_t server) {
  const std::lock_guard lock(mutex_);
  for (Session& session : sessions_) {
    const Link& link = links_[session.link];
    session.is_over = session.is_over || link.follower == server || link.primary == server;
  }
  static_cast<void>(write(wake_[1], "", 1));
}

/// Where several gaps follow each other, behind the last.
sim::Duration SlowLinks::due(const Link& link, sim::Duration sent) const {
  if (sent < sim::Duration::zero()) return sent;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Gap& gap : gaps_) {
      const bool concerns = (gap.one == link.follower && gap.other == link.primary) ||
                            (gap.one == link.primary && gap.other == link.follower);
      if (!concerns || sent < gap.from || sent >= gap.until) continue;
      sent = gap.until;
      moved = true;
    }
  }
  return sent + latency_;
}

void SlowLinks::run() {
  while (true) {
    std::vector<pollfd> waiting{{wake_[0], POLLIN, 0}};
    std::vector<std::pair<Session*, Direction*>> readers;
    int patience = 1'000;
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
      end_sessions();
      for (const Link& link : links_) waiting.push_back({link.listener, POLLIN, 0});
      const sim::Duration now = now_();
      for (Session& session : sessions_) {
        for (Direction* direction : {&session.up, &session.down}) {
          if (!direction->has_ended) {
            waiting.push_back({direction->from, POLLIN, 0});
            readers.emplace_back(&session, direction);
          }
          if (direction->pieces.empty()) continue;
          const std::int64_t left = (direction->pieces.front().due - now).floor_ms() + 1;
          patience = std::min<int>(patience, static_cast<int>(std::clamp<std::int64_t>(left, 0, patience)));
        }
      }
    }
    poll(waiting.data(), waiting.size(), patience);
    const std::lock_guard lock(mutex_);
    std::array<char, 64> ignored;
    static_cast<void>(read(wake_[0], ignored.data(), ignored.size()));
    for (std::size_t i = 0; i < readers.size(); ++i) {
      if (waiting[1 + links_.size() + i].revents != 0) read_from(*readers[i].first, *readers[i].second);
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (waiting[1 + i].revents != 0) accept_on(i);
    }
    for (Session& session : sessions_) {
      write_due(session, session.up);
      write_due(session, session.down);
    }
  }
}

void SlowLinks::accept_on(std::size_t index) {
  const int follower = accept4(links_[index].listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (follower < 0) return;
  const int primary = connect_to_port(ports_[links_[index].primary]);
  if (primary < 0) {
    close(follower);
    return;
  }
  Session& session = sessions_.emplace_back();
  session.link = index;
  session.up.from = session.down.to = follower;
  session.up.to = session.down.from = primary;
}

void SlowLinks::read_from(Session& session, Direction& direction) {
  std::array<char, 65536> piece;
  const ssize_t size = recv(direction.from, piece.data(), piece.size(), MSG_DONTWAIT);
  direction.has_ended = size <= 0;
  const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(size, 0));
  direction.pieces.push_back({due(links_[session.link], now_()), std::string(piece.data(), bytes)});
}

void SlowLinks::write_due(Session& session, Direction& direction) const {
  const sim::Duration now = now_();
  while (!session.is_over && !direction.pieces.empty() && direction.pieces.front().due <= now) {
    std::string& bytes = direction.pieces.front().bytes;
    const ssize_t written = send(direction.to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    session.is_over = written <= 0 || static_cast<std::size_t>(written) < bytes.size();
    direction.pieces.pop_front();
  }
}

void SlowLinks::end_sessions() {
  for (const Session& session : sessions_) {
    if (!session.is_over) continue;
    close(session.up.from);
    close(session.up.to);
  }
  std::erase_if(sessions_, [](const Session& session) { return session.is_over; });
}

}  // namespace lockstep::confirm
