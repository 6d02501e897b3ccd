// What InnoDB does otherwise: statements that lock or write go to the one record with their key, as it is now, whatever
// the snapshot says; and the gaps between records can be locked.
//
// An index holds records in the order of their keys. A record whose row was deleted stays until nobody's snapshot can
// see the row, and then goes at once (InnoDB's purge comes a little later).

#include <algorithm>
#include <cassert>
#include <set>

#include "models/sql/engine/engine.hpp"

namespace lockstep::models::sql {
namespace {

/// In the order of an index: numbers by value, everything else by its bytes.
bool comes_before(const Value& a, const Value& b) {
  if (const auto left = a.integer(), right = b.integer(); left && right) return *left < *right;
  return a.text() < b.text();
}

const Value& key_of(const Table& table, const Slot& slot) { return slot.versions.back().row[table.spec.keys.front()]; }

/// What the statement says that the primary key is.
const Value& wanted_key(const Pending& pending) {
  const std::string& name = pending.table->spec.columns[pending.table->spec.keys.front()];
  const auto found =
      std::find_if(pending.statement.where.begin(), pending.statement.where.end(), [&](const Condition& condition) {
        return condition.column == name && condition.is == Condition::Is::equal &&
               condition.term.kind == Term::Kind::value;
      });
  assert(found != pending.statement.where.end() && "of MariaDB only locks by primary key are modelled");
  return found->term.value;
}

Slot* record_with(const Table& table, const Value& key) {
  const auto found = std::find_if(table.slots.begin(), table.slots.end(),
                                  [&](const auto& slot) { return key_of(table, *slot) == key; });
  return found == table.slots.end() ? nullptr : found->get();
}

/// The locks of the first record behind this key, or of the end: the gap in which it lies is theirs.
RecordLocks& behind(Table& table, const Value& key) {
  Slot* next = nullptr;
  for (const auto& slot : table.slots) {
    const Value& other = key_of(table, *slot);
    if (comes_before(key, other) && (next == nullptr || comes_before(other, key_of(table, *next)))) next = slot.get();
  }
  return next == nullptr ? table.end_locks : next->locks;
}

}  // namespace

/// SELECT … FOR UPDATE, UPDATE, DELETE. After a wait it begins again.
Engine::Step Engine::change_record(SessionId id, Session& session, const sim::World& world) {
  Pending& pending = *session.pending;
  Transaction& transaction = *session.transaction;
  const bool locks_gaps = transaction.isolation == Isolation::repeatable_read;
  Slot* slot = record_with(*pending.table, wanted_key(pending));
  if (slot == nullptr) {
    // There is nothing to lock but the gap in which it would be.
    if (locks_gaps)
      behind(*pending.table, wanted_key(pending))
          .add(transaction.id, RecordLock::Mode::exclusive, RecordLock::Span::gap);
    return Step::done;
  }
  const bool is_deleted = slot->versions.back().deleted;
  // Who locks no gaps passes over it.
  if (is_deleted && slot->versions.back().committed != 0 && !locks_gaps) return Step::done;
  if (!slot->locks.holds(transaction.id, RecordLock::Mode::exclusive, RecordLock::Span::record)) {
    const bool is_blocked =
        slot->locks.is_blocked(transaction.id, RecordLock::Mode::exclusive, RecordLock::Span::record);
    if (is_blocked && pending.statement.locking == Locking::nowait) return fail(session, Error::lock_not_available);
    if (is_blocked && pending.statement.locking == Locking::skip_locked) {
      // It looks on, and does not find it in the gap behind it.
      if (locks_gaps)
        behind(*pending.table, wanted_key(pending))
            .add(transaction.id, RecordLock::Mode::exclusive, RecordLock::Span::gap);
      return Step::done;
    }
    if (!slot->locks.request(transaction.id, RecordLock::Mode::exclusive, RecordLock::Span::record))
      return wait(session, {.records = &slot->locks});
    pending.has_locked = true;
  }
  if (is_deleted || !matches(slot->versions.back().row, pending, transaction, world)) {
    // READ COMMITTED keeps no lock that it has taken for nothing, unless it has waited for it.
    if (!locks_gaps && pending.has_locked) {
      slot->locks.drop(transaction.id, RecordLock::Mode::exclusive, RecordLock::Span::record);
      grant(slot->locks);
    }
    return Step::done;
  }
  ++pending.result.affected;
  if (pending.statement.kind != Statement::Kind::select) {
    write(session, *slot);
    return Step::done;
  }
  pending.result.rows.push_back(slot->versions.back().row);
  tell_lock(id, session, *slot);
  return Step::done;
}

/// A duplicate is read with a shared lock, which stays. After a wait it begins again.
Engine::Step Engine::insert_record(Session& session) {
  Pending& pending = *session.pending;
  Transaction& transaction = *session.transaction;
  Table& table = *pending.table;
  Version version{.creator = transaction.id, .operation = pending.operation, .row = {}};
  for (const Term& term : pending.statement.row) {
    note_end(version, version.row.size(), term, transaction);
    version.row.push_back(evaluate(term, table, nullptr, transaction));
  }
  const Value key = version.row[table.spec.keys.front()];
  Slot* slot = record_with(table, key);
  if (slot != nullptr) {
    if (!slot->locks.request(transaction.id, RecordLock::Mode::shared, RecordLock::Span::record))
      return wait(session, {.records = &slot->locks});
    if (!slot->versions.back().deleted) return fail(session, Error::unique_violation);
    if (!slot->locks.request(transaction.id, RecordLock::Mode::exclusive, RecordLock::Span::record))
      return wait(session, {.records = &slot->locks});
  } else {
    RecordLocks& next = behind(table, key);
    if (!next.request(transaction.id, RecordLock::Mode::exclusive, RecordLock::Span::insertion))
      return wait(session, {.records = &next});
    slot = table.slots.emplace_back(std::make_unique<Slot>()).get();
    slot->indexed = table.spec.keys.size();
    slot->locks.add(transaction.id, RecordLock::Mode::exclusive, RecordLock::Span::record);
    // It parts a gap in two; who had locked that has both.
    for (const RecordLock& lock : next.all()) {
      if (lock.span == RecordLock::Span::gap) slot->locks.add(lock.owner, lock.mode, RecordLock::Span::gap);
    }
  }
  slot->versions.push_back(std::move(version));
  transaction.changed.emplace_back(&table, slot);
  pending.result.affected = 1;
  return Step::done;
}

/// Whoever had locked the record has locked the gap that it leaves, and whoever waited for it looks again.
void Engine::remove_record(Table& table, Slot& slot) {
  RecordLocks& next = behind(table, key_of(table, slot));
  for (const RecordLock& lock : slot.locks.all()) {
    const Session& session = sessions_.at(session_of(lock.owner));
    const bool locks_gaps = session.transaction->isolation == Isolation::repeatable_read;
    const bool inherits =
        lock.span != RecordLock::Span::insertion && (locks_gaps || lock.mode == RecordLock::Mode::shared);
    if (inherits) next.add(lock.owner, lock.mode, RecordLock::Span::gap);
    if (!lock.is_granted) wake(session_of(lock.owner));
  }
  std::erase_if(table.slots, [&](const auto& each) { return each.get() == &slot; });
}

void Engine::wake(SessionId id) {
  sessions_.at(id).wait.reset();
  runnable_.push_back(id);
}

void Engine::grant(RecordLocks& locks) {
  for (const TransactionId granted : locks.grant()) wake(session_of(granted));
}

/// Requires: what it has written is committed, or gone.
void Engine::release_records(const Transaction& transaction) {
  const auto release = [&](RecordLocks& locks) {
    locks.drop_all(transaction.id);
    grant(locks);
  };
  for (const auto& table : tables_) {
    for (const auto& slot : table->slots) release(slot->locks);
    release(table->end_locks);
  }
}

void Engine::purge() {
  const auto is_seen = [&](const Version& deletion) {
    return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& each) {
      const auto& transaction = each.second.transaction;
      return transaction && transaction->snapshot && *transaction->snapshot < deletion.committed;
    });
  };
  for (const auto& table : tables_) {
    std::vector<Slot*> gone;
    for (const auto& slot : table->slots) {
      const Version& latest = slot->versions.back();
      if (latest.deleted && latest.committed != 0 && !is_seen(latest)) gone.push_back(slot.get());
    }
    for (Slot* slot : gone) remove_record(*table, *slot);
  }
}

