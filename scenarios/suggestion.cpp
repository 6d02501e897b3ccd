#include "scenarios/suggestion.hpp"

#include <algorithm>
#include <vector>

namespace lockstep::scenarios {
namespace {

/// Nobody mistypes a longer name, and the distance costs the product of the lengths.
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestList = 24;
constexpr std::size_t kLongestQuote = 40;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Optimal string alignment: Levenshtein's distance, and a swap of neighbours counts once.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

/// Near enough to be meant: not every letter is another one.
bool is_slip(std::string_view given, std::string_view name) {
  if (given.size() > kLongestName) return false;
  const std::size_t edits = distance(given, name);
  return edits <= std::max<std::size_t>(1, given.size() / 3) && edits < std::max(given.size(), name.size());
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view given, std::span<const std::string_view> valid) {
  given = given.substr(0, kLongestName);
  const auto best = std::min_element(valid.begin(), valid.end(), [&](std::string_view a, std::string_view b) {
    return distance(given, a) < distance(given, b);
  });
  if (best == valid.end()) return std::nullopt;
  return *best;
}

std::string suggestion(std::string_view given, std::span<const std::string_view> valid) {
  const std::optional<std::string_view> best = nearest(given, valid);
  if (!best) return "there is none to choose from";
  if (is_slip(given, *best)) return "did you mean " + in_quotes(*best) + "?";
  if (valid.size() > kLongestList) return "the nearest is " + in_quotes(*best);
  std::string list = valid.size() == 1 ? "expected " : "expected one of ";
  for (std::size_t i = 0; i < valid.size(); ++i) {
    if (i > 0) list += ", ";
    list += valid[i];
  }
  return list;
}

namespace {

/// A byte as a terminal can show it in one line.
void append_visible(std::string& out, char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    out += "\\n";
  } else if (byte < 0x20 || byte == 0x7F) {
    out += {'\\', 'x', hex[byte >> 4], hex[byte & 15u]};
  } else {
    out += c;
  }
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) append_visible(out, c);
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  std::size_t characters = 0;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0u) == 0x80;
    if (!continues && ++characters > kLongestQuote) return out + "...\"";
    append_visible(out, c);
  }
  return out + "\"";
}

}  // namespace lockstep::scenarios
