#pragma once

// A table whose cells break into lines, so that it fits any width without losing a word.

#include <cstddef>
#include <string>
#include <vector>

#include "reports/text/line.hpp"

namespace lockstep::reports {

struct Cell {
  std::string text;
  Ink ink = Ink::plain;
};

/// Text below a row, across its columns `first` to `last`.
struct Note {
  std::string text;
  Ink ink = Ink::plain;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct Column {
  std::string title;
  std::size_t width_min = 8;  ///< narrower only if the table would not fit otherwise
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Requires: as many cells as there are columns. A line break in a cell begins a new line.
  void add(std::vector<Cell> cells, Note note = {}) { rows_.push_back({std::move(cells), std::move(note)}); }
  /// Columns as wide as their contents, if they fit; else what is there is shared among those that want more.
  Lines lines(std::size_t width) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    Note note;
  };
  std::vector<std::size_t> widths(std::size_t width) const;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace lockstep::reports
