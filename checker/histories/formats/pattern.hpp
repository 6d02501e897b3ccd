#pragma once

// Records of a history as lines of any log, whose shape the caller says:
//
//   {time} [{client}] {event} {op} {value}
//
// A word in braces is a field, by the names that columns of a table may have. Everything else stands there as it is;
// a blank is one blank or more. A pattern is no regular expression: each field ends at the first place where what
// follows it in the pattern stands, so that a line is looked at once.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "checker/histories/formats/records.hpp"

namespace lockstep::checker::history_formats {

class Pattern {
 public:
  /// Or what is wrong with it: one sentence, with the nearest name where one is not known.
  struct Mistake {
    std::string message;
    std::string given;
    std::vector<std::string> valid;
  };
  static std::variant<Pattern, Mistake> parse(std::string_view text);

  /// How far a line is as the pattern has it.
  struct Reach {
    std::size_t place = 0;  ///< in the line
    std::string expected;   ///< there; empty: the line is as it should be
  };
  using Found = std::vector<std::pair<Field, std::string_view>>;
  /// The fields of a line, which is without its end. Those that the pattern says itself are among them.
  Reach match(std::string_view line, Found& found) const;

 private:
  struct Part {
    enum class Kind : std::uint8_t { text, blank, field, ignored };
    Kind kind = Kind::text;
    std::string text;  ///< as it is written
    Field field = Field::process;
  };

  Pattern() = default;
  std::optional<Mistake> add_field(std::string_view name);
  std::optional<Mistake> mistake() const;
  bool has(Field field) const;
  /// Where the texts and blanks from a part on end, up to the next field; nothing: they do not stand here.
  std::optional<std::size_t> pass_texts(std::string_view line, std::size_t place, std::size_t part) const;
  /// Where a field that begins here ends; nothing: nowhere.
  std::optional<std::size_t> end_of(std::string_view line, std::size_t place, std::size_t part) const;
  static bool is_word(Field field);

  std::vector<Part> parts_;
  std::vector<std::pair<Field, std::string>> said_;  ///< {op=lock}
};

/// Lines that none of the patterns fits are passed over.
class PatternEvents final : public RecordEvents {
 public:
  PatternEvents(Window& window, std::span<const Pattern> patterns) : RecordEvents(window), patterns_(patterns) {}

 private:
  bool read_all(Complaint& complaint) override;

  std::span<const Pattern> patterns_;
};

}  // namespace lockstep::checker::history_formats
