#include "reports/text/table.hpp"

#include <algorithm>
#include <numeric>

#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

constexpr std::size_t kColumnGap = 2;   // between two columns
constexpr std::size_t kWidthLeast = 6;  // of a column

std::vector<std::string> paragraphs_of(const std::string& text) {
  std::vector<std::string> paragraphs;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    paragraphs.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  paragraphs.push_back(text.substr(begin));
  return paragraphs;
}

std::vector<std::string> broken(const Cell& cell, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& paragraph : paragraphs_of(cell.text)) {
    for (std::string& line : wrap(paragraph, width)) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

std::vector<std::size_t> Table::widths(std::size_t width) const {
  std::vector<std::size_t> wanted;
  std::vector<std::size_t> given;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = display_width(columns_[c].title);
    for (const Row& row : rows_) {
      for (const std::string& line : paragraphs_of(row.cells[c].text))
        widest = std::max(widest, display_width(printable(line)));
    }
    wanted.push_back(widest);
    given.push_back(std::min(widest, columns_[c].width_min));
  }
  // One column at a time to whoever is furthest from what it wants: short columns end up whole, long ones share.
  std::size_t used = std::accumulate(given.begin(), given.end(), kColumnGap * (columns_.size() - 1));
  while (used > width) {
    const auto widest = std::max_element(given.begin(), given.end());
    if (*widest <= kWidthLeast) break;
    --*widest;
    --used;
  }
  while (used < width) {
    std::size_t narrowest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (given[c] < wanted[c] && (narrowest == columns_.size() || given[c] < given[narrowest])) narrowest = c;
    }
    if (narrowest == columns_.size()) break;
    ++given[narrowest];
    ++used;
  }
  // What is left helps the notes.
  for (const Row& row : rows_) {
    std::size_t joint = kColumnGap * (row.note.last - row.note.first);
    for (std::size_t c = row.note.first; c <= row.note.last; ++c) joint += given[c];
    const std::size_t wanted_joint = display_width(printable(row.note.text));
    const std::size_t more = std::min(wanted_joint - std::min(wanted_joint, joint), width - std::min(width, used));
    given[row.note.first] += more;
    used += more;
  }
  return given;
}

Lines Table::lines(std::size_t width) const {
  const std::vector<std::size_t> given = widths(width);
  Lines lines;
  const auto put = [&](const Row& row) {
    std::vector<std::vector<std::string>> columns;
    for (std::size_t c = 0; c < columns_.size(); ++c) columns.push_back(broken(row.cells[c], given[c]));

    // The note begins where the cells above it have ended, beside what the other columns still have to say.
    std::vector<std::string> note;
    std::size_t note_begin = 0;
    if (!row.note.text.empty()) {
      std::size_t note_width = given[row.note.first];
      for (std::size_t c = row.note.first; c <= row.note.last; ++c) {
        note_begin = std::max(note_begin, columns[c].size());
        if (c > row.note.first) note_width += kColumnGap + given[c];
      }
      note = wrap(row.note.text, note_width);
    }
    std::size_t height = note_begin + note.size();
    for (const auto& column : columns) height = std::max(height, column.size());

    for (std::size_t i = 0; i < height; ++i) {
      Line& line = lines.emplace_back();
      std::size_t at = 0;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (c == row.note.first && i >= note_begin && i - note_begin < note.size()) {
          line.fill_to(at).append(note[i - note_begin], row.note.ink);
        } else if (i < columns[c].size()) {
          line.fill_to(at).append(columns[c][i], row.cells[c].ink);
        }
        at += given[c] + kColumnGap;
      }
    }
  };
  Row titles;
  for (const Column& column : columns_) titles.cells.push_back({column.title, Ink::faint});
  put(titles);
  for (const Row& row : rows_) put(row);
  return lines;
}

}  // namespace lockstep::reports
