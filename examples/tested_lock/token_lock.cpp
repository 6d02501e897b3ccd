#include "token_lock.hpp"

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"

namespace tested_lock {

using namespace lockstep;
using namespace lockstep::models::locks;
using namespace lockstep::sim::literals;
using lockstep::models::Client;
using lockstep::models::Value;
using lockstep::models::redis::Reply;

namespace {

constexpr std::string_view kDeleteIfMine = R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
)";

class TokenLock final : public LockAlgorithm {
 public:
  TokenLock(const Parameters& p, bool in_one_step) : ttl_(p.duration("ttl")), in_one_step_(in_one_step) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    const Value token = client.unique_token();
    const Reply created = co_await models::redis::server_of(client).set(key(), token, {.nx = true, .px = ttl_});
    if (!created.is_ok()) co_return std::nullopt;
    co_return Hold{token};
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    if (in_one_step_) {
      const Reply deleted = co_await models::redis::server_of(client).eval(kDeleteIfMine, {key()}, {hold.token});
      co_return deleted.is_integer(1);
    }
    const Reply present = co_await models::redis::server_of(client).get(key());
    if (!present.is_bulk() || !client.equal(present.value(), hold.token)) co_return false;
    const Reply deleted = co_await models::redis::server_of(client).del(key());
    co_return deleted.is_integer(1);
  }

 private:
  sim::Duration ttl_;
  bool in_one_step_;
};

Entry token_lock(std::string_view id, bool in_one_step) {
  return {.id = id,
          .summary = "SET NX PX with a token, which is looked for before the key is deleted",
          .documents = {},
          .parameters = {lease_parameter("ttl", 100_ms, "time to live of the key"), attempts_parameter(1),
                         retry_parameter({50_ms, 50_ms})},
          .claims = {"own-release"},
          .make = [in_one_step](const Parameters& p) { return std::make_unique<TokenLock>(p, in_one_step); }};
}

}  // namespace

Catalogue catalogue() {
  Catalogue all = Catalogue::built_in();
  all.add(token_lock("token-lock", true));
  all.add(token_lock("token-lock-broken", false));
  return all;
}

}  // namespace tested_lock
