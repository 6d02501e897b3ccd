#include "incr_expire.hpp"

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"

namespace own_lock {

using namespace lockstep;
using namespace lockstep::models::locks;
using namespace lockstep::sim::literals;
using lockstep::models::Client;
using lockstep::models::redis::Command;
using lockstep::models::redis::Reply;

namespace {

class IncrExpire final : public LockAlgorithm {
 public:
  explicit IncrExpire(const Parameters& p) : ttl_(p.duration("ttl")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: count; whoever gets 1 is the owner.
    const Reply count = co_await models::redis::server_of(client).call(Command{"INCR", key()});
    if (!count.is_integer(1)) co_return std::nullopt;

    // 2: the lease.
    co_await models::redis::server_of(client).expire(key(), ttl_);
    co_return Hold{client.unique_token()};
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 3: start counting anew.
    const Reply deleted = co_await models::redis::server_of(client).del(key());
    co_return deleted.is_integer(1);
  }

 private:
  sim::Duration ttl_;
};

}  // namespace

Entry incr_expire() {
  return {.id = "incr-expire",
          .summary = "INCR until it answers 1, then EXPIRE",
          .documents = {},
          .parameters = {lease_parameter("ttl", 100_ms, "time to live of the key"), attempts_parameter(1),
                         retry_parameter({50_ms, 50_ms})},
          .claims = {"mutual-exclusion", "recoverable"},
          .make = [](const Parameters& p) { return std::make_unique<IncrExpire>(p); }};
}

}  // namespace own_lock
