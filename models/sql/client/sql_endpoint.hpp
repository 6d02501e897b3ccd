#pragma once

// A client's connection to an SQL server: `client.to<sql::Endpoint>()`.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/sql/engine/statement.hpp"
#include "models/sql/server/sql_server.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::sql {

class Endpoint;

/// A result, or nothing: no answer came, and whether it was carried out nobody knows.
class [[nodiscard]] StatementCall final : public sim::Call<Reply> {
 public:
  StatementCall(Endpoint& endpoint, Client& client, sim::ConnectionId connection, sim::MessagePtrOf<Request> request,
                std::optional<sim::Duration> timeout)
      : Call(client, connection, std::move(request), timeout), endpoint_(endpoint) {}
  std::optional<Result> await_resume();

 private:
  Endpoint& endpoint_;
};

/// `const std::optional<Result> result = co_await endpoint.commit()`. Statements go out one after the other. After an
/// answer that never came, or the server's word that the session is over, the next one goes out on a new connection, as
/// from a pool: it knows nothing of the old one's transaction.
class Endpoint final : public models::Endpoint {
 public:
  /// Requires: `client` outlives it.
  explicit Endpoint(Client& client) : client_(client) {}
  void add_server(sim::ConnectionId connection, std::optional<sim::Duration> timeout) {
    if (server_) return;  // of several servers a lock uses the first
    server_ = connection;
    timeout_ = timeout;
  }

  StatementCall begin(Isolation isolation = Isolation::standard);
  StatementCall commit();
  StatementCall rollback();
  StatementCall select(std::string table, std::vector<Condition> where, Locking locking = Locking::none);
  StatementCall insert(std::string table, std::vector<Term> row);
  StatementCall update(std::string table, std::vector<Assignment> set, std::vector<Condition> where);
  StatementCall remove(std::string table, std::vector<Condition> where);
  StatementCall lock_advisory(Value key);
  StatementCall try_advisory(Value key);
  StatementCall unlock_advisory(Value key);
  StatementCall now();
  StatementCall execute(Statement statement);

  void forget() override { is_connected_ = false; }

 private:
  friend class StatementCall;

  Client& client_;
  std::optional<sim::ConnectionId> server_;
  std::optional<sim::Duration> timeout_;
  bool is_connected_ = false;
};

}  // namespace lockstep::models::sql
