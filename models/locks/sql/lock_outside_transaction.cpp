// A lock that is taken before the transaction begins, and given back after it has ended.
// Source: lock-summary, pit 8.
// Claims: mutual-exclusion, own-release, recoverable; that no update is lost.
// Breaks: nothing yet.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/sql/transaction_lock.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::locks {
namespace {

class LockOutsideTransaction final : public TransactionLock {
 public:
  using TransactionLock::TransactionLock;

  sim::Task<std::optional<Hold>> acquire(Client& client) const override { return take(client, true); }
  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override { return take(client, false); }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 3: commit.
    static_cast<void>(co_await client.to<sql::Endpoint>().commit());
    // 4: unlock.
    const bool is_released = co_await unlock(client);
    co_return is_released;
  }

 private:
  sim::Task<std::optional<Hold>> take(Client& client, bool may_wait) const {
    // 1: lock.
    const bool is_locked = co_await lock(client, may_wait);
    // 2: begin.
    bool has_begun = false;
    if (is_locked) has_begun = co_await begin(client);
    if (has_begun) co_return Hold{};
    co_await give_up(client);
    co_return std::nullopt;
  }
};

}  // namespace

Entry lock_outside_transaction() {
  return {.id = "lock-outside-transaction",
          .summary = "an advisory lock around a transaction: taken before BEGIN, given back after COMMIT",
          .documents = {"lock-summary"},
          .parameters = transaction_lock_parameters(),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "no-lost-update"},
          .reaches_row = true,
          .is_blind_to_names = true,
          .server_kind = &sql_kind(),
          .make = [](const Parameters& p) { return std::make_unique<LockOutsideTransaction>(p); }};
}

}  // namespace lockstep::models::locks
