// One ephemeral node: whoever creates it has the lock, and all others watch it until it is deleted.
// Source: lock-summary, section on ZooKeeper ("the node is there as long as its client works"); the client that opens
//         another session when one has expired is that of Curator, kazoo, and most wrappers.
// Claims: mutual-exclusion as long as the session lives, own-release, recoverable.
// Breaks: zk-late-delete and zk-deletes-twice (a release deletes by the path, whosever node it is by then);
//         f001-zk-pause with this lock, too. Every waiter is woken by each release: the herd.

#include <memory>
#include <utility>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/zookeeper/queue.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class ZkEphemeralCreate final : public LockAlgorithm {
 public:
  explicit ZkEphemeralCreate(const Parameters& p)
      : timeout_(p.duration("session_timeout")), only_own_session_(p.flag("only_own_session")) {
    if (const sim::Duration wait = p.duration("wait"); wait > sim::Duration::zero()) wait_ = wait;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    zookeeper::Handle& handle = zk::handle_of(client);
    if (!co_await handle.open(client, timeout_)) co_return std::nullopt;
    while (true) {
      // 1: create the node.
      const std::optional<zookeeper::Answer> created = co_await create(client);
      if (!created) co_return std::nullopt;
      if (created->result.error == zookeeper::Error::none) co_return hold_of(handle, created->result);
      if (patience.is_over() || created->result.error != zookeeper::Error::node_exists) co_return std::nullopt;

      // 2: it is there: watch it.
      const std::optional<zookeeper::Answer> found =
          co_await handle.ask(client, zookeeper::Exists{.path = path(), .watches = true});
      if (!found) co_return std::nullopt;
      const bool is_there = found->result.error == zookeeper::Error::none;
      const auto watch = handle.watch(is_there ? zookeeper::Watch::Kind::data : zookeeper::Watch::Kind::exist, path());

      // 3: until it is deleted, for all that wait.
      if (is_there && !co_await handle.wait_for(client, watch, patience)) co_return std::nullopt;
    }
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    zookeeper::Handle& handle = zk::handle_of(client);
    if (!co_await handle.open(client, timeout_)) co_return std::nullopt;
    const std::optional<zookeeper::Answer> created = co_await create(client);
    if (!created || created->result.error != zookeeper::Error::none) co_return std::nullopt;
    co_return hold_of(handle, created->result);
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 4: delete the node, of whatever version. A client that has lost its connection tries once more.
    if (!only_own_session_) co_return co_await zk::remove(client, path(), 2) == zookeeper::Error::none;
    std::optional<zookeeper::Answer> answer;
    for (int i = 0; !answer && i < 2; ++i) {
      answer = co_await zk::handle_of(client).ask_in(client, hold.token.integer().value_or(0),
                                                     zookeeper::Delete{.path = path()});
    }
    co_return answer && answer->result.error == zookeeper::Error::none;
  }

 private:
  std::string path() const { return "/" + key().text(); }

  sim::Task<std::optional<zookeeper::Answer>> create(Client& client) const {
    co_return co_await zk::handle_of(client).ask(
        client, zookeeper::Create{.path = path(), .mode = zookeeper::CreateMode::ephemeral, .asks_for_stat = true});
  }

  static Hold hold_of(const zookeeper::Handle& handle, const zookeeper::Result& result) {
    Hold hold{handle.session()};
    hold.fencing_token = result.stat->czxid;
    return hold;
  }

  sim::Duration timeout_;
  bool only_own_session_;
  std::optional<sim::Duration> wait_;
};

}  // namespace

Entry zk_ephemeral_create() {
  return {.id = "zk-ephemeral-create",
          .summary = "ZooKeeper: whoever creates the ephemeral node has the lock, all others watch it",
          .documents = {"lock-summary"},
          .parameters = {renewed_lease_parameter("session_timeout", 10_s,
                                                 "how long a session lasts of which nothing is heard"),
                         {"wait", 10_s, "how long one attempt waits for the node to be deleted; 0ms: for ever"},
                         {"only_own_session", false,
                          "the release deletes the node only in the session that created it; false: in whatever "
                          "session the client has by then"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .repaired_by = "zk-sequential",
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &zookeeper_kind(),
          .make = [](const Parameters& p) { return std::make_unique<ZkEphemeralCreate>(p); }};
}

}  // namespace lockstep::models::locks
