// A key without expiry: whoever creates it owns the lock, and deletes it when done.
// Source: redis-lock-java, first scheme; lock-summary, pits 3 and 4.
// Claims: mutual-exclusion and own-release, as long as everybody lives to delete his key.
// Breaks: f000-1-crashed-holder (the key of a dead owner stays for ever).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class SetnxDel final : public LockAlgorithm {
 public:
  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: create the key; 1 means that it was not there.
    const Value token = client.unique_token();
    const Reply created = co_await redis::server_of(client).setnx(key(), token);
    if (!created.is_integer(1)) co_return std::nullopt;
    co_return Hold{token};
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 2: delete the key, whosever it is.
    const Reply deleted = co_await redis::server_of(client).del(key());
    co_return deleted.is_integer();
  }
};

}  // namespace

Entry setnx_del() {
  return {.id = "setnx-del",
          .summary = "SETNX without expiry, plain DEL",
          .documents = {"redis-lock-java", "lock-summary"},
          .parameters = {attempts_parameter(1), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release"},
          .repaired_by = "set-nx-px-lua",
          .is_blind_to_names = true,
          .make = [](const Parameters&) { return std::make_unique<SetnxDel>(); }};
}

}  // namespace lockstep::models::locks
