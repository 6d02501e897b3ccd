#pragma once

// By what numbers a server knows its connections and its databases.

#include <cstddef>
#include <cstdint>

namespace lockstep::models::redis {

/// Whoever runs a server numbers its connections. Small numbers: they are indices. 0 is for callers that need only one.
using SessionId = std::uint32_t;

/// The number of one of a server's databases, as SELECT takes it.
using DatabaseId = std::uint8_t;
inline constexpr std::size_t kDatabases = 16;

}  // namespace lockstep::models::redis
