#include "models/value.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <limits>

namespace lockstep::models {
namespace {

/// Long enough for any 64-bit number.
struct Digits {
  std::array<char, 20> characters;
  std::size_t length;
  std::string_view view() const { return {characters.data(), length}; }
};

Digits digits_of(std::int64_t number) {
  Digits digits;
  const auto end = std::to_chars(digits.characters.data(), digits.characters.data() + digits.characters.size(), number);
  digits.length = static_cast<std::size_t>(end.ptr - digits.characters.data());
  return digits;
}

std::int64_t floor_divided(std::int64_t n, std::int64_t unit) {
  const std::int64_t quotient = n / unit;
  return n % unit < 0 ? quotient - 1 : quotient;
}

std::int64_t number_of(const Timestamp& t) {
  assert(t.instant.anchor() == 0 && "a symbolic timestamp has no digits: ask the world, or keep it a Timestamp");
  return floor_divided(t.instant.offset().count_ns(), t.unit.count_ns());
}

bool same(const Timestamp& a, const Timestamp& b) {
  if (a.instant.identical(b.instant) && a.unit == b.unit) return true;
  if (a.instant.anchor() == 0 && b.instant.anchor() == 0) return number_of(a) == number_of(b);
  assert(a.unit == b.unit && a.instant.anchor() == b.instant.anchor() &&
         "whether two symbolic timestamps are equal is up to their world");
  const std::int64_t difference = (a.instant.offset() - b.instant.offset()).count_ns();
  assert((difference % a.unit.count_ns() == 0 || difference >= a.unit.count_ns() || -difference >= a.unit.count_ns()) &&
         "whether two symbolic timestamps round to the same number is up to their world");
  return false;
}

char capital(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text == "0") return 0;
  const std::string_view magnitude = !text.empty() && text.front() == '-' ? text.substr(1) : text;
  if (magnitude.empty() || magnitude.front() < '1' || magnitude.front() > '9') return std::nullopt;
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

void append_quoted(std::string& out, std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : bytes) {
    switch (c) {
      case '\\': out += "\\\\"; break;
      case '"': out += "\\\""; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      default:
        if (c >= ' ' && c <= '~') {
          out += c;
        } else {
          const auto byte = static_cast<unsigned char>(c);
          out += "\\x";
          out += kHex[byte >> 4];
          out += kHex[byte & 15];
        }
    }
  }
  out += '"';
}

void Value::store_apart(std::string_view bytes) {
  char* own = new char[bytes.size()];
  std::memcpy(own, bytes.data(), bytes.size());
  put(Kind::owned, std::string_view(own, bytes.size()));
}

std::string Value::text() const {
  std::string scratch;
  const std::string_view bytes = view(scratch);
  return bytes.data() == scratch.data() ? scratch : std::string(bytes);
}

void Value::append_to(std::string& out) const {
  if (has_bytes()) {
    out += stored_bytes();
  } else {
    out += digits_of(bits_.kind == Kind::number ? get<std::int64_t>() : number_of(*timestamp())).view();
  }
}

std::optional<std::int64_t> Value::integer() const {
  if (bits_.kind == Kind::number) return get<std::int64_t>();
  if (const Timestamp* t = timestamp()) return number_of(*t);
  return parse_integer(stored_bytes());
}

std::optional<sim::Instant> Value::instant(sim::Duration unit) const {
  if (const Timestamp* t = timestamp(); t != nullptr && t->unit == unit) return t->instant;
  const std::optional<std::int64_t> number = integer();
  if (!number) return std::nullopt;
  const std::int64_t limit = std::numeric_limits<std::int64_t>::max() / unit.count_ns();
  if (*number > limit || *number < -limit) return std::nullopt;
  return sim::Instant::at(unit * *number);
}

bool Value::operator==(const Value& other) const {
  if (has_bytes() && other.has_bytes()) return stored_bytes() == other.stored_bytes();
  const Timestamp* a = timestamp();
  const Timestamp* b = other.timestamp();
  if (a != nullptr && b != nullptr) return same(*a, *b);
  if ((a != nullptr && a->instant.anchor() != 0) || (b != nullptr && b->instant.anchor() != 0)) return false;
  // Two numbers have the same digits exactly when they are the same.
  const auto number = [](const Value& value, const Timestamp* time) {
    return time != nullptr ? number_of(*time) : value.get<std::int64_t>();
  };
  if (has_bytes()) return stored_bytes() == digits_of(number(other, b)).view();
  if (other.has_bytes()) return other.stored_bytes() == digits_of(number(*this, a)).view();
  return number(*this, a) == number(other, b);
}

bool Value::is_word(std::string_view capitals) const {
  if (!has_bytes()) return false;
  const std::string_view word = stored_bytes();
  if (word.size() != capitals.size()) return false;
  for (std::size_t i = 0; i < capitals.size(); ++i) {
    if (capital(word[i]) != capitals[i]) return false;
  }
  return true;
}

std::uint64_t Value::digest() const {
  if (has_bytes()) [[likely]]
    return digest_bytes(stored_bytes());
  if (const Timestamp* t = timestamp(); t != nullptr && t->instant.anchor() != 0) {
    // No digits to agree on: equal for the same instant and unit.
    const std::uint64_t seed = digest_number(t->instant.anchor(), digest_bytes("symbolic"));
    return digest_number(static_cast<std::uint64_t>(t->unit.count_ns()),
                         digest_number(static_cast<std::uint64_t>(t->instant.offset().count_ns()), seed));
  }
  const std::int64_t number = bits_.kind == Kind::number ? get<std::int64_t>() : number_of(*timestamp());
  if (number < 0 || number >= 10'000'000) return digest_bytes(digits_of(number).view());
  // What `digest_bytes` makes of up to seven digits, the first of them lowest, without writing them down.
  std::uint64_t digits = 0;
  std::uint64_t count = 0;
  for (auto left = static_cast<std::uint32_t>(number); left > 0 || count == 0; left /= 10, ++count) {
    digits = digits << 8 | ('0' + left % 10);
  }
  return digest_number(digits | count << 56, kDigestBegin);
}

std::string plain_or_quoted(std::string_view bytes) {
  const bool is_plain = !bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_' ||
           c == ':' || c == '.';
  });
  if (is_plain) return std::string(bytes);
  std::string quoted;
  append_quoted(quoted, bytes);
  return quoted;
}

}  // namespace lockstep::models
