#pragma once

// A watchdog: while a lock is held, a background task of the process renews its lease. One table per process, one task
// per lock.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "models/client/latch.hpp"
#include "models/locks/parameters.hpp"

namespace lockstep::models::locks {

/// How a watchdog behaves where libraries differ, or differed.
struct RenewalPolicy {
  sim::Duration lease;  ///< each renewal sets it again; renewals are a third of it apart
  std::string_view
      script;  ///< KEYS: the lock; ARGV: lease in milliseconds, owner. Gives 1, or 0 if it is not the owner's
  bool survives_errors = false;  ///< a renewal without an answer is tried again, instead of being the last
  bool tells_loss = false;       ///< the owner learns that its lock is gone
  bool forgets_to_stop = false;  ///< goes on after the release
  std::int64_t per_lease = 3;    ///< renewals in the time of one lease
};

/// The parameters that set a policy.
std::vector<ParameterSpec> renewal_parameters();
RenewalPolicy renewal_policy(const Parameters& parameters, sim::Duration lease, std::string_view script);

/// The process's table of leases that are being renewed. In `Client::shared`.
class Renewals final : public ProcessObject {
 public:
  /// `holder` has got the lock of this name at this server: from now on its lease is renewed. A further hold of the
  /// same thread counts.
  void start(Client& holder, std::size_t server, const Value& lock, const Value& owner, const RenewalPolicy& policy);
  /// One hold of this thread is over.
  void stop(Client& holder, std::size_t server, const Value& lock, const RenewalPolicy& policy);
  /// All of this process's holds of this lock are over.
  void stop_all(std::size_t server, const Value& lock);

 private:
  struct Holder {
    std::int64_t thread_id;
    Value owner;
    sim::OperationId acquire;
    std::int64_t holds;
  };
  struct Lease {
    std::size_t server;
    Value lock;
    std::vector<Holder> holders;
    Latch is_over;
  };

  std::shared_ptr<Lease> find(std::size_t server, const Value& lock) const;
  void forget(const Lease& lease);
  sim::Task<void> renew(Client& background, std::shared_ptr<Lease> lease, RenewalPolicy policy);

  std::vector<std::shared_ptr<Lease>> leases_;
};

}  // namespace lockstep::models::locks
