// A queue of ephemeral sequential nodes: the lowest number has the lock, and everybody else watches the one before.
// Source: lock-summary, section on ZooKeeper (transient sequential nodes); ZooKeeper Recipes and Solutions, "Locks".
// Claims: mutual-exclusion as long as the session lives, own-release, recoverable, fair.
// Breaks: f001-zk-pause (a pause that outlasts the session), zk-orphan (the answer to a create is lost, and the node
//         blocks everybody while the session lives), and without the second look zk-waiter-without-node;
//         `waits_for_gone` is go-zookeeper's lock.go of May 2013, up to f774f13.

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

class ZkSequential final : public LockAlgorithm {
 public:
  explicit ZkSequential(const Parameters& p)
      : timeout_(p.duration("session_timeout")),
        looks_again_(p.flag("looks_again")),
        waits_for_gone_(p.flag("waits_for_gone")) {
    if (const sim::Duration wait = p.duration("wait"); wait > sim::Duration::zero()) wait_ = wait;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    const std::optional<zookeeper::Result> own = co_await enter(client);
    if (!own) co_return std::nullopt;
    const bool is_mine = co_await wait_for_turn(client, own->path, patience);
    if (is_mine) co_return hold_of(*own);
    co_await leave(client, own->path);
    co_return std::nullopt;
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    const std::optional<zookeeper::Result> own = co_await enter(client);
    if (!own) co_return std::nullopt;
    const std::optional<zk::Place> place = co_await look(client, own->path);
    if (place && place->is_there && place->before == 0) co_return hold_of(*own);
    co_await leave(client, own->path);
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 6: delete the own node.
    co_return co_await zk::remove(client, hold.token.text(), 2) == zookeeper::Error::none;
  }

 private:
  std::string folder() const { return zk::folder_of(key()); }

  static Hold hold_of(const zookeeper::Result& own) {
    Hold hold{own.path};
    hold.fencing_token = own.stat->czxid;
    return hold;
  }

  /// 1: create the own node.
  sim::Task<std::optional<zookeeper::Result>> enter(Client& client) const {
    if (!co_await zk::handle_of(client).open(client, timeout_)) co_return std::nullopt;
    zk::Created created = co_await zk::create(client, folder(), "lock-");
    if (!created.is_known || created.result.error != zookeeper::Error::none) co_return std::nullopt;
    co_return std::move(created.result);
  }

  /// 2: who is there? 3: sort them by their numbers.
  sim::Task<std::optional<zk::Place>> look(Client& client, std::string own) const {
    co_return co_await zk::place_of(client, folder(), std::string(zookeeper::name_in_parent(own)), "lock-");
  }

  sim::Task<bool> wait_for_turn(Client& client, std::string own, Patience& patience) const {
    zookeeper::Handle& handle = zk::handle_of(client);
    while (true) {
      const std::optional<zk::Place> place = co_await look(client, own);
      // That nobody is before it says nothing of a node that is gone.
      if (!place || !place->is_there) co_return false;
      if (place->before == 0) co_return true;
      if (patience.is_over()) co_return false;

      // 4: watch the one before; or it is gone by now.
      const std::string before = folder() + "/" + place->next_before;
      const std::optional<zookeeper::Answer> found =
          co_await handle.ask(client, zookeeper::Exists{.path = before, .watches = true});
      if (!found) co_return false;
      const bool is_there = found->result.error == zookeeper::Error::none;
      const auto watch = handle.watch(is_there ? zookeeper::Watch::Kind::data : zookeeper::Watch::Kind::exist, before);
      if (!is_there && !waits_for_gone_) continue;

      // 5: until it is deleted, and then look again.
      if (!co_await handle.wait_for(client, watch, patience)) co_return false;
      if (!looks_again_ && watch->event() == zookeeper::EventType::node_deleted) co_return true;
    }
  }

  sim::Task<void> leave(Client& client, std::string own) const {
    static_cast<void>(co_await zk::remove(client, std::move(own), 2));
  }

  sim::Duration timeout_;
  bool looks_again_;
  bool waits_for_gone_;
  std::optional<sim::Duration> wait_;
};

}  // namespace

Entry zk_sequential() {
  return {.id = "zk-sequential",
          .summary = "ZooKeeper: a queue of ephemeral sequential nodes, each watching the one before",
          .documents = {"lock-summary"},
          .parameters = {renewed_lease_parameter("session_timeout", 10_s,
                                                 "how long a session lasts of which nothing is heard"),
                         {"wait", 10_s, "how long one attempt waits for those before it; 0ms: for ever"},
                         {"looks_again", true,
                          "a client whose predecessor has gone looks at the queue again; false: it takes the lock"},
                         {"waits_for_gone", false,
                          "a client waits for its predecessor also when that has gone before it could be watched"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable", "fair"},
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &zookeeper_kind(),
          .make = [](const Parameters& p) { return std::make_unique<ZkSequential>(p); }};
}

}  // namespace lockstep::models::locks
