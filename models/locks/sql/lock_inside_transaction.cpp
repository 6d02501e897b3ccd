// A lock that is taken after the transaction has begun, and given back before it ends: what @Transactional around a
// method that locks comes to.
// Source: lock-summary, pit 8.
// Claims: mutual-exclusion, own-release, recoverable; that no update is lost.
// Breaks: lock-inside-transaction, lock-inside-transaction-mariadb (whoever comes next reads what was there before
// the commit).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/sql/transaction_lock.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::locks {
namespace {

class LockInsideTransaction final : public TransactionLock {
 public:
  using TransactionLock::TransactionLock;

  sim::Task<std::optional<Hold>> acquire(Client& client) const override { return take(client, true); }
  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override { return take(client, false); }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 3: unlock; what was written nobody else can see yet.
    const bool is_released = co_await unlock(client);
    // 4: commit.
    static_cast<void>(co_await client.to<sql::Endpoint>().commit());
    co_return is_released;
  }

 private:
  sim::Task<std::optional<Hold>> take(Client& client, bool may_wait) const {
    // 1: begin.
    const bool has_begun = co_await begin(client);
    if (!has_begun) co_return std::nullopt;
    // 2: lock.
    const bool is_locked = co_await lock(client, may_wait);
    if (is_locked) co_return Hold{};
    co_await give_up(client);
    co_return std::nullopt;
  }
};

}  // namespace

Entry lock_inside_transaction() {
  return {.id = "lock-inside-transaction",
          .summary = "an advisory lock that is taken and given back inside a transaction, so before its COMMIT",
          .documents = {"lock-summary"},
          .parameters = transaction_lock_parameters(),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "no-lost-update"},
          .repaired_by = "lock-outside-transaction",
          .reaches_row = true,
          .is_blind_to_names = true,
          .server_kind = &sql_kind(),
          .make = [](const Parameters& p) { return std::make_unique<LockInsideTransaction>(p); }};
}

}  // namespace lockstep::models::locks
