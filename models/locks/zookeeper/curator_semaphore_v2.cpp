// Curator's InterProcessSemaphoreV2: an ephemeral node for each lease. Under a mutex a client adds its own, and waits
// until there are no more of them than leases.
// Source: Curator 5.4, InterProcessSemaphoreV2; what the flags switch off: CURATOR-315, CURATOR-335, CURATOR-462.
// Claims: capacity as long as the sessions live, recoverable.
// Breaks: curator-semaphore-pause (a session ends under a paused holder).

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/zookeeper/curator.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using zk::Turn;

class CuratorSemaphoreV2 final : public LockAlgorithm {
 public:
  explicit CuratorSemaphoreV2(const Parameters& p)
      : timeout_(p.duration("session_timeout")),
        leases_(p.number("leases")),
        is_protected_(p.flag("protection")),
        forgets_gone_(p.flag("forgets_gone")),
        returns_lease_(p.flag("returns_lease")) {
    if (const sim::Duration wait = p.duration("wait"); wait > sim::Duration::zero()) wait_ = wait;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    co_return co_await take(client, &patience);
  }
  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override { return take(client, nullptr); }

  /// 6: the lease's node is deleted. That it is gone already is no mistake of anybody's.
  sim::Task<bool> release(Client& client, Hold hold) const override {
    return zk::delete_guaranteed(client, hold.token.text());
  }

 private:
  static constexpr std::string_view kLock = "lock-", kLease = "lease-";
  std::string locks() const { return zk::folder_of(key()) + "/locks"; }
  std::string leases() const { return zk::folder_of(key()) + "/leases"; }

  sim::Task<std::optional<Hold>> take(Client& client, Patience* patience) const {
    if (!co_await zk::handle_of(client).open(client, timeout_)) co_return std::nullopt;
    std::optional<std::string> first;
    for (int tried = 0; tried < zk::kCuratorTries; ++tried) {
      // 1: the mutex, whose nodes are children of `locks`.
      const std::optional<std::string> lock = co_await take_mutex(client, patience);
      if (!lock) co_return std::nullopt;
      // 2: the own lease is there before it is known whether there is room for it.
      const std::optional<std::string> lease = co_await create(client, leases(), std::string(kLease));
      Turn turn = Turn::never_comes;
      if (lease) turn = co_await wait_for_room(client, *lease, patience);
      // 4: whoever gives up deletes its lease; only then may the next one look.
      const bool fails = turn == Turn::never_comes || turn == Turn::is_unknown;
      if (lease && fails && (turn != Turn::is_unknown || returns_lease_))
        co_await zk::delete_guaranteed(client, *lease);
      // 5: and then the mutex is given back.
      co_await zk::delete_guaranteed(client, *lock);
      // Up to 2.10 a lease that had gone was one of those that were handed out: the first, of which alone is heard.
      if (!first || forgets_gone_) first = lease;
      if (turn == Turn::comes) co_return Hold{*first};
      // A lease that has gone with its session is created anew.
      if (fails || (patience != nullptr && patience->is_over())) co_return std::nullopt;
    }
    co_return std::nullopt;
  }

  sim::Task<std::optional<std::string>> take_mutex(Client& client, Patience* patience) const {
    for (int tried = 0; tried < zk::kCuratorTries; ++tried) {
      const std::optional<std::string> own = co_await create(client, locks(), std::string(kLock));
      if (!own) co_return std::nullopt;
      const Turn turn =
          co_await zk::wait_for_turn(client, *own, std::string(kLock), zk::Waits::for_next_before, patience);
      if (turn == Turn::comes) co_return *own;
      if (turn == Turn::is_gone) continue;
      co_await zk::delete_guaranteed(client, *own);
      co_return std::nullopt;
    }
    co_return std::nullopt;
  }

  sim::Task<std::optional<std::string>> create(Client& client, std::string folder, std::string mark) const {
    return zk::create_for_curator(client, std::move(folder), std::move(mark), is_protected_);
  }

  sim::Task<Turn> wait_for_room(Client& client, std::string lease, Patience* patience) const {
    zookeeper::Handle& handle = zk::handle_of(client);
    const std::string own(zookeeper::name_in_parent(lease));
    while (true) {
      // 3: no more leases than there may be, the own one among them?
      const std::optional<zookeeper::Answer> listed =
          co_await handle.ask(client, zookeeper::GetChildren{.path = leases(), .watches = true});
      if (!listed) co_return Turn::is_unknown;
      if (listed->result.error != zookeeper::Error::none) co_return Turn::never_comes;
      const std::vector<std::string>& all = listed->result.children;
      if (std::find(all.begin(), all.end(), own) == all.end()) co_return Turn::is_gone;
      if (std::cmp_less_equal(all.size(), leases_)) co_return Turn::comes;
      if (patience == nullptr || patience->is_over()) co_return Turn::never_comes;
      co_await handle.wait_for(client, handle.watch(zookeeper::Watch::Kind::child, leases()), *patience);
    }
  }

  sim::Duration timeout_;
  std::int64_t leases_;
  bool is_protected_;
  bool forgets_gone_;
  bool returns_lease_;
  std::optional<sim::Duration> wait_;
};

}  // namespace

Entry curator_semaphore_v2() {
  return {
      .id = "curator-semaphore-v2",
      .summary = "Curator's InterProcessSemaphoreV2: a node for each lease, added and counted under a mutex",
      .documents = {},
      .parameters =
          {renewed_lease_parameter("session_timeout", 60_s, "how long a session lasts of which nothing is heard"),
           places_parameter("leases", 1, "how many may hold it at once"),
           {"wait", 10_s, "how long one attempt waits for the mutex and for a lease; 0ms: for ever"},
           {"protection", true, "names by which a client finds a node again whose creation it did not hear of"},
           {"forgets_gone", true, "a lease that has gone with its session is not handed out (since 2.11, CURATOR-315)"},
           {"returns_lease", true,
            "a client that cannot learn how many leases there are gives its own back (CURATOR-335)"},
           attempts_parameter(1),
           retry_parameter({100_ms, 100_ms})},
      .claims = {"capacity", "recoverable"},
      .has_background = true,
      .round_trips = 14,  // the first to come creates three nodes for the mutex and three for the leases
      .is_blind_to_names = true,
      .server_kind = &zookeeper_kind(),
      .make = [](const Parameters& p) { return std::make_unique<CuratorSemaphoreV2>(p); }};
}

}  // namespace lockstep::models::locks
