#pragma once

// A real ZooKeeper of one server, and what it says to sessions that speak its protocol. For tests, where it is
// installed.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/zookeeper/conformance/steps.hpp"
#include "models/zookeeper/engine/request.hpp"
#include "models/zookeeper/wire/records.hpp"

namespace lockstep::models::zookeeper::conformance {

/// A server of its own, with a folder and a port of its own. It ends with this object. Throws std::runtime_error if it
/// does not answer as its protocol says.
class RealZooKeeper {
 public:
  /// Nothing: it is not installed, and `why` says so.
  static std::unique_ptr<RealZooKeeper> start(std::string& why, int tick_milliseconds = 2'000);
  /// One that somebody else has started, at this port of this machine.
  static std::unique_ptr<RealZooKeeper> at(std::uint16_t port);
  ~RealZooKeeper();

  /// What the session is told, and before it what its watches hear. `owners` of ephemeral nodes are our numbers.
  struct Outcome {
    Answer answer = {};
    std::vector<WatchedEvent> events = {};
  };
  /// Reads from the session's connection until its answer is there. After `close` the session's last events are those
  /// before the connection was closed.
  Outcome carry_out(const Step& step);
  /// What has come for the session so far: a ping goes out, and events come before its answer.
  std::vector<WatchedEvent> events_of(SessionId session);
  /// What comes until the server closes the connection, within so many milliseconds. Nothing: it did not.
  std::optional<std::vector<WatchedEvent>> events_until_closed(SessionId session, int milliseconds);
  /// The session's connection is closed, and nobody says so to the server but its machine.
  void hang_up(SessionId session);
  /// On a new connection. False: the server says that it has expired.
  bool reconnect(SessionId session);
  /// For sessions that are opened from now on. 0: none was opened yet.
  void ask_for(int timeout_milliseconds) { timeout_ = timeout_milliseconds; }
  int negotiated(SessionId session) const { return sessions_.at(session).timeout; }
  std::string version() const { return version_; }
  std::uint16_t port() const { return port_; }

 private:
  struct Session {
    int fd = -1;
    std::int64_t real_id = 0;
    std::string password = std::string(16, '\0');
    int timeout = 0;
    std::string received = {};
  };
  struct Packet {
    wire::ReplyHeader header;
    std::string content;
  };

  explicit RealZooKeeper(std::string folder) : folder_(std::move(folder)) {}
  /// False: the server closed the connection, or says that the session has expired.
  bool connect(Session& session);
  void send(Session& session, std::string_view packet);
  std::optional<std::string> receive(Session& session, int milliseconds);
  Packet receive_reply(Session& session, std::vector<WatchedEvent>& events);
  Packet ask(Session& session, wire::OpCode type, const std::string& content, std::vector<WatchedEvent>& events,
             std::int32_t xid);
  /// The owner of an ephemeral node, by our number.
  void name_owner(Result& result) const;

  std::string folder_;
  std::string version_;
  std::uint16_t port_ = 0;
  int pid_ = 0;
  int timeout_ = 30'000;
  std::int32_t last_xid_ = 0;
  std::map<SessionId, Session> sessions_;
};

}  // namespace lockstep::models::zookeeper::conformance
