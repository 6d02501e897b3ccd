#pragma once

// The engine of one SQL server: rows and their versions, transactions, row locks and who waits for them. Start here.
// It is PostgreSQL 15's, or MariaDB's: what InnoDB does otherwise (current reads under REPEATABLE READ, locks of gaps)
// is in engine_innodb.cpp.
//
// Pure: no messages, no timers. A statement is answered when it is executed, or later, when what it waits for is over:
// whoever calls takes the answers after each call. A clock is only read.
//
// Not modelled: savepoints, locks weaker than FOR UPDATE, updates of key columns, NULL, sequences; that PostgreSQL's
// deadlock check may reorder a queue instead of choosing a victim; in MariaDB statements that lock or write rows
// otherwise than one by its primary key.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sql/engine/records.hpp"
#include "models/sql/engine/statement.hpp"
#include "sim/time/clock.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::models::sql {

class Engine {
 public:
  struct Answer {
    SessionId session;
    Result result;
  };
  /// What became of a row or of an advisory lock, as histories tell it. A row's name is its primary key.
  struct Change {
    sim::Effect::Kind kind;
    std::string object;
    SessionId session;
    sim::OperationId operation = 0;  ///< during which it was written; 0: the session's present one
    bool is_of_resource = false;
    std::optional<sim::Instant> lives_until = {};  ///< of a row, by the server's clock; see `Version`
  };

  /// Requires: of MariaDB, that each table has one key.
  explicit Engine(std::vector<TableSpec> tables, Product product = Product::postgresql);
  Product product() const { return product_; }

  /// Requires: nothing was executed yet.
  void add_table(TableSpec table);
  /// Requires: the session does not wait. A session begins with its first statement.
  void execute(SessionId session, const Statement& statement, const sim::Clock& clock, sim::OperationId operation = 0);
  bool waits(SessionId session) const;
  /// Grows with every wait of the session: a timer that was set for another one is out of date.
  std::uint64_t waits_so_far(SessionId session) const;
  /// For whose ends it waits, directly; in MariaDB the first is who counts when circles are looked for.
  std::vector<SessionId> waits_for(SessionId session) const;
  bool is_in_transaction(SessionId session) const;

  /// Whether it waits, in the end, for itself.
  bool is_in_circle(SessionId session) const;
  /// deadlock_timeout has passed in its wait: if it is in a circle of waits, it is the victim.
  void check_deadlock(SessionId session, const sim::Clock& clock);
  /// MariaDB: if sessions wait in a circle, one of them is the victim, at once: `chosen`, or the lightest.
  /// Whether there was a circle; there may be another one. Requires: `chosen` waits.
  bool break_circle(const sim::Clock& clock, std::optional<SessionId> chosen = {});
  std::optional<SessionId> victim() const;
  /// lock_timeout, or that of GET_LOCK, has passed in its wait.
  void give_up_waiting(SessionId session, const sim::Clock& clock);
  /// The connection is gone, and the server has noticed. What is open is rolled back, now or, as a session that waits
  /// for a lock does not look at its connection, when its statement is done.
  void close(SessionId session, const sim::Clock& clock);
  /// Only what was committed stays.
  void crash();
  void reset();

  std::vector<Answer> take_answers() { return std::exchange(answers_, {}); }
  std::vector<Change> take_changes() { return std::exchange(changes_, {}); }

  struct Held {
    std::string object, type, text;
    std::optional<sim::Instant> until = {};  ///< what a column says that is called so
    std::optional<SessionId> owner = {};     ///< of its lock
  };
  /// Rows that are committed and say something or are locked, and advisory locks.
  std::vector<Held> held() const;
  /// Nothing was ever committed, and nothing is locked.
  bool is_as_at_first() const;
  std::uint64_t commits() const { return commits_; }

 private:
  enum class Step : std::uint8_t { done, waits, failed };

  Table& table(const std::string& name);
  static std::size_t column(const Table& table, const std::string& name);
  static std::string object_of(const Table& table, const Slot& slot);
  static const Version* visible(const Slot& slot, TransactionId own, std::uint64_t snapshot);
  void note_end(Version& version, std::size_t column, const Term& term, const Transaction& transaction) const;
  Value evaluate(const Term& term, const Table& table, const Row* row, const Transaction& transaction) const;
  bool matches(const Row& row, const Pending& pending, const Transaction& transaction, const sim::World& world) const;

  void take_snapshot(SessionId id, Transaction& transaction);
  void tell_read(SessionId id, const Table& table, const Slot& slot);
  void begin(Session& session, bool is_explicit, Isolation isolation, const sim::Clock& clock);
  void proceed(SessionId id, const sim::Clock& clock);
  Step step(SessionId id, Session& session, const sim::World& world);
  Step insert(Session& session);
  Step scan(SessionId id, Session& session, const sim::World& world);
  Step lock_row(SessionId id, Session& session, Slot& slot);
  void unlock(Transaction& transaction, Slot& slot);
  void tell_lock(SessionId id, Session& session, Slot& slot);
  void write(Session& session, Slot& slot);
  Step lock_advisory(SessionId id, Session& session);
  bool unlock_advisory(SessionId id, const Value& key, sim::Effect::Kind how);
  Step wait(Session& session, Wait wait);
  Step fail(Session& session, Error error);

  Step change_record(SessionId id, Session& session, const sim::World& world);
  Step insert_record(Session& session);
  void remove_record(Table& table, Slot& slot);
  void wake(SessionId id);
  void grant(RecordLocks& locks);
  void release_records(const Transaction& transaction);
  void purge();
  std::uint64_t weight_of(const Session& session) const;
  std::vector<SessionId> circle_of(SessionId id) const;

  void commit(SessionId id, Session& session);
  void roll_back(SessionId id, Session& session, sim::Effect::Kind how);
  void release(SessionId id, Transaction& transaction, sim::Effect::Kind how);
  void pass_on(Slot& slot);
  void stop_waiting(SessionId id, Session& session);
  void fail_waiting(SessionId id, Error error, const sim::Clock& clock);
  void end(SessionId id);
  void forget_old_versions();
  SessionId session_of(TransactionId id) const;
  void run(const sim::Clock& clock);

  bool is_innodb() const { return product_ == Product::mariadb; }

  std::vector<TableSpec> specs_;
  Product product_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::map<SessionId, Session> sessions_;
  std::deque<Advisory> advisory_;
  std::deque<SessionId> runnable_;
  std::vector<Answer> answers_;
  std::vector<Change> changes_;
  TransactionId last_transaction_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t waits_ = 0;
};

}  // namespace lockstep::models::sql
