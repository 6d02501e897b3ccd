// A version column that is raised by compare-and-set: no lock, but an order in which a resource accepts writes.
// Source: redisson-source ("version number", optimistic locking).
// Claims: fencing, at a resource that compares versions.
// Breaks: nothing that it claims; two clients may believe at once that it is their turn.

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

class SqlVersionCas final : public LockAlgorithm {
 public:
  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    auto& server = client.to<sql::Endpoint>();
    const Condition is_mine{.column = "name", .term = Term::of(key())};
    // 1: read the version.
    const std::optional<Result> read = co_await server.select("versions", {is_mine});
    if (!read || !read->ok() || read->rows.size() != 1) co_return std::nullopt;
    const std::int64_t old = read->rows.front()[1].integer().value();

    // 2: raise it, unless somebody else was faster: then no row is changed.
    const std::optional<Result> raised =
        co_await server.update("versions", {{.column = "version", .term = Term::column_plus("version", 1)}},
                               {is_mine, {.column = "version", .term = Term::of(old)}});
    if (!raised || !raised->ok() || raised->affected != 1) co_return std::nullopt;
    Hold hold;
    hold.fencing_token = old + 1;
    co_return hold;
  }

  /// There is nothing to give back.
  sim::Task<bool> release(Client&, Hold) const override { co_return true; }
};

}  // namespace

Entry sql_version_cas() {
  return {.id = "sql-version-cas",
          .summary = "a version raised by UPDATE … WHERE version = old, as a token for the resource",
          .documents = {"redisson-source"},
          .parameters = {attempts_parameter(1), retry_parameter({100_ms, 100_ms})},
          .claims = {"fencing"},
          .is_blind_to_names = true,
          .server_kind = &sql_kind(),
          .make = [](const Parameters&) { return std::make_unique<SqlVersionCas>(); }};
}

}  // namespace lockstep::models::locks
