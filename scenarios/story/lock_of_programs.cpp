// What stands for the lock where no algorithm is named.

#include <memory>
#include <optional>

#include "models/locks/lock.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::scenarios {

namespace {

class LockOfPrograms final : public models::locks::LockAlgorithm {
 public:
  sim::Task<std::optional<models::locks::Hold>> acquire(models::Client&) const override { co_return std::nullopt; }
  sim::Task<bool> release(models::Client&, models::locks::Hold) const override { co_return false; }
};

}  // namespace

const models::locks::Entry& lock_of_programs() {
  static const models::locks::Entry entry{
      .id = kLockOfPrograms,
      .summary = "Whatever the programs of the story do.",
      .documents = {},
      .parameters = {models::locks::attempts_parameter(1), models::locks::retry_parameter({})},
      .claims = {"mutual-exclusion"},
      .many_nodes = true,
      .claims_nothing_itself = true,
      .make = [](const models::locks::Parameters&) { return std::make_unique<LockOfPrograms>(); }};
  return entry;
}

}  // namespace lockstep::scenarios
