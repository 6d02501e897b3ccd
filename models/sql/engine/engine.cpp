#include "models/sql/engine/engine.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "sim/worlds/world.hpp"

namespace lockstep::models::sql {
namespace {

/// By their instants, which may be symbolic; else as numbers; else as text.
bool is_at_most(const Value& a, const Value& b, const sim::World& world) {
  if (const Timestamp *left = a.timestamp(), *right = b.timestamp(); left != nullptr && right != nullptr)
    return world.is_at_or_after(right->instant, left->instant);
  if (const auto left = a.integer(), right = b.integer(); left && right) return *left <= *right;
  return a.text() <= b.text();
}

bool is_equal(const Value& a, const Value& b, const sim::World& world) {
  const bool are_instants = a.timestamp() != nullptr && b.timestamp() != nullptr;
  return are_instants ? is_at_most(a, b, world) && is_at_most(b, a, world) : a == b;
}

/// Without asking whether two instants that may be symbolic happen to be the same.
bool is_unchanged(const Row& row, const Row& before) {
  return std::equal(row.begin(), row.end(), before.begin(), before.end(), [](const Value& a, const Value& b) {
    const Timestamp *now = a.timestamp(), *then = b.timestamp();
    if (now == nullptr && then == nullptr) return a == b;
    return now != nullptr && then != nullptr && now->instant.identical(then->instant);
  });
}

auto find_lock(auto& locks, const Value& key) {
  return std::find_if(locks.begin(), locks.end(), [&](const Advisory& lock) { return lock.key == key; });
}

}  // namespace

Engine::Engine(std::vector<TableSpec> tables, Product product) : specs_(std::move(tables)), product_(product) {
  reset();
}

void Engine::add_table(TableSpec table) {
  specs_.push_back(std::move(table));
  reset();
}

void Engine::reset() {
  sessions_.clear();
  advisory_.clear();
  runnable_.clear();
  answers_.clear();
  changes_.clear();
  tables_.clear();
  last_transaction_ = 0;
  commits_ = 0;
  waits_ = 0;
  for (const TableSpec& spec : specs_) {
    Table& table = *tables_.emplace_back(std::make_unique<Table>());
    table.spec = spec;
    for (const Row& row : spec.rows) {
      Slot& slot = *table.slots.emplace_back(std::make_unique<Slot>());
      slot.indexed = spec.keys.size();
      slot.versions.push_back({.committed = 1, .row = row});
    }
  }
}

// --- Looking.

bool Engine::waits(SessionId session) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.wait.has_value();
}

std::uint64_t Engine::waits_so_far(SessionId session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? 0 : found->second.waits;
}

bool Engine::is_in_transaction(SessionId session) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.transaction.has_value();
}

SessionId Engine::session_of(TransactionId id) const {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& each) {
    return each.second.transaction && each.second.transaction->id == id;
  });
  assert(found != sessions_.end() && "locks and unfinished versions are of transactions that are open");
  return found->first;
}

std::vector<SessionId> Engine::waits_for(SessionId session) const {
  if (!waits(session)) return {};
  const Wait& wait = *sessions_.at(session).wait;
  std::vector<SessionId> others;
  const auto add_those_ahead = [&](const std::deque<SessionId>& queue) {
    others.insert(others.end(), queue.begin(), std::find(queue.begin(), queue.end(), session));
  };
  if (wait.records != nullptr) {
    for (const TransactionId other : wait.records->blockers_of(sessions_.at(session).transaction->id))
      others.push_back(session_of(other));
  } else if (wait.end_of != 0) {
    others.push_back(session_of(wait.end_of));
  } else if (wait.slot != nullptr) {
    add_those_ahead(wait.slot->queue);
    // Who is first of those who wait for a row waits for its owner; the others wait for their turn.
    if (others.empty()) others.push_back(session_of(wait.slot->owner));
  } else {
    const auto lock = find_lock(advisory_, *wait.advisory);
    others.push_back(lock->owner);
    add_those_ahead(lock->queue);
  }
  return others;
}

Table& Engine::table(const std::string& name) {
  const auto found =
      std::find_if(tables_.begin(), tables_.end(), [&](const auto& each) { return each->spec.name == name; });
  assert(found != tables_.end() && "no such table");
  return **found;
}

