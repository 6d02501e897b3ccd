#include "reports/shorten.hpp"

#include <algorithm>
#include <cassert>

#include "reports/text.hpp"

namespace lockstep::reports {
namespace {

constexpr std::string_view kOmitted = "…";

/// Where a quoted string that begins at `from` ends: behind its closing quote.
std::size_t end_of_quoted(std::string_view text, std::size_t from) {
  for (std::size_t i = from + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return text.size();
}

/// What stands between blanks; a quoted string is one word.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    const std::size_t end = text[i] == '"' ? end_of_quoted(text, i) : std::min(text.find(' ', i), text.size());
    words.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

/// Several ellipses in a row say no more than one.
std::string joined_once(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && words[i] == kOmitted && words[i - 1] == kOmitted) continue;
    if (!text.empty()) text += ' ';
    text += words[i];
  }
  return text;
}

bool is_open(std::string_view text) {
  std::size_t i = 0;
  while ((i = text.find('"', i)) != std::string_view::npos) {
    const std::size_t end = end_of_quoted(text, i);
    if (end == text.size() && (end - i < 2 || text.back() != '"')) return true;
    i = end;
  }
  return false;
}

/// Cut so that no quote stays open.
std::vector<std::string> cut(const std::string& text, std::size_t width, std::size_t lines_max) {
  std::vector<std::string> lines = wrap(text, width);
  if (lines.size() <= lines_max) return lines;
  std::string rest;
  for (std::size_t i = lines_max - 1; i < lines.size(); ++i) rest += (rest.empty() ? "" : " ") + lines[i];
  lines.resize(lines_max);
  std::string& last = lines.back();
  last = clip(rest, width);
  if (is_open(joined(lines, " "))) last = clip(rest, std::max<std::size_t>(width, 2) - 1) + '"';
  // The quote itself may have been what was cut off.
  if (is_open(joined(lines, " "))) last = clip(rest, std::max<std::size_t>(width, 2) - 1);
  return lines;
}

}  // namespace

std::vector<std::string> wrap_command(std::string_view command, std::string_view rest, std::size_t width,
                                      std::size_t lines_max) {
  assert(lines_max > 0);
  std::vector<std::string> words = words_of(command);
  const auto whole = [&] { return joined_once(words).append(rest); };
  const auto fits = [&](const std::string& text) { return wrap(text, width).size() <= lines_max; };
  if (words.empty() || fits(std::string(command).append(rest)))
    return cut(std::string(command).append(rest), width, lines_max);
  // The longest first: keys and channels repeat what the story has said. The last argument says who asks.
  for (const bool spares_last : {true, false}) {
    while (!fits(whole())) {
      const auto end = words.end() - (spares_last && words.size() > 2 ? 1 : 0);
      const auto longest = std::max_element(words.begin() + 1, end, [](const std::string& a, const std::string& b) {
        const auto weight = [](const std::string& word) { return word == kOmitted ? 0 : display_width(word); };
        return weight(a) <= weight(b);
      });
      if (longest == end || *longest == kOmitted) break;
      *longest = kOmitted;
    }
  }
  return cut(whole(), width, lines_max);
}

std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t width) {
  std::vector<std::string> ends_cut;
  for (const std::string& name : names) ends_cut.push_back(clip(name, width));
  const auto cut_with = [&](std::size_t i, std::size_t tail) {
    const std::string& name = names[i];
    if (tail == 0 || display_width(name) <= width) return ends_cut[i];
    return name.substr(0, width - 1 - tail) + std::string(kOmitted) + name.substr(name.size() - tail);
  };
  std::vector<std::string> shorts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto is_clear = [&](std::size_t tail) {
      for (std::size_t other = 0; other < names.size(); ++other) {
        if (names[other] == names[i] || ends_cut[other] != ends_cut[i]) continue;
        if (cut_with(other, tail) == cut_with(i, tail)) return false;
      }
      return true;
    };
    std::size_t tail = 0;
    while (!is_clear(tail) && tail + 1 < width) ++tail;
    shorts.push_back(cut_with(i, tail));
  }
  return shorts;
}

}  // namespace lockstep::reports
