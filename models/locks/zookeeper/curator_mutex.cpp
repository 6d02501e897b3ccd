// Curator's InterProcessMutex: the queue, with names by which a client finds a node again whose creation it did not
// hear of, deletions that go on in the background until they are done, and a count of holds for each thread.
// Source: Curator 5.4, LockInternals, StandardLockInternalsDriver, InterProcessMutex, CreateBuilderImpl (protected
//         mode), FailedDeleteManager. What the flags switch off: Netflix Curator 1.1.1 (its issue 24) and 1.1.10.
// Claims: mutual-exclusion as long as the session lives, own-release, recoverable, fair.
// Breaks: f001-zk-pause with this lock as well; a thread that takes the lock again does not ask whether its session is
//         still there. Before 1.1.2 curator-release-fails.

#include <memory>
#include <utility>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/zookeeper/curator.hpp"
#include "models/locks/zookeeper/queue.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using zk::CuratorHolds;
using zk::Turn;

class CuratorMutex final : public LockAlgorithm {
 public:
  explicit CuratorMutex(const Parameters& p)
      : timeout_(p.duration("session_timeout")),
        is_protected_(p.flag("protection")),
        is_guaranteed_(p.flag("guaranteed")),
        forgets_hold_(p.flag("forgets_hold")),
        cleans_up_(p.flag("cleans_up")) {
    if (const sim::Duration wait = p.duration("wait"); wait > sim::Duration::zero()) wait_ = wait;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: what the thread has already, it has once more.
    if (std::optional<Hold> hold = take_again(client)) co_return hold;
    Patience patience(client, wait_);
    if (!co_await zk::handle_of(client).open(client, timeout_)) co_return std::nullopt;
    // 2: create a node, and wait until it is the first; a node that has gone with its session is created anew.
    for (int tried = 0; tried < zk::kCuratorTries && !patience.is_over(); ++tried) {
      const std::optional<std::string> own = co_await create(client);
      if (!own) co_return std::nullopt;
      const Turn turn =
          co_await zk::wait_for_turn(client, *own, std::string(kMark), zk::Waits::for_next_before, &patience);
      if (turn == Turn::comes) {
        held_of(client) = {*own, 1};
        co_return Hold{*own};
      }
      if (turn == Turn::is_gone) continue;
      co_await leave(client, *own, turn);
      co_return std::nullopt;
    }
    co_return std::nullopt;
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    if (std::optional<Hold> hold = take_again(client)) co_return hold;
    if (!co_await zk::handle_of(client).open(client, timeout_)) co_return std::nullopt;
    const std::optional<std::string> own = co_await create(client);
    if (!own) co_return std::nullopt;
    const Turn turn = co_await zk::wait_for_turn(client, *own, std::string(kMark), zk::Waits::for_next_before, nullptr);
    if (turn == Turn::comes) {
      held_of(client) = {*own, 1};
      co_return Hold{*own};
    }
    co_await leave(client, *own, turn);
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 7: the last release deletes the node. That it is gone already is no mistake of anybody's.
    CuratorHolds::Held& held = held_of(client);
    if (held.count == 0) co_return false;
    if (--held.count > 0) co_return true;
    if (forgets_hold_) {
      const std::string own = std::exchange(held.path, {});
      co_return co_await remove(client, own);
    }
    // In 1.1.1 an error left the hold where it was; also that a node was gone which an unheard attempt had deleted.
    const bool is_deleted = co_await zk::remove(client, held.path, zk::kCuratorTries) == zookeeper::Error::none;
    if (is_deleted) held_of(client).path.clear();
    co_return is_deleted;
  }

 private:
  static constexpr std::string_view kMark = "lock-";

  std::string folder() const { return zk::folder_of(key()); }

  CuratorHolds::Held& held_of(Client& client) const {
    return client.shared<CuratorHolds>("").by_thread[{key().text(), client.thread_id()}];
  }

  /// What the thread has already. That is asked of what it remembers, not of the count.
  std::optional<Hold> take_again(Client& client) const {
    CuratorHolds::Held& held = held_of(client);
    if (held.path.empty()) return std::nullopt;
    ++held.count;
    return Hold{held.path};
  }

  /// Up to 1.1.10 whoever did not learn who was before it left its node where it was.
  sim::Task<void> leave(Client& client, std::string own, Turn turn) const {
    if (turn != Turn::is_unknown || cleans_up_) static_cast<void>(co_await remove(client, std::move(own)));
  }

  sim::Task<bool> remove(Client& client, std::string path) const {
    if (is_guaranteed_) co_return co_await zk::delete_guaranteed(client, std::move(path));
    co_return (co_await zk::remove(client, std::move(path), zk::kCuratorTries)).has_value();
  }

  sim::Task<std::optional<std::string>> create(Client& client) const {
    return zk::create_for_curator(client, folder(), std::string(kMark), is_protected_);
  }

  sim::Duration timeout_;
  bool is_protected_;
  bool is_guaranteed_;
  bool forgets_hold_;
  bool cleans_up_;
  std::optional<sim::Duration> wait_;
};

}  // namespace

Entry curator_mutex() {
  return {.id = "curator-mutex",
          .summary = "Curator's InterProcessMutex: protected creation, guaranteed deletion, reentrant by thread",
          .documents = {"lock-summary"},
          .parameters =
              {renewed_lease_parameter("session_timeout", 60_s, "how long a session lasts of which nothing is heard"),
               {"wait", 10_s, "how long one attempt waits for those before it; 0ms: for ever"},
               {"protection", true, "names by which a client finds a node again whose creation it did not hear of"},
               {"guaranteed", true, "a deletion that fails goes on in the background (since 1.1.2)"},
               {"forgets_hold", true,
                "a thread whose release fails has the lock no longer; false: it takes it again without a "
                "request (until 1.1.2)"},
               {"cleans_up", true, "a client that cannot learn who is before it deletes its node (since 1.1.11)"},
               attempts_parameter(1),
               retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy", "fair"},
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &zookeeper_kind(),
          .make = [](const Parameters& p) { return std::make_unique<CuratorMutex>(p); }};
}

}  // namespace lockstep::models::locks
