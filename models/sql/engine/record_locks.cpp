#include "models/sql/engine/record_locks.hpp"

#include <algorithm>

namespace lockstep::models::sql {

using Mode = RecordLock::Mode;
using Span = RecordLock::Span;

/// Gaps are locked by any number of transactions; only an insertion waits for them.
bool RecordLocks::has_to_wait(const RecordLock& request, const RecordLock& other) {
  if (request.owner == other.owner) return false;
  if (request.mode == Mode::shared && other.mode == Mode::shared) return false;
  if (other.span == Span::insertion) return false;
  if (request.span == Span::insertion) return other.span != Span::record;
  if (request.span == Span::gap) return false;
  return other.span != Span::gap;
}

bool RecordLocks::holds(TransactionId owner, Mode mode, Span span) const {
  return std::any_of(locks_.begin(), locks_.end(), [&](const RecordLock& lock) {
    const bool is_as_strong = lock.mode == Mode::exclusive || mode == Mode::shared;
    return lock.owner == owner && lock.is_granted && lock.span == span && is_as_strong;
  });
}

bool RecordLocks::is_blocked(TransactionId owner, Mode mode, Span span) const {
  const RecordLock request{.owner = owner, .mode = mode, .span = span};
  return std::any_of(locks_.begin(), locks_.end(),
                     [&](const RecordLock& other) { return has_to_wait(request, other); });
}

bool RecordLocks::request(TransactionId owner, Mode mode, Span span) {
  if (span != Span::insertion && holds(owner, mode, span)) return true;
  const bool is_granted = !is_blocked(owner, mode, span);
  // An insertion that waits for nobody leaves no trace.
  if (span != Span::insertion || !is_granted)
    locks_.push_back({.owner = owner, .mode = mode, .span = span, .is_granted = is_granted});
  return is_granted;
}

void RecordLocks::add(TransactionId owner, Mode mode, Span span) {
  if (!holds(owner, mode, span)) locks_.push_back({.owner = owner, .mode = mode, .span = span, .is_granted = true});
}

std::vector<TransactionId> RecordLocks::blockers_of(TransactionId waiting) const {
  std::vector<TransactionId> blockers;
  const auto request = std::find_if(locks_.begin(), locks_.end(),
                                    [&](const RecordLock& lock) { return lock.owner == waiting && !lock.is_granted; });
  if (request == locks_.end()) return blockers;
  for (auto other = locks_.begin(); other != request; ++other) {
    const bool is_new = std::find(blockers.begin(), blockers.end(), other->owner) == blockers.end();
    if (is_new && has_to_wait(*request, *other)) blockers.push_back(other->owner);
  }
  return blockers;
}

TransactionId RecordLocks::writer() const {
  const auto found = std::find_if(locks_.begin(), locks_.end(), [](const RecordLock& lock) {
    return lock.is_granted && lock.mode == Mode::exclusive && lock.span == Span::record;
  });
  return found == locks_.end() ? 0 : found->owner;
}

void RecordLocks::drop(TransactionId owner, Mode mode, Span span) {
  std::erase_if(locks_, [&](const RecordLock& lock) {
    return lock.owner == owner && lock.mode == mode && lock.span == span && lock.is_granted;
  });
}

void RecordLocks::drop_all(TransactionId owner) {
  std::erase_if(locks_, [&](const RecordLock& lock) { return lock.owner == owner; });
}

void RecordLocks::drop_request(TransactionId owner) {
  std::erase_if(locks_, [&](const RecordLock& lock) { return lock.owner == owner && !lock.is_granted; });
}

std::vector<TransactionId> RecordLocks::grant() {
  std::vector<TransactionId> granted;
  for (auto lock = locks_.begin(); lock != locks_.end(); ++lock) {
    if (lock->is_granted) continue;
    const bool waits =
        std::any_of(locks_.begin(), lock, [&](const RecordLock& other) { return has_to_wait(*lock, other); });
    if (waits) continue;
    lock->is_granted = true;
    granted.push_back(lock->owner);
  }
  return granted;
}

}  // namespace lockstep::models::sql
