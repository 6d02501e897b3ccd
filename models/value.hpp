#pragma once

// What clients store at servers and hear from them: bytes, a number, or a timestamp that is still an `Instant`.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sim/time/time.hpp"

namespace lockstep::models {

/// A point in time that was sent to a server, e.g. the expiry that a timestamp lock stores: the instant, and the unit
/// in which it prints (milliseconds for `System.currentTimeMillis`, nanoseconds for `System.nanoTime`).
struct Timestamp {
  sim::Instant instant;
  sim::Duration unit;
};

/// A string, as Redis calls it. Who needs bytes (APPEND, scripts, replies on a wire) gets decimal text; everything else
/// hands numbers and timestamps through unprinted, so that a timestamp may stay symbolic.
///
/// A timestamp prints as floor(reading / unit) in decimal. It keeps its nanoseconds when it is read back as an instant:
/// an exploration cannot round an instant that has no digits yet, and the simulator must agree with the exploration.
///
/// Two timestamps are the same text exactly when their instants are the same to the unit. In simulation that is decided
/// here, from the printed numbers; a symbolic one has no digits yet, and whoever compares must ask its world first.
///
/// 32 bytes that a move copies: short bytes lie in them, longer ones in a block of their own.
class Value {
 public:
  Value() noexcept { become_empty(); }
  Value(std::string_view bytes) { store(bytes); }                      // NOLINT(google-explicit-constructor)
  Value(const std::string& bytes) : Value(std::string_view(bytes)) {}  // NOLINT(google-explicit-constructor)
  Value(const char* bytes) : Value(std::string_view(bytes)) {}         // NOLINT(google-explicit-constructor)
  /// Requires: fits 64 bits with a sign.
  template <std::integral Number>
    requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
  Value(Number number) noexcept {  // NOLINT(google-explicit-constructor)
    put(Kind::number, static_cast<std::int64_t>(number));
  }
  Value(Timestamp timestamp) noexcept { put(Kind::timestamp, timestamp); }  // NOLINT(google-explicit-constructor)
  /// Bytes that outlive the world, e.g. the text of a script: held by reference, never copied.
  static Value lasting(std::string_view bytes) noexcept {
    Value v;
    v.put(Kind::lasting, bytes);
    return v;
  }
  static Value milliseconds(sim::Instant instant) { return Timestamp{instant, sim::Duration::milliseconds(1)}; }

  Value(const Value& other) {
    if (other.bits_.kind == Kind::owned) [[unlikely]] {
      store(other.get<std::string_view>());
    } else {
      bits_ = other.bits_;
    }
  }
  Value(Value&& other) noexcept : bits_(other.bits_) { other.become_empty(); }
  Value& operator=(const Value& other) {
    if (bits_.kind == Kind::owned || other.bits_.kind == Kind::owned) [[unlikely]] {
      if (this != &other) *this = Value(other);
    } else {
      bits_ = other.bits_;
    }
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    if (this == &other) return *this;
    drop();
    bits_ = other.bits_;
    other.become_empty();
    return *this;
  }
  ~Value() { drop(); }

  /// The bytes that a client would see. Requires: not a symbolic timestamp.
  std::string text() const;
  /// Appends the same bytes to `out`, without a temporary.
  void append_to(std::string& out) const;
  /// The same bytes without a copy if they are there already; else printed into `scratch`, which must outlive the view.
  std::string_view view(std::string& scratch) const {
    if (has_bytes()) [[likely]]
      return stored_bytes();
    scratch.clear();
    append_to(scratch);
    return scratch;
  }
  /// The bytes, if they are there already (not a number, not a timestamp).
  std::optional<std::string_view> bytes() const {
    if (!has_bytes()) return std::nullopt;
    return stored_bytes();
  }

  /// As Redis reads an integer argument or a counter: an optional minus, digits, no leading zero or space, 64 bits.
  /// Requires: not a symbolic timestamp.
  std::optional<std::int64_t> integer() const;
  /// As a client reads a timestamp that counts `unit`s. Nothing when it is not one.
  std::optional<sim::Instant> instant(sim::Duration unit = sim::Duration::milliseconds(1)) const;
  const Timestamp* timestamp() const {
    return bits_.kind == Kind::timestamp ? std::launder(reinterpret_cast<const Timestamp*>(bits_.room)) : nullptr;
  }

