#pragma once

// What the locks of ZooKeeper's recipes have in common: a node for each lock, and below it an ephemeral sequential node
// for each client that has it or waits for it. The lowest number has the lock.
// Source: ZooKeeper Recipes and Solutions, "Locks".

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/value.hpp"
#include "models/zookeeper/client/handle.hpp"
#include "models/zookeeper/engine/request.hpp"

namespace lockstep::models::locks::zk {

/// "/locks/lock"
std::string folder_of(const Value& key);
inline zookeeper::Handle& handle_of(Client& client) { return client.shared<zookeeper::Handle>(""); }

/// What became of a create.
struct Created {
  bool is_known = false;  ///< the connection was not lost
  zookeeper::Result result = {};
};
/// Creates a node of this prefix, sequential unless `mode` says else, and the folder before that if it is not there.
sim::Task<Created> create(Client& client, std::string folder, std::string prefix,
                          zookeeper::CreateMode mode = zookeeper::CreateMode::ephemeral_sequential);

/// The path of the node in `folder` whose name begins so; empty: there is none. Nothing: the connection was lost.
sim::Task<std::optional<std::string>> find(Client& client, std::string folder, std::string prefix);

/// Who is before a node, by the numbers at the ends of their names.
struct Place {
  bool is_there = false;  ///< the node itself
  std::size_t before = 0;
  std::string next_before = {};   ///< the name of the last one before it
  std::string first_before = {};  ///< of the first one of all
};
/// Of the node of this name, among those whose names have `mark` in front of their number. Nothing: the connection was
/// lost.
sim::Task<std::optional<Place>> place_of(Client& client, std::string folder, std::string name, std::string mark);

/// Deletes a node. A client whose connection is lost does not know whether it did, and tries again, so many times.
/// Nothing: it never learned. Requires: attempts > 0.
sim::Task<std::optional<zookeeper::Error>> remove(Client& client, std::string path, int attempts);

}  // namespace lockstep::models::locks::zk
