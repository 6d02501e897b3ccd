#pragma once

// A real ZooKeeper of one server or of several, and what it says to sessions that speak its protocol. For tests, where it is
// installed.

#include <cstddef>
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

/// Servers of its own, with folders and ports of their own. They end with this object. Throws std::runtime_error if they
/// do not answer as their protocol says.
class RealZooKeeper {
 public:
  /// Nothing: it is not installed, and `why` says so.
  static std::unique_ptr<RealZooKeeper> start(std::string& why, int tick_milliseconds = 2'000);
  /// One that somebody else has started, at this port of this machine.
  static std::unique_ptr<RealZooKeeper> at(std::uint16_t port);
  /// An ensemble, when it has a leader and all others follow it.
  static std::unique_ptr<RealZooKeeper> start_ensemble(std::string& why, std::size_t servers, int tick_milliseconds);
  ~RealZooKeeper();

  /// Where a session connects from now on, of several servers: the first one unless this was called.
  void turn(SessionId session, std::size_t server) { sessions_[session].server = server; }
  /// Which of them leads, when all that live are in service.
  std::size_t leader();
  /// Its machine has died.
  void kill(std::size_t server);

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
  /// On a new connection, with the latest transaction that the session has seen: a server that is behind closes it, and
  /// is asked again. False: the server says that the session has expired.
  bool reconnect(SessionId session);
  /// For sessions that are opened from now on. 0: none was opened yet.
  void ask_for(int timeout_milliseconds) { timeout_ = timeout_milliseconds; }
  int negotiated(SessionId session) const { return sessions_.at(session).timeout; }
  std::string version() const { return version_; }
  /// Of the first.
  std::uint16_t port() const { return servers_.front().port; }

 private:
  struct Session {
    int fd = -1;
    std::int64_t real_id = 0;
    std::string password = std::string(16, '\0');
    int timeout = 0;
    std::size_t server = 0;
    Zxid seen = 0;
    std::string received = {};
  };
  struct Server {
    std::uint16_t port = 0;
    int pid = 0;
  };
  struct Packet {
    wire::ReplyHeader header;
    std::string content;
  };

  explicit RealZooKeeper(std::string folder) : folder_(std::move(folder)) {}
  enum class Connected : std::uint8_t { yes, expired, refused };
  Connected connect(Session& session);
  void launch(Server& server, const std::string& config, const char* main_class);
  void send(Session& session, std::string_view packet);
  std::optional<std::string> receive(Session& session, int milliseconds);
  /// The next that is no event.
  std::optional<Packet> receive_reply(Session& session, std::vector<WatchedEvent>& events, int milliseconds);
  /// What a request is answered with, if need be after pings.
  Packet ask(Session& session, wire::OpCode type, const std::string& content, std::vector<WatchedEvent>& events,
             std::int32_t xid);
  /// The owner of an ephemeral node, by our number.
  void name_owner(Result& result) const;

  std::string folder_;
  std::string version_;
  std::vector<Server> servers_;
  int timeout_ = 30'000;
  std::int32_t last_xid_ = 0;
  std::map<SessionId, Session> sessions_;
};

}  // namespace lockstep::models::zookeeper::conformance
