#pragma once

// A market in Redis: sellers list what they have, buyers buy what is listed. Two keys must change together, the market
// and somebody's funds or goods, and there are several ways to see to that. Source: redis-in-action-notes; Redis in
// Action, chapters 4 and 6.
//
//   inventory:NAME   the set of what somebody has          market   sorted set of "ITEM.SELLER" by price
//   users:NAME       a hash with somebody's "funds"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "models/locks/lock.hpp"
#include "models/workloads/guard.hpp"
#include "sim/coroutines/task.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::workloads {

struct Trader {
  bool sells = false;
  Guard guard = Guard::watch;
  std::string account;  ///< whose goods and funds; several processes may share one
  std::int64_t price = 1;
  std::int64_t funds = 0;  ///< of an account when its first process comes
  std::int64_t rounds = 1;
  sim::DurationRange between;
  std::int64_t attempts = 1;  ///< of a purchase or listing, and for each lock
  sim::DurationRange retry;
  /// A lock under this key. Requires: it may be called at any time while the client lives.
  std::function<std::unique_ptr<locks::LockAlgorithm>(const std::string& key)> lock;
  std::string market_key = "market";
};

/// All rounds of one trader. Each attempt is an operation of the history, "list" or "buy", whose object is the item; it
/// fails if somebody else was there, and is tried again, or if the item is not affordable. The value of a purchase is
/// what is left of the funds.
/// Requires: `trader` outlives the world.
sim::Task<void> trade(Client& client, const Trader& trader);

}  // namespace lockstep::models::workloads
