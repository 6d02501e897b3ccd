// PostgreSQL's advisory lock of a session.
// Source: PostgreSQL 15, 13.3.5 Advisory Locks (pg_advisory_lock); MySQL's GET_LOCK is alike.
// Claims: own-release, recoverable; mutual-exclusion as long as the connection lives.
// Breaks: nothing yet.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/servers/kinds.hpp"
#include "models/sql/client/sql_endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using sql::Result;

class SqlAdvisory final : public LockAlgorithm {
 public:
  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    auto& server = client.to<sql::Endpoint>();
    // 1: take it, or wait for whoever has it.
    const std::optional<Result> locked = co_await server.lock_advisory(key());
    if (locked && locked->ok()) co_return Hold{};
    // Where no answer came, a new connection ends the old one.
    if (!locked) static_cast<void>(co_await server.rollback());
    co_return std::nullopt;
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    auto& server = client.to<sql::Endpoint>();
    const std::optional<Result> locked = co_await server.try_advisory(key());
    if (locked && locked->ok() && locked->affected == 1) co_return Hold{};
    if (!locked) static_cast<void>(co_await server.rollback());
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 2: give it back.
    const std::optional<Result> unlocked = co_await client.to<sql::Endpoint>().unlock_advisory(key());
    co_return unlocked && unlocked->ok() && unlocked->affected == 1;
  }
};

}  // namespace

Entry sql_advisory() {
  return {.id = "sql-advisory",
          .summary = "an advisory lock of the session: pg_advisory_lock and pg_advisory_unlock",
          .documents = {"lock-summary"},
          .parameters = {attempts_parameter(1), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .is_blind_to_names = true,
          .server_kind = &sql_kind(),
          .make = [](const Parameters&) { return std::make_unique<SqlAdvisory>(); }};
}

}  // namespace lockstep::models::locks
