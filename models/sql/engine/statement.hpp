#pragma once

// What a session asks of an SQL server, and what it is told: typed, since what matters here is who waits for whom and
// who sees what, not a grammar.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/value.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::sql {

/// `standard`: the product's own, which is READ COMMITTED of PostgreSQL, and REPEATABLE READ of MariaDB.
enum class Isolation : std::uint8_t { standard, read_committed, repeatable_read };

/// Whose engine it is: PostgreSQL 15, or MariaDB 10.11 with InnoDB.
enum class Product : std::uint8_t { postgresql, mariadb };

/// What FOR UPDATE does about a row that somebody else has locked.
enum class Locking : std::uint8_t { none, wait, nowait, skip_locked };

using Row = std::vector<Value>;  ///< one value for each column; NULL is not modelled

/// An expression: a value, `column + plus`, or `now() + after`.
struct Term {
  enum class Kind : std::uint8_t { value, column, now };
  Kind kind = Kind::value;
  Value value = {};
  std::string column = {};
  std::int64_t plus = 0;
  sim::Duration after = {};

  static Term of(Value value) { return {.value = std::move(value)}; }
  static Term column_plus(std::string column, std::int64_t plus) {
    return {.kind = Kind::column, .column = std::move(column), .plus = plus};
  }
  /// By the server's clock, when the transaction began: also for a statement that has waited since.
  static Term now(sim::Duration after = {}) { return {.kind = Kind::now, .after = after}; }
};

/// A condition of WHERE; several are joined by AND.
struct Condition {
  enum class Is : std::uint8_t { equal, at_most, above };
  std::string column;
  Is is = Is::equal;
  Term term;
};

struct Assignment {
  std::string column;
  Term term;
};

struct Statement {
  enum class Kind : std::uint8_t {
    begin,
    commit,
    rollback,
    select,
    insert,
    update,
    remove,
    lock_advisory,
    try_advisory,
    unlock_advisory,
    now
  };
  Kind kind = Kind::select;
  Isolation isolation = Isolation::standard;  ///< of begin
  std::string table = {};
  std::vector<Condition> where = {};
  std::vector<Assignment> set = {};  ///< of update. Requires: no column of a key
  std::vector<Term> row = {};        ///< of insert
  Locking locking = Locking::none;   ///< of select
  Value key = {};                    ///< of an advisory lock
  sim::Duration timeout = {};        ///< of GET_LOCK; zero: for ever
  /// For histories: what this update writes says that the row is nobody's from now on.
  bool frees = false;

  std::string_view name() const;  ///< "SELECT_FOR_UPDATE"
  std::string describe() const;
  std::uint64_t digest() const;
  /// Whether it waits for nobody, whoever has locked what.
  bool is_answered_at_once() const;
};

/// PostgreSQL's conditions. Those that MariaDB knows: a duplicate key, a deadlock, and a lock that is not to be had.
enum class Error : std::uint8_t {
  none,
  unique_violation,
  serialization_failure,
  deadlock_detected,
  lock_not_available,         ///< NOWAIT, or lock_timeout
  in_failed_sql_transaction,  ///< an error has rolled it back; the session has not said ROLLBACK yet
  connection_failure          ///< the server has closed the session
};
std::string_view to_string(Error error);
/// "23505"; empty: none
std::string_view sqlstate(Error error);

struct Result {
  Error error = Error::none;
  std::int64_t affected = 0;  ///< rows that were found, written or deleted; of an advisory lock 1: granted, or given up
  std::vector<Row> rows = {};            ///< of select, in no order that means anything
  std::optional<sim::Instant> now = {};  ///< of now
  bool rolled_back = false;              ///< of commit: there was nothing left to commit

  bool ok() const { return error == Error::none; }
  std::string describe() const;
  std::uint64_t digest() const;
};

}  // namespace lockstep::models::sql
