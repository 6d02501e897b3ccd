#include "checker/histories/canonical.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "checker/histories/formats/characters.hpp"

namespace lockstep::checker::history_formats {
namespace {

constexpr std::int64_t kPlainMax =
    21;  ///< digits before the point, or zeros behind it, beyond which there is an exponent
constexpr std::size_t kExponentDigitsMax = 9;

std::string_view take_digits(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && is_digit(text[size])) ++size;
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

/// In the order of their texts: which one was written first does not matter.
void append_sorted(std::string& out, const Value& value, std::size_t each) {
  std::vector<std::string> parts(value.items.size() / each);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t k = 0; k < each; ++k) {
      if (k != 0) parts[i] += ' ';
      append_canonical(parts[i], value.items[i * each + k]);
    }
  }
  std::sort(parts.begin(), parts.end());
  const char* between = "";
  for (const std::string& part : parts) {
    out.append(between).append(part);
    between = " ";
  }
}

}  // namespace

void append_canonical(std::string& out, const Value& value) {
  switch (value.kind) {
    case Value::Kind::absent:
    case Value::Kind::nil: out += "nil"; return;
    case Value::Kind::boolean: out += value.number != 0 ? "true" : "false"; return;
    case Value::Kind::integer: out += std::to_string(value.number); return;
    case Value::Kind::number: out += canonical_number(value.text); return;
    case Value::Kind::name: out += value.text; return;
    case Value::Kind::text: append_string(out, value.text); return;
    case Value::Kind::list: {
      out += '[';
      const char* between = "";
      for (const Value& item : value.items) {
        out += between;
        append_canonical(out, item);
        between = " ";
      }
      out += ']';
      return;
    }
    case Value::Kind::set:
      out += "#{";
      append_sorted(out, value, 1);
      out += '}';
      return;
    case Value::Kind::map:
      out += '{';
      append_sorted(out, value, 2);
      out += '}';
      return;
  }
}

std::string canonical_number(std::string_view written) {
  std::string_view rest = written;
  const bool is_negative = rest.starts_with('-');
  if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
  const std::string_view whole = take_digits(rest);
  std::string_view fraction;
  const bool has_point = rest.starts_with('.');
  if (has_point) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
  }
  std::int64_t exponent = 0;
  const bool has_exponent = rest.starts_with('e') || rest.starts_with('E');
  if (has_exponent) {
    rest.remove_prefix(1);
    const bool goes_down = rest.starts_with('-');
    if (goes_down || rest.starts_with('+')) rest.remove_prefix(1);
    const std::string_view digits = take_digits(rest);
    if (digits.empty() || digits.size() > kExponentDigitsMax) return std::string(written);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (goes_down) exponent = -exponent;
  }
  const bool is_decimal = rest == "M";
  const bool is_whole = !has_point && !has_exponent && !is_decimal;
  if (whole.empty() || !(rest.empty() || is_decimal || (is_whole && rest == "N"))) return std::string(written);

  std::string digits = std::string(whole) + std::string(fraction);
  std::int64_t point = static_cast<std::int64_t>(whole.size()) + exponent;  // behind so many digits
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, zeros);
  if (is_whole) return digits.empty() ? "0" : (is_negative ? "-" : "") + digits;
  point -= static_cast<std::int64_t>(zeros);
  digits.erase(digits.find_last_not_of('0') + 1);
  const auto count = static_cast<std::int64_t>(digits.size());
  std::string text = is_negative && count > 0 ? "-" : "";
  if (count == 0) {
    text += "0.0";
  } else if (point > 0 && point <= kPlainMax) {
    const std::string before = digits.substr(0, static_cast<std::size_t>(std::min(point, count)));
    text += before + std::string(static_cast<std::size_t>(std::max<std::int64_t>(0, point - count)), '0') + '.' +
            (point < count ? digits.substr(static_cast<std::size_t>(point)) : "0");
  } else if (point <= 0 && point > -kPlainMax) {
    text += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else {
    text += digits.substr(0, 1) + '.' + (count > 1 ? digits.substr(1) : "0") + 'e' + std::to_string(point - 1);
  }
  return text + (is_decimal ? "M" : "");
}

}  // namespace lockstep::checker::history_formats
