// Curator's InterProcessReadWriteLock: one queue of readers and writers. A writer waits for whoever is just before
// it, a reader for the first writer before it; the thread that writes may read as well.
// Source: Curator 5.4, InterProcessReadWriteLock, StandardLockInternalsDriver; CURATOR-276 and CURATOR-621, and the
//         repair of the latter (apache/curator pull request 445, Curator 5.5).
// Claims: mutual-exclusion between a writer and anybody else as long as the session lives, own-release, recoverable,
//         reentrancy.
// Breaks: curator-downgrade (whoever writes, reads, and gives back the writing shares with the writer that waits).

#include <memory>
#include <utility>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/zookeeper/curator.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using zk::CuratorHolds;
using zk::Turn;

class CuratorReadWrite final : public LockAlgorithm {
 public:
  explicit CuratorReadWrite(const Parameters& p)
      : timeout_(p.duration("session_timeout")),
        is_protected_(p.flag("protection")),
        writes_first_(p.flag("writes_first")),
        keeps_number_(p.flag("keeps_number")) {
    if (const sim::Duration wait = p.duration("wait"); wait > sim::Duration::zero()) wait_ = wait;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    co_return co_await take(client, &patience);
  }
  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override { return take(client, nullptr); }

  sim::Task<bool> release(Client& client, Hold) const override {
    return give_back(client, std::string(mark_of(client)));
  }

 private:
  static constexpr std::string_view kRead = "__READ__", kWrite = "__WRIT__";
  /// Of both.
  static constexpr std::string_view kAnybody = "__";

  std::string folder() const { return zk::folder_of(key()); }
  static std::string_view mark_of(const Client& client) { return client.mode() == Mode::shared ? kRead : kWrite; }

  CuratorHolds::Held& held_of(Client& client, std::string_view mark) const {
    return client.shared<CuratorHolds>("").by_thread[{key().text() + "/" + std::string(mark), client.thread_id()}];
  }

  sim::Task<std::optional<Hold>> take(Client& client, Patience* patience) const {
    if (!co_await zk::handle_of(client).open(client, timeout_)) co_return std::nullopt;
    const bool downgrades = writes_first_ && client.mode() == Mode::shared;
    if (downgrades && !co_await take_part(client, std::string(kWrite), patience)) co_return std::nullopt;
    std::optional<Hold> hold = co_await take_part(client, std::string(mark_of(client)), patience);
    if (downgrades) static_cast<void>(co_await give_back(client, std::string(kWrite)));
    co_return hold;
  }

  sim::Task<std::optional<Hold>> take_part(Client& client, std::string mark, Patience* patience) const {
    // 1: what the thread has already, it has once more.
    CuratorHolds::Held& held = held_of(client, mark);
    if (held.count > 0) {
      ++held.count;
      co_return Hold{held.path};
    }
    // 2: create a node, and wait for whoever has to be waited for; one that has gone with its session is created anew.
    for (int tried = 0; tried < zk::kCuratorTries; ++tried) {
      const std::optional<std::string> own = co_await create(client, mark);
      if (!own) co_return std::nullopt;
      const Turn turn = co_await wait_for_turn(client, *own, mark, patience);
      if (turn == Turn::comes) {
        held_of(client, mark) = {*own, 1};
        co_return Hold{*own};
      }
      if (turn == Turn::is_gone && (patience == nullptr || !patience->is_over())) continue;
      co_await zk::delete_guaranteed(client, *own);
      co_return std::nullopt;
    }
    co_return std::nullopt;
  }

  /// Since Curator 5.5 whoever writes reads with the number that it writes with, so that nobody is between the two.
  sim::Task<std::optional<std::string>> create(Client& client, std::string mark) const {
    const CuratorHolds::Held& writes = held_of(client, kWrite);
    const bool keeps_number = keeps_number_ && mark == kRead && writes.count > 0;
    if (!keeps_number) co_return co_await zk::create_for_curator(client, folder(), mark, is_protected_);
    constexpr std::size_t kDigits = 10;
    const std::string number = writes.path.substr(writes.path.size() - kDigits);
    co_return co_await zk::create_for_curator(client, folder(), mark + number, is_protected_,
                                              zookeeper::CreateMode::ephemeral);
  }

  sim::Task<Turn> wait_for_turn(Client& client, std::string own, std::string mark, Patience* patience) const {
    // 3: a writer is let in when it is the first of all; a reader when no writer is before it. A thread that writes
    // looks as well, and reads whoever is there, even if its node is not.
    if (mark == kWrite)
      return zk::wait_for_turn(client, std::move(own), std::string(kAnybody), zk::Waits::for_next_before, patience);
    if (held_of(client, kWrite).count > 0) return look_only(client, std::move(own));
    return zk::wait_for_turn(client, std::move(own), std::string(kWrite), zk::Waits::for_first_before, patience);
  }

  sim::Task<Turn> look_only(Client& client, std::string own) const {
    const std::optional<zk::Place> place =
        co_await zk::place_of(client, folder(), std::string(zookeeper::name_in_parent(own)), std::string(kAnybody));
    co_return place ? Turn::comes : Turn::never_comes;
  }

  /// 4: the last release deletes the node.
  sim::Task<bool> give_back(Client& client, std::string mark) const {
    CuratorHolds::Held& held = held_of(client, mark);
    if (held.count == 0) co_return false;
    if (--held.count > 0) co_return true;
    const std::string own = std::exchange(held.path, {});
    co_return co_await zk::delete_guaranteed(client, own);
  }

  sim::Duration timeout_;
  bool is_protected_;
  bool writes_first_;
  bool keeps_number_;
  std::optional<sim::Duration> wait_;
};

}  // namespace

Entry curator_rwlock() {
  return {.id = "curator-rwlock",
          .summary = "Curator's InterProcessReadWriteLock: one queue, in which readers wait for writers alone",
          .documents = {},
          .parameters =
              {renewed_lease_parameter("session_timeout", 60_s, "how long a session lasts of which nothing is heard"),
               {"wait", 10_s, "how long one attempt waits for those before it; 0ms: for ever"},
               {"protection", true, "names by which a client finds a node again whose creation it did not hear of"},
               {"writes_first", false,
                "whoever wants to read takes the lock to write first, then to read, and gives back the first: "
                "a downgrade"},
               {"keeps_number", false, "whoever writes reads with the same number, as since Curator 5.5 (CURATOR-621)"},
               attempts_parameter(1),
               retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy"},
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &zookeeper_kind(),
          .make = [](const Parameters& p) { return std::make_unique<CuratorReadWrite>(p); }};
}

}  // namespace lockstep::models::locks
