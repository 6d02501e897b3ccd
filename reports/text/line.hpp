#pragma once

// One line of terminal output in several inks. Everything that a colour says is also said by a character, so a line
// without colour loses nothing.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::reports {

enum class Ink : std::uint8_t {
  plain,
  faint,    ///< what is there but not meant: times, idle lanes
  strong,   ///< titles and names
  good,     ///< holds, as expected
  bad,      ///< violated, not as expected
  warning,  ///< pauses, losses, unknown outcomes
  accent    ///< a client that believes it holds the lock
};

class Line {
 public:
  Line() = default;
  explicit Line(std::string_view text, Ink ink = Ink::plain) { append(text, ink); }

  /// The text must be printable (`reports/text/text.hpp`).
  Line& append(std::string_view text, Ink ink = Ink::plain);
  /// Blanks up to this column; nothing if the line is there already.
  Line& fill_to(std::size_t column);

  std::size_t width() const { return width_; }
  /// Appends it to `lines`: whole, or where it has more than `width` columns broken at blanks, further lines after
  /// `indent` blanks.
  void wrap_into(std::vector<Line>& lines, std::size_t width, std::size_t indent) const;
  /// With ANSI colours or without; without blanks at its end, and without a line break.
  std::string to_string(bool colour) const;

 private:
  struct Segment {
    std::string text;
    Ink ink;
  };
  std::vector<Segment> segments_;
  std::size_t width_ = 0;
};

using Lines = std::vector<Line>;

/// Broken at blanks into lines of at most `width` columns.
void add_wrapped(Lines& lines, std::string_view text, std::size_t width, Ink ink);

/// More columns than this make prose hard to read.
inline constexpr std::size_t kProseMax = 100;
/// Prose in lines of at most `width` columns, and of kProseMax, each after `indent` blanks.
void add_prose(Lines& lines, std::string_view text, std::size_t width, std::size_t indent, Ink ink = Ink::plain);

/// All of them, each with its line break.
std::string to_string(const Lines& lines, bool colour);

}  // namespace lockstep::reports