/// Who would have the least to undo: what was written, and kinds of locks; of several whoever began to wait last.
std::uint64_t Engine::weight_of(const Session& session) const {
  const Transaction& transaction = *session.transaction;
  std::set<std::pair<RecordLock::Mode, RecordLock::Span>> kinds;
  std::uint64_t requests = 0;
  const auto count = [&](const RecordLocks& locks) {
    for (const RecordLock& lock : locks.all()) {
      if (lock.owner != transaction.id) continue;
      if (lock.is_granted) kinds.emplace(lock.mode, lock.span);
      requests += lock.is_granted ? 0 : 1;
    }
  };
  for (const auto& table : tables_) {
    for (const auto& slot : table->slots) count(slot->locks);
    count(table->end_locks);
  }
  return transaction.changed.size() + kinds.size() + requests;
}

std::optional<SessionId> Engine::victim() const {
  std::vector<SessionId> waiting;
  for (const auto& [id, session] : sessions_) {
    if (session.wait && is_in_circle(id)) waiting.push_back(id);
  }
  if (waiting.empty()) return std::nullopt;
  // Whose wait has closed the circle is asked first: of equals it is the victim. Who calls GET_LOCK always is.
  std::sort(waiting.begin(), waiting.end(),
            [&](SessionId a, SessionId b) { return waits_so_far(a) > waits_so_far(b); });
  if (sessions_.at(waiting.front()).wait->advisory) return waiting.front();
  SessionId lightest = waiting.front();
  for (const SessionId id : circle_of(waiting.front())) {
    if (weight_of(sessions_.at(id)) < weight_of(sessions_.at(lightest))) lightest = id;
  }
  return lightest;
}

/// InnoDB remembers of whoever waits one whom it waits for, and user locks are looked after by somebody else.
std::vector<SessionId> Engine::circle_of(SessionId id) const {
  std::vector<SessionId> circle;
  const bool is_advisory = sessions_.at(id).wait->advisory.has_value();
  for (SessionId next = id;;) {
    const std::vector<SessionId> others = waits_for(next);
    const bool goes_on = !others.empty() && sessions_.at(next).wait->advisory.has_value() == is_advisory;
    if (!goes_on) return {};
    next = others.front();
    if (std::find(circle.begin(), circle.end(), next) != circle.end()) return {};
    circle.push_back(next);
    if (next == id) return circle;
  }
}

bool Engine::break_circle(const sim::Clock& clock, std::optional<SessionId> chosen) {
  const std::optional<SessionId> one = victim();
  if (!one) return false;
  fail_waiting(chosen.value_or(*one), Error::deadlock_detected, clock);
  return true;
}

}  // namespace lockstep::models::sql
