// Reading a command from a line of text, with the rules of Redis' sdssplitargs.

#include <optional>
#include <string>

#include "models/redis/wire/command.hpp"

namespace lockstep::models::redis {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == '\0'; }

/// Fewer than stand between words: a vertical tab in a word is a part of it.
bool ends_word(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Reads one word after another from a line.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line) {}

  /// False at the end of the line, and when the line is wrong.
  bool next(std::string& word) {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    if (at_ == line_.size()) return false;
    word.clear();
    while (at_ < line_.size() && !ends_word(line_[at_])) {
      const char c = line_[at_];
      if (c == '"' || c == '\'') {
        if (!quoted(c, word)) return false;
      } else {
        word += c;
        ++at_;
      }
    }
    return true;
  }

  const std::optional<CommandLineError>& error() const { return error_; }

 private:
  bool fail(std::size_t position, std::string message) {
    error_ = CommandLineError{position + 1, std::move(message)};
    return false;
  }

  bool quoted(char quote, std::string& word) {
    const std::size_t opening = at_++;
    while (at_ < line_.size() && line_[at_] != quote) {
      if (line_[at_] == '\\' && at_ + 1 < line_.size()) {
        quote == '"' ? escape(word) : escape_in_single(word);
      } else {
        word += line_[at_++];
      }
    }
    if (at_ == line_.size()) return fail(opening, "the quote that opens here is never closed");
    ++at_;
    // `"a"b` is one word to a shell and an error to redis-cli.
    if (at_ < line_.size() && !is_blank(line_[at_])) return fail(at_, "a blank must follow the closing quote");
    return true;
  }

  void escape(std::string& word) {
    const char c = line_[at_ + 1];
    if (c == 'x' && at_ + 3 < line_.size() && hex_digit(line_[at_ + 2]) >= 0 && hex_digit(line_[at_ + 3]) >= 0) {
      word += static_cast<char>(hex_digit(line_[at_ + 2]) * 16 + hex_digit(line_[at_ + 3]));
      at_ += 4;
      return;
    }
    switch (c) {
      case 'n': word += '\n'; break;
      case 'r': word += '\r'; break;
      case 't': word += '\t'; break;
      case 'b': word += '\b'; break;
      case 'a': word += '\a'; break;
      default: word += c;
    }
    at_ += 2;
  }

  void escape_in_single(std::string& word) {
    if (line_[at_ + 1] == '\'') {
      word += '\'';
      at_ += 2;
    } else {
      word += line_[at_++];
    }
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::optional<CommandLineError> error_;
};

}  // namespace

std::variant<Command, CommandLineError> parse_command_line(std::string_view line) {
  Words words(line);
  Command command;
  std::string word;
  while (words.next(word)) command.push_back(Value(word));
  if (words.error()) return *words.error();
  if (command.empty()) return CommandLineError{1, "expected a command"};
  return command;
}

}  // namespace lockstep::models::redis
