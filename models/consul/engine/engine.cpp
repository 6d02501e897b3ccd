#include "models/consul/engine/engine.hpp"

#include <algorithm>

namespace lockstep::models::consul {
namespace {

/// ModifyIndex and CreateIndex do not count: a write of what is there already changes nothing.
bool is_same(const KeyValue& a, const KeyValue& b) {
  return a.lock_index == b.lock_index && a.flags == b.flags && a.value == b.value && a.session == b.session;
}

/// ?keys&separator: a key up to the first separator after the prefix, each of these once.
std::vector<std::string> cut(const std::vector<KeyValue>& kvs, std::size_t prefix, const std::string& separator) {
  std::vector<std::string> keys;
  for (const KeyValue& kv : kvs) {
    const std::size_t found = separator.empty() ? std::string::npos : kv.key.find(separator, prefix);
    std::string key = found == std::string::npos ? kv.key : kv.key.substr(0, found + separator.size());
    // Not next to each other: "a" and "a/b" have "a-" between them. A whole key may be there beside a cut one.
    if (found == std::string::npos || std::find(keys.begin(), keys.end(), key) == keys.end())
      keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace

const KeyValue* Engine::find(std::string_view key) const {
  const auto found = kvs_.find(key);
  return found == kvs_.end() ? nullptr : &found->second;
}

const Session* Engine::find_session(SessionId id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

bool Engine::holds_keys(SessionId id) const {
  return std::any_of(kvs_.begin(), kvs_.end(), [&](const auto& entry) { return entry.second.session == id; });
}

std::vector<KeyValue> Engine::below(const std::string& prefix) const {
  std::vector<KeyValue> found;
  for (auto each = kvs_.lower_bound(prefix); each != kvs_.end() && each->first.starts_with(prefix); ++each)
    found.push_back(each->second);
  return found;
}

// --- The log.

void Engine::begin() {
  changes_.clear();
  changed_sessions_.clear();
  ++last_index_;
}

/// The index of creation is kept, as in each of Consul's ways to write; so is the session, but for acquire and release.
void Engine::put(KeyValue kv, Change::Kind kind) {
  const KeyValue* old = find(kv.key);
  kv.create_index = old == nullptr ? last_index_ : old->create_index;
  if (old != nullptr && is_same(*old, kv)) return;
  kv.modify_index = last_index_;
  kv_index_ = last_index_;
  changes_.push_back({kv.key, kind});
  kvs_.insert_or_assign(kv.key, std::move(kv));
}

void Engine::erase(const std::string& key) {
  kvs_.erase(key);
  tombstones_[key] = last_index_;
  kv_index_ = last_index_;
  changes_.push_back({key, Change::Kind::deleted});
}

Answer Engine::write(const Write& asked) {
  changes_.clear();
  changed_sessions_.clear();
  if (asked.key.empty()) return {.error = Error::missing_key};
  // Before the log, by the clock of the leader: the entry would say the same to every server.
  if (asked.how == Write::How::acquire && is_delayed(asked.key)) return {};
  begin();
  Answer answer;
  if (asked.how == Write::How::acquire) {
    answer = acquire(asked);
  } else if (asked.how == Write::How::release) {
    answer = release(asked);
  } else {
    const KeyValue* old = find(asked.key);
    const Index present = old == nullptr ? 0 : old->modify_index;
    answer.ok = asked.how == Write::How::set || present == asked.index;
    // LockIndex is 0 again: what is written comes from the request, but for the session.
    if (answer.ok)
      put({.key = asked.key, .value = asked.value, .flags = asked.flags, .session = old == nullptr ? 0 : old->session},
          Change::Kind::written);
  }
  finish();
  return answer;
}

Answer Engine::acquire(const Write& asked) {
  if (asked.session == 0) return {.error = Error::missing_session};
  if (find_session(asked.session) == nullptr) return {.error = Error::invalid_session};
  const KeyValue* old = find(asked.key);
  if (old != nullptr && old->session != 0 && old->session != asked.session) return {};
  const bool is_own = old != nullptr && old->session == asked.session;
  const Index before = old == nullptr ? 0 : old->lock_index;
  put({.key = asked.key,
       .value = asked.value,
       .flags = asked.flags,
       .lock_index = is_own ? before : before + 1,
       .session = asked.session},
      is_own ? Change::Kind::written : Change::Kind::acquired);
  return {.ok = true};
}

/// Nobody asks whether there is such a session.
Answer Engine::release(const Write& asked) {
  if (asked.session == 0) return {.error = Error::missing_session};
  const KeyValue* old = find(asked.key);
  if (old == nullptr || old->session != asked.session) return {};
  put({.key = asked.key, .value = asked.value, .flags = asked.flags, .lock_index = old->lock_index},
      Change::Kind::released);
  return {.ok = true};
}

Answer Engine::remove(const Delete& asked) {
  changes_.clear();
  changed_sessions_.clear();
  if (asked.key.empty() && asked.how != Delete::How::recurse) return {.error = Error::missing_key};
  begin();
  Answer answer{.ok = true};
  const KeyValue* old = find(asked.key);
  if (asked.how == Delete::How::recurse) {
    for (const KeyValue& kv : below(asked.key)) {
      kvs_.erase(kv.key);
      changes_.push_back({kv.key, Change::Kind::deleted});
    }
    // One tombstone for all of them; none where everything is deleted, since then the index of the table tells.
    if (!changes_.empty()) kv_index_ = last_index_;
    if (!changes_.empty() && !asked.key.empty()) tombstones_[asked.key] = last_index_;
  } else if (old != nullptr && asked.how == Delete::How::cas && old->modify_index != asked.index) {
    answer.ok = false;
  } else if (old != nullptr) {
    erase(asked.key);
  }
  finish();
  return answer;
}

// --- Sessions.

Answer Engine::create_session(Session session) {
  begin();
  for (const std::string& check : session.checks) {
    const auto found = checks_.find(check);
    if (found == checks_.end()) return {.error = Error::missing_check};
    if (found->second == CheckUpdate::Status::critical) return {.error = Error::critical_check};
  }
  session.create_index = last_index_;
  session_index_ = last_index_;
  changed_sessions_.push_back(session.id);
  sessions_.insert_or_assign(session.id, std::move(session));
  finish();
  return {.ok = true};
}

Answer Engine::destroy_session(SessionId id) {
  begin();
  if (const Session* session = find_session(id); session != nullptr) end_session(Session(*session));
  finish();
  return {.ok = true};
}

/// An end that nobody who holds a key has asked for by releasing it: so there is a lock-delay, whoever ended it.
void Engine::end_session(const Session& session) {
  sessions_.erase(session.id);
  session_index_ = last_index_;
  changed_sessions_.push_back(session.id);
  const sim::Duration delay = std::min(session.lock_delay, kLongestLockDelay);
  for (KeyValue kv : below("")) {
    if (kv.session != session.id) continue;
    if (delay > sim::Duration::zero()) {
      delayed_.insert(kv.key);
      begun_delays_.push_back({kv.key, delay});
    }
    if (session.behavior == Behavior::deletes) {
      erase(kv.key);
    } else {
      kv.session = 0;
      put(std::move(kv), Change::Kind::released);
    }
  }
}

Answer Engine::update_check(const CheckUpdate& update) {
  begin();
  if (update.status == CheckUpdate::Status::deregistered) {
    checks_.erase(update.check);
  } else {
    checks_.insert_or_assign(update.check, update.status);
  }
  if (update.status != CheckUpdate::Status::passing) {
    const std::map<SessionId, Session> sessions = sessions_;
    for (const auto& [id, session] : sessions) {
      if (std::find(session.checks.begin(), session.checks.end(), update.check) != session.checks.end())
        end_session(session);
    }
  }
  finish();
  return {.ok = true};
}

// --- Queries.

/// 0: nothing below the prefix was ever written or deleted, as far as anybody knows.
Index Engine::index_below(const std::string& prefix) const {
  Index index = 0;
  for (auto each = kvs_.lower_bound(prefix); each != kvs_.end() && each->first.starts_with(prefix); ++each)
    index = std::max(index, each->second.modify_index);
  for (auto each = tombstones_.lower_bound(prefix); each != tombstones_.end() && each->first.starts_with(prefix);
       ++each)
    index = std::max(index, each->second);
  return index;
}

Answer Engine::read(const Query& query) const {
  Answer answer;
  switch (query.what) {
    case Query::What::key: {
      const KeyValue* kv = find(query.key);
      answer.index = kv == nullptr ? kv_index_ : kv->modify_index;
      if (kv != nullptr) answer.kvs.push_back(*kv);
      break;
    }
    case Query::What::recurse:
    case Query::What::keys: {
      answer.index = query.key.empty() ? kv_index_ : index_below(query.key);
      if (answer.index == 0) answer.index = kv_index_;
      std::vector<KeyValue> kvs = below(query.key);
      if (query.what == Query::What::keys) {
        answer.keys = cut(kvs, query.key.size(), query.separator);
      } else {
        answer.kvs = std::move(kvs);
      }
      break;
    }
    case Query::What::session_info:
      answer.index = session_index_;
      if (const Session* session = find_session(query.session); session != nullptr) answer.sessions.push_back(*session);
      break;
    case Query::What::session_list:
      answer.index = session_index_;
      for (const auto& [id, session] : sessions_) answer.sessions.push_back(session);
      break;
  }
  answer.index = std::max<Index>(answer.index, 1);  // 0 would not block whoever asks again
  return answer;
}

std::optional<Answer> Engine::ask(QueryId id, const Query& query) {
  Answer answer = read(query);
  if (query.index == 0) return answer;
  Waiting waiting{query, query.index};
  if (is_true(waiting, answer)) return answer;
  waiting_.emplace(id, std::move(waiting));
  return std::nullopt;
}

Answer Engine::give_up(QueryId id) {
  const Answer answer = read(waiting_.at(id).query);
  waiting_.erase(id);
  return answer;
}

/// Of a key that is missing the index is that of the table, which writes of other keys advance: that it is still
/// missing is no news.
bool Engine::is_true(Waiting& waiting, const Answer& answer) const {
  if (waiting.query.what == Query::What::key && answer.kvs.empty()) {
    if (waiting.was_missing) waiting.least = answer.index;
    waiting.was_missing = true;
  }
  return answer.index > waiting.least;
}

/// Whether what it asks for is among what has changed.
bool Engine::concerns(const Query& query) const {
  switch (query.what) {
    case Query::What::key:
      return std::any_of(changes_.begin(), changes_.end(), [&](const Change& each) { return each.key == query.key; });
    case Query::What::recurse:
    case Query::What::keys:
      return std::any_of(changes_.begin(), changes_.end(),
                         [&](const Change& each) { return each.key.starts_with(query.key); });
    case Query::What::session_info:
      return std::find(changed_sessions_.begin(), changed_sessions_.end(), query.session) != changed_sessions_.end();
    case Query::What::session_list: break;
  }
  return !changed_sessions_.empty();
}

void Engine::finish() {
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    if (!concerns(each->second.query)) {
      ++each;
      continue;
    }
    Answer answer = read(each->second.query);
    if (!is_true(each->second, answer)) {
      ++each;
      continue;
    }
    replies_.push_back({each->first, std::move(answer)});
    each = waiting_.erase(each);
  }
}

}  // namespace lockstep::models::consul
