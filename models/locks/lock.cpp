#include "models/locks/lock.hpp"

#include "models/client.hpp"

namespace lockstep::models::locks {

sim::Task<std::optional<Hold>> LockAlgorithm::try_acquire(Client& client) const { co_return co_await acquire(client); }

}  // namespace lockstep::models::locks
