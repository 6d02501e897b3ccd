#include "reports/site/frame/minify.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace lockstep::reports::site {
namespace {

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '#' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

class ScriptMinifier {
 public:
  explicit ScriptMinifier(std::string_view text) : text_(text) {}

  std::string operator()() {
    code('\0');
    return std::move(out_);
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  char last() const { return out_.empty() ? '\n' : out_.back(); }

  /// Up to the closing bracket of a place in a template, or to the end.
  void code(char until) {
    for (int depth = 0; at_ < text_.size();) {
      const char c = here();
      if (is_space(c) || (c == '/' && (next() == '/' || next() == '*'))) {
        skip_blank();
        continue;
      }
      if (until != '\0' && c == until && depth == 0) return;
      if (c == '{') ++depth;
      if (c == '}') --depth;
      if (c == '"' || c == '\'') {
        quoted(c);
      } else if (c == '`') {
        template_text();
      } else if (c == '/' && is_one_of(last(), "(,=:[!&|?{};\n")) {
        expression();
      } else {
        out_ += c;
        ++at_;
      }
    }
  }

  void skip_blank() {
    bool has_line_end = false;
    while (at_ < text_.size()) {
      if (is_space(here())) {
        has_line_end = has_line_end || here() == '\n';
        ++at_;
      } else if (here() == '/' && next() == '/') {
        while (at_ < text_.size() && here() != '\n') ++at_;
      } else if (here() == '/' && next() == '*') {
        at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      } else {
        break;
      }
    }
    const char before = last(), after = here();
    if (out_.empty() || after == '\0') return;
    const bool is_apart = (is_of_word(before) && is_of_word(after)) || (before == after && is_one_of(after, "+-/"));
    if (has_line_end) {
      if (!is_one_of(before, ";{,([\n") && after != '}') out_ += '\n';
    } else if (is_apart) {
      out_ += ' ';
    }
  }

  void quoted(char quote) {
    do {
      if (here() == '\\') out_ += text_[at_++];
      out_ += text_[at_++];
    } while (at_ < text_.size() && here() != quote);
    out_ += quote;
    ++at_;
  }

  void template_text() {
    out_ += text_[at_++];
    while (at_ < text_.size() && here() != '`') {
      if (here() == '$' && next() == '{') {
        out_ += "${";
        at_ += 2;
        code('}');
      } else if (here() == '\\') {
        out_ += text_[at_++];
      }
      out_ += text_[at_++];
    }
    out_ += '`';
    ++at_;
  }

  void expression() {
    bool is_in_set = false;
    do {
      if (here() == '\\') out_ += text_[at_++];
      if (here() == '[') is_in_set = true;
      if (here() == ']') is_in_set = false;
      out_ += text_[at_++];
    } while (at_ < text_.size() && (here() != '/' || is_in_set));
    out_ += '/';
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string minified_script(std::string_view text) { return ScriptMinifier(text)(); }

std::string minified_style(std::string_view text) {
  std::string out;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
      out += c;
      continue;
    }
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 1;
      continue;
    }
    if (is_space(c)) {
      // Of a descendant, or around an operator within brackets: one space. Behind a colon there is a value; before one
      // there may be a selector.
      if (!out.empty() && !is_one_of(out.back(), " {};:,")) out += ' ';
      continue;
    }
    if (is_one_of(c, "{};,") && !out.empty() && out.back() == ' ') out.pop_back();
    if (c == '}' && !out.empty() && out.back() == ';') out.pop_back();
    if (c == '"' || c == '\'') quote = c;
    out += c;
  }
  return out;
}

}  // namespace lockstep::reports::site
