#pragma once

// What a client asks of etcd, and what it is told: typed, with the names of etcd's API (etcdserverpb, version 3.4).

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockstep::models::etcd {

/// Counts the changes of a store; one transaction makes one, whatever it writes. 0: none, or the present one.
using Revision = std::int64_t;
using LeaseId = std::int64_t;  ///< 0: none

/// `key` alone, or with a `range_end` the keys from `key` up to it; "\0": all from `key` on.
struct Span {
  std::string key;
  std::string range_end = {};

  bool contains(std::string_view other) const;
  bool operator==(const Span&) const = default;
};
/// All keys that begin so. Requires: a last byte below 0xff.
Span with_prefix(std::string_view prefix);

struct KeyValue {
  std::string key;
  Revision create_revision = 0;  ///< of the put since which it has been there
  Revision mod_revision = 0;     ///< of the latest put
  std::int64_t version = 0;      ///< puts since it was created
  std::string value;
  LeaseId lease = 0;
  bool operator==(const KeyValue&) const = default;
};

enum class Order : std::uint8_t { none, ascend, descend };
enum class SortBy : std::uint8_t { key, version, create, mod, value };

struct Range {
  Span span;
  std::int64_t limit = 0;            ///< 0: none
  Revision revision = 0;             ///< of the past; 0: the present one
  Order order = Order::none;         ///< none: by key; then `sort_by` orders what the limit has left
  SortBy sort_by = SortBy::key;      ///< keys of equal rank stay in the order of keys
  Revision max_create_revision = 0;  ///< only keys that were created up to it; 0: all
  bool serializable = false;         ///< for members of a cluster: as this one has it, perhaps an old state
};
struct Put {
  std::string key;
  std::string value = {};
  LeaseId lease = 0;
};
struct DeleteRange {
  Span span;
};
using Operation = std::variant<Range, Put, DeleteRange>;

/// A key that is not there has version, create and mod revision 0; a comparison of its value is never true.
struct Compare {
  enum class Is : std::uint8_t { equal, greater, less, not_equal };
  enum class Target : std::uint8_t { version, create, mod, value };
  Span span;  ///< of several keys it must hold for each
  Target target = Target::version;
  Is is = Is::equal;
  std::int64_t number = 0;
  std::string value = {};  ///< of the target `value`
};

struct Txn {
  std::vector<Compare> compare;
  std::vector<Operation> success, failure;
};

/// gRPC errors of etcd.
enum class Error : std::uint8_t {
  none,
  empty_key,
  duplicate_key,    ///< a transaction writes a key twice in one branch
  compacted,        ///< the revision that is asked for is not kept any more
  future_revision,  ///< or is still to come
  lease_not_found,
  lease_exists,
  // Of a member of a cluster that cannot say. What was to be written may have been, or may still be.
  timed_out,
  leader_changed
};
/// "etcdserver: requested lease not found"
std::string_view to_string(Error error);

/// Of one operation. What is not of its kind is empty.
struct OperationAnswer {
  Revision revision = 0;  ///< of the store, as this operation saw or left it
  std::vector<KeyValue> kvs = {};
  bool more = false;         ///< the limit has left out some
  std::int64_t count = 0;    ///< of a range: keys in the span, whatever the limit and max_create_revision
  std::int64_t deleted = 0;  ///< of a delete
  bool operator==(const OperationAnswer&) const = default;
};

/// What a request is told.
struct Answer {
  Error error = Error::none;
  Revision revision = 0;   ///< of the header
  bool succeeded = false;  ///< of a transaction: its comparisons held
  std::vector<OperationAnswer> responses = {};
  bool operator==(const Answer&) const = default;
};

struct Event {
  bool is_delete = false;
  KeyValue kv;  ///< of a delete: the key and its revision alone
  bool operator==(const Event&) const = default;
};

// For people: "TXN if create(lock/1) = 0 then PUT lock/1 lease 1 else RANGE lock/1".

/// "RANGE"
std::string_view name_of(const Operation& operation);
std::string describe(const Operation& operation);
std::string describe(const Txn& txn);
std::string describe(const Span& span);
std::string describe(const Answer& answer);
std::string describe(const Event& event);

}  // namespace lockstep::models::etcd
