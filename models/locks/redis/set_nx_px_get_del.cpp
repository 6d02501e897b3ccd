// SET NX PX with a random value, and a release that compares first and deletes in a second command.
// Source: lock-summary, pit 6.
// Claims: mutual-exclusion within the lease, own-release, recoverable.
// Breaks: f001-6-expires-between-get-and-del (the comparison is stale by the time of the DEL).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class SetNxPxGetDel final : public LockAlgorithm {
 public:
  explicit SetNxPxGetDel(sim::Duration ttl) : ttl_(ttl) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: create the key with a value of one's own and its time to live.
    const Value token = client.unique_token();
    const Reply created = co_await redis::server_of(client).set(key(), token, {.nx = true, .px = ttl_});
    if (!created.is_ok()) co_return std::nullopt;
    co_return Hold{token};
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 2: is it still mine?
    const Reply present = co_await redis::server_of(client).get(key());
    if (!present.is_bulk() || !client.equal(present.value(), hold.token)) co_return false;

    // 3: delete it, though by now it may be somebody else's.
    const Reply deleted = co_await redis::server_of(client).del(key());
    co_return deleted.is_integer();
  }

 private:
  sim::Duration ttl_;
};

}  // namespace

Entry set_nx_px_get_del() {
  return {.id = "set-nx-px-get-del",
          .summary = "SET NX PX, release by GET, compare, DEL",
          .documents = {"lock-summary"},
          .parameters = {lease_parameter("ttl", 3_s, "time to live of the key"), attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .repaired_by = "set-nx-px-lua",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<SetNxPxGetDel>(p.duration("ttl")); }};
}

}  // namespace lockstep::models::locks
