#include "models/zookeeper/engine/request.hpp"

#include <array>

#include <fmt/format.h>

namespace lockstep::models::zookeeper {
namespace {

std::string of_version(std::int32_t version) {
  return version == kAnyVersion ? "" : fmt::format(" version {}", version);
}

std::string with_data(const std::string& data) { return data.empty() ? "" : fmt::format(" \"{}\"", data); }

std::string_view of_watch(bool watches) { return watches ? " watch" : ""; }

std::string describe(const Create& create) {
  return fmt::format("CREATE {}{}{}{}{}", create.path, with_data(create.data),
                     is_ephemeral(create.mode) ? " ephemeral" : "", is_sequential(create.mode) ? " sequential" : "",
                     create.asks_for_stat ? " with stat" : "");
}
std::string describe(const Delete& asked) { return "DELETE " + asked.path + of_version(asked.version); }
std::string describe(const SetData& set) {
  return "SET_DATA " + set.path + with_data(set.data) + of_version(set.version);
}
std::string describe(const Check& check) { return "CHECK " + check.path + of_version(check.version); }
std::string describe(const Exists& asked) { return fmt::format("EXISTS {}{}", asked.path, of_watch(asked.watches)); }
std::string describe(const GetData& asked) { return fmt::format("GET_DATA {}{}", asked.path, of_watch(asked.watches)); }
std::string describe(const GetChildren& asked) {
  return fmt::format("GET_CHILDREN {}{}{}", asked.path, asked.asks_for_stat ? " with stat" : "",
                     of_watch(asked.watches));
}
std::string describe(const Multi& multi) {
  std::string text = "MULTI";
  for (const MultiOperation& each : multi.operations) {
    text += &each == multi.operations.data() ? " " : ", ";
    text += std::visit([](const auto& operation) { return describe(operation); }, each);
  }
  return text;
}
std::string describe(const SetWatches& asked) {
  std::string text = "SET_WATCHES since " + describe_zxid(asked.relative_zxid);
  for (const auto* paths : {&asked.data, &asked.exist, &asked.child}) {
    for (const std::string& path : *paths) text += " " + path;
  }
  return text;
}

std::string describe(const Sync& asked) { return "SYNC " + asked.path; }
std::string describe(const RemoveWatches& asked) {
  static constexpr std::array<std::string_view, 3> kKinds{" children", " data", ""};
  return fmt::format("{} {}{}", asked.only_checks ? "CHECK_WATCHES" : "REMOVE_WATCHES", asked.path,
                     kKinds[static_cast<std::size_t>(asked.kind) - 1]);
}

std::string describe(const Stat& stat) {
  std::string text = fmt::format("czxid {} mzxid {} pzxid {} version {} cversion {}", describe_zxid(stat.czxid),
                                 describe_zxid(stat.mzxid), describe_zxid(stat.pzxid), stat.version, stat.cversion);
  if (stat.ephemeral_owner != 0) text += fmt::format(" owner {}", stat.ephemeral_owner);
  if (stat.data_length != 0) text += fmt::format(" length {}", stat.data_length);
  if (stat.num_children != 0) text += fmt::format(" children {}", stat.num_children);
  return text;
}

}  // namespace

bool is_ephemeral(CreateMode mode) { return mode == CreateMode::ephemeral || mode == CreateMode::ephemeral_sequential; }
bool is_sequential(CreateMode mode) {
  return mode == CreateMode::persistent_sequential || mode == CreateMode::ephemeral_sequential;
}

std::string_view to_string(Error error) {
  switch (error) {
    case Error::none: return "OK";
    case Error::runtime_inconsistency: return "RuntimeInconsistency";
    case Error::bad_arguments: return "BadArguments";
    case Error::no_node: return "NoNode";
    case Error::bad_version: return "BadVersion";
    case Error::no_children_for_ephemerals: return "NoChildrenForEphemerals";
    case Error::node_exists: return "NodeExists";
    case Error::not_empty: return "NotEmpty";
    case Error::session_expired: return "SessionExpired";
    case Error::no_watcher: return "NoWatcher";
  }
  return "";
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : path.substr(0, slash);
}

std::string_view name_in_parent(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view name_of(const Operation& operation) {
  static constexpr std::array<std::string_view, 10> kNames{"CREATE",         "DELETE",       "SET_DATA", "EXISTS",
                                                           "GET_DATA",       "GET_CHILDREN", "MULTI",    "SET_WATCHES",
                                                           "REMOVE_WATCHES", "SYNC"};
  return kNames[operation.index()];
}

std::string describe(const Operation& operation) {
  return std::visit([](const auto& each) { return describe(each); }, operation);
}

std::string describe(const Result& result) {
  if (result.error != Error::none) return std::string(to_string(result.error));
  std::string text = result.path;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (!result.data.empty()) add("\"" + result.data + "\"");
  if (!result.children.empty()) {
    std::string names;
    for (const std::string& child : result.children) names += (names.empty() ? "" : " ") + child;
    add("[" + names + "]");
  }
  if (result.stat) add(describe(*result.stat));
  return text.empty() ? "OK" : text;
}

std::string describe(const Answer& answer) {
  std::string text = fmt::format("zxid {}: {}", describe_zxid(answer.zxid), describe(answer.result));
  for (const Result& each : answer.results) text += "; " + describe(each);
  return text;
}

std::string describe_zxid(Zxid zxid) {
  return zxid >> kEpochShift == 0 ? std::to_string(zxid) : fmt::format("{:#x}", zxid);
}

std::string describe(const WatchedEvent& event) {
  static constexpr std::array<std::string_view, 4> kNames{"NodeCreated", "NodeDeleted", "NodeDataChanged",
                                                          "NodeChildrenChanged"};
  return fmt::format("{} {}", kNames[static_cast<std::size_t>(event.type) - 1], event.path);
}

}  // namespace lockstep::models::zookeeper
