// SET NX PX with a random value, and a release that is one command of the server: DELEX IFEQ of Redis 8.4, DELIFEQ of
// Valkey 9.
// Source: redis.io distlock page of August 2026 ("DELEX key IFEQ my_random_value"); Valkey 9.0, commands/delifeq.json.
// Claims: own-release, recoverable within the lease; mutual-exclusion only while the work fits into what is left of it.
// Breaks: delex-pause-outlives-lease.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Command;
using redis::Reply;

enum class Release : std::uint8_t { delex, delifeq };

class SetNxPxDelex final : public LockAlgorithm {
 public:
  SetNxPxDelex(const Parameters& p, Release release) : ttl_(p.duration("ttl")), release_(release) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: create the key with a value of one's own and its time to live.
    const Value token = client.unique_token();
    const Reply created = co_await redis::server_of(client).set(key(), token, {.nx = true, .px = ttl_});
    if (!created.is_ok()) co_return std::nullopt;
    co_return Hold{token};
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 2: delete the key if it is still mine. What a script did, one command does.
    Command command = release_ == Release::delex ? Command{"DELEX", key(), "IFEQ", hold.token}
                                                 : Command{"DELIFEQ", key(), hold.token};
    const Reply deleted = co_await redis::server_of(client).call(std::move(command));
    co_return deleted.is_integer(1);
  }

 private:
  sim::Duration ttl_;
  Release release_;
};

Entry entry(std::string_view id, std::string_view summary, std::string_view server_version, Release release) {
  return {.id = id,
          .summary = summary,
          .documents = {"lock-summary"},
          .parameters = {lease_parameter("ttl", 30_s, "time to live of the key"), attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .is_blind_to_names = true,
          .server_version = server_version,
          .make = [release](const Parameters& p) { return std::make_unique<SetNxPxDelex>(p, release); }};
}

}  // namespace

Entry set_nx_px_delex() {
  return entry("set-nx-px-delex", "SET NX PX, release by DELEX IFEQ (Redis 8.4)", "8.4", Release::delex);
}

Entry set_nx_px_delifeq() {
  return entry("set-nx-px-delifeq", "SET NX PX, release by DELIFEQ (Valkey 9)", "valkey-9.0", Release::delifeq);
}

}  // namespace lockstep::models::locks