  /// The same bytes. A symbolic timestamp differs from every text.
  /// Requires: not two timestamps of which one is symbolic, unless they are identical or differ in nothing but whole
  /// units.
  bool operator==(const Value& other) const;
  /// Case-insensitive comparison with an option name in capitals ("NX").
  bool is_word(std::string_view capitals) const;

  /// Feeds the digest of a run: equal for equal bytes.
  std::uint64_t digest() const;

 private:
  enum class Kind : std::uint8_t { in_place, lasting, owned, number, timestamp };
  static constexpr std::size_t kRoom = 30;

  bool has_bytes() const { return bits_.kind <= Kind::owned; }
  /// Requires: has_bytes()
  std::string_view stored_bytes() const {
    if (bits_.kind == Kind::in_place) [[likely]]
      return {reinterpret_cast<const char*>(bits_.room), bits_.length};
    return get<std::string_view>();
  }
  template <class Content>
  Content get() const {
    static_assert(std::is_trivially_copyable_v<Content> && sizeof(Content) <= kRoom);
    Content content;
    std::memcpy(&content, bits_.room, sizeof(Content));
    return content;
  }
  template <class Content>
  void put(Kind kind, Content content) noexcept {
    static_assert(std::is_trivially_copyable_v<Content> && sizeof(Content) <= kRoom);
    std::construct_at(reinterpret_cast<Content*>(bits_.room), content);
    bits_.kind = kind;
    bits_.length = 0;
  }
  void store(std::string_view bytes) {
    if (bytes.size() > kRoom) [[unlikely]]
      return store_apart(bytes);
    if (!bytes.empty()) std::memcpy(bits_.room, bytes.data(), bytes.size());
    bits_.length = static_cast<std::uint8_t>(bytes.size());
    bits_.kind = Kind::in_place;
  }
  void store_apart(std::string_view bytes);
  void become_empty() noexcept {
    bits_.length = 0;
    bits_.kind = Kind::in_place;
  }
  void drop() noexcept {
    if (bits_.kind == Kind::owned) [[unlikely]]
      delete[] get<std::string_view>().data();
  }

  /// All of it, so that the compiler copies it in two instructions.
  struct Bits {
    alignas(8) std::byte room[kRoom];
    std::uint8_t length;  ///< of bytes in place
    Kind kind;
  };
  Bits bits_;
};
static_assert(sizeof(Value) == 32);

/// Redis' string2ll: an optional minus, digits without a leading zero, 64 bits. "-0", "+1" and " 1" are not integers.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// As redis-cli quotes a string: printable ASCII as it is, the rest escaped.
void append_quoted(std::string& out, std::string_view bytes);
/// Quoted where it could be taken for something else.
std::string plain_or_quoted(std::string_view bytes);

/// Continues a portable 64-bit digest by a number. A multiplication alone never reaches the bits below.
constexpr std::uint64_t digest_number(std::uint64_t number, std::uint64_t seed) {
  seed = (seed ^ number) * 0x9e3779b97f4a7c15;
  return seed ^ (seed >> 29);
}

/// The first `size` of these bytes as a number, the lowest first, on every machine. Requires: at most 8.
constexpr std::uint64_t low_first(const char* bytes, std::size_t size) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i) word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return word;
}

/// Continues a digest by up to seven bytes, and how many they are.
constexpr std::uint64_t digest_rest(const char* next, std::size_t left, std::uint64_t seed) {
  std::uint64_t rest = std::uint64_t{left} << 56;
  if (left >= 4) {
    // What both of them hold, both say the same about.
    rest |= low_first(next, 4) | low_first(next + left - 4, 4) << (8 * (left - 4));
  } else if (left > 0) {
    const auto byte = [next](std::size_t i) { return low_first(next + i, 1) << (8 * i); };
    rest |= byte(0) | byte(left / 2) | byte(left - 1);
  }
  return digest_number(rest, seed);
}

constexpr std::uint64_t digest_long(std::string_view bytes, std::uint64_t seed) {
  const char* next = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, next += 8) seed = digest_number(low_first(next, 8), seed);
  return digest_rest(next, left, seed);
}

/// What a digest begins with.
constexpr std::uint64_t kDigestBegin = 0xcbf29ce484222325;

/// A portable 64-bit digest of bytes, eight at a time, continued from `seed`. The last round takes up to seven, and how
/// many.
constexpr std::uint64_t digest_bytes(std::string_view bytes, std::uint64_t seed = kDigestBegin) {
  if (bytes.size() < 8) [[likely]]
    return digest_rest(bytes.data(), bytes.size(), seed);
  return digest_long(bytes, seed);
}

}  // namespace lockstep::models
