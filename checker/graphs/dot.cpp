#include "checker/graphs/dot.hpp"

namespace lockstep::checker {

std::string dot_quoted(std::string_view text) {
  const bool has_lines = text.find('\n') != std::string_view::npos;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\l";
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  if (has_lines) quoted += "\\l";
  return quoted + '"';
}

}  // namespace lockstep::checker
