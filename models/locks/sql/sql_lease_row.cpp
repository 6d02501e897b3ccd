// A row that says until when it is locked: ShedLock's JDBC provider.
// Source: ShedLock (JdbcTemplateLockProvider), https://github.com/lukas-krecan/ShedLock; lockAtLeastFor is left out.
// Claims: own-release, recoverable within the lease; mutual-exclusion within the lease, by one clock.
// Breaks: sql-lease-skewed-clock (issue 231: each application server's own clock), sql-lease-stale-now (issue 132: the
// time is read before a pause), sql-lease-pause.

#include <array>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/servers/kinds.hpp"
#include "models/sql/client/sql_endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using sql::Condition;
using sql::Result;
using sql::Term;

constexpr std::array<std::string_view, 2> kClocksOfRow{"application", "database"};

class SqlLeaseRow final : public LockAlgorithm {
 public:
  explicit SqlLeaseRow(const Parameters& p)
      : most_(p.duration("lease")),
        by_database_(p.choice("clock") == "database"),
        compares_owner_(p.flag("compares_owner")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    auto& server = client.to<sql::Endpoint>();
    // 1: what time is it?
    const sim::Instant now = client.clock().now();
    const Value token = client.unique_token();
    Hold hold{token};
    if (!by_database_) hold.lease_until = now + most_;

    // 2: create the row, if it is not there yet.
    const std::optional<Result> inserted =
        co_await server.insert("shedlock", {Term::of(key()), after(now, most_), after(now, {}), Term::of(token)});
    if (!inserted) co_return std::nullopt;
    if (inserted->ok()) co_return hold;

    // 3: it is; take it if its lease has ended.
    const std::optional<Result> taken =
        co_await server.update("shedlock",
                               {{.column = "lock_until", .term = after(now, most_)},
                                {.column = "locked_at", .term = after(now, {})},
                                {.column = "locked_by", .term = Term::of(token)}},
                               {{.column = "name", .term = Term::of(key())},
                                {.column = "lock_until", .is = Condition::Is::at_most, .term = after(now, {})}});
    if (!taken || !taken->ok() || taken->affected != 1) co_return std::nullopt;
    co_return hold;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 4: its lease ends now.
    std::vector<Condition> where{{.column = "name", .term = Term::of(key())}};
    if (compares_owner_) where.push_back({.column = "locked_by", .term = Term::of(hold.token)});
    sql::Statement statement{.kind = sql::Statement::Kind::update, .table = "shedlock", .where = std::move(where)};
    statement.set = {{.column = "lock_until", .term = after(client.clock().now(), {})}};
    statement.frees = true;
    const std::optional<Result> ended = co_await client.to<sql::Endpoint>().execute(std::move(statement));
    co_return ended && ended->ok() && ended->affected == 1;
  }

 private:
  /// By whichever clock.
  Term after(sim::Instant now, sim::Duration length) const {
    return by_database_ ? Term::now(length) : Term::of(Value::milliseconds(now + length));
  }

  sim::Duration most_;
  bool by_database_;
  bool compares_owner_;
};

}  // namespace

Entry sql_lease_row() {
  return {.id = "sql-lease-row",
          .summary = "a row with the end of its lease, taken over by UPDATE … WHERE lock_until <= now (ShedLock)",
          .documents = {"lock-summary"},
          .parameters = {lease_parameter("lease", 10_s,
                                         "lockAtMostFor: how long the row is locked if nobody gives it back"),
                         {"clock", std::string("application"),
                          "whose clock tells the time: the client's, or now() of the database", kClocksOfRow},
                         {"compares_owner", true, "the release changes the row only if it is its own (since 2025)"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .is_blind_to_names = true,
          .server_kind = &sql_kind(),
          .make = [](const Parameters& p) { return std::make_unique<SqlLeaseRow>(p); }};
}

}  // namespace lockstep::models::locks
