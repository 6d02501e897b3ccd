#pragma once

// What an engine keeps: rows with their versions, sessions with their transactions, statements and waits.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sql/engine/record_locks.hpp"
#include "models/sql/engine/statement.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::models::sql {

using SessionId = std::uint32_t;

struct TableSpec {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::size_t> keys;  ///< columns without duplicates; the first is the primary key
  std::vector<Row> rows = {};     ///< that are there from the beginning
  bool is_resource = false;       ///< what locks protect: histories tell who has read its rows
};

struct Version {
  TransactionId creator = 0;
  std::uint64_t committed = 0;  ///< number of its commit; 0: not yet. What is rolled back is gone
  bool deleted = false;
  bool frees = false;
  sim::OperationId operation = 0;  ///< of its creator, during which it was written
  Row row;
  /// What was last written as a time still to come, by the server's clock: a lease that is data ends then.
  std::optional<sim::Instant> lives_until = {};
  std::size_t end_column = 0;  ///< where it was written
};

/// A row from its insertion on. A row that is inserted again under the same key is another one; in InnoDB, where this
/// is a record of an index, the same.
struct Slot {
  std::vector<Version> versions;
  std::size_t indexed = 0;  ///< how many of its keys others can find
  TransactionId owner = 0;  ///< of its lock; 0: nobody
  std::deque<SessionId> queue;
  RecordLocks locks;  ///< InnoDB's, instead of these two
};

struct Table {
  TableSpec spec;
  std::vector<std::unique_ptr<Slot>> slots;  ///< in the order of insertion, in which statements lock them
  RecordLocks end_locks;                     ///< InnoDB's, of what lies behind the last record
};

struct Locked {
  Slot* slot;
  bool for_update;  ///< asked for as such
  std::string object;
};

struct Transaction {
  TransactionId id = 0;
  Isolation isolation = Isolation::read_committed;
  std::optional<std::uint64_t> snapshot;  ///< of repeatable read: the commits that it sees
  sim::Instant began;
  bool is_explicit = false;
  bool has_failed = false;
  std::vector<Locked> locked;
  std::vector<std::pair<Table*, Slot*>> changed;
};

struct Pending {
  Statement statement;
  sim::OperationId operation = 0;  ///< that it is a part of
  std::uint64_t snapshot = 0;
  Table* table = nullptr;
  std::vector<Slot*> candidates;
  std::size_t next = 0;
  Slot* inserted = nullptr;
  bool has_locked = false;  ///< in InnoDB: the record, which it had not before and did not wait for
  bool has_given_up = false;
  Result result;
};

/// Exactly one of these.
struct Wait {
  Slot* slot = nullptr;
  TransactionId end_of = 0;
  std::optional<Value> advisory;
  RecordLocks* records = nullptr;  ///< InnoDB's
};

struct Session {
  std::optional<Transaction> transaction;
  std::optional<Pending> pending;
  std::optional<Wait> wait;
  std::uint64_t waits = 0;  ///< number of its latest wait
  bool is_going = false;
};

struct Advisory {
  Value key;
  SessionId owner = 0;
  std::int64_t count = 0;
  std::deque<SessionId> queue;
};

}  // namespace lockstep::models::sql
