#include "models/redis/data/glob.hpp"

#include <cstddef>
#include <utility>

namespace lockstep::models::redis {
namespace {

/// Reads the class that begins at pattern[at] == '[': whether `c` is in it. Moves `at` to its last character. A class
/// that is never closed ends with the pattern.
bool class_matches(std::string_view pattern, std::size_t& at, unsigned char c) {
  ++at;
  const bool is_negated = at < pattern.size() && pattern[at] == '^';
  if (is_negated) ++at;
  bool found = false;
  for (;; ++at) {
    if (at >= pattern.size()) {
      --at;
      break;
    }
    if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      ++at;
      if (static_cast<unsigned char>(pattern[at]) == c) found = true;
    } else if (pattern[at] == ']') {
      break;
    } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
      auto first = static_cast<unsigned char>(pattern[at]);
      auto last = static_cast<unsigned char>(pattern[at + 2]);
      if (first > last) std::swap(first, last);
      at += 2;
      if (c >= first && c <= last) found = true;
    } else if (static_cast<unsigned char>(pattern[at]) == c) {
      found = true;
    }
  }
  return found != is_negated;
}

/// Whether pattern[at], which is no star, takes `c`; moves `at` behind it.
bool one_matches(std::string_view pattern, std::size_t& at, char c) {
  bool matches = false;
  if (pattern[at] == '?') {
    matches = true;
  } else if (pattern[at] == '[') {
    matches = class_matches(pattern, at, static_cast<unsigned char>(c));
  } else {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    matches = pattern[at] == c;
  }
  ++at;
  return matches;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  // A real server does not look at the pattern of an empty text, not even at a star.
  if (text.empty()) return pattern.empty();
  // Only the last star ever needs to take more: what came before it has matched as early as it can.
  std::size_t p = 0, t = 0;
  std::size_t after_star = std::string_view::npos, star_until = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_until = t;
      continue;
    }
    if (p < pattern.size() && one_matches(pattern, p, text[t])) {
      ++t;
      continue;
    }
    if (after_star == std::string_view::npos) return false;
    p = after_star;
    t = ++star_until;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace lockstep::models::redis
