#pragma once

// The client's side of a connection to a Redis server: what a client library offers.

#include <initializer_list>
#include <optional>
#include <string_view>

#include "models/redis/node.hpp"
#include "sim/await.hpp"

namespace lockstep::models::redis {

/// `const Reply reply = co_await connection.get(key);` — an answer, or `Reply::unknown()`.
class [[nodiscard]] CommandCall final : public sim::Call<Response> {
 public:
  CommandCall(sim::Process& client, sim::ConnectionId connection, sim::MessagePtr request,
              std::optional<sim::Duration> timeout, bool& missed_reply)
      : Call(client, connection, std::move(request), timeout), missed_reply_(missed_reply) {}
  Reply await_resume() {
    std::optional<Reply> answer = Call::await_resume();
    if (answer) return std::move(*answer);
    missed_reply_ = true;
    return Reply::unknown();
  }

 private:
  bool& missed_reply_;
};

struct SetOptions {
  bool nx = false;
  std::optional<sim::Duration> px = std::nullopt;
};

class Connection {
 public:
  /// What the requests of one client have in common.
  struct Session {
    sim::OperationId operation = 0;  ///< the client's operation that is going on
    bool missed_reply = false;       ///< some outcome has been unknown since this was last cleared
  };

  /// Requires: `client` and `session` outlive the connection.
  Connection(sim::Process& client, Session& session, sim::ConnectionId id, std::optional<sim::Duration> timeout)
      : client_(&client), session_(&session), id_(id), timeout_(timeout) {}

  /// The same connection with another patience: nothing waits for ever.
  Connection with_timeout(std::optional<sim::Duration> timeout) const {
    return Connection(*client_, *session_, id_, timeout);
  }

  CommandCall call(Command command);

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
  sim::Process* client_;
  Session* session_;
  sim::ConnectionId id_;
  std::optional<sim::Duration> timeout_;
};

}  // namespace lockstep::models::redis