std::size_t Engine::column(const Table& table, const std::string& name) {
  const auto found = std::find(table.spec.columns.begin(), table.spec.columns.end(), name);
  assert(found != table.spec.columns.end() && "no such column");
  return static_cast<std::size_t>(found - table.spec.columns.begin());
}

std::string Engine::object_of(const Table& table, const Slot& slot) {
  return slot.versions.back().row[table.spec.keys.front()].text();
}

/// The newest version that is its own or was committed in time; null: the row is not there.
const Version* Engine::visible(const Slot& slot, TransactionId own, std::uint64_t snapshot) {
  for (auto version = slot.versions.rbegin(); version != slot.versions.rend(); ++version) {
    const bool is_seen = version->committed == 0 ? version->creator == own : version->committed <= snapshot;
    if (is_seen) return version->deleted ? nullptr : &*version;
  }
  return nullptr;
}

Value Engine::evaluate(const Term& term, const Table& table, const Row* row, const Transaction& transaction) const {
  switch (term.kind) {
    case Term::Kind::value: return term.value;
    case Term::Kind::now: return Value::milliseconds(transaction.began + term.after);
    case Term::Kind::column: break;
  }
  assert(row != nullptr && "a column of what row?");
  const Value& value = (*row)[column(table, term.column)];
  return term.plus == 0 ? value : Value(value.integer().value() + term.plus);
}

/// Requires: the version has the row's earlier end.
void Engine::note_end(Version& version, std::size_t column, const Term& term, const Transaction& transaction) const {
  const bool is_now = term.kind == Term::Kind::now;
  const bool is_to_come = is_now && term.after > sim::Duration::zero();
  const bool is_known = version.lives_until && version.end_column == column;
  if (!is_to_come && !is_known) return;
  version.lives_until.reset();
  if (is_now) version.lives_until = transaction.began + term.after;
  version.end_column = column;
}

bool Engine::matches(const Row& row, const Pending& pending, const Transaction& transaction,
                     const sim::World& world) const {
  return std::all_of(pending.statement.where.begin(), pending.statement.where.end(), [&](const Condition& condition) {
    const Value& left = row[column(*pending.table, condition.column)];
    const Value right = evaluate(condition.term, *pending.table, &row, transaction);
    if (condition.is == Condition::Is::equal) return is_equal(left, right, world);
    return is_at_most(left, right, world) == (condition.is == Condition::Is::at_most);
  });
}

// --- Statements.

void Engine::begin(Session& session, bool is_explicit, Isolation isolation, const sim::Clock& clock) {
  Transaction& transaction = session.transaction.emplace();
  transaction.id = ++last_transaction_;
  const Isolation standard = is_innodb() ? Isolation::repeatable_read : Isolation::read_committed;
  transaction.isolation = isolation == Isolation::standard ? standard : isolation;
  transaction.began = clock.now();
  transaction.is_explicit = is_explicit;
}

/// Whoever has a snapshot has read all of it at this moment.
void Engine::take_snapshot(SessionId id, Transaction& transaction) {
  transaction.snapshot = commits_ + 1;
  for (const auto& table : tables_) {
    for (const auto& slot : table->slots) {
      if (visible(*slot, transaction.id, *transaction.snapshot) != nullptr) tell_read(id, *table, *slot);
    }
  }
}

void Engine::tell_read(SessionId id, const Table& table, const Slot& slot) {
  if (!table.spec.is_resource) return;
  changes_.push_back(
      {.kind = sim::Effect::Kind::read, .object = object_of(table, slot), .session = id, .is_of_resource = true});
}

