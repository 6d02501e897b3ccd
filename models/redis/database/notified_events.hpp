#pragma once

// Of which changes of keys a server tells: notify-keyspace-events.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::models::redis {

/// Classes of events, and (`by_key`, `by_event`) the two kinds of channels.
enum class EventClass : std::uint16_t {
  generic = 1,
  string = 2,
  list = 4,
  set = 8,
  hash = 16,
  sorted_set = 32,
  expired = 64,
  evicted = 128,
  stream = 256,
  module = 512,
  created = 1024,
  missed = 2048,
  by_key = 4096,
  by_event = 8192
};

/// A set of them, as a server keeps it.
class NotifiedEvents {
 public:
  /// "KEA", "Kx": nothing for a letter that is none.
  static std::optional<NotifiedEvents> read(std::string_view letters);
  /// As CONFIG GET prints it: ordered, `A` for all that it stands for.
  std::string letters() const;

  bool any() const { return bits_ != 0; }
  bool has(EventClass which) const { return (bits_ & static_cast<std::uint16_t>(which)) != 0; }
  /// Whether somebody may hear of a key's end.
  bool tells_of_expiry() const {
    return has(EventClass::expired) && (has(EventClass::by_key) || has(EventClass::by_event));
  }

 private:
  std::uint16_t bits_ = 0;
};

}  // namespace lockstep::models::redis
