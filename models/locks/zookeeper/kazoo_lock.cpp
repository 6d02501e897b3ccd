// kazoo's Lock: the queue, whose client looks for its own node before it creates another, and watches the one before.
// Source: kazoo 2.8, kazoo/recipe/lock.py, kazoo/client.py (ensure_path, retry); `watches_session`: kazoo 1.3.1, and
//         pull request 170.
// Claims: mutual-exclusion as long as the session lives, recoverable, fair.
// Breaks: f001-zk-pause with this lock as well; before 2.0 kazoo-forgotten-watch (a lost connection, and nobody wakes
//         whoever waits).

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

class KazooLock final : public LockAlgorithm {
 public:
  explicit KazooLock(const Parameters& p)
      : timeout_(p.duration("session_timeout")),
        kept_(p.flag("watches_session") ? Kept::in_the_session : Kept::on_the_connection) {
    if (const sim::Duration wait = p.duration("wait"); wait > sim::Duration::zero()) wait_ = wait;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    co_return co_await take(client, &patience);
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    co_return co_await take(client, nullptr);
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 7: delete the own node; one that is gone counts as deleted.
    const std::optional<zookeeper::Error> error = co_await zk::remove(client, hold.token.text(), kTries);
    co_return error == zookeeper::Error::none || error == zookeeper::Error::no_node;
  }

 private:
  using Kept = zookeeper::Watch::Kept;
  enum class Turn : std::uint8_t { comes, never_comes, is_gone, is_unknown };
  /// kazoo tries for ever; a story ends.
  static constexpr int kTries = 3;
  static constexpr std::string_view kMark = "__lock__";

  std::string folder() const { return zk::folder_of(key()); }

  /// `patience`: null: it does not wait.
  sim::Task<std::optional<Hold>> take(Client& client, Patience* patience) const {
    zookeeper::Handle& handle = zk::handle_of(client);
    if (!co_await handle.open(client, timeout_)) co_return std::nullopt;
    // 1: ensure_path.
    const std::optional<zookeeper::Answer> folder_there =
        co_await handle.ask(client, zookeeper::Exists{.path = folder()});
    if (!folder_there) co_return std::nullopt;

    const std::string own_prefix = client.unique_token().text() + std::string(kMark);
    for (int tried = 0; tried < kTries; ++tried) {
      // 2: whoever has tried before looks whether its node is there; else it creates one.
      std::optional<std::string> own = tried > 0 ? co_await zk::find(client, folder(), own_prefix) : std::string();
      if (!own) continue;
      if (own->empty()) {
        zk::Created created = co_await zk::create(client, folder(), own_prefix);
        if (!created.is_known) continue;
        if (created.result.error != zookeeper::Error::none) co_return std::nullopt;
        own = std::move(created.result.path);
      }
      const Turn turn = co_await wait_for_turn(client, *own, patience);
      if (turn == Turn::comes) co_return Hold{*own};
      if (turn == Turn::is_gone || turn == Turn::is_unknown) continue;
      static_cast<void>(co_await zk::remove(client, *own, kTries));
      co_return std::nullopt;
    }
    // 6: what is there of it after all is deleted, as far as the connection allows.
    const std::optional<std::string> left = co_await zk::find(client, folder(), own_prefix);
    if (left && !left->empty()) static_cast<void>(co_await zk::remove(client, *left, 1));
    co_return std::nullopt;
  }

  sim::Task<Turn> wait_for_turn(Client& client, std::string own, Patience* patience) const {
    zookeeper::Handle& handle = zk::handle_of(client);
    while (true) {
      // 3: the one just before, by the numbers.
      const std::optional<zk::Place> place =
          co_await zk::place_of(client, folder(), std::string(zookeeper::name_in_parent(own)), std::string(kMark));
      if (!place) co_return Turn::is_unknown;
      if (!place->is_there) co_return Turn::is_gone;
      if (place->before == 0) co_return Turn::comes;
      if (patience == nullptr || patience->is_over()) co_return Turn::never_comes;

      // 4: get it, with a watch.
      const std::string before = folder() + "/" + place->next_before;
      const std::optional<zookeeper::Answer> found =
          co_await handle.ask(client, zookeeper::GetData{.path = before, .watches = true});
      if (!found) co_return Turn::is_unknown;
      if (found->result.error != zookeeper::Error::none) continue;

      // 5: until it changes, or the session does. kazoo's client forgets its watches with a connection; whoever waits
      // is told, and looks again, which is as good as to keep them.
      co_await handle.wait_for(client, handle.watch(zookeeper::Watch::Kind::data, before, kept_), *patience);
      if (patience->is_over()) co_return Turn::never_comes;
    }
  }

  sim::Duration timeout_;
  Kept kept_;
  std::optional<sim::Duration> wait_;
};

}  // namespace

Entry kazoo_lock() {
  return {.id = "kazoo-lock",
          .summary = "kazoo's Lock: the queue, with a node that is looked for before another is created",
          .documents = {"lock-summary"},
          .parameters = {renewed_lease_parameter("session_timeout", 10_s,
                                                 "how long a session lasts of which nothing is heard"),
                         {"wait", 10_s, "how long one attempt waits for those before it; 0ms: for ever"},
                         {"watches_session", true,
                          "a lost connection wakes whoever waits, and it looks again (since 2.0, pull request 170)"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "recoverable", "fair"},
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &zookeeper_kind(),
          .make = [](const Parameters& p) { return std::make_unique<KazooLock>(p); }};
}

}  // namespace lockstep::models::locks
