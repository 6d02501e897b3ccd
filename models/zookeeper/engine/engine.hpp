#pragma once

// The engine of one ZooKeeper server: the tree of nodes, sessions with what is theirs, watches. Start here. It is what
// ZooKeeper 3.8 makes of requests (PrepRequestProcessor, DataTree, WatchManager), without its atomic broadcast:
// requests come in the order of the log.
//
// Pure: no messages, no timers. When a session ends its caller says. What watches hear the caller takes after each call
// and passes on before the answer.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/zookeeper/engine/request.hpp"

namespace lockstep::models::zookeeper {

class Engine {
 public:
  /// Whom watches tell: a connection. Its watches go with it.
  using WatcherId = std::int64_t;
  struct Notice {
    WatcherId watcher;
    WatchedEvent event;
    bool operator==(const Notice&) const = default;
  };
  /// One node that was created, set or deleted.
  struct Change {
    enum class Kind : std::uint8_t { created, set, deleted };
    Kind kind;
    std::string path;
    SessionId owner = 0;  ///< of an ephemeral node
  };

  /// On behalf of a session. One that is not open is told so, and nothing is done.
  Answer execute(SessionId session, WatcherId watcher, const Operation& operation);
  /// Of the latest transaction.
  Zxid zxid() const { return zxid_; }

  // --- Of an ensemble. Neither touches a node.

  /// A new leader: its transactions have numbers of their own, from 1.
  void begin_epoch(std::int64_t epoch) {
    changes_.clear();
    zxid_ = epoch << kEpochShift;
  }
  /// A transaction that the leader has refused.
  void skip() {
    changes_.clear();
    ++zxid_;
  }

  // --- Sessions. Each of these is a transaction.

  /// Requires: it is not 0, and was never open.
  void open(SessionId session);
  /// Deletes its ephemeral nodes, in the order of their paths. (ZooKeeper's order is that of a hash table.) Also what
  /// happens when it expires. Requires: it is open.
  void close(SessionId session);
  bool is_open(SessionId session) const { return sessions_.contains(session); }
  std::vector<SessionId> sessions() const;
  /// The paths of its nodes, in their order. Requires: it is open.
  const std::set<std::string>& ephemerals_of(SessionId session) const { return sessions_.at(session); }

  // --- Watches.

  void drop_watches(WatcherId watcher);
  void drop_all_watches();
  std::vector<Notice> take_notices() { return std::exchange(notices_, {}); }
  /// What the latest transaction changed.
  const std::vector<Change>& changes() const { return changes_; }

  // --- Looking.

  /// All paths but the root, in their order.
  std::vector<std::string> paths() const;
  /// Nothing: there is no such node.
  std::optional<Stat> stat_of(std::string_view path) const;
  /// Requires: it is there.
  const std::string& data_of(const std::string& path) const { return nodes_.at(path).data; }
  void reset() { *this = {}; }

 private:
  struct Node {
    std::string data;
    SessionId owner = 0;
    Zxid czxid = 0, mzxid = 0, pzxid = 0;
    std::int32_t version = 0;
    std::int32_t created = 0;  ///< children since it is there: the number of the next sequential one
    std::set<std::string> children = {};
  };
  using Nodes = std::map<std::string, Node, std::less<>>;
  /// Each has a path at most once, and is told of it once.
  using Watches = std::map<std::string, std::set<WatcherId>, std::less<>>;

  Node* find(std::string_view path);
  const Node* find(std::string_view path) const;
  static Stat stat_of(const Node& node);
  static bool is_path(std::string_view path);

  Result apply(const Create& asked, SessionId session);
  Result apply(const Delete& asked, SessionId session);
  Result apply(const SetData& asked, SessionId session);
  Result apply(const Check& asked, SessionId session);
  Result look(const Exists& asked, WatcherId watcher);
  Result look(const GetData& asked, WatcherId watcher);
  Result look(const GetChildren& asked, WatcherId watcher);
  Result look(const RemoveWatches& asked, WatcherId watcher);
  std::vector<Result> execute(const Multi& multi, SessionId session);
  void set_watches(const SetWatches& asked, WatcherId watcher);
  void remove(const std::string& path);
  /// The transaction is carried out: who watches hears of it.
  void tell();
  std::set<WatcherId> trigger(Watches& watches, EventType type, std::string_view path,
                              const std::set<WatcherId>& but = {});

  Zxid zxid_ = 0;
  Nodes nodes_{{"/", Node{}}};
  std::map<SessionId, std::set<std::string>> sessions_;
  Watches data_watches_, child_watches_;
  std::vector<Change> changes_;
  std::vector<Notice> notices_;
};

}  // namespace lockstep::models::zookeeper
