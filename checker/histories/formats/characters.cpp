#include "checker/histories/formats/characters.hpp"

#include <string_view>

#include <fmt/format.h>

namespace lockstep::checker::history_formats {

std::string shown(const char* at, const char* end) {
  if (at == end) return "the end of the text";
  std::size_t size = 1;
  while (at + size < end && (static_cast<unsigned char>(at[size]) & 0xC0U) == 0x80) ++size;
  return fmt::format("\"{}\"", std::string_view(at, size));
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace lockstep::checker::history_formats