void Engine::execute(SessionId id, const Statement& statement, const sim::Clock& clock, sim::OperationId operation) {
  Session& session = sessions_[id];
  assert(!session.pending && "a session waits for its answer");
  using Kind = Statement::Kind;
  if (statement.kind == Kind::begin) {
    // In a transaction it is a warning; MariaDB commits that one.
    if (session.transaction && is_innodb()) commit(id, session);
    if (!session.transaction) begin(session, true, statement.isolation, clock);
    answers_.push_back({id, {}});
    return run(clock);
  }
  if (statement.kind == Kind::commit || statement.kind == Kind::rollback) {
    Result result;
    // Without a transaction both are a warning.
    result.rolled_back = statement.kind == Kind::rollback || (session.transaction && session.transaction->has_failed);
    if (session.transaction && result.rolled_back) roll_back(id, session, sim::Effect::Kind::remove);
    if (session.transaction && !result.rolled_back) commit(id, session);
    answers_.push_back({id, std::move(result)});
    return run(clock);
  }
  if (session.transaction && session.transaction->has_failed) {
    answers_.push_back({id, {.error = Error::in_failed_sql_transaction}});
    return;
  }
  if (!session.transaction) begin(session, false, Isolation::standard, clock);
  Transaction& transaction = *session.transaction;
  const bool only_reads = statement.kind == Kind::select && statement.locking == Locking::none;
  // Any statement takes the snapshot, also the call of a function that takes an advisory lock: before it waits. In
  // InnoDB only a plain SELECT does.
  const bool takes_snapshot = !is_innodb() || only_reads;
  if (takes_snapshot && transaction.isolation == Isolation::repeatable_read && !transaction.snapshot)
    take_snapshot(id, transaction);
  Pending& pending = session.pending.emplace();
  pending.statement = statement;
  pending.operation = operation;
  pending.snapshot = transaction.snapshot.value_or(commits_ + 1);
  if (!statement.table.empty()) pending.table = &table(statement.table);
  const bool goes_to_records = is_innodb() && !only_reads;
  if (!goes_to_records &&
      (statement.kind == Kind::select || statement.kind == Kind::update || statement.kind == Kind::remove)) {
    for (const auto& slot : pending.table->slots) {
      const Version* version = visible(*slot, transaction.id, pending.snapshot);
      if (version != nullptr && matches(version->row, pending, transaction, clock.world()))
        pending.candidates.push_back(slot.get());
    }
  }
  if (statement.kind == Kind::now) pending.result.now = transaction.began;
  proceed(id, clock);
  run(clock);
}

/// Goes on with a statement until it is done or waits.
void Engine::proceed(SessionId id, const sim::Clock& clock) {
  Session& session = sessions_.at(id);
  const Step outcome = step(id, session, clock.world());
  if (outcome == Step::waits) return;
  const bool is_explicit = session.transaction->is_explicit;
  const Error error = session.pending->result.error;
  answers_.push_back({id, std::move(session.pending->result)});
  const bool was_advisory = session.pending->statement.kind == Statement::Kind::lock_advisory;
  if (is_innodb() && outcome == Step::failed) {
    // It ends its statement, a deadlock of rows the transaction; and then there is none.
    if (!is_explicit || (error == Error::deadlock_detected && !was_advisory))
      roll_back(id, session, sim::Effect::Kind::remove);
  } else if (outcome == Step::failed) {
    // An error rolls back at once, and then the session has to say that it knows.
    const Transaction failed{.id = session.transaction->id, .is_explicit = true, .has_failed = true};
    roll_back(id, session, sim::Effect::Kind::remove);
    if (is_explicit) session.transaction = failed;
  } else if (!is_explicit) {
    commit(id, session);
  }
  session.pending.reset();
  if (session.is_going) end(id);
}

Engine::Step Engine::step(SessionId id, Session& session, const sim::World& world) {
  if (!session.pending->result.ok()) return Step::failed;  // while it waited
  if (session.pending->has_given_up) return Step::done;
  const bool only_reads = session.pending->statement.locking == Locking::none;
  using Kind = Statement::Kind;
  switch (session.pending->statement.kind) {
    case Kind::insert: return is_innodb() ? insert_record(session) : insert(session);
    case Kind::lock_advisory:
    case Kind::try_advisory: return lock_advisory(id, session);
    case Kind::unlock_advisory:
      session.pending->result.affected =
          unlock_advisory(id, session.pending->statement.key, sim::Effect::Kind::remove) ? 1 : 0;
      return Step::done;
    case Kind::select: return is_innodb() && !only_reads ? change_record(id, session, world) : scan(id, session, world);
    case Kind::update:
    case Kind::remove: return is_innodb() ? change_record(id, session, world) : scan(id, session, world);
    default: return Step::done;
  }
}

