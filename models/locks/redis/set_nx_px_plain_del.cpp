// SET NX PX, and a release that deletes whatever is there.
// Source: lock-summary, pit 5.
// Claims: mutual-exclusion within the lease, recoverable.
// Breaks: f001-5-deletes-successors-lock (an owner that overran its lease frees the next owner's lock).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class SetNxPxPlainDel final : public LockAlgorithm {
 public:
  explicit SetNxPxPlainDel(sim::Duration ttl) : ttl_(ttl) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: create the key with its time to live, in one command.
    const Value token = client.unique_token();
    const Reply created = co_await redis::server_of(client).set(key(), token, {.nx = true, .px = ttl_});
    if (!created.is_ok()) co_return std::nullopt;
    co_return Hold{token};
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 2: delete the key, whosever it is by now.
    const Reply deleted = co_await redis::server_of(client).del(key());
    co_return deleted.is_integer();
  }

 private:
  sim::Duration ttl_;
};

}  // namespace

Entry set_nx_px_plain_del() {
  return {.id = "set-nx-px-plain-del",
          .summary = "SET NX PX, plain DEL",
          .documents = {"lock-summary"},
          .parameters = {lease_parameter("ttl", 3_s, "time to live of the key"), attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "recoverable"},
          .repaired_by = "set-nx-px-lua",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<SetNxPxPlainDel>(p.duration("ttl")); }};
}

}  // namespace lockstep::models::locks
