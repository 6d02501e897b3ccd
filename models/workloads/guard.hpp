#pragma once

#include <cstdint>

namespace lockstep::models::workloads {

/// What keeps a purchase and a listing apart from the others.
enum class Guard : std::uint8_t {
  watch,           ///< WATCH, and EXEC that fails if anything has changed
  market_lock,     ///< one lock for all of the market
  item_lock,       ///< a lock for each item: the buyer's funds are not covered
  item_and_funds,  ///< a lock for the item, and then one for the buyer's funds
};

}  // namespace lockstep::models::workloads
