#pragma once

// A Redis string: bytes, a number, or a timestamp that is still an `Instant`.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/time.hpp"

namespace lockstep::models::redis {

/// A point in time that was sent to a server, e.g. the expiry that a timestamp lock stores: the instant, and the unit
/// in which it prints (milliseconds for `System.currentTimeMillis`, nanoseconds for `System.nanoTime`).
struct Timestamp {
  sim::Instant instant;
  sim::Duration unit;
};

/// What Redis calls a string. Commands that need bytes (APPEND, scripts, replies on a wire) get decimal text;
/// everything else hands numbers and timestamps through unprinted, so that a timestamp may stay symbolic.
///
/// A timestamp prints as floor(reading / unit) in decimal. It keeps its nanoseconds when it is read back as an instant:
/// an exploration cannot round an instant that has no digits yet, and the simulator must agree with the exploration.
///
/// Two timestamps are the same text exactly when their instants are the same to the unit. In simulation that is decided
/// here, from the printed numbers; a symbolic one has no digits yet, and whoever compares must ask its world first.
class Value {
 public:
  Value() = default;
  Value(std::string bytes) : content_(std::move(bytes)) {}         // NOLINT(google-explicit-constructor)
  Value(std::string_view bytes) : content_(std::string(bytes)) {}  // NOLINT(google-explicit-constructor)
  Value(const char* bytes) : content_(std::string(bytes)) {}       // NOLINT(google-explicit-constructor)
  /// Requires: fits 64 bits with a sign.
  template <std::integral Number>
    requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
  Value(Number number) : content_(static_cast<std::int64_t>(number)) {}  // NOLINT(google-explicit-constructor)
  Value(Timestamp timestamp) : content_(timestamp) {}                    // NOLINT(google-explicit-constructor)
  /// Bytes that outlive the world, e.g. the text of a script: held by reference, never copied.
  static Value lasting(std::string_view bytes) {
    Value v;
    v.content_ = bytes;
    return v;
  }
  static Value milliseconds(sim::Instant instant) { return Timestamp{instant, sim::Duration::milliseconds(1)}; }

  /// The bytes that a client would see. Requires: not a symbolic timestamp.
  std::string text() const;
  /// Appends the same bytes to `out`, without a temporary.
  void append_to(std::string& out) const;
  /// The same bytes without a copy if they are there already; else printed into `scratch`, which must outlive the view.
  std::string_view view(std::string& scratch) const;
  /// The bytes, if they are there already (not a number, not a timestamp).
  std::optional<std::string_view> bytes() const;

  /// As Redis reads an integer argument or a counter: an optional minus, digits, no leading zero or space, 64 bits.
  /// Requires: not a symbolic timestamp.
  std::optional<std::int64_t> integer() const;
  /// As a client reads a timestamp that counts `unit`s. Nothing when it is not one.
  std::optional<sim::Instant> instant(sim::Duration unit = sim::Duration::milliseconds(1)) const;
  const Timestamp* timestamp() const { return std::get_if<Timestamp>(&content_); }

  /// The same bytes. A symbolic timestamp differs from every text.
  /// Requires: not two timestamps of which one is symbolic, unless they are identical or differ in nothing but whole units.
  bool operator==(const Value& other) const;
  /// Case-insensitive comparison with an option name in capitals ("NX").
  bool is_word(std::string_view capitals) const;

  /// Feeds the digest of a run: equal for equal bytes.
  std::uint64_t digest() const;

 private:
  std::variant<std::string, std::string_view, std::int64_t, Timestamp> content_;
};

/// Redis' string2ll: an optional minus, digits without a leading zero, 64 bits. "-0", "+1" and " 1" are not integers.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// As redis-cli quotes a string: printable ASCII as it is, the rest escaped.
void append_quoted(std::string& out, std::string_view bytes);

/// A portable 64-bit digest of bytes (FNV-1a), continued from `seed`.
std::uint64_t digest_bytes(std::string_view bytes, std::uint64_t seed = 0xcbf29ce484222325);
/// The same for a number, byte by byte from the lowest.
std::uint64_t digest_number(std::uint64_t number, std::uint64_t seed);

}  // namespace lockstep::models::redis
