#pragma once

// The client's side of a connection to a Redis server: what a client library offers.

#include <coroutine>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "models/client/session.hpp"
#include "models/redis/wire/command.hpp"
#include "models/redis/wire/messages.hpp"
#include "models/redis/wire/reply.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::redis {

class CommandCall;

/// The way to a server that can change while requests wait for it: `PrimaryRoute`.
class Route {
 public:
  virtual bool is_known() const = 0;
  /// To the server, or to the one that was it last.
  virtual sim::ConnectionId connection() const = 0;
  /// How long a request waits until it is known. Nothing: for ever.
  virtual std::optional<sim::Duration> patience() const = 0;
  virtual sim::Process& client() const = 0;
  virtual void join(CommandCall& call) = 0;
  virtual void leave(CommandCall& call) = 0;
  /// The connection is lost, or leads to another server than the wanted one.
  virtual void lost(sim::ConnectionId connection) = 0;

 protected:
  ~Route() = default;
};

/// `const Reply reply = co_await connection.get(key);` — an answer, or `Reply::unknown()`.
class [[nodiscard]] CommandCall final : public sim::Call<Response> {
 public:
  /// `route`: says where the primary is, if that is not known beforehand; else null.
  CommandCall(sim::Process& client, sim::ConnectionId connection, sim::MessagePtr request,
              std::optional<sim::Duration> timeout, bool& missed_reply, Route* route)
      : Call(client, connection, std::move(request), timeout), missed_reply_(missed_reply), detour_(*this, route) {}
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> program) {
    note_origin(sim::code_frame_of(program));
    if (detour_.route == nullptr) return begin(program);
    detour_.begin(program);
  }
  Reply await_resume() {
    std::optional<Reply> answer = Call::await_resume();
    if (detour_.route != nullptr) detour_.end(answer);
    if (answer && !answer->is_unknown()) return std::move(*answer);
    missed_reply_ = true;
    return Reply::unknown();
  }

  /// For a `Route`: the server is here.
  void go(sim::ConnectionId connection) { detour_.go(connection); }

 private:
  /// Waiting until the primary is found.
  struct Detour final : sim::TimerOwner {
    Detour(CommandCall& c, Route* r) : call(c), route(r) {}
    Detour(const Detour&) = delete;
    Detour& operator=(const Detour&) = delete;
    ~Detour() {
      if (route != nullptr) stop();
    }
    void begin(std::coroutine_handle<> waiting);
    void go(sim::ConnectionId connection);
    void end(const std::optional<Reply>& answer) const;
    void stop();
    void timer_fired() override;

    CommandCall& call;
    Route* route;
    std::coroutine_handle<> program;
    sim::TimerRef timer;
    sim::ConnectionId sent_to;
  };

  bool& missed_reply_;
  Detour detour_;
};

/// Unsolicited messages of one connection, and what waits for them.
class Inbox {
 public:
  explicit Inbox(std::uint32_t connection) : connection_(connection) {}
  std::uint32_t connection() const { return connection_; }
  void put(Reply message);
  bool is_waited_at() const { return waiter_ != nullptr; }
  void clear() { messages_.clear(); }

 private:
  friend class NextMessage;
  std::uint32_t connection_;
  std::deque<Reply> messages_;
  class NextMessage* waiter_ = nullptr;
};

/// `const std::optional<Reply> message = co_await connection.next_message(timeout);` — the next message of a channel
/// that the connection has subscribed to, oldest first: ["message", channel, payload] or ["pmessage", pattern, channel,
/// payload]; nothing if none came in time; `unknown` if the server closed the connection. A message that is there
/// already is taken at once.
class [[nodiscard]] NextMessage final : private sim::TimerOwner {
 public:
  NextMessage(sim::Process& client, Inbox& inbox, std::optional<sim::Duration> timeout)
      : client_(client), inbox_(inbox), timeout_(timeout) {}
  NextMessage(const NextMessage&) = delete;
  NextMessage& operator=(const NextMessage&) = delete;
  ~NextMessage();

