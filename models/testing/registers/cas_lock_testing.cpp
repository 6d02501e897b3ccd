// Compare-and-set of a register from nobody to me, and from me to nobody.
// Source: M. Herlihy, Wait-free synchronization, TOPLAS 13(1), 1991: compare-and-set as the strongest of registers.
// Claims: own-release; mutual-exclusion without a lease, and within one that outlasts the work.
// Breaks: cas-lock-pause (paused for longer than what is left of the lease).

#include "models/testing/registers/cas_lock.hpp"

#include "models/client/client.hpp"
#include "models/testing/registers/register_endpoint.hpp"
#include "models/testing/registers/register_kind.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class CasLock final : public LockAlgorithm {
 public:
  explicit CasLock(const Parameters& p) {
    if (const sim::Duration lease = p.duration("lease"); lease > sim::Duration::zero()) lease_ = lease;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    const Value token = client.unique_token();
    const std::optional<registers::Answer> answer =
        co_await client.to<registers::Endpoint>().cas(key().text(), "", token.text(), lease_);
    if (!answer || !answer->swapped) co_return std::nullopt;
    Hold hold{token};
    hold.fencing_token = answer->version;
    co_return hold;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    const std::optional<registers::Answer> answer =
        co_await client.to<registers::Endpoint>().cas(key().text(), hold.token.text(), "");
    co_return answer && answer->swapped;
  }

 private:
  std::optional<sim::Duration> lease_;
};

}  // namespace

Entry cas_lock() {
  return {.id = "cas-lock",
          .summary = "compare-and-set of a register, for tests of the seam for servers",
          .documents = {},
          .parameters = {lease_parameter("lease", 0_ms, "how long it lasts if nobody gives it back; zero: for ever"),
                         attempts_parameter(1), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release"},
          .is_blind_to_names = true,
          .server_kind = &register_kind(),
          .make = [](const Parameters& p) { return std::make_unique<CasLock>(p); }};
}

}  // namespace lockstep::models::locks
