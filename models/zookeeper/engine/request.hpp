#pragma once

// What a client asks of ZooKeeper, and what it is told: typed, with the names of ZooKeeper's protocol (3.8).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockstep::models::zookeeper {

/// Numbers the transactions of a server. One that fails has a number as well. In an ensemble its high half is the epoch
/// of the leader, and its low half counts from 1 in each epoch.
using Zxid = std::int64_t;
inline constexpr int kEpochShift = 32;
using SessionId = std::int64_t;  ///< 0: none

/// What is not zero or empty in ZooKeeper's Stat without access lists and clocks.
struct Stat {
  Zxid czxid = 0;             ///< of its creation
  Zxid mzxid = 0;             ///< of its latest data
  Zxid pzxid = 0;             ///< of the latest child that was created or deleted, or of its own creation
  std::int32_t version = 0;   ///< how often its data were set
  std::int32_t cversion = 0;  ///< how many children were created and deleted
  SessionId ephemeral_owner = 0;
  std::int32_t data_length = 0;
  std::int32_t num_children = 0;
  bool operator==(const Stat&) const = default;
};

enum class CreateMode : std::uint8_t { persistent, ephemeral, persistent_sequential, ephemeral_sequential };
bool is_ephemeral(CreateMode mode);
bool is_sequential(CreateMode mode);

/// In requests with a version -1 stands for any.
inline constexpr std::int32_t kAnyVersion = -1;

struct Create {
  std::string path;  ///< of a sequential one all but the number
  std::string data = {};
  CreateMode mode = CreateMode::persistent;
  bool asks_for_stat = false;  ///< create2. In a multi it makes no difference
};
struct Delete {
  std::string path;
  std::int32_t version = kAnyVersion;
};
struct SetData {
  std::string path;
  std::string data = {};
  std::int32_t version = kAnyVersion;
};
struct Exists {
  std::string path;
  bool watches = false;  ///< also if there is no such node
};
struct GetData {
  std::string path;
  bool watches = false;
};
struct GetChildren {
  std::string path;
  bool watches = false;
  bool asks_for_stat = false;  ///< getChildren2
};
struct Check {
  std::string path;
  std::int32_t version = kAnyVersion;
};
using MultiOperation = std::variant<Create, Delete, SetData, Check>;
/// All of them or none.
struct Multi {
  std::vector<MultiOperation> operations;
};
/// Those of a connection that is gone: each is told at once what it has missed since a transaction.
struct SetWatches {
  Zxid relative_zxid = 0;
  std::vector<std::string> data = {};   ///< of nodes that were there
  std::vector<std::string> exist = {};  ///< of nodes that were not
  std::vector<std::string> child = {};
};
/// Answered when the server has all that its leader had when it was asked.
struct Sync {
  std::string path;
};
/// Watcher.WatcherType.
enum class WatcherKind : std::int32_t { children = 1, data = 2, any = 3 };
/// Of the connection that asks. One that has no such watch there is told so; who only checks, if nobody has one.
struct RemoveWatches {
  std::string path;
  WatcherKind kind = WatcherKind::any;
  bool only_checks = false;  ///< checkWatches: none is removed
};
using Operation =
    std::variant<Create, Delete, SetData, Exists, GetData, GetChildren, Multi, SetWatches, RemoveWatches, Sync>;

/// KeeperException's codes.
enum class Error : std::int32_t {
  none = 0,
  runtime_inconsistency = -2,  ///< of an operation of a multi: one before it has failed
  bad_arguments = -8,
  no_node = -101,
  bad_version = -103,
  no_children_for_ephemerals = -108,
  node_exists = -110,
  not_empty = -111,
  session_expired = -112,
  no_watcher = -121
};
/// "NoNode"
std::string_view to_string(Error error);

/// Of one operation. What is not of its kind is empty.
struct Result {
  Error error = Error::none;
  std::string path = {};  ///< that was created
  std::string data = {};
  std::vector<std::string> children = {};  ///< names alone, in their order. (ZooKeeper's have none.)
  std::optional<Stat> stat = std::nullopt;
  bool operator==(const Result&) const = default;
};

/// What a request is told.
struct Answer {
  Zxid zxid = 0;  ///< the latest transaction at the server
  Result result = {};
  std::vector<Result> results = {};  ///< of a multi
  bool operator==(const Answer&) const = default;
};

enum class EventType : std::int32_t {
  node_created = 1,
  node_deleted = 2,
  node_data_changed = 3,
  node_children_changed = 4
};
struct WatchedEvent {
  EventType type = EventType::node_created;
  std::string path;
  bool operator==(const WatchedEvent&) const = default;
};

std::string_view parent_of(std::string_view path);
std::string_view name_in_parent(std::string_view path);

// For people: "CREATE /lock/a- ephemeral sequential", "NodeDeleted /lock/a-0000000001".

/// "GET_DATA"
std::string_view name_of(const Operation& operation);
std::string describe(const Operation& operation);
std::string describe(const Result& result);
std::string describe(const Answer& answer);
std::string describe(const WatchedEvent& event);
/// "12"; of an epoch "0x100000002".
std::string describe_zxid(Zxid zxid);

}  // namespace lockstep::models::zookeeper
