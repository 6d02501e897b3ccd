#include "models/sql/client/sql_endpoint.hpp"

#include <utility>

#include "sim/worlds/world.hpp"

namespace lockstep::models::sql {

using StatementKind = Statement::Kind;

std::optional<Result> StatementCall::await_resume() {
  std::optional<Result> result = Call::await_resume();
  if (!result) endpoint_.client_.session().missed_reply = true;
  if (!result || result->error == Error::connection_failure) endpoint_.is_connected_ = false;
  return result;
}

StatementCall Endpoint::begin(Isolation isolation) {
  return execute({.kind = StatementKind::begin, .isolation = isolation});
}
StatementCall Endpoint::commit() { return execute({.kind = StatementKind::commit}); }
StatementCall Endpoint::rollback() { return execute({.kind = StatementKind::rollback}); }
StatementCall Endpoint::select(std::string table, std::vector<Condition> where, Locking locking) {
  return execute(
      {.kind = StatementKind::select, .table = std::move(table), .where = std::move(where), .locking = locking});
}
StatementCall Endpoint::insert(std::string table, std::vector<Term> row) {
  return execute({.kind = StatementKind::insert, .table = std::move(table), .row = std::move(row)});
}
StatementCall Endpoint::update(std::string table, std::vector<Assignment> set, std::vector<Condition> where) {
  return execute(
      {.kind = StatementKind::update, .table = std::move(table), .where = std::move(where), .set = std::move(set)});
}
StatementCall Endpoint::remove(std::string table, std::vector<Condition> where) {
  return execute({.kind = StatementKind::remove, .table = std::move(table), .where = std::move(where)});
}
StatementCall Endpoint::lock_advisory(Value key) {
  return execute({.kind = StatementKind::lock_advisory, .key = std::move(key)});
}
StatementCall Endpoint::try_advisory(Value key) {
  return execute({.kind = StatementKind::try_advisory, .key = std::move(key)});
}
StatementCall Endpoint::unlock_advisory(Value key) {
  return execute({.kind = StatementKind::unlock_advisory, .key = std::move(key)});
}
StatementCall Endpoint::now() { return execute({.kind = StatementKind::now}); }

StatementCall Endpoint::execute(Statement statement) {
  auto request = client_.world().make<Request>();
  // What an autocommitted statement leaves behind is data; of the others something is kept until the connection goes.
  request->opens_session = statement.kind == StatementKind::begin || statement.kind == StatementKind::lock_advisory ||
                           statement.kind == StatementKind::try_advisory;
  request->statement = std::move(statement);
  request->connects = !std::exchange(is_connected_, true);
  request->operation = client_.session().operation;
  return {*this, client_, *server_, std::move(request), timeout_};
}

}  // namespace lockstep::models::sql
