#pragma once

// A file of the repository as the tidy rules see it. Start in "tidy/rules.hpp".

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::tidy {

/// A text file. `path` is relative to the root and uses '/'.
struct File {
  std::string path;
  std::string text;

  /// "sim" for "sim/time/time.hpp"; empty for files at the root.
  std::string_view folder() const;
  /// "time.hpp".
  std::string_view name() const;
  bool is_cpp() const;
  bool is_test() const { return name().ends_with("_test.cpp"); }
};

/// Without their line ends. A last line without one is a line too.
std::vector<std::string_view> lines_of(std::string_view text);

/// C++ with comments and the contents of string and character literals replaced by blanks, line by line the
/// same length: what is left are words that mean something to the compiler.
std::string code_of(std::string_view text);

/// Whether `line` holds `word` as a whole identifier. `word` may end in '(', and then blanks before it do not matter.
bool has_word(std::string_view line, std::string_view word);

/// A statement or declaration head that begins where nothing else is going on.
struct Statement {
  enum class Scope { outside, type, function };  ///< outside: at namespace scope
  Scope scope;
  std::size_t line;  ///< from 1
  std::string text;  ///< up to and including ';' or '{', blanks collapsed
};

/// Splits the result of `code_of` at ';', '{' and '}'. Preprocessor lines are left out.
std::vector<Statement> statements_of(std::string_view code);

}  // namespace lockstep::tidy
