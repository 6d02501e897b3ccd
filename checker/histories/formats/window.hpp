#pragma once

// The text of a history, of which only a piece is in memory: a gigabyte of log needs a megabyte.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/histories/formats/event.hpp"

namespace lockstep::checker::history_formats {

/// Where text comes from. Fills the beginning of the span, at least one byte unless there is no more, and says how
/// much; nothing if reading failed.
using Source = std::function<std::optional<std::size_t>(std::span<char>)>;

Source text_source(std::string_view text);
/// Reads an open file; -1 for one that could not be opened gives nothing.
Source file_source(int file);

/// A piece of the text that grows at its end and is given up at its beginning. What is in it is UTF-8, without a
/// byte-order mark, and no character is cut in half.
class Window {
 public:
  explicit Window(Source source, std::size_t chunk = std::size_t{1} << 20U);

  const char* begin() const { return text_.data() + begin_; }
  const char* end() const { return text_.data() + checked_; }
  /// Is what `end` points to the end of the text, or of what can be read of it?
  bool is_complete() const { return is_complete_; }
  /// Reads on, up to so many bytes at once; all pointers into the window move. Requires: !is_complete().
  void grow(std::size_t bytes_max = record_bytes_max);
  /// What is longer is not read on, so that what is parsed at once is less than twice that. Values take up to fifty
  /// times as many bytes as their text.
  static constexpr std::size_t record_bytes_max = std::size_t{8} << 20U;
  /// The text before `at` is done with.
  void give_up_to(const char* at);

  /// Of a character in the window.
  Position position(const char* at) const;
  std::uint32_t line(const char* at);

  /// Why there is nothing behind `end`, if that is not because the text ends there.
  const std::optional<Trouble>& trouble() const { return trouble_; }

 private:
  void check_encoding(std::size_t from);

  Source source_;
  std::size_t chunk_;
  std::vector<char> text_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;      ///< what has been read
  std::size_t checked_ = 0;  ///< up to here it is UTF-8
  bool is_first_ = true;
  bool is_complete_ = false;
  std::optional<Trouble> trouble_;
  // The line in which `begin_` is, and how many characters of it have been given up.
  std::uint32_t line_ = 1;
  std::size_t column_ = 0;
  // Lines are asked for in ascending order: this is where the last answer was.
  std::size_t counted_ = 0;
  std::uint32_t counted_line_ = 1;
};

}  // namespace lockstep::checker::history_formats
