#include "models/zookeeper/engine/engine.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

namespace lockstep::models::zookeeper {
namespace {

bool is_other(std::int32_t present, std::int32_t asked) { return asked != kAnyVersion && asked != present; }

bool lacks_slash(std::string_view path) { return path.find('/') == std::string_view::npos; }

Result failed(Error error) { return {.error = error}; }

}  // namespace

Engine::Node* Engine::find(std::string_view path) {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}
const Engine::Node* Engine::find(std::string_view path) const {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

/// PathUtils.validatePath, without what no string of ours has.
bool Engine::is_path(std::string_view path) {
  if (path.empty() || path.front() != '/') return false;
  return path.size() == 1 || (path.back() != '/' && path.find("//") == std::string_view::npos);
}

Stat Engine::stat_of(const Node& node) {
  const auto children = static_cast<std::int32_t>(node.children.size());
  // Those that were deleted are those that were created and are not there.
  return {.czxid = node.czxid,
          .mzxid = node.mzxid,
          .pzxid = node.pzxid,
          .version = node.version,
          .cversion = node.created * 2 - children,
          .ephemeral_owner = node.owner,
          .data_length = static_cast<std::int32_t>(node.data.size()),
          .num_children = children};
}

std::optional<Stat> Engine::stat_of(std::string_view path) const {
  const Node* node = find(path);
  if (node == nullptr) return std::nullopt;
  return stat_of(*node);
}

std::vector<std::string> Engine::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, node] : nodes_) {
    if (path != "/") paths.push_back(path);
  }
  return paths;
}

std::vector<SessionId> Engine::sessions() const {
  std::vector<SessionId> ids;
  for (const auto& [id, paths] : sessions_) ids.push_back(id);
  return ids;
}

Answer Engine::execute(SessionId session, WatcherId watcher, const Operation& operation) {
  changes_.clear();
  Answer answer{.zxid = zxid_};
  if (!is_open(session)) {
    answer.result.error = Error::session_expired;
    return answer;
  }
  if (const auto* exists = std::get_if<Exists>(&operation)) {
    answer.result = look(*exists, watcher);
  } else if (const auto* get = std::get_if<GetData>(&operation)) {
    answer.result = look(*get, watcher);
  } else if (const auto* list = std::get_if<GetChildren>(&operation)) {
    answer.result = look(*list, watcher);
  } else if (const auto* watches = std::get_if<SetWatches>(&operation)) {
    set_watches(*watches, watcher);
  } else if (const auto* sync = std::get_if<Sync>(&operation)) {
    answer.result.path = sync->path;
  } else if (const auto* unwanted = std::get_if<RemoveWatches>(&operation)) {
    answer.result = look(*unwanted, watcher);
  } else {
    answer.zxid = ++zxid_;
    if (const auto* multi = std::get_if<Multi>(&operation)) answer.results = execute(*multi, session);
    if (const auto* create = std::get_if<Create>(&operation)) {
      answer.result = apply(*create, session);
      if (!create->asks_for_stat) answer.result.stat.reset();
    }
    if (const auto* removal = std::get_if<Delete>(&operation)) answer.result = apply(*removal, session);
    if (const auto* set = std::get_if<SetData>(&operation)) answer.result = apply(*set, session);
    tell();
  }
  return answer;
}

// --- What writes. Checks come in the order of PrepRequestProcessor's.

Result Engine::apply(const Create& asked, SessionId session) {
  if (lacks_slash(asked.path)) return failed(Error::bad_arguments);
  const std::string parent_path(parent_of(asked.path));
  Node* parent = find(parent_path);
  if (parent == nullptr) return failed(Error::no_node);
  const std::string path =
      is_sequential(asked.mode) ? fmt::format("{}{:010}", asked.path, parent->created) : asked.path;
  if (!is_path(path)) return failed(Error::bad_arguments);
  if (find(path) != nullptr) return failed(Error::node_exists);
  if (parent->owner != 0) return failed(Error::no_children_for_ephemerals);

  ++parent->created;
  parent->pzxid = zxid_;
  parent->children.emplace(name_in_parent(path));
  const SessionId owner = is_ephemeral(asked.mode) ? session : 0;
  Node node{.data = asked.data, .owner = owner, .czxid = zxid_, .mzxid = zxid_, .pzxid = zxid_};
  const Stat stat = stat_of(node);
  nodes_.emplace(path, std::move(node));
  if (owner != 0) sessions_.at(owner).insert(path);
  changes_.push_back({Change::Kind::created, path, owner});
  return {.path = path, .stat = stat};
}

