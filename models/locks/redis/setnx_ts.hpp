#pragma once

#include <cstdint>
#include <memory>

#include "models/locks/lock.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::locks {

/// When a contender takes the stored timestamp for run out.
enum class ExpiryTest : std::uint8_t {
  past,   ///< it is before the contender's present time: the Java code
  future  ///< it is after it: what the prose of redis-lock-java says, word by word
};

/// The lock of `setnx_ts_del_setnx.cpp`, with either test.
std::unique_ptr<LockAlgorithm> make_setnx_ts(sim::Duration expiry, ExpiryTest test);

}  // namespace lockstep::models::locks
