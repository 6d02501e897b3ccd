#pragma once

// The network between real servers: what one sends the other takes as long as in the story, and waits where the story
// has a partition.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim/time/time.hpp"

namespace lockstep::confirm {

/// One port of the loopback interface for each server that another may follow: what comes there goes on to the server,
/// as late as the story says. A thread of its own carries it.
class SlowLinks {
 public:
  /// The time of the story at present, below zero before it has begun.
  using Now = std::function<sim::Duration()>;
  /// From when to when nothing passes between two servers, in either direction.
  struct Gap {
    std::size_t one = 0;
    std::size_t other = 0;
    sim::Duration from;
    sim::Duration until;
  };

  /// `ports`: of each server. Throws ServerTrouble.
  SlowLinks(const std::vector<std::uint16_t>& ports, sim::Duration latency, std::vector<Gap> gaps, Now now);
  ~SlowLinks();
  SlowLinks(const SlowLinks&) = delete;
  SlowLinks& operator=(const SlowLinks&) = delete;

  /// Where `follower` is to look for `primary`.
  std::uint16_t port(std::size_t follower, std::size_t primary) const;
  /// The machine of this server is gone: so is what was under way from it and to it.
  void cut(std::size_t server);

 private:
  /// Of the bytes that one side has sent. None: its end.
  struct Piece {
    sim::Duration due;
    std::string bytes;
  };
  struct Direction {
    int from = -1;
    int to = -1;
    std::deque<Piece> pieces;
    bool has_ended = false;
  };
  struct Link {
    std::size_t follower = 0;
    std::size_t primary = 0;
    int listener = -1;
    std::uint16_t port = 0;
  };
  struct Session {
    std::size_t link = 0;
    Direction up;    ///< to the primary
    Direction down;  ///< to the follower
    bool is_over = false;
  };

  void run();
  void accept_on(std::size_t link);
  void read_from(Session& session, Direction& direction);
  void write_due(Session& session, Direction& direction) const;
  sim::Duration due(const Link& link, sim::Duration sent) const;
  void end_sessions();

  std::vector<std::uint16_t> ports_;
  sim::Duration latency_;
  std::vector<Gap> gaps_;
  Now now_;
  std::vector<Link> links_;
  std::deque<Session> sessions_;
  mutable std::mutex mutex_;
  bool is_over_ = false;
  int wake_[2] = {-1, -1};
  std::thread thread_;
};

}  // namespace lockstep::confirm
