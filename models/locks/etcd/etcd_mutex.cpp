// etcd's mutex: a queue of keys, each with the lease of its client's session; whoever created its key first has the
// lock, and everybody else waits for the key before it to go.
// Source: etcd, clientv3/concurrency/mutex.go, v3.5.0; etcd-mutex-pre34 is what stands there before b14c7cd44 (2019),
//         without step 5 (in Jepsen's analysis of etcd 3.4.3 as well; 3.4.28 has it so still). `unlocks_when_late`:
//         v3.3.9, and issue 10111; `ends_with_error`: before b41711276 (2020), pull request 11458.
// Claims: mutual-exclusion as long as the session lives, own-release, recoverable, fair.
// Breaks: etcd-session-pause (a pause that outlasts the session), and etcd-mutex-pre34 in
//         etcd-waiter-without-session (whose session ends while it waits).

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/etcd/client/etcd_endpoint.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/etcd/session.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class EtcdMutex final : public LockAlgorithm {
 public:
  EtcdMutex(const Parameters& p, bool asks_again)
      : ttl_(p.duration("ttl")),
        asks_again_(asks_again),
        unlocks_in_time_(p.flag("unlocks_in_time")),
        unlocks_when_late_(p.flag("unlocks_when_late")),
        ends_with_error_(p.flag("ends_with_error")),
        is_serializable_(p.flag("serializable")) {
    if (const sim::Duration wait = p.duration("wait"); wait > sim::Duration::zero()) wait_ = wait;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    const std::optional<Place> place = co_await enter(client);
    if (!place) co_return std::nullopt;
    // 3: nobody came before; or wait until those have gone.
    bool is_mine = place->is_first || co_await wait_for_others(client, *place, patience);
    if (is_mine && !place->is_first && unlocks_when_late_ && patience.is_over()) {
      // Until 3.3.10 it was the context that decided over the key, and the wait over what was said.
      static_cast<void>(co_await delete_own(client, *place));
      co_return hold_of(*place);
    }
    if (!is_mine && !ends_with_error_ && !patience.is_over()) {
      // Until #11458 a wait that failed was followed by an Unlock, and by the same question as one that did not.
      is_mine = !co_await delete_own(client, *place);
    }
    // 5: is the own key still there? Its session may have ended meanwhile.
    if (is_mine && asks_again_ && !place->is_first) is_mine = co_await is_there(client, *place);
    if (is_mine) co_return hold_of(*place);
    co_await leave(client, *place);
    co_return std::nullopt;
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    const std::optional<Place> place = co_await enter(client);
    if (!place) co_return std::nullopt;
    if (place->is_first) co_return hold_of(*place);
    co_await leave(client, *place);
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // With a context that is over nothing is sent, and the session goes on.
    if (!unlocks_in_time_) co_return false;
    // 6: delete the own key. Unlock does not ask whether there was one.
    const std::optional<etcd::Told> deleted =
        co_await client.to<etcd::Endpoint>().delete_range({key_of(hold.token.integer().value_or(0))});
    client.shared<EtcdSessions>("").close(client, hold.token.integer().value_or(0));
    co_return deleted && deleted->answer.error == etcd::Error::none;
  }

 private:
  /// In the queue.
  struct Place {
    etcd::LeaseId lease;
    etcd::Revision revision;  ///< at which its key was created
    bool is_first;
  };
  /// What a watch has heard.
  struct Heard {
    Latch something;
    std::optional<etcd::Told> told;
  };

  std::string prefix() const { return key().text() + "/"; }
  std::string key_of(etcd::LeaseId lease) const { return fmt::format("{}{:x}", prefix(), lease); }

  static Hold hold_of(const Place& place) {
    Hold hold{place.lease};
    hold.fencing_token = place.revision;
    return hold;
  }

  sim::Task<std::optional<Place>> enter(Client& client) const {
    // 1: a session.
    auto& sessions = client.shared<EtcdSessions>("");
    const std::optional<etcd::LeaseId> lease = co_await sessions.open(client, ttl_);
    if (!lease) co_return std::nullopt;

    // 2: create the own key unless it is there, and ask who was first.
    const std::string mine = key_of(*lease);
    const etcd::Range first{
        .span = etcd::with_prefix(prefix()), .limit = 1, .order = etcd::Order::ascend, .sort_by = etcd::SortBy::create};
    etcd::Txn txn;
    txn.compare = {{.span = {mine}, .target = etcd::Compare::Target::create}};
    txn.success = {etcd::Put{.key = mine, .lease = *lease}, first};
    txn.failure = {etcd::Range{.span = {mine}}, first};
    const std::optional<etcd::Told> told = co_await client.to<etcd::Endpoint>().txn(std::move(txn));
    if (!told || told->answer.error != etcd::Error::none) {
      sessions.close(client, *lease);
      co_return std::nullopt;
    }
    const etcd::Answer& answer = told->answer;
    const etcd::Revision own = answer.succeeded ? answer.revision : answer.responses[0].kvs.front().create_revision;
    const std::vector<etcd::KeyValue>& owner = answer.responses[1].kvs;
    co_return Place{*lease, own, owner.empty() || owner.front().create_revision == own};
  }

  /// Until no key is there that was created before.
  sim::Task<bool> wait_for_others(Client& client, Place place, Patience& patience) const {
    auto& server = client.to<etcd::Endpoint>();
    while (!patience.is_over()) {
      std::optional<etcd::Told> last;
      do {
        last = co_await server.range({.span = etcd::with_prefix(prefix()),
                                      .limit = 1,
                                      .order = etcd::Order::descend,
                                      .sort_by = etcd::SortBy::create,
                                      .max_create_revision = place.revision - 1,
                                      .serializable = is_serializable_});
      } while (server.asks_again(last));
      if (!last) co_return false;
      const std::vector<etcd::KeyValue>& kvs = last->answer.responses.front().kvs;
      if (kvs.empty()) co_return true;
      // 4: the one just before.
      if (!co_await is_deleted(client, kvs.front().key, last->answer.revision, patience)) co_return false;
    }
    co_return false;
  }

  /// Waits until the key is deleted, at this revision or later. A watch whose connection is lost is asked for again, as
  /// etcd's client does, after pauses that become longer (gRPC's begin at 1s).
  sim::Task<bool> is_deleted(Client& client, std::string awaited, etcd::Revision from, Patience& patience) const {
    for (sim::Duration pause = 100_ms; true;) {
      const auto heard = std::make_shared<Heard>();
      client.spawn(listen(client, awaited, from, heard));
      if (!co_await heard->something.acquire(client, {.patience = &patience})) co_return false;
      if (!heard->told) {
        Latch nobody;
        co_await nobody.acquire(client, {.timeout = pause, .patience = &patience, .kind = kind_of_pause()});
        pause = pause * 2;
        if (patience.is_over()) co_return false;
        continue;
      }
      for (const etcd::Event& event : heard->told->events) {
        if (event.is_delete) co_return true;
        from = event.kv.mod_revision + 1;
      }
      // Cancelled: what it asks for is not kept any more.
      if (heard->told->events.empty()) co_return false;
    }
  }

  /// Who waits for ever keeps no story from ending.
  sim::TimerKind kind_of_pause() const { return wait_ ? sim::TimerKind::sleep : sim::TimerKind::tick; }

  sim::Task<void> listen(Client& client, std::string awaited, etcd::Revision from, std::shared_ptr<Heard> heard) const {
    heard->told = co_await client.to<etcd::Endpoint>().watch({std::move(awaited)}, from);
    heard->something.release();
  }

  sim::Task<bool> is_there(Client& client, Place place) const {
    auto& server = client.to<etcd::Endpoint>();
    std::optional<etcd::Told> own;
    do {
      own = co_await server.range({.span = {key_of(place.lease)}, .serializable = is_serializable_});
    } while (server.asks_again(own));
    co_return own && !own->answer.responses.front().kvs.empty();
  }

  /// False: nobody knows.
  sim::Task<bool> delete_own(Client& client, Place place) const {
    const std::optional<etcd::Told> deleted = co_await client.to<etcd::Endpoint>().delete_range({key_of(place.lease)});
    co_return deleted.has_value();
  }

  /// Takes the own key back, and ends the session.
  sim::Task<void> leave(Client& client, Place place) const {
    static_cast<void>(co_await delete_own(client, place));
    client.shared<EtcdSessions>("").close(client, place.lease);
  }

  sim::Duration ttl_;
  bool asks_again_;
  bool unlocks_in_time_;
  bool unlocks_when_late_;
  bool ends_with_error_;
  bool is_serializable_;
  std::optional<sim::Duration> wait_;
};

