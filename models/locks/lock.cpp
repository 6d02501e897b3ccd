#include "models/locks/lock.hpp"

#include "models/client/client.hpp"

namespace lockstep::models::locks {

sim::Task<std::optional<Hold>> LockAlgorithm::try_acquire(Client& client) const { co_return co_await acquire(client); }

sim::Task<Answer> LockAlgorithm::call(Client& client, Call) const {
  static_cast<void>(client);
  co_return Answer::unknown;
}

}  // namespace lockstep::models::locks
