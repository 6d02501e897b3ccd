#include "sim/utf8.hpp"

#include <array>
#include <cstddef>

namespace lockstep::sim {

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {text.substr(0, 1), lead};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  const Character broken{text.substr(0, 1), no_character};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return broken;
  char32_t code = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return broken;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  if (code < smallest[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return broken;
  return {text.substr(0, size), code};
}

bool is_control(char32_t code) {
  const auto is_between = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
  return code < 0x20 || is_between(0x7F, 0x9F) || code == 0x061C || is_between(0x200E, 0x200F) ||
         is_between(0x2028, 0x202E) || is_between(0x2066, 0x2069);
}

std::string screenful(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  std::string left_out = std::to_string(text.size() - end);
  for (std::size_t i = left_out.size(); i > 3; i -= 3) left_out.insert(i - 3, ",");
  return std::string(text.substr(0, end)) + "… (" + left_out + " more bytes)";
}

}  // namespace lockstep::sim