std::vector<ParameterSpec> parameters() {
  return {renewed_lease_parameter("ttl", 60_s, "time to live of the session's lease, kept alive every third of it"),
          {"wait", 10_s, "how long one attempt waits for those before it; 0ms: for ever"},
          {"unlocks_in_time", true, "the context of Unlock is not over when it is called"},
          {"unlocks_when_late", false,
           "a client whose turn comes as its context ends deletes its key, and has the lock (until 3.3.10, #10111)"},
          {"ends_with_error", true,
           "an error ends the wait; false: a client whose key it cannot delete then has the lock (until #11458)"},
          {"serializable", false,
           "its reads are serializable: a member of a cluster answers them as it knows, perhaps with an old state"},
          attempts_parameter(1),
          retry_parameter({100_ms, 100_ms})};
}

}  // namespace

Entry etcd_mutex() {
  return {.id = "etcd-mutex",
          .summary = "etcd's mutex: a queue of keys with the leases of sessions, first created first",
          .documents = {"lock-summary"},
          .parameters = parameters(),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "fair"},
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &etcd_kind(),
          .make = [](const Parameters& p) { return std::make_unique<EtcdMutex>(p, true); }};
}

Entry etcd_mutex_pre34() {
  return {.id = "etcd-mutex-pre34",
          .summary = "etcd's mutex as it was until 2019: after waiting it does not look whether its own key is there",
          .documents = {"lock-summary"},
          .parameters = parameters(),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "fair"},
          .repaired_by = "etcd-mutex",
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &etcd_kind(),
          .make = [](const Parameters& p) { return std::make_unique<EtcdMutex>(p, false); }};
}

}  // namespace lockstep::models::locks
