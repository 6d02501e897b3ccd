// A row with the lock's name as its primary key: whoever inserts it has the lock.
// Source: redisson-source ("unique primary key").
// Claims: mutual-exclusion, own-release.
// Breaks: sql-insert-crash (no lease: nobody deletes the row of who died).

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

class SqlUniqueInsert final : public LockAlgorithm {
 public:
  explicit SqlUniqueInsert(const Parameters& p) : compares_owner_(p.flag("compares_owner")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: insert the row; a duplicate key says that somebody else has it.
    const Value token = client.unique_token();
    const std::optional<Result> inserted =
        co_await client.to<sql::Endpoint>().insert("owners", {Term::of(key()), Term::of(token)});
    if (!inserted || !inserted->ok()) co_return std::nullopt;
    co_return Hold{token};
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 2: delete it, if it is mine.
    std::vector<Condition> where{{.column = "name", .term = Term::of(key())}};
    if (compares_owner_) where.push_back({.column = "owner", .term = Term::of(hold.token)});
    const std::optional<Result> deleted = co_await client.to<sql::Endpoint>().remove("owners", std::move(where));
    co_return deleted && deleted->ok() && deleted->affected == 1;
  }

 private:
  bool compares_owner_;
};

}  // namespace

Entry sql_unique_insert() {
  return {.id = "sql-unique-insert",
          .summary = "INSERT of a row with a unique key, release by DELETE",
          .documents = {"redisson-source"},
          .parameters = {{"compares_owner", true, "the release deletes the row only if it is its own"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release"},
          .is_blind_to_names = true,
          .server_kind = &sql_kind(),
          .make = [](const Parameters& p) { return std::make_unique<SqlUniqueInsert>(p); }};
}

}  // namespace lockstep::models::locks
