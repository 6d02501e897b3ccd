#pragma once

// InnoDB's locks on the records of an index and on the gaps between them, as MariaDB 10.11 has them.
// Source: storage/innobase/lock/lock0lock.cc (lock_rec_has_to_wait, lock_rec_has_expl, lock_rec_inherit_to_gap).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::models::sql {

using TransactionId = std::uint64_t;

struct RecordLock {
  enum class Mode : std::uint8_t { shared, exclusive };
  enum class Span : std::uint8_t {
    record,    ///< the record alone
    gap,       ///< what lies before it: nobody else inserts there
    insertion  ///< of whoever waits to insert into the gap; keeps nobody out
  };
  TransactionId owner = 0;
  Mode mode = Mode::exclusive;
  Span span = Span::record;
  bool is_granted = false;
};

/// The locks and the requests of one record, in the order in which they came; or those of the end of an index, which
/// is no record but has a gap before it. There are no locks of a record together with its gap: who asks for one record
/// by its key takes none.
class RecordLocks {
 public:
  /// Grants or queues it. Does nothing where the owner has as much already.
  /// Requires: the owner waits for nothing.
  bool request(TransactionId owner, RecordLock::Mode mode, RecordLock::Span span);
  /// Whether `request` would have to wait.
  bool is_blocked(TransactionId owner, RecordLock::Mode mode, RecordLock::Span span) const;
  bool holds(TransactionId owner, RecordLock::Mode mode, RecordLock::Span span) const;
  /// Without asking anybody: what an inserted record, or a gap, brings along.
  void add(TransactionId owner, RecordLock::Mode mode, RecordLock::Span span);
  /// Whose locks and requests the request of this one waits for, the first first.
  std::vector<TransactionId> blockers_of(TransactionId waiting) const;
  /// Who has locked the record itself for writing; 0: nobody.
  TransactionId writer() const;

  /// One lock that was granted, or all that is of this owner.
  void drop(TransactionId owner, RecordLock::Mode mode, RecordLock::Span span);
  void drop_all(TransactionId owner);
  void drop_request(TransactionId owner);
  /// Grants what has to wait for nobody any more, and says whose it was.
  std::vector<TransactionId> grant();

  const std::vector<RecordLock>& all() const { return locks_; }
  void clear() { locks_.clear(); }

 private:
  static bool has_to_wait(const RecordLock& request, const RecordLock& other);

  std::vector<RecordLock> locks_;
};

}  // namespace lockstep::models::sql
