#pragma once

// What servers of Consul hold, for reports.

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/consul/engine/engine.hpp"
#include "models/servers/server_kind.hpp"
#include "models/value.hpp"

namespace lockstep::models::consul {

template <class Node>
std::vector<HeldObject> held_by(const Node& node) {
  std::vector<HeldObject> objects;
  for (const auto& [key, kv] : node.engine().kvs()) {
    std::string text = kv.value.empty() ? "" : plain_or_quoted(kv.value) + ", ";
    text += kv.session == 0 ? "no session" : fmt::format("session {}", kv.session);
    text += fmt::format(", LockIndex {}", kv.lock_index);
    objects.push_back({key, "key", std::move(text), node.end_of(kv.session)});
  }
  return objects;
}

template <class Node>
std::vector<std::string> holdings_of(const Node& node) {
  std::vector<std::string> lines;
  for (const auto& [key, kv] : node.engine().kvs()) {
    std::string line = key + (kv.session == 0 ? ", without a session" : ", acquired by a session");
    if (node.is_delayed(key)) line += ", in its lock-delay";
    lines.push_back(std::move(line));
  }
  return lines;
}

/// A key that was released stays, and whoever comes acquires it as if it were not there. Indices count on, but nobody's
/// getting the lock depends on their number.
template <class Node>
bool is_as_at_first(const Node& node) {
  const Engine& engine = node.engine();
  if (!engine.sessions().empty() || node.has_lock_delays()) return false;
  for (const auto& [key, kv] : engine.kvs()) {
    if (!kv.value.empty()) return false;
  }
  return true;
}

}  // namespace lockstep::models::consul
