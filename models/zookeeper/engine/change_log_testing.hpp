#pragma once

// A log of changes, from which oracles compute every answer anew. It shares nothing with the engine but the types of
// requests.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/zookeeper/engine/request.hpp"

namespace lockstep::models::zookeeper::testing {

/// One change of one node.
struct Logged {
  enum class Kind : std::uint8_t { created, set, deleted };
  Zxid zxid;
  Kind kind;
  std::string path;
  std::string data = {};
  SessionId owner = 0;
};
using Log = std::vector<Logged>;

inline std::string parent(const std::string& path) {
  const std::string before = path.substr(0, path.rfind('/'));
  return before.empty() ? "/" : before;
}

/// A node as a log has it at its end.
struct Replayed {
  Stat stat;
  std::string data;
  std::set<std::string> children;
  std::int32_t created = 0;  ///< children
};

inline std::optional<Replayed> replay(const Log& log, const std::string& path) {
  std::optional<Replayed> node;
  if (path == "/") node.emplace();
  for (const Logged& each : log) {
    if (each.path == path) {
      if (each.kind == Logged::Kind::created) {
        node.emplace();
        node->stat.czxid = node->stat.mzxid = node->stat.pzxid = each.zxid;
        node->stat.ephemeral_owner = each.owner;
        node->data = each.data;
      } else if (each.kind == Logged::Kind::deleted) {
        node.reset();
      } else {
        node->stat.mzxid = each.zxid;
        ++node->stat.version;
        node->data = each.data;
      }
    } else if (parent(each.path) == path && each.kind != Logged::Kind::set) {
      node->stat.pzxid = each.zxid;
      ++node->stat.cversion;
      const std::string name = each.path.substr(each.path.rfind('/') + 1);
      if (each.kind == Logged::Kind::created) {
        ++node->created;
        node->children.insert(name);
      } else {
        node->children.erase(name);
      }
    }
  }
  if (!node) return std::nullopt;
  node->stat.data_length = static_cast<std::int32_t>(node->data.size());
  node->stat.num_children = static_cast<std::int32_t>(node->children.size());
  return node;
}

}  // namespace lockstep::models::zookeeper::testing
