#include "reports/text/line.hpp"

#include <algorithm>

#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

std::string_view escape_of(Ink ink) {
  switch (ink) {
    case Ink::plain: return "";
    case Ink::faint: return "\x1b[2m";
    case Ink::strong: return "\x1b[1m";
    case Ink::good: return "\x1b[32m";
    case Ink::bad: return "\x1b[1;31m";
    case Ink::warning: return "\x1b[33m";
    case Ink::accent: return "\x1b[36m";
  }
  return "";
}

}  // namespace

Line& Line::append(std::string_view text, Ink ink) {
  if (text.empty()) return *this;
  width_ += display_width(text);
  if (!segments_.empty() && segments_.back().ink == ink) {
    segments_.back().text += text;
  } else {
    segments_.push_back({std::string(text), ink});
  }
  return *this;
}

Line& Line::fill_to(std::size_t column) {
  if (column > width_) append(std::string(column - width_, ' '));
  return *this;
}

void Line::wrap_into(std::vector<Line>& lines, std::size_t width, std::size_t indent) const {
  Line line;
  bool is_empty = true;
  for (const Segment& segment : segments_) {
    std::string_view rest = segment.text;
    while (!rest.empty()) {
      // Blanks and the word after them.
      const std::size_t word = std::min(rest.find_first_not_of(' '), rest.size());
      const std::size_t end = std::min(rest.find(' ', word), rest.size());
      std::string_view piece = rest.substr(0, end);
      if (!is_empty && line.width() + display_width(piece) > width && word < end) {
        lines.push_back(std::move(line));
        line = Line().fill_to(indent);
        piece = rest.substr(word, end - word);
      }
      line.append(piece, segment.ink);
      is_empty = false;
      rest.remove_prefix(end);
    }
  }
  lines.push_back(std::move(line));
}

std::string Line::to_string(bool colour) const {
  std::string text;
  std::size_t end = 0;  // of the last segment that shows anything
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    if (segments_[i].text.find_first_not_of(' ') != std::string::npos) end = i + 1;
  }
  for (std::size_t i = 0; i < end; ++i) {
    std::string_view part = segments_[i].text;
    if (i + 1 == end) part = part.substr(0, part.find_last_not_of(' ') + 1);
    const std::string_view escape = colour ? escape_of(segments_[i].ink) : "";
    text.append(escape).append(part);
    if (!escape.empty()) text += "\x1b[0m";
  }
  return text;
}

std::string to_string(const Lines& lines, bool colour) {
  std::string text;
  for (const Line& line : lines) text += line.to_string(colour) + '\n';
  return text;
}

void add_wrapped(Lines& lines, std::string_view text, std::size_t width, Ink ink) {
  for (const std::string& part : wrap(text, width)) lines.emplace_back(part, ink);
}

void add_prose(Lines& lines, std::string_view text, std::size_t width, std::size_t indent, Ink ink) {
  for (const std::string& part : wrap(text, std::min(width, kProseMax) - indent)) {
    lines.emplace_back(Line().fill_to(indent).append(part, ink));
  }
}

}  // namespace lockstep::reports
