#include "scenarios/story/diagnostic.hpp"

#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios {

std::string Diagnostic::to_string() const {
  std::string text = one_line(file);
  if (at.line != 0) text += ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  text += ": " + message;
  for (const Diagnostic& other : others) text += "\n" + other.to_string();
  return text;
}

}  // namespace lockstep::scenarios
