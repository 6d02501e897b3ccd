#pragma once

// An SQL server as a process: sessions on connections, and the times that an engine does not know.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/sql/engine/engine.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/message.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::sql {

class Request final : public sim::Message {
 public:
  Statement statement;
  /// It comes on a new connection: its client has closed the old one.
  bool connects = false;

  std::string_view name() const override { return statement.name(); }
  std::string describe() const override { return statement.describe(); }
  std::uint64_t digest() const override { return statement.digest() + (connects ? 1 : 0); }
};

class Reply final : public sim::Message {
 public:
  std::string_view request;
  Result content;

  std::string_view name() const override { return request; }
  std::string describe() const override { return content.describe(); }
  std::uint64_t digest() const override { return content.digest(); }
};

/// Zero: never. PostgreSQL's settings of these names; of MariaDB only `lock` counts, which is innodb_lock_wait_timeout.
struct Timeouts {
  sim::Duration deadlock = sim::Duration::seconds(1);
  sim::Duration lock;
  sim::Duration idle_in_transaction;
};

/// What a commit has answered for is on its disk. The victim of a deadlock is who closed the circle of waits,
/// deadlock_timeout later. (PostgreSQL's is whose timeout passes first in the circle: an earlier one's may, if it has
/// not waited for so long.) MariaDB breaks circles of waits at once.
class Server final : public sim::Process {
 public:
  Server(std::vector<TableSpec> tables, Timeouts timeouts, Product product = Product::postgresql)
      : engine_(std::move(tables), product), timeouts_(timeouts) {}

  /// It has this table besides, whose rows are what locks protect: histories tell of them under this id.
  void keep_resource(TableSpec table, sim::ProcessId resource) {
    engine_.add_table(std::move(table));
    resource_ = resource;
  }

  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;
  bool describes_accesses() const override { return true; }
  bool answers_at_once(const sim::Message& request) const override;
  bool is_service() const override { return true; }

  const Engine& engine() const { return engine_; }
  /// The client that it is of, as histories name it; nothing: the connection is gone.
  std::optional<sim::ProcessId> client_of(SessionId session) const;

 private:
  struct Timer final : sim::TimerOwner {
    Timer(Server& s, SessionId i, void (Server::*c)(SessionId)) : server(s), session(i), call(c) {}
    void timer_fired() override {
      timer = {};
      (server.*call)(session);
    }
    Server& server;
    SessionId session;
    void (Server::*call)(SessionId);
    sim::TimerRef timer;
  };
  struct Session {
    Session(Server& server, SessionId id, sim::ConnectionId c)
        : connection(c),
          deadlock(server, id, &Server::check_deadlock),
          lock(server, id, &Server::give_up_waiting),
          idle(server, id, &Server::end_idle) {}
    sim::ConnectionId connection;
    bool is_connected = true;
    std::optional<Request> request;  ///< that is not answered yet
    sim::OperationId operation = 0;  ///< of its latest request
    std::uint64_t wait = 0;          ///< for which the timers are set
    Timer deadlock, lock, idle;
  };

  void check_deadlock(SessionId session);
  void give_up_waiting(SessionId session);
  void end_idle(SessionId session);
  void disconnect(SessionId session);
  void set(Timer& timer, sim::Duration length, sim::TimerKind kind);
  void stop(Timer& timer);
  bool is_mariadb() const { return engine_.product() == Product::mariadb; }
  sim::Duration patience_of(const Session& session) const;
  /// Tells what has become of everything: histories, clients, timers.
  void settle();

  Engine engine_;
  Timeouts timeouts_;
  sim::ProcessId resource_;
  std::map<SessionId, std::unique_ptr<Session>> sessions_;
  std::map<std::uint32_t, SessionId> current_;  ///< by connection
  SessionId last_session_ = 0;
};

}  // namespace lockstep::models::sql
