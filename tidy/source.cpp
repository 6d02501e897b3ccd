#include "tidy/source.hpp"

#include <cctype>

namespace lockstep::tidy {
namespace {

bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// The end of the raw string that begins at `quote` (the '"' after R), or the end of the text.
std::size_t end_of_raw_string(std::string_view text, std::size_t quote) {
  const std::size_t open = text.find('(', quote);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

std::size_t end_of_literal(std::string_view text, std::size_t begin) {
  std::size_t i = begin + 1;
  while (i < text.size() && text[i] != text[begin] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return i < text.size() ? i + 1 : text.size();
}

void blank_out(std::string& code, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end && i < code.size(); ++i) {
    if (code[i] != '\n') code[i] = ' ';
  }
}

Statement::Scope scope_inside(const std::string& head, Statement::Scope around) {
  if (has_word(head, "namespace") || head.starts_with("extern")) return Statement::Scope::outside;
  const bool has_parameters = head.find('(') != std::string::npos;
  const bool names_type = has_word(head, "struct") || has_word(head, "class") || has_word(head, "union");
  if (around != Statement::Scope::function && names_type && !has_parameters) return Statement::Scope::type;
  return Statement::Scope::function;
}

}  // namespace

std::string_view File::folder() const {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? std::string_view() : std::string_view(path).substr(0, slash);
}

std::string_view File::name() const {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string_view(path) : std::string_view(path).substr(slash + 1);
}

bool File::is_cpp() const { return path.ends_with(".cpp") || path.ends_with(".hpp"); }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string code_of(std::string_view text) {
  std::string code(text);
  std::size_t i = 0;
  while (i < text.size()) {
    const std::string_view rest = text.substr(i);
    const bool after_word = i > 0 && is_identifier(text[i - 1]);
    if (rest.starts_with("//")) {
      const std::size_t end = std::min(text.find('\n', i), text.size());
      blank_out(code, i, end);
      i = end;
    } else if (rest.starts_with("/*")) {
      const std::size_t close = text.find("*/", i + 2);
      const std::size_t end = close == std::string_view::npos ? text.size() : close + 2;
      blank_out(code, i, end);
      i = end;
    } else if (rest.starts_with("R\"") && !after_word) {
      const std::size_t end = end_of_raw_string(text, i + 1);
      blank_out(code, i + 2, end - 1);
      i = end;
    } else if (text[i] == '"' || (text[i] == '\'' && !after_word)) {  // 1'000: a separator, not a literal
      const std::size_t end = end_of_literal(text, i);
      blank_out(code, i + 1, end - 1);
      i = end;
    } else {
      ++i;
    }
  }
  return code;
}

bool has_word(std::string_view line, std::string_view word) {
  const bool call = word.ends_with('(');
  if (call) word.remove_suffix(1);
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    std::size_t end = at + word.size();
    if (at > 0 && is_identifier(line[at - 1])) continue;
    if (end < line.size() && is_identifier(line[end])) continue;
    while (call && end < line.size() && line[end] == ' ') ++end;
    if (!call || (end < line.size() && line[end] == '(')) return true;
  }
  return false;
}

std::vector<Statement> statements_of(std::string_view code) {
  std::vector<Statement> statements;
  std::vector<Statement::Scope> around{Statement::Scope::outside};
  std::string text;
  std::size_t line = 1;
  std::size_t first_line = 1;
  std::size_t parentheses = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '#' && text.empty()) {
      while (i < code.size() && (code[i] != '\n' || code[i - 1] == '\\')) {
        if (code[i] == '\n') ++line;
        ++i;
      }
      ++line;
      continue;
    }
    if (c == '\n') ++line;
    if (is_blank(c)) {
      if (!text.empty() && text.back() != ' ') text += ' ';
      continue;
    }
    if (text.empty()) first_line = line;
    text += c;
    if (c == '(') ++parentheses;
    if (c == ')' && parentheses > 0) --parentheses;
    if (c == '{') {
      statements.push_back({around.back(), first_line, text});
      around.push_back(scope_inside(text, around.back()));
      parentheses = 0;  // of a lambda's body, say: what is inside is judged for itself
      text.clear();
    } else if (c == '}') {
      if (around.size() > 1) around.pop_back();
      text.clear();
    } else if (c == ';' && parentheses == 0) {
      statements.push_back({around.back(), first_line, text});
      text.clear();
    } else if (c == ':' && (text == "public:" || text == "private:" || text == "protected:")) {
      text.clear();
    }
  }
  return statements;
}

}  // namespace lockstep::tidy
