#pragma once

// What Curator's recipes have in common: nodes whose creation their client finds again, deletions that go on until they
// are done, and what each thread holds.
// Source: Curator 5.4, LockInternals, CreateBuilderImpl (protected mode), FailedDeleteManager, InterProcessMutex.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/locks/zookeeper/queue.hpp"

namespace lockstep::models::locks::zk {

/// How often an operation is tried whose connection is lost, as the client's retry policy says.
inline constexpr int kCuratorTries = 3;

/// What the threads of a process hold: `threadData`. By the lock and the thread.
class CuratorHolds final : public ProcessObject {
 public:
  struct Held {
    std::string path;
    std::int64_t count = 0;
  };
  std::map<std::pair<std::string, std::int64_t>, Held> by_thread;
};

/// The path of a new ephemeral node below `folder`, whose name ends with `mark` and its number; one that is not
/// sequential (`mode`) ends with `mark`. Nothing: nobody knows whether there is one. `is_protected`: by a name of its
/// own it finds one of whose creation it did not hear.
sim::Task<std::optional<std::string>> create_for_curator(
    Client& client, std::string folder, std::string mark, bool is_protected,
    zookeeper::CreateMode mode = zookeeper::CreateMode::ephemeral_sequential);

/// False: nobody knows, and the deletion goes on in the background until it is done.
sim::Task<bool> delete_guaranteed(Client& client, std::string path);

enum class Turn : std::uint8_t {
  comes,
  never_comes,
  is_gone,
  is_unknown  ///< the connection was lost: a KeeperException, of whoever asked who is there
};
/// Whom a node waits for, among those that have `mark` in front of their number.
enum class Waits : std::uint8_t {
  for_next_before,   ///< for the last one before it
  for_first_before,  ///< for the first one of all
};
/// Until none of them is before the own node. `patience`: null: it does not wait. Requires: it outlives the task.
sim::Task<Turn> wait_for_turn(Client& client, std::string own, std::string mark, Waits waits, Patience* patience);

}  // namespace lockstep::models::locks::zk
