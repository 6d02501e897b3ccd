#include "models/locks/sql/transaction_lock.hpp"

#include "models/client/client.hpp"
#include "models/locks/sql/isolation.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;
using sql::Result;

namespace {

/// Where the server keeps what the lock protects.
constexpr std::string_view kTable = "counters";
std::vector<sql::Condition> the_row() { return {{.column = "name", .term = sql::Term::of("resource")}}; }

bool is_done(const std::optional<Result>& result) { return result && result->ok(); }

}  // namespace

TransactionLock::TransactionLock(const Parameters& parameters) : isolation_(isolation_of(parameters)) {}

sim::Task<std::optional<std::int64_t>> TransactionLock::read_row(Client& client) const {
  const std::optional<Result> read = co_await client.to<sql::Endpoint>().select(std::string(kTable), the_row());
  if (!is_done(read) || read->rows.size() != 1) co_return std::nullopt;
  co_return read->rows.front()[1].integer();
}

sim::Task<bool> TransactionLock::write_row(Client& client, std::int64_t value) const {
  const std::optional<Result> written = co_await client.to<sql::Endpoint>().update(
      std::string(kTable), {{.column = "value", .term = sql::Term::of(value)}}, the_row());
  co_return is_done(written) && written->affected == 1;
}

sim::Task<bool> TransactionLock::begin(Client& client) const {
  const std::optional<Result> began = co_await client.to<sql::Endpoint>().begin(isolation_);
  co_return is_done(began);
}

sim::Task<bool> TransactionLock::lock(Client& client, bool may_wait) const {
  sql::Statement statement{.kind = may_wait ? sql::Statement::Kind::lock_advisory : sql::Statement::Kind::try_advisory};
  statement.key = key();
  const std::optional<Result> locked = co_await client.to<sql::Endpoint>().execute(std::move(statement));
  co_return is_done(locked) && locked->affected == 1;
}

sim::Task<bool> TransactionLock::unlock(Client& client) const {
  const std::optional<Result> unlocked = co_await client.to<sql::Endpoint>().unlock_advisory(key());
  co_return is_done(unlocked) && unlocked->affected == 1;
}

sim::Task<void> TransactionLock::give_up(Client& client) {
  static_cast<void>(co_await client.to<sql::Endpoint>().rollback());
}

std::vector<ParameterSpec> transaction_lock_parameters() {
  return {isolation_parameter(), attempts_parameter(1), retry_parameter({100_ms, 100_ms})};
}

}  // namespace lockstep::models::locks
