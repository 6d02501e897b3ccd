// A transaction that keeps the lock's row locked for as long as it is open.
// Source: lock-summary, method 1 (SELECT … FOR UPDATE).
// Claims: own-release, recoverable; mutual-exclusion as long as the connection lives and the row exists.
// Breaks: sql-missing-row, sql-mariadb-missing-row, sql-server-closes-idle-session.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/sql/isolation.hpp"
#include "models/servers/kinds.hpp"
#include "models/sql/client/sql_endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using sql::Condition;
using sql::Result;
using sql::Term;

class SqlForUpdate final : public LockAlgorithm {
 public:
  explicit SqlForUpdate(const Parameters& p)
      : wants_row_(p.flag("wants_row")), creates_row_(p.flag("creates_row")), isolation_(isolation_of(p)) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override { return take(client, sql::Locking::wait); }
  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    return take(client, sql::Locking::nowait);
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 4: the end of the transaction gives it back.
    const std::optional<Result> ended = co_await client.to<sql::Endpoint>().commit();
    co_return ended && ended->ok() && !ended->rolled_back && !is_without_row(hold);
  }

 private:
  sim::Task<std::optional<Hold>> take(Client& client, sql::Locking locking) const {
    auto& server = client.to<sql::Endpoint>();
    // 1: begin.
    const std::optional<Result> began = co_await server.begin(isolation_);
    if (!began || !began->ok()) co_return std::nullopt;

    // 2: lock the row, or wait for whoever has it.
    std::optional<Result> locked = co_await server.select("locks", the_row(), locking);
    if (creates_row_ && locked && locked->ok() && locked->affected == 0) {
      // Whoever is told of a duplicate key, and still is in a transaction, locks the other one's row.
      const std::optional<Result> inserted = co_await server.insert("locks", {Term::of(key())});
      const bool is_there = inserted && (inserted->ok() || inserted->error == sql::Error::unique_violation);
      locked = inserted;
      if (is_there) locked = co_await server.select("locks", the_row(), locking);
    }
    if (locked && locked->ok() && locked->affected > 0) co_return Hold{};
    // The document does not count rows.
    if (locked && locked->ok() && !wants_row_) co_return Hold{kNoRow};

    // Give up; where no answer came, on a new connection, which ends the old one.
    static_cast<void>(co_await server.rollback());
    co_return std::nullopt;
  }

  /// Its transaction has locked nothing, so there is nothing that its end gives back.
  static bool is_without_row(const Hold& hold) { return hold.token == Value(kNoRow); }
  std::vector<Condition> the_row() const { return {{.column = "name", .term = Term::of(key())}}; }
  static constexpr std::string_view kNoRow = "no row";

  bool wants_row_;
  bool creates_row_;
  sql::Isolation isolation_;
};

}  // namespace

Entry sql_for_update() {
  return {.id = "sql-for-update",
          .summary = "a transaction that holds a row by SELECT FOR UPDATE until it ends",
          .documents = {"lock-summary"},
          .parameters = {{"wants_row", false, "a client that finds no row to lock has not got the lock"},
                         {"creates_row", false, "a client that finds no row inserts it, and looks again"},
                         isolation_parameter(),
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .is_blind_to_names = true,
          .server_kind = &sql_kind(),
          .make = [](const Parameters& p) { return std::make_unique<SqlForUpdate>(p); }};
}

}  // namespace lockstep::models::locks
