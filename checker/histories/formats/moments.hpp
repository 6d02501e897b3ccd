#pragma once

// Moments as people and loggers write them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::checker::history_formats {

/// What a moment is counted from: moments of two kinds cannot be compared.
enum class Clock : std::uint8_t {
  plain,    ///< a whole number, of whatever unit
  elapsed,  ///< 12ms, 1.5s; 12.25 is seconds
  day,      ///< 12:00:05.250
  date      ///< 2024-05-01T12:00:05.250Z, 2024-05-01 12:00:05,250+02:00; without a zone it is UTC
};

struct Moment {
  Clock clock = Clock::plain;
  std::int64_t time = 0;  ///< ns, but of a plain one
  std::size_t size = 0;   ///< how many characters it has
};

/// With which the text begins, as long as it can be; nothing: it begins with none, or with one beyond 2^63 ns.
std::optional<Moment> moment_at(std::string_view text);

}  // namespace lockstep::checker::history_formats
