#pragma once

// The options of a command, each said once: its name, what follows it, its line of help, how its value is read, and
// what is said when it is wrong. Start here to add one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/time/time.hpp"

namespace lockstep::cli {

/// A file to be written, with the option that says so.
struct OutputFile {
  std::string option;  ///< "--junit"
  std::string file;
  /// Every file that lockstep writes there contains one of these, and hardly another file. Empty: the command reads the
  /// file first, and refuses it itself.
  std::vector<std::string_view> marks;
};

struct Option {
  enum class Takes : std::uint8_t {
    nothing,
    a_word,         ///< of several the last one counts
    each,           ///< a word, as often as one likes
    words,          ///< all up to the next option
    a_word_if_any,  ///< it may stand alone, as --redis
  };
  /// Returns what is wrong with a value; empty: it is taken.
  using Take = std::function<std::string(const std::string&)>;

  std::string_view name;      ///< "--jobs"
  std::string_view argument;  ///< in help, "N"
  std::string_view help;      ///< lines; empty: those of the next one are about this one, too
  Takes takes = Takes::nothing;
  bool in_commas = false;                              ///< a word is several values
  Take take = nullptr;                                 ///< null: a row of help, and no option
  const std::optional<std::string>* output = nullptr;  ///< where the name of a file that it has written ends up
  std::vector<std::string_view> marks = {};            ///< `OutputFile::marks`
};

/// A command as help shows it, and as calls are read.
struct Manual {
  std::string_view name;     ///< "check"
  std::string_view summary;  ///< a line in the help of the program
  std::string_view example;  ///< the same, without "lockstep"
  std::string_view head;     ///< what stands above the options
  std::vector<Option> options;
  std::string_view tail;  ///< what stands below them
  /// What the options of every command mean to this one. Empty: nothing, and help says so.
  std::string_view json = "one JSON document on stdout, nothing else";
  std::string_view seed = "";
  std::string_view jobs = "";
  std::string_view language = "";
  bool is_laid_out = true;  ///< --width and --color mean something
  bool takes_words = true;
  bool has_cases = false;  ///< its result has test cases, for formats that are made of them
  bool has_page = false;   ///< ... or a page
  bool is_split = false;   ///< processes of MPI do parts of it
};

/// `--name VALUE: expected what`.
std::string expected(std::string_view option, const std::string& value, std::string_view what);
/// The same with the nearest of the valid names.
std::string not_one_of(std::string_view option, const std::string& value, std::span<const std::string_view> valid);

std::optional<std::uint64_t> whole_number(const std::string& text, std::uint64_t min, std::uint64_t max);
/// Seconds with a decimal point, as people type them.
std::optional<double> seconds_of(const std::string& text);

/// How an option stands in help, and begins.
struct Row {
  std::string_view name, argument, help;
};

/// An option with a value. The others are made of it.
Option word(Row row, Option::Take take, Option::Takes takes = Option::Takes::a_word);
Option flag(Row row, bool& to, bool value = true);
/// Any word.
Option text(Row row, std::optional<std::string>& to);
/// A file to write, with `OutputFile::marks`, or a folder.
Option file(Row row, std::vector<std::string_view> marks, std::optional<std::string>& to);
Option folder(Row row, std::optional<std::string>& to);
Option words(Row row, Option::Takes takes, std::vector<std::string>& to);
/// Words, or several in one, with commas between them.
Option list(Row row, Option::Takes takes, std::vector<std::string>& to);
/// One of these; `set` is told which.
Option one_of(Row row, std::vector<std::string_view> names, std::function<void(std::size_t)> set);
/// Seconds, such as 60 or 0.5.
Option seconds(Row row, double& to);
/// Bytes, such as 512MB.
Option size(Row row, std::uint64_t& to);
/// Up to a day. `of` is what they are of, in the message: "seconds of virtual time".
Option length(Row row, std::string_view of, sim::Duration& to);

struct Range {
  std::uint64_t min = 1;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
};
Option whole(Row row, Range range, std::function<void(std::uint64_t)> set);
template <class Number>
Option whole(Row row, Range range, Number& to) {
  return whole(row, range, [&to](std::uint64_t n) { to = static_cast<Number>(n); });
}
template <class Number>
Option whole(Row row, Range range, std::optional<Number>& to) {
  return whole(row, range, [&to](std::uint64_t n) { to = static_cast<Number>(n); });
}

}  // namespace lockstep::cli
