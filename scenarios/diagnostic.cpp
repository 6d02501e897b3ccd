#include "scenarios/diagnostic.hpp"

namespace lockstep::scenarios {

std::string Diagnostic::to_string() const {
  std::string text = file;
  if (at.line != 0) text += ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  return text + ": " + message;
}

}  // namespace lockstep::scenarios