Engine::Step Engine::fail(Session& session, Error error) {
  session.pending->result = {.error = error};
  return Step::failed;
}

Engine::Step Engine::wait(Session& session, Wait wait) {
  session.waits = ++waits_;
  session.wait = std::move(wait);
  return Step::waits;
}

/// Its keys enter their indexes one after the other, and each one is looked up first; where it is that of a row whose
/// transaction is open, that one's end decides. Meanwhile others find the keys that have entered.
Engine::Step Engine::insert(Session& session) {
  Pending& pending = *session.pending;
  Transaction& transaction = *session.transaction;
  Table& table = *pending.table;
  if (pending.inserted == nullptr) {
    Slot& slot = *table.slots.emplace_back(std::make_unique<Slot>());
    Version& version = slot.versions.emplace_back();
    version.creator = transaction.id;
    version.operation = pending.operation;
    for (const Term& term : pending.statement.row) {
      note_end(version, version.row.size(), term, transaction);
      version.row.push_back(evaluate(term, table, nullptr, transaction));
    }
    assert(version.row.size() == table.spec.columns.size());
    slot.owner = transaction.id;
    transaction.locked.push_back({&slot, false, {}});
    transaction.changed.emplace_back(&table, &slot);
    pending.inserted = &slot;
  }
  Slot& own = *pending.inserted;
  for (; own.indexed < table.spec.keys.size(); ++own.indexed) {
    const std::size_t key = table.spec.keys[own.indexed];
    for (const auto& slot : table.slots) {
      if (slot.get() == &own || slot->indexed <= own.indexed) continue;
      const Version& latest = slot->versions.back();
      if (!(latest.row[key] == own.versions.back().row[key])) continue;
      if (latest.committed == 0 && latest.creator != transaction.id) return wait(session, {.end_of = latest.creator});
      if (!latest.deleted) return fail(session, Error::unique_violation);
    }
  }
  pending.result.affected = 1;
  return Step::done;
}

/// Reads, locks, writes the rows that it has found, one after the other.
Engine::Step Engine::scan(SessionId id, Session& session, const sim::World& world) {
  Pending& pending = *session.pending;
  Transaction& transaction = *session.transaction;
  const bool is_read = pending.statement.kind == Statement::Kind::select;
  for (; pending.next < pending.candidates.size(); ++pending.next) {
    Slot& slot = *pending.candidates[pending.next];
    const Row* row = nullptr;
    if (is_read && pending.statement.locking == Locking::none) {
      row = &visible(slot, transaction.id, pending.snapshot)->row;
      if (!transaction.snapshot) tell_read(id, *pending.table, slot);
    } else {
      // Somebody has committed a newer version than this transaction sees: no wait would help.
      const bool is_outdated = std::any_of(slot.versions.begin(), slot.versions.end(), [&](const Version& version) {
        return version.committed > pending.snapshot;
      });
      if (is_outdated && transaction.isolation == Isolation::repeatable_read)
        return fail(session, Error::serialization_failure);
      const bool skips = pending.statement.locking == Locking::skip_locked;
      if (skips && slot.owner != 0 && slot.owner != transaction.id) continue;
      if (const Step outcome = lock_row(id, session, slot); outcome != Step::done) return outcome;
      const Version& latest = slot.versions.back();
      // The same, while it waited.
      if (latest.committed > pending.snapshot) {
        if (transaction.isolation == Isolation::repeatable_read) return fail(session, Error::serialization_failure);
        // READ COMMITTED asks the condition of the newer version. The lock stays, unless there is nothing to lock.
        if (latest.deleted) unlock(transaction, slot);
        if (latest.deleted || !matches(latest.row, pending, transaction, world)) continue;
      }
      row = &latest.row;
      if (is_read) tell_lock(id, session, slot);
    }
    ++pending.result.affected;
    if (is_read) pending.result.rows.push_back(*row);
    if (!is_read) write(session, slot);
  }
  return Step::done;
}

