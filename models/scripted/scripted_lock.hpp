#pragma once

// A script as a lock algorithm like any other.

#include <memory>
#include <string>
#include <vector>

#include "models/locks/lock.hpp"
#include "models/locks/parameters.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/machine.hpp"
#include "models/scripted/program.hpp"

namespace lockstep::models::scripted {

class ScriptedLock final : public locks::LockAlgorithm {
 public:
  /// Requires: `program` outlives it.
  ScriptedLock(const Program& program, const locks::Parameters& parameters)
      : program_(program), parameters_(parameters), interpreter_(std::make_shared<Interpreter>(program, kLibrary)) {}

  sim::Task<std::optional<locks::Hold>> acquire(Client& client) const override;
  sim::Task<std::optional<locks::Hold>> try_acquire(Client& client) const override;
  sim::Task<bool> release(Client& client, locks::Hold hold) const override;
  sim::Task<locks::Answer> call(Client& client, locks::Call what) const override;
  void share(const locks::LockAlgorithm& other) override;
  std::vector<std::string> mistakes() const override { return log_->sentences(); }

 private:
  sim::Task<std::optional<locks::Hold>> take(Client& client, const char* function) const;
  LockObject object() const { return {this, &parameters_, &*log_}; }
  std::shared_ptr<Machine> machine_of(Client& client) const;

  const Program& program_;
  locks::Parameters parameters_;
  std::shared_ptr<Interpreter> interpreter_;
  sim::Outlasting<Log> log_;
};

}  // namespace lockstep::models::scripted
