// The GETSET lock with a release that deletes whatever is there.
// Source: redis-lock-java, scenario four.
// Claims: mutual-exclusion with equal clocks, recoverable.
// Breaks: f000-4-late-owner-deletes (an owner that overran its lease deletes the next owner's lock).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/getset_java.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class GetsetDelRelease final : public GetsetJava {
 public:
  using GetsetJava::GetsetJava;

  sim::Task<bool> release(Client& client, Hold) const override {
    // The only step: delete the key, whosever it is by now.
    const redis::Reply deleted = co_await redis::server_of(client).del(key());
    co_return deleted.is_integer();
  }
};

}  // namespace

Entry getset_del_release() {
  return {.id = "getset-del-release",
          .summary = "getset-java with plain DEL",
          .documents = {"redis-lock-java"},
          .parameters = {lease_parameter("ttl", 60_s, "how long an owner lets its lock be valid, by its own clock"),
                         attempts_parameter(100), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "recoverable"},
          .repaired_by = "getset-java",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<GetsetDelRelease>(p.duration("ttl")); }};
}

}  // namespace lockstep::models::locks
