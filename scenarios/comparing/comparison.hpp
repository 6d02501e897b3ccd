#pragma once

// The same workload under several algorithms: what a lock costs in messages and waiting, in virtual time. Cost, not
// safety: whether it holds is what `check` and the matrix say.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::scenarios {

/// What the history of one run shows of its cost.
struct LockCost {
  std::uint64_t acquisitions = 0;
  std::uint64_t attempts_in_vain = 0;  ///< operations that ended without the lock
  /// Requests of attempts that changed nothing at the server: polls, wake-ups that came too early.
  std::uint64_t requests_in_vain = 0;
  /// From a client's first attempt of a round until it has the lock. Nothing: nobody got it.
  std::optional<sim::Duration> waiting_median, waiting_p99;
  /// From the moment at which a holder begins to give the lock back, while somebody waits, until the next has it.
  std::optional<sim::Duration> handover_median;
  /// Jain's index of the clients' acquisitions, in thousandths: 1000 is equal shares, 1000/n is one client alone.
  std::uint64_t fairness = 0;
  /// The most grants to others who began to wait later, while one client waited.
  std::uint64_t most_overtaken = 0;
};

/// Requires: `history` is of one lock, and process indices below `clients` are its users.
LockCost cost_of(const sim::History& history, std::size_t clients);

struct ComparedRun {
  std::string algorithm;
  std::size_t clients = 0;
  std::uint64_t messages = 0;  ///< that arrived, in either direction
  LockCost cost;
  /// A holder crashes at once: from then until another client has the lock. Nothing: not within the time.
  std::optional<sim::Duration> recovery;
};

struct CompareOptions {
  std::vector<std::string> algorithms;  ///< empty: the file's own
  std::vector<std::size_t> clients;     ///< how many; empty: as the file has
  sim::Duration length = sim::Duration::seconds(60);
  std::uint64_t seed = 1;
  unsigned jobs = 1;  ///< threads; the result is the same for any number
  std::function<bool()> interrupted;
};

/// One file under each algorithm with each number of clients, in this order. The clients of the file are repeated or
/// left out; each goes on with rounds until the time is over, and tries until it has the lock. Parameters that an
/// algorithm does not have are left out. Faults and pins of the file are left out too. Requires: the algorithms are
/// known.
std::variant<std::vector<ComparedRun>, Diagnostic> compare_costs(const Scenario& scenario,
                                                                 const models::locks::Catalogue& catalogue,
                                                                 const CompareOptions& options);

}  // namespace lockstep::scenarios