Result Engine::apply(const Delete& asked, SessionId) {
  if (lacks_slash(asked.path) || asked.path == "/") return failed(Error::bad_arguments);
  const Node* node = find(parent_of(asked.path)) == nullptr ? nullptr : find(asked.path);
  if (node == nullptr) return failed(Error::no_node);
  if (is_other(node->version, asked.version)) return failed(Error::bad_version);
  if (!node->children.empty()) return failed(Error::not_empty);
  remove(asked.path);
  return {};
}

void Engine::remove(const std::string& path) {
  const auto node = nodes_.find(path);
  const SessionId owner = node->second.owner;
  if (owner != 0) {
    const auto session = sessions_.find(owner);
    if (session != sessions_.end()) session->second.erase(path);
  }
  nodes_.erase(node);
  Node& parent = *find(parent_of(path));
  parent.children.erase(std::string(name_in_parent(path)));
  parent.pzxid = zxid_;
  changes_.push_back({Change::Kind::deleted, path, owner});
}

Result Engine::apply(const SetData& asked, SessionId) {
  if (!is_path(asked.path)) return failed(Error::bad_arguments);
  Node* node = find(asked.path);
  if (node == nullptr) return failed(Error::no_node);
  if (is_other(node->version, asked.version)) return failed(Error::bad_version);
  node->data = asked.data;
  node->mzxid = zxid_;
  ++node->version;
  changes_.push_back({Change::Kind::set, asked.path, node->owner});
  return {.stat = stat_of(*node)};
}

Result Engine::apply(const Check& asked, SessionId) {
  if (!is_path(asked.path)) return failed(Error::bad_arguments);
  const Node* node = find(asked.path);
  if (node == nullptr) return failed(Error::no_node);
  return failed(is_other(node->version, asked.version) ? Error::bad_version : Error::none);
}

std::vector<Result> Engine::execute(const Multi& multi, SessionId session) {
  const Nodes before = nodes_;
  const auto sessions_before = sessions_;
  std::vector<Result> results;
  for (const MultiOperation& operation : multi.operations) {
    Result result = std::visit([&](const auto& each) { return apply(each, session); }, operation);
    if (std::holds_alternative<Create>(operation)) result.stat.reset();
    results.push_back(std::move(result));
    if (results.back().error == Error::none) continue;

    // None is carried out: those before it tell of nothing, those after it were not looked at.
    nodes_ = before;
    sessions_ = sessions_before;
    changes_.clear();
    for (std::size_t i = 0; i + 1 < results.size(); ++i) results[i] = {};
    results.resize(multi.operations.size(), failed(Error::runtime_inconsistency));
    break;
  }
  return results;
}

// --- What reads.

Result Engine::look(const Exists& asked, WatcherId watcher) {
  if (asked.watches) data_watches_[asked.path].insert(watcher);
  const Node* node = find(asked.path);
  if (node == nullptr) return failed(Error::no_node);
  return {.stat = stat_of(*node)};
}

Result Engine::look(const GetData& asked, WatcherId watcher) {
  const Node* node = find(asked.path);
  if (node == nullptr) return failed(Error::no_node);
  if (asked.watches) data_watches_[asked.path].insert(watcher);
  return {.data = node->data, .stat = stat_of(*node)};
}

