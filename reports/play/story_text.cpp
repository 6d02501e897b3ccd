#include "reports/play/story_text.hpp"

#include <algorithm>

namespace lockstep::reports::play {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

/// Where a comment begins that follows a value; the line's size if none does.
std::size_t comment_after(std::string_view line, std::size_t from) {
  char quote = 0;
  for (std::size_t i = from; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\' && quote == '"')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      return i;
    }
  }
  return line.size();
}

std::string_view without_remark(std::string_view line) {
  return without_blanks(line.substr(0, comment_after(line, 0)));
}

bool is_heading(std::string_view line) { return without_blanks(line).starts_with('['); }

bool sets(std::string_view line, std::string_view key) {
  line = without_blanks(line);
  if (!line.starts_with(key)) return false;
  return without_blanks(line.substr(key.size())).starts_with('=');
}

}  // namespace

StoryText::StoryText(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines_.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string StoryText::text() const {
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  return text;
}

std::optional<HeadingLine> StoryText::find(std::string_view heading) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (without_remark(lines_[i]) == heading) return i;
  }
  return std::nullopt;
}

std::optional<HeadingLine> StoryText::above(std::uint32_t line) const {
  for (std::size_t i = std::min<std::size_t>(line, lines_.size()); i > 0; --i) {
    if (is_heading(lines_[i - 1])) return i - 1;
  }
  return std::nullopt;
}

/// The line after the last one that says something of the table: comments behind it are about what comes next.
std::size_t StoryText::end_of(HeadingLine table) const {
  std::size_t end = table + 1;
  for (std::size_t i = end; i < lines_.size() && !is_heading(lines_[i]); ++i) {
    if (!without_remark(lines_[i]).empty()) end = i + 1;
  }
  return end;
}

void StoryText::set(HeadingLine table, std::string_view key, std::string_view value) {
  const std::size_t end = end_of(table);
  for (std::size_t i = table + 1; i < end; ++i) {
    std::string& line = lines_[i];
    if (!sets(line, key)) continue;
    if (value.empty()) {
      lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    const std::size_t from = line.find('=') + 1;
    const std::size_t remark = comment_after(line, from);
    std::string behind = line.substr(remark);
    if (!behind.empty()) behind.insert(0, "  ");
    line = line.substr(0, from) + " " + std::string(value) + behind;
    return;
  }
  if (value.empty()) return;
  lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(end), std::string(key) + " = " + std::string(value));
}

void StoryText::remove_table(HeadingLine table) {
  std::size_t end = end_of(table);
  if (end < lines_.size() && without_blanks(lines_[end]).empty()) ++end;
  lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(table), lines_.begin() + static_cast<std::ptrdiff_t>(end));
}

void StoryText::append(std::string_view table) {
  while (!lines_.empty() && without_blanks(lines_.back()).empty()) lines_.pop_back();
  if (!lines_.empty()) lines_.emplace_back();
  const StoryText more(table);
  lines_.insert(lines_.end(), more.lines_.begin(), more.lines_.end());
}

}  // namespace lockstep::reports::play
