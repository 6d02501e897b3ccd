// How transactions, waits and sessions end, and who goes on because of it.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "models/sql/engine/engine.hpp"

namespace lockstep::models::sql {

void Engine::commit(SessionId id, Session& session) {
  Transaction& transaction = *session.transaction;
  if (!transaction.changed.empty()) {
    ++commits_;
    for (const auto& [table, slot] : transaction.changed) {
      for (Version& version : slot->versions) {
        // Snapshots count from 1: what was there from the beginning is commit 1.
        if (version.committed == 0) version.committed = commits_ + 1;
      }
    }
    std::vector<const Slot*> told;
    for (const auto& [table, slot] : transaction.changed) {
      if (std::find(told.begin(), told.end(), slot) != told.end()) continue;
      told.push_back(slot);
      const Version& latest = slot->versions.back();
      const bool is_removal = latest.deleted || latest.frees;
      changes_.push_back({.kind = is_removal ? sim::Effect::Kind::remove : sim::Effect::Kind::write,
                          .object = object_of(*table, *slot),
                          .session = id,
                          .operation = latest.operation,
                          .is_of_resource = table->spec.is_resource,
                          .lives_until = is_removal ? std::nullopt : latest.lives_until});
    }
  }
  release(id, transaction, sim::Effect::Kind::remove);
  session.transaction.reset();
  forget_old_versions();
}

void Engine::roll_back(SessionId id, Session& session, sim::Effect::Kind how) {
  Transaction& transaction = *session.transaction;
  for (const auto& [table, slot] : transaction.changed) {
    while (slot->versions.size() > 1 && slot->versions.back().committed == 0) slot->versions.pop_back();
  }
  // A row that was never there: nobody else has seen it.
  std::vector<std::pair<Table*, Slot*>> never_there;
  for (const auto& changed : transaction.changed) {
    const bool is_known = std::find(never_there.begin(), never_there.end(), changed) != never_there.end();
    if (changed.second->versions.back().committed == 0 && !is_known) never_there.push_back(changed);
  }
  if (!is_innodb()) release(id, transaction, how);
  for (const auto& [table, slot] : never_there) {
    slot->locks.drop_all(transaction.id);
    remove_record(*table, *slot);
  }
  if (is_innodb()) release(id, transaction, how);
  session.transaction.reset();
  forget_old_versions();
}

void Engine::release(SessionId id, Transaction& transaction, sim::Effect::Kind how) {
  for (Locked& locked : transaction.locked) {
    if (locked.for_update) changes_.push_back({how, locked.object, id});
    if (!is_innodb()) pass_on(*locked.slot);
  }
  transaction.locked.clear();
  if (is_innodb()) release_records(transaction);
  // Who waits for its end to know whether a key is taken: all of them, the first first.
  std::map<std::uint64_t, SessionId> waiting;
  for (auto& [other, session] : sessions_) {
    if (session.wait && session.wait->end_of == transaction.id) waiting.emplace(session.waits, other);
  }
  for (const auto& [number, other] : waiting) {
    sessions_.at(other).wait.reset();
    runnable_.push_back(other);
  }
}

void Engine::pass_on(Slot& slot) {
  slot.owner = 0;
  if (slot.queue.empty()) return;
  const SessionId next = slot.queue.front();
  slot.queue.pop_front();
  Session& session = sessions_.at(next);
  session.wait.reset();
  slot.owner = session.transaction->id;
  session.transaction->locked.push_back({&slot, false, {}});
  runnable_.push_back(next);
}

void Engine::run(const sim::Clock& clock) {
  do {
    while (!runnable_.empty()) {
      const SessionId next = runnable_.front();
      runnable_.pop_front();
      proceed(next, clock);
    }
    // InnoDB's purge comes when all have gone on, and circles of waits are broken.
    if (is_innodb() && !victim()) purge();
  } while (!runnable_.empty());
}

void Engine::stop_waiting(SessionId id, Session& session) {
  if (session.wait->slot != nullptr) std::erase(session.wait->slot->queue, id);
  if (session.wait->advisory) {
    for (Advisory& lock : advisory_) std::erase(lock.queue, id);
  }
  RecordLocks* records = session.wait->records;
  session.wait.reset();
  if (records == nullptr) return;
  records->drop_request(session.transaction->id);
  grant(*records);
}

void Engine::fail_waiting(SessionId id, Error error, const sim::Clock& clock) {
  Session& session = sessions_.at(id);
  stop_waiting(id, session);
  fail(session, error);
  proceed(id, clock);
  run(clock);
}

void Engine::give_up_waiting(SessionId id, const sim::Clock& clock) {
  if (!waits(id)) return;
  Session& session = sessions_.at(id);
  if (!is_innodb() || !session.wait->advisory) return fail_waiting(id, Error::lock_not_available, clock);
  // GET_LOCK says no.
  stop_waiting(id, session);
  session.pending->has_given_up = true;
  proceed(id, clock);
  run(clock);
}

bool Engine::is_in_circle(SessionId id) const {
  if (is_innodb()) return waits(id) && !circle_of(id).empty();
  std::set<SessionId> reached;
  std::vector<SessionId> next = waits_for(id);
  while (!next.empty()) {
    const SessionId one = next.back();
    next.pop_back();
    if (one == id) return true;
    if (!reached.insert(one).second) continue;
    for (const SessionId other : waits_for(one)) next.push_back(other);
  }
  return false;
}

void Engine::check_deadlock(SessionId id, const sim::Clock& clock) {
  if (is_in_circle(id)) fail_waiting(id, Error::deadlock_detected, clock);
}

void Engine::close(SessionId id, const sim::Clock& clock) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  if (found->second.pending) {
    found->second.is_going = true;
    return;
  }
  end(id);
  run(clock);
}