Result Engine::look(const GetChildren& asked, WatcherId watcher) {
  const Node* node = find(asked.path);
  if (node == nullptr) return failed(Error::no_node);
  if (asked.watches) child_watches_[asked.path].insert(watcher);
  Result result{.children = {node->children.begin(), node->children.end()}};
  if (asked.asks_for_stat) result.stat = stat_of(*node);
  return result;
}

Result Engine::look(const RemoveWatches& asked, WatcherId watcher) {
  Result result = failed(Error::no_watcher);
  const auto look_in = [&](Watches& watches, WatcherKind other) {
    const auto found = asked.kind == other ? watches.end() : watches.find(asked.path);
    if (found == watches.end()) return;
    // ZooKeeper 3.8 checks whether anybody has one there (WatchManager.containsWatcher).
    if (!asked.only_checks && found->second.erase(watcher) == 0) return;
    result = {};
    if (found->second.empty()) watches.erase(found);
  };
  look_in(child_watches_, WatcherKind::data);
  look_in(data_watches_, WatcherKind::children);
  return result;
}

// --- Sessions.

void Engine::open(SessionId session) {
  changes_.clear();
  ++zxid_;
  sessions_.try_emplace(session);
}

void Engine::close(SessionId session) {
  changes_.clear();
  ++zxid_;
  const auto found = sessions_.find(session);
  const std::set<std::string> paths = std::move(found->second);
  sessions_.erase(found);
  for (const std::string& path : paths) remove(path);
  tell();
}

// --- Watches.

std::set<Engine::WatcherId> Engine::trigger(Watches& watches, EventType type, std::string_view path,
                                            const std::set<WatcherId>& but) {
  const auto found = watches.find(path);
  if (found == watches.end()) return {};
  std::set<WatcherId> told = std::move(found->second);
  watches.erase(found);
  for (const WatcherId watcher : told) {
    if (!but.contains(watcher)) notices_.push_back({watcher, {type, std::string(path)}});
  }
  return told;
}

void Engine::tell() {
  for (const Change& change : changes_) {
    switch (change.kind) {
      case Change::Kind::set: trigger(data_watches_, EventType::node_data_changed, change.path); continue;
      case Change::Kind::created: trigger(data_watches_, EventType::node_created, change.path); break;
      case Change::Kind::deleted: {
        // Who watches both its data and its children hears of it once.
        const std::set<WatcherId> told = trigger(data_watches_, EventType::node_deleted, change.path);
        trigger(child_watches_, EventType::node_deleted, change.path, told);
        break;
      }
    }
    trigger(child_watches_, EventType::node_children_changed, parent_of(change.path));
  }
}

void Engine::set_watches(const SetWatches& asked, WatcherId watcher) {
  const auto tell_at_once = [&](EventType type, const std::string& path) {
    notices_.push_back({watcher, {type, path}});
  };
  for (const std::string& path : asked.data) {
    const Node* node = find(path);
    if (node == nullptr) {
      tell_at_once(EventType::node_deleted, path);
    } else if (node->mzxid > asked.relative_zxid) {
      tell_at_once(EventType::node_data_changed, path);
    } else {
      data_watches_[path].insert(watcher);
    }
  }
  for (const std::string& path : asked.exist) {
    if (find(path) != nullptr) {
      tell_at_once(EventType::node_created, path);
    } else {
      data_watches_[path].insert(watcher);
    }
  }
  for (const std::string& path : asked.child) {
    const Node* node = find(path);
    if (node == nullptr) {
      tell_at_once(EventType::node_deleted, path);
    } else if (node->pzxid > asked.relative_zxid) {
      tell_at_once(EventType::node_children_changed, path);
    } else {
      child_watches_[path].insert(watcher);
    }
  }
}

void Engine::drop_watches(WatcherId watcher) {
  for (Watches* watches : {&data_watches_, &child_watches_}) {
    for (auto each = watches->begin(); each != watches->end();) {
      each->second.erase(watcher);
      each = each->second.empty() ? watches->erase(each) : std::next(each);
    }
  }
}

void Engine::drop_all_watches() {
  data_watches_.clear();
  child_watches_.clear();
}

}  // namespace lockstep::models::zookeeper
