#pragma once

// What the guards of a market cost: a market for a while of virtual time, with more sellers or more buyers.

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

struct MarketRun {
  std::size_t sellers = 0;
  std::size_t buyers = 0;
  std::uint64_t listed = 0;
  std::uint64_t bought = 0;
  std::uint64_t retries = 0;   ///< attempts to list or to buy that failed because somebody else was there
  std::uint64_t messages = 0;  ///< that arrived, in either direction
  /// From the first attempt of a purchase to its end. Nothing: nothing was bought.
  std::optional<sim::Duration> waiting_median, waiting_p99;
  bool is_sound = true;  ///< no item was sold twice, and nobody's funds are overdrawn
};

struct MarketOptions {
  sim::Duration length = sim::Duration::seconds(60);
  std::uint64_t seed = 1;
  unsigned jobs = 1;  ///< threads; the result is the same for any number
  std::function<bool()> interrupted;
};

/// The market of the file with 1 seller and 1 buyer, 5 and 1, 5 and 5: copies of its first seller and of its first
/// buyer, which go on until the time is over. Its faults are left out. Requires: the file has a [market].
std::variant<std::vector<MarketRun>, Diagnostic> compare_markets(const Scenario& scenario,
                                                                 const models::locks::Catalogue& catalogue,
                                                                 const MarketOptions& options);

}  // namespace lockstep::scenarios
