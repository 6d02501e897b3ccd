// Curator's InterProcessMutex: the queue, with names by which a client finds a node again whose creation it did not
// hear of, deletions that go on in the background until they are done, and a count of holds for each thread.
// Source: Curator 5.4, LockInternals, StandardLockInternalsDriver, InterProcessMutex, CreateBuilderImpl (protected
//         mode), FailedDeleteManager.
// Claims: mutual-exclusion as long as the session lives, own-release, recoverable, fair.
// Breaks: f001-zk-pause with this lock as well; a thread that takes the lock again does not ask whether its session is
//         still there.

#include <map>
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

/// What the threads of a process hold: `threadData`.
class CuratorHolds final : public ProcessObject {
 public:
  struct Held {
    std::string path;
    std::int64_t count = 0;
  };
  std::map<std::pair<std::string, std::int64_t>, Held> by_thread;
};

class CuratorMutex final : public LockAlgorithm {
 public:
  explicit CuratorMutex(const Parameters& p)
      : timeout_(p.duration("session_timeout")), is_protected_(p.flag("protection")) {
    if (const sim::Duration wait = p.duration("wait"); wait > sim::Duration::zero()) wait_ = wait;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: what the thread has already, it has once more.
    CuratorHolds::Held& held = held_of(client);
    if (held.count > 0) {
      ++held.count;
      co_return Hold{held.path};
    }
    Patience patience(client, wait_);
    if (!co_await zk::handle_of(client).open(client, timeout_)) co_return std::nullopt;
    // 2: create a node, and wait until it is the first; a node that has gone with its session is created anew.
    for (int tried = 0; tried < kTries && !patience.is_over(); ++tried) {
      const std::optional<std::string> own = co_await create(client);
      if (!own) co_return std::nullopt;
      const Turn turn = co_await wait_for_turn(client, *own, patience);
      if (turn == Turn::comes) {
        held_of(client) = {*own, 1};
        co_return Hold{*own};
      }
      if (turn == Turn::is_gone) continue;
      co_await delete_guaranteed(client, *own);
      co_return std::nullopt;
    }
    co_return std::nullopt;
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    CuratorHolds::Held& held = held_of(client);
    if (held.count > 0) {
      ++held.count;
      co_return Hold{held.path};
    }
    if (!co_await zk::handle_of(client).open(client, timeout_)) co_return std::nullopt;
    const std::optional<std::string> own = co_await create(client);
    if (!own) co_return std::nullopt;
    const std::optional<zk::Place> place = co_await look(client, *own);
    if (place && place->is_there && place->before == 0) {
      held_of(client) = {*own, 1};
      co_return Hold{*own};
    }
    co_await delete_guaranteed(client, *own);
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 7: the last release deletes the node. That it is gone already is no mistake of anybody's.
    CuratorHolds::Held& held = held_of(client);
    if (held.count == 0) co_return false;
    if (--held.count > 0) co_return true;
    const std::string own = std::exchange(held.path, {});
    co_return co_await delete_guaranteed(client, own);
  }

 private:
  enum class Turn : std::uint8_t { comes, never_comes, is_gone };
  /// How often an operation is tried whose connection is lost, as its retry policy says.
  static constexpr int kTries = 3;
  static constexpr std::string_view kMark = "lock-";

  std::string folder() const { return zk::folder_of(key()); }

  CuratorHolds::Held& held_of(Client& client) const {
    return client.shared<CuratorHolds>("").by_thread[{key().text(), client.thread_id()}];
  }

  sim::Task<std::optional<zk::Place>> look(Client& client, std::string own) const {
    co_return co_await zk::place_of(client, folder(), std::string(zookeeper::name_in_parent(own)), std::string(kMark));
  }

  /// The path of the own node. Nothing: nobody knows whether there is one.
  sim::Task<std::optional<std::string>> create(Client& client) const {
    const std::string guid = "_c_" + client.unique_token().text() + "-";
    const std::string prefix = (is_protected_ ? guid : "") + std::string(kMark);
    for (int tried = 0; tried < kTries; ++tried) {
      // 3: has an attempt that was not heard of created one?
      if (tried > 0) {
        const std::optional<std::string> found = co_await zk::find(client, folder(), guid);
        if (!found) continue;
        if (!found->empty()) co_return *found;
      }
      const zk::Created created = co_await zk::create(client, folder(), prefix);
      if (created.is_known && created.result.error == zookeeper::Error::none) co_return created.result.path;
      if (created.is_known || !is_protected_) co_return std::nullopt;
    }
    co_return std::nullopt;
  }

  sim::Task<Turn> wait_for_turn(Client& client, std::string own, Patience& patience) const {
    zookeeper::Handle& handle = zk::handle_of(client);
    while (true) {
      // 4: who is there, in the order of the numbers?
      const std::optional<zk::Place> place = co_await look(client, own);
      if (!place) co_return Turn::never_comes;
      if (!place->is_there) co_return Turn::is_gone;
      if (place->before == 0) co_return Turn::comes;
      if (patience.is_over()) co_return Turn::never_comes;

      // 5: watch the one before, with getData, which leaves no watch behind where there is no node.
      const std::string before = folder() + "/" + place->next_before;
      const std::optional<zookeeper::Answer> found =
          co_await handle.ask(client, zookeeper::GetData{.path = before, .watches = true});
      if (!found) co_return Turn::never_comes;
      if (found->result.error != zookeeper::Error::none) continue;

      // 6: until something happens to it, or to the session.
      co_await handle.wait_for(client, handle.watch(zookeeper::Watch::Kind::data, before), patience);
      if (patience.is_over()) co_return Turn::never_comes;
    }
  }

  /// False: nobody knows, and the deletion goes on in the background until it is done.
  sim::Task<bool> delete_guaranteed(Client& client, std::string own) const {
    const std::optional<zookeeper::Error> error = co_await zk::remove(client, own, kTries);
    if (!error) client.run_in_background(delete_in_background(client.background(), own));
    co_return error.has_value();
  }

  sim::Task<void> delete_in_background(Client& background, std::string own) const {
    while (zk::handle_of(background).state() != zookeeper::State::closed) {
      if (co_await zk::remove(background, own, 1)) co_return;
      co_await background.tick(1_s);
    }
  }

  sim::Duration timeout_;
  bool is_protected_;
  std::optional<sim::Duration> wait_;
};

}  // namespace

Entry curator_mutex() {
  return {.id = "curator-mutex",
          .summary = "Curator's InterProcessMutex: protected creation, guaranteed deletion, reentrant by thread",
          .documents = {"lock-summary"},
          .parameters = {renewed_lease_parameter("session_timeout", 60_s,
                                                 "how long a session lasts of which nothing is heard"),
                         {"wait", 10_s, "how long one attempt waits for those before it; 0ms: for ever"},
                         {"protection", true,
                          "names by which a client finds a node again whose creation it did not hear of"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy", "fair"},
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &zookeeper_kind(),
          .make = [](const Parameters& p) { return std::make_unique<CuratorMutex>(p); }};
}

}  // namespace lockstep::models::locks
