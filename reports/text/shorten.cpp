#include "reports/text/shorten.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "reports/text/text.hpp"

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

/// An argument that is left out; the end of a command within a transaction stays.
std::string omitted(std::string_view word) { return std::string(kOmitted).append(word.ends_with(';') ? ";" : ""); }
bool is_omitted(std::string_view word) { return word.starts_with(kOmitted) && word.size() <= kOmitted.size() + 1; }

/// Several ellipses in a row say no more than one.
std::string joined_once(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == kOmitted && i + 1 < words.size() && is_omitted(words[i + 1])) continue;
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
  // Names of commands: the first word, and in "EXEC: SET a 1; DEL b" those after "EXEC:" and each semicolon.
  std::vector<bool> is_name;
  for (std::size_t i = 0; i < words.size(); ++i) {
    is_name.push_back(i == 0 || words[i - 1] == "EXEC:" || words[i - 1].ends_with(';'));
  }
  // The longest first: keys and channels repeat what the story has said. The last argument says who asks.
  enum class Spares : std::uint8_t { names_and_last, names, nothing };
  for (const Spares spares : {Spares::names_and_last, Spares::names, Spares::nothing}) {
    while (!fits(whole())) {
      std::size_t longest = 0;
      for (std::size_t i = 1; i < words.size(); ++i) {
        const bool is_spared = (is_name[i] && spares != Spares::nothing) ||
                               (i + 1 == words.size() && words.size() > 2 && spares == Spares::names_and_last);
        if (is_spared || is_omitted(words[i])) continue;
        if (longest == 0 || display_width(words[i]) >= display_width(words[longest])) longest = i;
      }
      if (longest == 0) break;
      words[longest] = omitted(words[longest]);
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
