#include "reports/table.hpp"

#include <algorithm>
#include <numeric>

#include "reports/text.hpp"

namespace lockstep::reports {
namespace {

constexpr std::size_t kGap = 2;  // between two columns

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
    for (const auto& row : rows_) {
      for (const std::string& line : paragraphs_of(row[c].text)) widest = std::max(widest, display_width(printable(line)));
    }
    wanted.push_back(widest);
    given.push_back(std::min(widest, columns_[c].width_min));
  }
  // One column at a time to whoever is furthest from what it wants: short columns end up whole, long ones share.
  std::size_t used = std::accumulate(given.begin(), given.end(), kGap * (columns_.size() - 1));
  while (used < width) {
    std::size_t narrowest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (given[c] < wanted[c] && (narrowest == columns_.size() || given[c] < given[narrowest])) narrowest = c;
    }
    if (narrowest == columns_.size()) break;
    ++given[narrowest];
    ++used;
  }
  return given;
}

Lines Table::lines(std::size_t width) const {
  const std::vector<std::size_t> given = widths(width);
  Lines lines;
  const auto put = [&](const std::vector<Cell>& row) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      cells.push_back(broken(row[c], given[c]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t i = 0; i < height; ++i) {
      Line& line = lines.emplace_back();
      std::size_t column = 0;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        line.fill_to(column);
        if (i < cells[c].size()) line.append(cells[c][i], row[c].ink);
        column += given[c] + kGap;
      }
    }
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Ink::faint});
  put(titles);
  for (const auto& row : rows_) put(row);
  return lines;
}

}  // namespace lockstep::reports
