#pragma once

// Which server a simulated one is. It behaves as redis-server 7.0.15; what a later version adds is a difference here.

#include <array>
#include <cstdint>
#include <string_view>

namespace lockstep::models::redis {

/// Redis: github.com/redis/redis. Valkey, which began as Redis 7.2: github.com/valkey-io/valkey.
enum class Version : std::uint8_t {
  redis_7_0,
  redis_8_4,   ///< SET with IFEQ, IFNE, IFDEQ, IFDNE; DELEX; DIGEST
  valkey_8_1,  ///< SET with IFEQ
  valkey_9_0   ///< besides, DELIFEQ
};

/// As files of stories name them, in the enumeration's order.
inline constexpr std::array<std::string_view, 4> kVersions{"7.0", "8.4", "valkey-8.1", "valkey-9.0"};

/// Requires: one of `kVersions`.
constexpr Version version_of(std::string_view name) {
  std::size_t i = 0;
  while (kVersions[i] != name) ++i;
  return static_cast<Version>(i);
}

constexpr bool is_valkey(Version version) { return version >= Version::valkey_8_1; }

/// Whether a server of this version can do what that one can, as far as is modelled. Neither project has taken over the
/// other's commands.
constexpr bool includes(Version version, Version other) {
  return other == Version::redis_7_0 || (is_valkey(version) == is_valkey(other) && version >= other);
}

/// What INFO and HELLO print.
constexpr std::string_view printed(Version version) {
  constexpr std::array<std::string_view, 4> kPrinted{"7.0.15", "8.4.0", "8.1.0", "9.0.0"};
  return kPrinted[static_cast<std::size_t>(version)];
}

}  // namespace lockstep::models::redis
