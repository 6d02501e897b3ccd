#include "reports/words/sentences.hpp"

#include <algorithm>

namespace lockstep::reports {

std::optional<std::vector<std::string_view>> parts_of(std::string_view text, std::string_view form) {
  std::vector<std::string_view> parts;
  std::size_t hole = form.find("{}");
  if (!text.starts_with(form.substr(0, hole))) return std::nullopt;
  text.remove_prefix(std::min(hole, form.size()));
  while (hole != std::string_view::npos) {
    form.remove_prefix(hole + 2);
    hole = form.find("{}");
    const std::string_view literal = form.substr(0, hole);
    // The last reaches to the end.
    const bool ends = hole == std::string_view::npos;
    if (literal.size() > text.size()) return std::nullopt;
    const std::size_t at = !ends ? text.find(literal) : text.size() - literal.size();
    if (at == std::string_view::npos || text.substr(at, literal.size()) != literal) return std::nullopt;
    if (literal.empty() && !ends) return std::nullopt;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + literal.size());
  }
  if (!text.empty()) return std::nullopt;
  return parts;
}

namespace {

/// `form` with its `{0}` and `{0~}` filled in.
std::optional<std::string> filled(std::string_view form, const std::vector<std::string_view>& parts, InChinese within) {
  std::string text;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '{') {
      text += form[i];
      continue;
    }
    const std::string_view part = parts[static_cast<std::size_t>(form[i + 1] - '0')];
    if (form[i + 2] != '~') {
      text += part;
    } else if (const auto inner = within == nullptr ? std::nullopt : within(part)) {
      text += *inner;
    } else {
      return std::nullopt;
    }
    i = form.find('}', i);
  }
  return text;
}

}  // namespace

std::optional<std::string> said_in_chinese(std::string_view text, std::span<const Sentence> sentences,
                                           InChinese within) {
  for (const Sentence& sentence : sentences) {
    const auto parts = parts_of(text, sentence.english);
    if (!parts) continue;
    if (auto chinese = filled(sentence.chinese, *parts, within)) return chinese;
  }
  return std::nullopt;
}

}  // namespace lockstep::reports
