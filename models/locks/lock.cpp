#include "models/locks/lock.hpp"

#include "models/client/client.hpp"

namespace lockstep::models::locks {

sim::Task<std::optional<Hold>> LockAlgorithm::try_acquire(Client& client) const { co_return co_await acquire(client); }

sim::Task<Answer> LockAlgorithm::call(Client& client, Call) const {
  static_cast<void>(client);
  co_return Answer::unknown;
}

sim::Task<std::optional<std::int64_t>> LockAlgorithm::read_row(Client& client) const {
  static_cast<void>(client);
  co_return std::nullopt;
}

sim::Task<bool> LockAlgorithm::write_row(Client& client, std::int64_t) const {
  static_cast<void>(client);
  co_return false;
}

}  // namespace lockstep::models::locks
