// The lock of v1.0, one for each item of the market instead of one for all of it.
// Source: redis-in-action-notes, v2.0, which shows no code.
// Claims: mutual-exclusion among those who want the same item, own-release.
// Breaks: v2-fine-crashed-holder, as ria-lock-v1; and it covers the item alone, not the funds of whoever buys it
//         (market).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/ria_lock.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class RiaLockV2Fine final : public RiaLock {
 public:
  explicit RiaLockV2Fine(const Parameters& p) : RiaLock(p), item_(p.choice("item")) {}

 private:
  Value lock_key() const override { return key().text() + "/" + item_; }

  std::string item_;
};

}  // namespace

Entry ria_lock_v2_fine() {
  return {.id = "ria-lock-v2-fine",
          .summary = "ria-lock-v1 with a key for each item",
          .documents = {"redis-in-action-notes"},
          .parameters = {{.name = "item",
                          .fallback = std::string("item"),
                          .meaning = "which item of the market the lock is for",
                          .one_for_all = "it says which lock it is"},
                         ria_acquire_timeout(10_s),
                         ria_poll(),
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release"},
          .repaired_by = "ria-lock-v3-timeout",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<RiaLockV2Fine>(p); }};
}

}  // namespace lockstep::models::locks
