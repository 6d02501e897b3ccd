// SETNX, then EXPIRE in a second command: the lease begins only if the client lives to ask for it.
// Source: lock-summary, pit 1.
// Claims: mutual-exclusion within the lease, recoverable.
// Breaks: f001-1-crash-between (no expiry was ever set), and as every lock whose lease can run out unnoticed.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class SetnxExpireTwoStep final : public LockAlgorithm {
 public:
  explicit SetnxExpireTwoStep(sim::Duration ttl) : ttl_(ttl) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: create the key.
    const Value token = client.unique_token();
    const Reply created = co_await redis::server_of(client).setnx(key(), token);
    if (!created.is_integer(1)) co_return std::nullopt;

    // 2: give it a time to live. Nobody repairs it if this command is never sent.
    co_await redis::server_of(client).expire(key(), ttl_);
    co_return Hold{token};
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 3: delete the key, whosever it is by now.
    const Reply deleted = co_await redis::server_of(client).del(key());
    co_return deleted.is_integer();
  }

 private:
  sim::Duration ttl_;
};

}  // namespace

Entry setnx_expire_two_step() {
  return {.id = "setnx-expire-two-step",
          .summary = "SETNX, then EXPIRE as a second command, plain DEL",
          .documents = {"lock-summary"},
          .parameters = {lease_parameter("ttl", 10_s, "time to live that the second command sets"),
                         attempts_parameter(1), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "recoverable"},
          .repaired_by = "set-nx-px-lua",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<SetnxExpireTwoStep>(p.duration("ttl")); }};
}

}  // namespace lockstep::models::locks