/// FOR UPDATE has got it.
void Engine::tell_lock(SessionId id, Session& session, Slot& slot) {
  const Table& table = *session.pending->table;
  if (table.spec.is_resource) return tell_read(id, table, slot);
  std::vector<Locked>& all = session.transaction->locked;
  auto locked = std::find_if(all.begin(), all.end(), [&](const Locked& each) { return each.slot == &slot; });
  if (locked == all.end()) locked = all.insert(all.end(), {&slot, false, {}});
  if (locked->for_update) return;
  locked->for_update = true;
  locked->object = object_of(table, slot);
  changes_.push_back({sim::Effect::Kind::write, locked->object, id});
}

/// Whoever comes waits behind those who wait already: a lock that is given back is passed on at once.
Engine::Step Engine::lock_row(SessionId id, Session& session, Slot& slot) {
  const TransactionId own = session.transaction->id;
  if (slot.owner == own) return Step::done;
  if (slot.owner == 0) {
    slot.owner = own;
    session.transaction->locked.push_back({&slot, false, {}});
    return Step::done;
  }
  if (session.pending->statement.locking == Locking::nowait) return fail(session, Error::lock_not_available);
  slot.queue.push_back(id);
  return wait(session, {.slot = &slot});
}

void Engine::unlock(Transaction& transaction, Slot& slot) {
  std::erase_if(transaction.locked, [&](const Locked& each) { return each.slot == &slot; });
  pass_on(slot);
}

void Engine::write(Session& session, Slot& slot) {
  const Pending& pending = *session.pending;
  Transaction& transaction = *session.transaction;
  Version version{.creator = transaction.id, .operation = pending.operation, .row = slot.versions.back().row};
  version.deleted = pending.statement.kind == Statement::Kind::remove;
  version.frees = pending.statement.frees;
  version.lives_until = slot.versions.back().lives_until;
  version.end_column = slot.versions.back().end_column;
  const Row before = version.row;
  for (const Assignment& each : pending.statement.set) {
    const std::size_t changed = column(*pending.table, each.column);
    note_end(version, changed, each.term, transaction);
    version.row[changed] = evaluate(each.term, *pending.table, &before, transaction);
  }
  // InnoDB writes nothing where nothing changes. What locks protect is told of all the same: whoever counts up to what
  // is there already has lost an update.
  const bool may_change_nothing = is_innodb() && !version.deleted && !version.frees && !pending.table->spec.is_resource;
  if (may_change_nothing && is_unchanged(version.row, before)) return;
  slot.versions.push_back(std::move(version));
  transaction.changed.emplace_back(pending.table, &slot);
}

// --- Advisory locks: of sessions, not of transactions; as often as taken.

Engine::Step Engine::lock_advisory(SessionId id, Session& session) {
  const Statement& statement = session.pending->statement;
  auto lock = find_lock(advisory_, statement.key);
  const bool is_free = lock == advisory_.end();
  if (!is_free && lock->owner != id) {
    if (statement.kind == Statement::Kind::try_advisory) return Step::done;
    lock->queue.push_back(id);
    return wait(session, {.advisory = statement.key});
  }
  if (is_free) {
    lock = advisory_.insert(advisory_.end(), {.key = statement.key, .owner = id});
    changes_.push_back({sim::Effect::Kind::write, statement.key.text(), id});
  } else if (lock->count == 0) {  // passed on to it while it waited
    changes_.push_back({sim::Effect::Kind::write, statement.key.text(), id});
  }
  ++lock->count;
  session.pending->result.affected = 1;
  return Step::done;
}

bool Engine::unlock_advisory(SessionId id, const Value& key, sim::Effect::Kind how) {
  const auto lock = find_lock(advisory_, key);
  if (lock == advisory_.end() || lock->owner != id) return false;
  if (--lock->count > 0 && how == sim::Effect::Kind::remove) return true;
  changes_.push_back({how, key.text(), id});
  if (lock->queue.empty()) {
    advisory_.erase(lock);
    return true;
  }
  lock->owner = lock->queue.front();
  lock->count = 0;
  lock->queue.pop_front();
  sessions_.at(lock->owner).wait.reset();
  runnable_.push_back(lock->owner);
  return true;
}

}  // namespace lockstep::models::sql
