#pragma once

// A ZooKeeper server without others as a process: requests, connections of sessions, and the times that an engine does
// not know.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/numbers_by_connection.hpp"
#include "models/zookeeper/engine/engine.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/message.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::zookeeper {

/// A node as histories call it: a lock is called x whose node is /x, or whose nodes are below /locks/x.
std::string_view object_of(std::string_view path);

/// Asks for a new session, or for one that the client had on a connection that is gone.
struct Connect {
  SessionId session = 0;  ///< 0: a new one
  sim::Duration timeout = {};
  /// The latest transaction that the client has heard of, if it has several servers: one that is behind refuses it.
  Zxid seen = 0;
};
struct Ping {};
struct CloseSession {};
using Content = std::variant<Operation, Connect, Ping, CloseSession>;

/// Which of a session's connections, one after the other. What was sent on an earlier one is not carried out any more.
struct ConnectionNumber {
  SessionId session = 0;
  std::uint32_t number = 0;
  bool operator==(const ConnectionNumber&) const = default;
};

class Request final : public sim::Message {
 public:
  ConnectionNumber on;  ///< of whatever is no `Connect`
  Content content;

  std::string_view name() const override;
  std::string describe() const override;
  std::uint64_t digest() const override;
};

/// What is not asked for is empty.
struct Told {
  Answer answer = {};
  ConnectionNumber on = {};    ///< of a connect; session 0: it has expired
  sim::Duration timeout = {};  ///< of a connect: what was agreed on
  bool is_lost = false;        ///< no answer: the server has closed the connection
};

class Reply final : public sim::Message {
 public:
  std::string_view request;
  Told content;

  std::string_view name() const override { return request; }
  std::string describe() const override;
  std::uint64_t digest() const override;
};

/// A watch has been set off.
class Notification final : public sim::Message {
 public:
  ConnectionNumber on;
  WatchedEvent event;

  std::string_view name() const override { return "NOTIFICATION"; }
  std::string describe() const override { return zookeeper::describe(event); }
  std::uint64_t digest() const override;
};

/// The server has closed the connection.
class Closed final : public sim::Message {
 public:
  ConnectionNumber on;

  std::string_view name() const override { return "CLOSED"; }
  std::string describe() const override { return "connection closed"; }
  std::uint64_t digest() const override;
};

// What both sorts of servers ask of a request.

/// The node that it is about, where a lock may be one. Null: none.
const std::string* path_of(const Operation& operation);
bool sets_watches(const Operation& operation);
/// Whether a server of an ensemble has to ask its leader.
bool is_write(const Operation& operation);

struct SessionTimes {
  /// Sessions that are over are looked for so often: one ends up to so much late.
  sim::Duration tick = {};
  sim::Duration least = {};  ///< a session is not shorter
  sim::Duration most = {};   ///< nor longer; zero: it may be
};

/// Nodes and sessions are on its disk when it answers. When it comes back all sessions have their whole timeout again,
/// and have to be connected anew.
class Server final : public sim::Process {
 public:
  /// `nodes`: persistent ones that are there from the beginning, and all above them.
  Server(SessionTimes times, std::vector<std::string> nodes) : times_(times), nodes_(std::move(nodes)) { fill(); }

  void start() override;
  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;
  bool describes_accesses() const override { return true; }
  bool answers_at_once(const sim::Message&) const override { return true; }
  bool is_service() const override { return true; }

  const Engine& engine() const { return engine_; }
  /// Whether a newcomer finds what the first one found.
  bool is_as_at_first() const { return engine_.sessions().empty() && engine_.paths() == first_paths_; }
  /// By its clock.
  std::optional<sim::Instant> end_of(SessionId session) const;

 private:
  struct Session final : sim::TimerOwner {
    Session(Server& s, SessionId i, sim::Duration t) : server(s), id(i), timeout(t) {}
    void timer_fired() override;
    Server& server;
    SessionId id;
    sim::Duration timeout;
    std::uint32_t number = 1;  ///< of its connection
    bool is_connected = true;
    sim::Instant end;
    sim::TimerRef timer;
  };
  /// Who watches, by the connection of the world that watches were asked for on.
  struct Watcher {
    sim::ConnectionId connection;
    ConnectionNumber on;
  };

  void fill();
  void connect(const Connect& asked, const Request& request, sim::ConnectionId connection);
  void execute(const Operation& operation, const Request& request, sim::ConnectionId connection);
  void put_off(Session& session);
  /// Its nodes go with it.
  void end(Session& session, sim::Effect::Kind removal, sim::ProcessId by);
  void keep_watcher(sim::ConnectionId connection, ConnectionNumber on);
  bool has_watchers(SessionId session) const;
  void forget_watchers_of(SessionId session);
  /// For histories: what the latest transaction changed.
  void record(sim::Effect::Kind removal, sim::ProcessId by, sim::OperationId operation);
  void notify();
  void reply(const Request& request, sim::ConnectionId connection, Told told);

  SessionTimes times_;
  std::vector<std::string> nodes_;
  std::vector<std::string> first_paths_;
  Engine engine_;
  std::map<SessionId, Session> sessions_;
  std::map<std::uint32_t, Watcher> watchers_;
  NumbersByConnection opened_;  ///< sessions
};

}  // namespace lockstep::models::zookeeper
