#pragma once

// The engine of one etcd server: keys with all their revisions, leases, transactions, watches. Start here. It is etcd
// 3.4's store (mvcc, lease, the applier), without Raft: requests come in the order of the log.
//
// Pure: no messages, no timers. When a lease ends its caller says. What watches hear the caller takes after each call.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/etcd/engine/request.hpp"

namespace lockstep::models::etcd {

class Engine {
 public:
  using WatchId = std::int64_t;
  /// What a watch is told. Nothing comes after a cancellation.
  struct Notice {
    WatchId watch;
    std::vector<Event> events = {};  ///< in the order of revisions; in one revision in the order of writing
    Revision compact_revision = 0;   ///< not 0: cancelled, since revisions before this one are not kept
    bool operator==(const Notice&) const = default;
  };

  Answer execute(const Operation& operation);
  Answer execute(const Txn& txn);
  /// Keeps of revisions before this one only what is still needed to read at it.
  Answer compact(Revision revision);
  Revision revision() const { return revision_; }

  // --- Leases.

  /// Requires: `id` is not 0.
  Error grant(LeaseId id);
  /// Deletes its keys, all in one revision. Also what happens when it expires.
  Error revoke(LeaseId id);
  bool has_lease(LeaseId id) const { return leases_.contains(id); }
  std::vector<LeaseId> leases() const;
  /// In their order. Requires: it has it.
  const std::set<std::string>& keys_of(LeaseId id) const { return leases_.at(id); }

  // --- Watches.

  /// From this revision on; 0: from the next one. Requires: the id is new.
  void watch(WatchId id, Span span, Revision start_revision);
  void cancel_watch(WatchId id) { watches_.erase(id); }
  void cancel_watches() { watches_.clear(); }
  std::vector<Notice> take_notices() { return std::exchange(notices_, {}); }
  /// What the latest request changed.
  const std::vector<Event>& changes() const { return changes_; }

  void reset() { *this = {}; }
  /// The keys that are there, in their order.
  std::vector<KeyValue> present() const;

 private:
  struct Watch {
    Span span;
    Revision start;  ///< perhaps one that is still to come
  };
  struct Change {
    Event event;
    std::size_t number;  ///< among the changes of its revision
  };
  /// Of one key, in the order of revisions.
  using History = std::vector<Change>;

  static const KeyValue* at(const History& history, Revision revision);
  const KeyValue* present(const std::string& key) const;
  std::vector<KeyValue> read(const Span& span, Revision revision) const;
  bool holds(const Compare& compare) const;
  Error check(const std::vector<Operation>& operations) const;
  Error check_revision(Revision revision) const;

  void begin() { changes_.clear(); }
  void finish();
  /// As it is in the transaction that is going on.
  Revision current() const { return revision_ + (changes_.empty() ? 0 : 1); }
  OperationAnswer apply(const Operation& operation);
  OperationAnswer range(const Range& asked) const;
  OperationAnswer put(const Put& asked);
  OperationAnswer delete_range(const DeleteRange& asked);
  void detach(const KeyValue& kv);
  void remove(const KeyValue& kv);
  void record(Event event);

  Revision revision_ = 1;  // an empty store's, as etcd counts
  Revision compacted_ = 0;
  std::map<std::string, KeyValue> present_;  ///< in the transaction that is going on
  std::map<std::string, History> keys_;      ///< all that ever were, but for what was compacted
  std::map<LeaseId, std::set<std::string>> leases_;
  std::map<WatchId, Watch> watches_;
  std::vector<Event> changes_;
  std::vector<Notice> notices_;
};

}  // namespace lockstep::models::etcd
