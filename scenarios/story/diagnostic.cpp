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

std::optional<Diagnostic> refusal_of_programs(const Scenario& scenario, std::string_view what) {
  const ClientSpec* program = first_program(scenario);
  if (program == nullptr) return std::nullopt;
  return Diagnostic{.file = scenario.file,
                    .at = program->at,
                    .message = "client " + program->name + " is a program, which " + std::string(what)};
}

}  // namespace lockstep::scenarios
