#include "models/etcd/engine/request.hpp"

#include <array>

#include <fmt/format.h>

namespace lockstep::models::etcd {
namespace {

constexpr std::string_view kEndOfKeys{"\0", 1};

std::string describe(const KeyValue& kv) {
  return fmt::format("{} created at {}, modified at {}, version {}, \"{}\"{}", kv.key, kv.create_revision,
                     kv.mod_revision, kv.version, kv.value, kv.lease == 0 ? "" : fmt::format(", lease {}", kv.lease));
}

std::string describe(const Compare& compare) {
  static constexpr std::array<std::string_view, 4> kTargets{"version", "create", "mod", "value"};
  static constexpr std::array<std::string_view, 4> kSigns{"=", ">", "<", "!="};
  return fmt::format(
      "{}({}) {} {}", kTargets[static_cast<std::size_t>(compare.target)], describe(compare.span),
      kSigns[static_cast<std::size_t>(compare.is)],
      compare.target == Compare::Target::value ? "\"" + compare.value + "\"" : std::to_string(compare.number));
}

std::string describe(const Range& range) {
  static constexpr std::array<std::string_view, 5> kTargets{"key", "version", "create", "mod", "value"};
  std::string text = describe(range.span);
  if (range.order != Order::none || range.sort_by != SortBy::key) {
    text += range.order == Order::descend ? " last by " : range.order == Order::ascend ? " first by " : " by ";
    text += kTargets[static_cast<std::size_t>(range.sort_by)];
  }
  if (range.limit != 0) text += fmt::format(" limit {}", range.limit);
  if (range.revision != 0) text += fmt::format(" at {}", range.revision);
  if (range.max_create_revision != 0) text += fmt::format(" created up to {}", range.max_create_revision);
  if (range.serializable) text += " serializable";
  return text;
}

std::string describe(const OperationAnswer& answer) {
  std::string text = fmt::format("at {}", answer.revision);
  if (answer.count != 0) text += fmt::format(", {} in all", answer.count);
  if (answer.more) text += ", more";
  if (answer.deleted != 0) text += fmt::format(", {} deleted", answer.deleted);
  for (const KeyValue& kv : answer.kvs) text += "; " + describe(kv);
  return text;
}

}  // namespace

bool Span::contains(std::string_view other) const {
  if (range_end.empty()) return other == key;
  return other >= key && (range_end == kEndOfKeys || other < range_end);
}

Span with_prefix(std::string_view prefix) {
  Span span{std::string(prefix), std::string(prefix)};
  ++span.range_end.back();
  return span;
}

std::string_view to_string(Error error) {
  switch (error) {
    case Error::none: break;
    case Error::empty_key: return "etcdserver: key is not provided";
    case Error::duplicate_key: return "etcdserver: duplicate key given in txn request";
    case Error::compacted: return "etcdserver: mvcc: required revision has been compacted";
    case Error::future_revision: return "etcdserver: mvcc: required revision is a future revision";
    case Error::lease_not_found: return "etcdserver: requested lease not found";
    case Error::lease_exists: return "etcdserver: lease already exists";
    case Error::timed_out: return "etcdserver: request timed out";
    case Error::leader_changed: return "etcdserver: leader changed";
  }
  return "";
}

std::string_view name_of(const Operation& operation) {
  static constexpr std::array<std::string_view, 3> kNames{"RANGE", "PUT", "DELETE_RANGE"};
  return kNames[operation.index()];
}

std::string describe(const Span& span) {
  if (span.range_end.empty()) return span.key;
  return span.key + ".." + (span.range_end == kEndOfKeys ? "" : span.range_end);
}

std::string describe(const Operation& operation) {
  std::string text = std::string(name_of(operation)) + " ";
  if (const auto* range = std::get_if<Range>(&operation)) return text + describe(*range);
  if (const auto* removed = std::get_if<DeleteRange>(&operation)) return text + describe(removed->span);
  const auto& put = std::get<Put>(operation);
  text += put.key;
  if (!put.value.empty()) text += " \"" + put.value + "\"";
  if (put.lease != 0) text += fmt::format(" lease {}", put.lease);
  return text;
}

std::string describe(const Txn& txn) {
  std::string text = "TXN";
  for (const Compare& each : txn.compare) text += (&each == txn.compare.data() ? " if " : " and ") + describe(each);
  for (const Operation& each : txn.success) text += (&each == txn.success.data() ? " then " : ", ") + describe(each);
  for (const Operation& each : txn.failure) text += (&each == txn.failure.data() ? " else " : ", ") + describe(each);
  return text;
}

std::string describe(const Answer& answer) {
  if (answer.error != Error::none) return "ERROR: " + std::string(to_string(answer.error));
  std::string text = fmt::format("revision {}{}", answer.revision, answer.succeeded ? ", succeeded" : "");
  for (const OperationAnswer& each : answer.responses) text += " [" + describe(each) + "]";
  return text;
}

std::string describe(const Event& event) {
  if (event.is_delete) return fmt::format("DELETE {} at {}", event.kv.key, event.kv.mod_revision);
  return "PUT " + describe(event.kv);
}

}  // namespace lockstep::models::etcd
