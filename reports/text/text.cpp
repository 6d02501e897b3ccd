#include "reports/text/text.hpp"

#include <algorithm>
#include <cstdint>

#include "sim/utf8.hpp"

namespace lockstep::reports {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "…";

using sim::Character;
using sim::first_character;
using sim::is_control;

struct Range {
  char32_t first, last;
};

bool is_in(char32_t code, std::initializer_list<Range> ranges) {
  constexpr char32_t kFirst = 0x0300;  // of all ranges here; nearly all text lies below
  return code >= kFirst &&
         std::any_of(ranges.begin(), ranges.end(), [&](Range r) { return code >= r.first && code <= r.last; });
}

bool is_wide(char32_t code) {
  return is_in(code, {{0x1100, 0x115F},
                      {0x2E80, 0x303E},
                      {0x3041, 0x33FF},
                      {0x3400, 0x4DBF},
                      {0x4E00, 0x9FFF},
                      {0xA000, 0xA4CF},
                      {0xAC00, 0xD7A3},
                      {0xF900, 0xFAFF},
                      {0xFE30, 0xFE4F},
                      {0xFF00, 0xFF60},
                      {0xFFE0, 0xFFE6},
                      {0x1F300, 0x1F64F},
                      {0x1F900, 0x1F9FF},
                      {0x20000, 0x3FFFD}});
}

std::size_t width_of(char32_t code) {
  if (is_in(code, {{0x0300, 0x036F}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}})) return 0;
  return is_wide(code) ? 2 : 1;
}

/// Punctuation that belongs to what stands before it.
bool clings(char32_t code) {
  return is_in(code, {{0x3001, 0x3002},
                      {0x300D, 0x300D},
                      {0x300F, 0x300F},
                      {0x3009, 0x3009},
                      {0x300B, 0x300B},
                      {0x201D, 0x201D},
                      {0x2019, 0x2019},
                      {0xFF01, 0xFF01},
                      {0xFF09, 0xFF09},
                      {0xFF0C, 0xFF0C},
                      {0xFF0E, 0xFF0E},
                      {0xFF1A, 0xFF1B},
                      {0xFF1F, 0xFF1F}});
}

/// What a line must not be broken inside: a word, or one Chinese character with its punctuation.
struct Unit {
  std::string text;
  std::size_t width = 0;
  bool after_blank = false;
};

std::vector<Unit> units_of(std::string_view text) {
  std::vector<Unit> units;
  bool after_blank = false;
  bool may_join = false;
  while (!text.empty()) {
    const Character c = first_character(text);
    text.remove_prefix(c.bytes.size());
    if (c.code == ' ') {
      after_blank = true;
      may_join = false;
      continue;
    }
    const bool joins = !units.empty() && !after_blank && (clings(c.code) || (may_join && !is_wide(c.code)));
    if (!joins) units.push_back({"", 0, after_blank});
    units.back().text += c.bytes;
    units.back().width += width_of(c.code);
    after_blank = false;
    may_join = !is_wide(c.code);
  }
  return units;
}

/// As much of `text` as fits into `width` columns.
std::string_view prefix_within(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character c = first_character(text.substr(bytes));
    if (used + width_of(c.code) > width) break;
    used += width_of(c.code);
    bytes += c.bytes.size();
  }
  return text.substr(0, bytes);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_character(text);
    text.remove_prefix(c.bytes.size());
    if (c.code == '\n' || c.code == '\r' || c.code == '\t') {
      clean += ' ';
    } else if (c.code == sim::no_character || is_control(c.code) || c.code == 0xFFFE || c.code == 0xFFFF) {
      // The last two are no characters, and in XML nothing that is well-formed has them.
      clean += kReplacement;
    } else {
      clean += c.bytes;
    }
  }
  return clean;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character c = first_character(text);
    text.remove_prefix(c.bytes.size());
    width += width_of(c.code);
  }
  return width;
}

std::string clip(std::string_view text, std::size_t width) {
  const std::string clean = printable(text);
  if (display_width(clean) <= width) return clean;
  if (width == 0) return "";
  std::string cut(prefix_within(clean, width - 1));
  while (cut.ends_with(' ')) cut.pop_back();
  return cut.append(kEllipsis);
}

std::string pad(std::string_view text, std::size_t width) {
  std::string padded = clip(text, width);
  return padded.append(width - display_width(padded), ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::string clipped = clip(text, width);
  return std::string(width - display_width(clipped), ' ') + clipped;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 2);
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  const auto new_line = [&] {
    lines.emplace_back();
    used = 0;
  };
  for (Unit& unit : units_of(printable(sim::screenful(text)))) {
    const std::size_t blank = unit.after_blank && used > 0 ? 1 : 0;
    if (used > 0 && used + blank + unit.width > width)
      new_line();
    else if (blank == 1)
      lines.back() += ' ', ++used;
    std::string_view rest = unit.text;
    while (display_width(rest) > width) {
      std::string_view part = prefix_within(rest, width);
      const std::size_t joint = part.find_last_of("-/");
      if (joint != std::string_view::npos && joint > 0) part = part.substr(0, joint + 1);
      lines.back() += part;
      rest.remove_prefix(part.size());
      new_line();
    }
    lines.back() += rest;
    used += display_width(rest);
  }
  return lines;
}

std::string joined(const std::vector<std::string>& names, std::string_view separator) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += separator;
    text += name;
  }
  return text;
}

}  // namespace lockstep::reports
