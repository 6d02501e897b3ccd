#pragma once

// A story's text, changed where a value stands, so that comments and layout stay. It knows lines and not TOML: whoever
// calls compares what the loader reads afterwards with what was meant (edits.hpp).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::reports::play {

/// The line of a table's heading, from 0.
using HeadingLine = std::size_t;

class StoryText {
 public:
  explicit StoryText(std::string_view text);
  std::string text() const;

  /// "[lock]".
  std::optional<HeadingLine> find(std::string_view heading) const;
  /// The heading at this line (from 1) or the next above it.
  std::optional<HeadingLine> above(std::uint32_t line) const;

  /// `value`: as TOML has it; empty: the key goes.
  void set(HeadingLine table, std::string_view key, std::string_view value);
  void remove_table(HeadingLine table);
  /// "[network]\ntimeout = \"50ms\"\n", after a blank line at the end.
  void append(std::string_view table);

 private:
  std::size_t end_of(HeadingLine table) const;

  std::vector<std::string> lines_;
};

}  // namespace lockstep::reports::play
