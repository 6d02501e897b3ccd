#pragma once

// What a node of etcd holds, for reports.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/etcd/engine/engine.hpp"
#include "models/servers/server_kind.hpp"
#include "models/value.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::etcd {

inline std::uint64_t digest_of(const Engine& engine) {
  auto digest = static_cast<std::uint64_t>(engine.revision());
  for (const LeaseId lease : engine.leases()) digest = sim::combine64(digest, static_cast<std::uint64_t>(lease));
  return digest;
}

template <class Node>
std::vector<HeldObject> held_by(const Node& node) {
  std::vector<HeldObject> objects;
  for (const KeyValue& kv : node.engine().present()) {
    std::string text = kv.value.empty() ? "" : plain_or_quoted(kv.value) + ", ";
    text += fmt::format("created at revision {}", kv.create_revision);
    if (kv.lease != 0) text += fmt::format(", lease {}", kv.lease);
    objects.push_back({kv.key, "key", std::move(text), node.end_of(kv.lease)});
  }
  return objects;
}

inline std::vector<std::string> holdings_of(const Engine& engine) {
  std::vector<std::string> lines;
  for (const KeyValue& kv : engine.present()) lines.push_back(kv.key + (kv.lease == 0 ? "" : ", with a lease"));
  return lines;
}

}  // namespace lockstep::models::etcd
