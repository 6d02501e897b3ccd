#pragma once

// What the two locks have in common that stand inside and outside of a transaction: an advisory lock, a transaction,
// and in it a row that is read and then written.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/locks/lock.hpp"
#include "models/locks/parameters.hpp"
#include "models/sql/client/sql_endpoint.hpp"

namespace lockstep::models::locks {

class TransactionLock : public LockAlgorithm {
 public:
  explicit TransactionLock(const Parameters& parameters);

  sim::Task<std::optional<std::int64_t>> read_row(Client& client) const override;
  sim::Task<bool> write_row(Client& client, std::int64_t value) const override;

 protected:
  sim::Task<bool> begin(Client& client) const;
  /// Waits for whoever has it, if it may.
  sim::Task<bool> lock(Client& client, bool may_wait) const;
  sim::Task<bool> unlock(Client& client) const;
  /// Whatever of it is there: where no answer came, a new connection ends the old one.
  static sim::Task<void> give_up(Client& client);

 private:
  sql::Isolation isolation_;
};

std::vector<ParameterSpec> transaction_lock_parameters();

}  // namespace lockstep::models::locks
