#pragma once

// What ZooKeeper's client library is to a process: one session, which all its threads use, with connections to the
// server one after the other, and the watches that wait for something. Start here to write a lock.
// Source: ZooKeeper 3.8, ClientCnxn.java (states, pings, setWatches); Curator's and kazoo's clients, which open a new
//         session when one has expired.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/zookeeper/client/zookeeper_endpoint.hpp"
#include "models/zookeeper/engine/request.hpp"
#include "models/zookeeper/server/zookeeper_server.hpp"

namespace lockstep::models::zookeeper {

enum class State : std::uint8_t {
  closed,      ///< there is no session, or it was closed
  connecting,  ///< a new session is asked for
  connected,
  suspended,  ///< the connection is lost; the session may live on, or be over
  lost        ///< the server says that the session has expired
};

/// One watch that a request has set.
class Watch {
 public:
  enum class Kind : std::uint8_t { data, exist, child };
  /// What becomes of it when only the connection is lost: ClientCnxn sets it again, kazoo forgets it.
  enum class Kept : std::uint8_t { in_the_session, on_the_connection };
  Watch(Kind kind, std::string path, Kept kept) : kind_(kind), kept_(kept), path_(std::move(path)) {}
  /// What has set it off. Nothing: it has not been, or its session is over.
  const std::optional<EventType>& event() const { return event_; }

 private:
  friend class Handle;
  Kind kind_;
  Kept kept_;
  std::string path_;
  std::optional<EventType> event_;
  Latch is_over_;
};

/// In `Client::shared`. It needs a place for background tasks: `Client::background`.
class Handle final : public ProcessObject, public Listener {
 public:
  /// Opens a session unless there is one. Nothing happens to a session that is there, whatever its timeout. False: the
  /// server does not answer.
  sim::Task<bool> open(Client& client, sim::Duration timeout);

  /// The answer; nothing: the connection was lost, or there is none to be had. Waits until the handle is connected, or
  /// fails to be. If the session has expired it opens another. Requires: `open` was called.
  sim::Task<std::optional<Answer>> ask(Client& client, Operation operation);
  /// The same, but only in this session: if that is over the answer is SessionExpired, and nothing is sent.
  sim::Task<std::optional<Answer>> ask_in(Client& client, SessionId session, Operation operation);

  /// Of a request that was answered just now, and that set it.
  std::shared_ptr<Watch> watch(Watch::Kind kind, std::string path, Watch::Kept kept = Watch::Kept::in_the_session);
  /// Until it is set off. False: the session is over, or the time. One that was forgotten is never set off.
  sim::Task<bool> wait_for(Client& client, std::shared_ptr<Watch> watch, Patience& patience);

  State state() const { return state_; }
  /// 0: none.
  SessionId session() const { return on_.session; }

  // --- For the endpoint.

  void notified(const Notification& notification) override;
  void closed(ConnectionNumber on) override { suspend(on); }
  /// When all programs have ended the session is closed, and nobody waits for the answer.
  void left_by(Client& client) override;

 private:
  /// Until it is connected, or not to be. False: not.
  sim::Task<bool> connect(Client& client);
  sim::Task<bool> connect_anew(Client& client);
  /// To one of several servers: the next one, if it is not the first time.
  void turn(Client& client);
  sim::Task<std::optional<Answer>> send(Client& client, Operation operation);
  /// Pings, and connects anew when the connection is lost, until the session is over or closed.
  sim::Task<void> keep_alive(Client& background, SessionId session, sim::Duration timeout);
  sim::Task<void> reconnect(Client& background, sim::Duration period);
  sim::Task<void> set_watches(Client& background);
  sim::Task<void> close_session(Client& client, ConnectionNumber on);
  /// The connection was lost on which something was sent.
  void suspend(ConnectionNumber on);
  void become(State state);
  void wake_all();
  void end_watches();

  State state_ = State::closed;
  ConnectionNumber on_;
  std::optional<std::size_t> server_;  ///< of several, the one that it is connected to, or was last
  sim::Duration timeout_;              ///< that is asked for
  Zxid last_zxid_ = 0;                 ///< that the client has heard of in an answer
  Latch changed_;                      ///< who waits for another state
  Latch to_do_;                        ///< for the keeper: the connection is lost, or the session closed
  std::vector<std::shared_ptr<Watch>> watches_;
  std::set<std::uint16_t> users_;  ///< clients whose programs have used it and not ended
};

}  // namespace lockstep::models::zookeeper
