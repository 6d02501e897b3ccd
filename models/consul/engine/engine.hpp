#pragma once

// The engine of the servers of one datacentre: keys, sessions with what they have acquired, health checks, lock-delays,
// blocking queries. Start here. It is Consul's state store (agent/consul/state) with the checks before the log and the
// loop of blocking queries, without Raft: requests come in the order of the log.
//
// Pure: no messages, no timers. That a session's TTL, a lock-delay or the wait of a query is over its caller says.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/consul/engine/request.hpp"

namespace lockstep::models::consul {

class Engine {
 public:
  using QueryId = std::int64_t;
  struct Reply {
    QueryId query;
    Answer answer;
  };
  /// What the latest request changed, for histories.
  struct Change {
    enum class Kind : std::uint8_t { written, acquired, released, deleted };
    std::string key;
    Kind kind;
  };
  struct LockDelay {
    std::string key;
    sim::Duration length;
  };

  // --- Keys.

  Answer write(const Write& asked);
  Answer remove(const Delete& asked);
  const KeyValue* find(std::string_view key) const;
  const std::map<std::string, KeyValue, std::less<>>& kvs() const { return kvs_; }

  // --- Sessions.

  /// Requires: the id is not 0, and was never used. Its create_index means nothing.
  Answer create_session(Session session);
  /// Also what happens when its TTL is over. A session that is not there is no error.
  Answer destroy_session(SessionId id);
  const Session* find_session(SessionId id) const;
  const std::map<SessionId, Session>& sessions() const { return sessions_; }
  bool holds_keys(SessionId id) const;
  Answer update_check(const CheckUpdate& update);

  // --- Lock-delays: keys that a session had acquired when it ended cannot be acquired for a while.

  /// Those that have begun since the last call. The engine refuses to acquire these keys until `end_lock_delay`.
  std::vector<LockDelay> take_lock_delays() { return std::exchange(begun_delays_, {}); }
  void end_lock_delay(const std::string& key) { delayed_.erase(key); }
  /// They are in the memory of the leader alone.
  void forget_lock_delays() { delayed_.clear(); }
  bool is_delayed(const std::string& key) const { return delayed_.contains(key); }
  bool has_lock_delays() const { return !delayed_.empty(); }

  // --- Queries.

  /// Whatever its index.
  Answer read(const Query& query) const;
  /// The answer, or nothing yet: then it comes by `take_replies` or `give_up`. Requires: the id is new.
  std::optional<Answer> ask(QueryId id, const Query& query);
  /// Its wait is over. Requires: it waits.
  Answer give_up(QueryId id);
  void cancel(QueryId id) { waiting_.erase(id); }
  void cancel_queries() { waiting_.clear(); }
  std::vector<Reply> take_replies() { return std::exchange(replies_, {}); }

  const std::vector<Change>& changes() const { return changes_; }
  /// Of the latest entry of the log.
  Index last_index() const { return last_index_; }
  void reset() { *this = {}; }

 private:
  struct Waiting {
    Query query;
    Index least;               ///< a result of a greater index is an answer
    bool was_missing = false;  ///< the key was not there when it was looked for last
  };

  void begin();
  void put(KeyValue kv, Change::Kind kind);
  void erase(const std::string& key);
  Answer acquire(const Write& asked);
  Answer release(const Write& asked);
  void end_session(const Session& session);
  bool is_true(Waiting& waiting, const Answer& answer) const;
  bool concerns(const Query& query) const;
  void finish();
  Index index_below(const std::string& prefix) const;
  std::vector<KeyValue> below(const std::string& prefix) const;

  Index last_index_ = 1;  // Consul has written entries of its own before any client comes
  Index kv_index_ = 0;
  Index session_index_ = 0;
  std::map<std::string, KeyValue, std::less<>> kvs_;
  std::map<std::string, Index, std::less<>> tombstones_;  ///< by key or by the prefix of a recursive deletion
  std::map<SessionId, Session> sessions_;
  std::map<std::string, CheckUpdate::Status, std::less<>> checks_;
  std::set<std::string, std::less<>> delayed_;
  std::vector<LockDelay> begun_delays_;
  std::map<QueryId, Waiting> waiting_;
  std::vector<Reply> replies_;
  std::vector<Change> changes_;
  std::vector<SessionId> changed_sessions_;
};

}  // namespace lockstep::models::consul