  bool await_ready() const noexcept { return !inbox_.messages_.empty(); }
  void await_suspend(std::coroutine_handle<> program);
  std::optional<Reply> await_resume();

 private:
  friend class Inbox;
  void timer_fired() override;
  void wake();

  sim::Process& client_;
  Inbox& inbox_;
  std::optional<sim::Duration> timeout_;
  sim::TimerRef timer_;
  std::coroutine_handle<> program_;
};

struct SetOptions {
  bool nx = false;
  std::optional<sim::Duration> px = std::nullopt;
};

/// What has come to one client on all of its connections.
class Inboxes {
 public:
  Inbox& at(sim::ConnectionId connection);
  /// The connection is gone: a wait for its messages ends with `unknown`. Returns whether the inbox was in use without
  /// a wait.
  bool end(sim::ConnectionId connection);
  void clear() { inboxes_.clear(); }

 private:
  std::deque<Inbox> inboxes_;  ///< by first use; they must not move
};

class Connection {
 public:
  /// Requires: `client`, `session` and `inboxes` outlive the connection.
  Connection(sim::Process& client, Session& session, Inboxes& inboxes, sim::ConnectionId id,
             std::optional<sim::Duration> timeout)
      : client_(&client), session_(&session), inboxes_(&inboxes), id_(id), timeout_(timeout) {}
  /// To the present primary. Requires: `route` outlives the connection.
  Connection(sim::Process& client, Session& session, Inboxes& inboxes, Route& route,
             std::optional<sim::Duration> timeout)
      : client_(&client), session_(&session), inboxes_(&inboxes), route_(&route), timeout_(timeout) {}

  /// The same connection with another patience: nothing waits for ever.
  Connection with_timeout(std::optional<sim::Duration> timeout) const {
    Connection other = *this;
    other.timeout_ = timeout;
    return other;
  }

  CommandCall call(Command&& command);
  CommandCall call(const Command& command);
  /// Of the connection that requests take now: with `via`, that to the present primary.
  sim::ConnectionId id() const;

  /// MULTI, the commands and EXEC in one packet. Replies what EXEC replies: an array, nil if a watched key has changed.
  CommandCall transaction(std::vector<Command> commands);

  /// Replies ["subscribe", channel, count]. From then on the connection takes nothing but more of these, and PING.
  CommandCall subscribe(const Value& channel) { return call(Command{"SUBSCRIBE", channel}); }
  CommandCall unsubscribe(const Value& channel) { return call(Command{"UNSUBSCRIBE", channel}); }
  CommandCall publish(const Value& channel, const Value& message) { return call(Command{"PUBLISH", channel, message}); }
  /// No timeout: for ever.
  NextMessage next_message(std::optional<sim::Duration> timeout) {
    return NextMessage(*client_, inboxes_->at(id()), timeout);
  }

  CommandCall set(const Value& key, const Value& value, SetOptions options = {});
  CommandCall setnx(const Value& key, const Value& value) { return call(Command{"SETNX", key, value}); }
  CommandCall get(const Value& key) { return call(Command{"GET", key}); }
  CommandCall getset(const Value& key, const Value& value) { return call(Command{"GETSET", key, value}); }
  CommandCall del(const Value& key) { return call(Command{"DEL", key}); }
  /// EXPIRE for whole seconds, else PEXPIRE.
  CommandCall expire(const Value& key, sim::Duration ttl);
  /// Requires: `script` outlives the world.
  CommandCall eval(std::string_view script, std::initializer_list<Value> keys, std::initializer_list<Value> arguments);

 private:
  friend class Gather;

  CommandCall send(sim::MessagePtrOf<Request> request);

  sim::Process* client_;
  Session* session_;
  Inboxes* inboxes_;
  Route* route_ = nullptr;
  sim::ConnectionId id_;  ///< without a route
  std::optional<sim::Duration> timeout_;
};

}  // namespace lockstep::models::redis