/// Requires: it has no statement.
void Engine::end(SessionId id) {
  Session& session = sessions_.at(id);
  if (session.transaction) roll_back(id, session, sim::Effect::Kind::lose);
  std::vector<Value> keys;
  for (const Advisory& lock : advisory_) {
    if (lock.owner == id) keys.push_back(lock.key);
  }
  for (const Value& key : keys) unlock_advisory(id, key, sim::Effect::Kind::lose);
  sessions_.erase(id);
}

void Engine::crash() {
  for (Advisory& lock : advisory_) {
    changes_.push_back({sim::Effect::Kind::lose, lock.key.text(), lock.owner});
    lock.queue.clear();
  }
  advisory_.clear();
  for (auto& [id, session] : sessions_) {
    if (session.wait) stop_waiting(id, session);
  }
  for (auto& [id, session] : sessions_) {
    if (session.transaction) roll_back(id, session, sim::Effect::Kind::lose);
  }
  sessions_.clear();
  runnable_.clear();
  answers_.clear();
  forget_old_versions();
}

/// Where no transaction is open, nobody sees anything but the newest.
void Engine::forget_old_versions() {
  const bool is_open = std::any_of(sessions_.begin(), sessions_.end(),
                                   [](const auto& each) { return each.second.transaction.has_value(); });
  if (is_open) return;
  for (const auto& table : tables_) {
    std::erase_if(table->slots, [](const auto& slot) { return slot->versions.back().deleted; });
    for (const auto& slot : table->slots) slot->versions.erase(slot->versions.begin(), slot->versions.end() - 1);
  }
}

bool Engine::is_as_at_first() const {
  return commits_ == 0 && advisory_.empty() &&
         std::none_of(sessions_.begin(), sessions_.end(), [](const auto& each) { return each.second.transaction; });
}

std::vector<Engine::Held> Engine::held() const {
  std::vector<Held> objects;
  for (const auto& table : tables_) {
    const std::size_t primary = table->spec.keys.front();
    for (const auto& slot : table->slots) {
      const Version* version = visible(*slot, 0, commits_ + 1);
      if (version == nullptr) continue;
      Held held{.object = version->row[primary].text(), .type = "row of " + table->spec.name};
      for (std::size_t i = 0; i < version->row.size(); ++i) {
        const Value& value = version->row[i];
        if (i == primary || value.timestamp() != nullptr) {
          if (table->spec.columns[i].ends_with("_until")) held.until = value.timestamp()->instant;
          continue;
        }
        if (!held.text.empty()) held.text += ", ";
        held.text += table->spec.columns[i] + " = " + plain_or_quoted(value.text());
      }
      const TransactionId owner = is_innodb() ? slot->locks.writer() : slot->owner;
      if (owner != 0) held.owner = session_of(owner);
      if (held.owner || !held.text.empty()) objects.push_back(std::move(held));
    }
  }
  for (const Advisory& lock : advisory_)
    objects.push_back({.object = lock.key.text(), .type = "advisory lock", .owner = lock.owner});
  return objects;
}

}  // namespace lockstep::models::sql
