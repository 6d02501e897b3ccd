#include "checker/linearizability/model/model.hpp"

namespace lockstep::checker {

std::optional<std::uint16_t> Model::find_function(std::string_view name) const {
  const std::span<const ModelFunction> all = functions();
  for (std::uint16_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return i;
  }
  return std::nullopt;
}

std::string Model::describe(const OperationHistory& history, const HistoryOperation& o) const {
  const ModelFunction& function = functions()[o.function];
  std::string text(function.name);
  if (function.argument != ModelFunction::Argument::none && o.a != nil) text += " " + value_text(history, o.a);
  if (function.argument == ModelFunction::Argument::pair) text += " " + value_text(history, o.b);
  if (o.out_known && function.result == ModelFunction::Result::value) {
    // What is asked about a value is answered by yes or no, which is no value of the history.
    const bool is_answer = function.argument == ModelFunction::Argument::value;
    text += " -> " + (is_answer ? std::string(o.out != 0 ? "true" : "false") : value_text(history, o.out));
  }
  if (o.out_known && function.result == ModelFunction::Result::elements) {
    text += " -> {";
    for (std::int64_t i = o.a; i < o.a + o.b; ++i) {
      text += (i == o.a ? "" : ", ") + value_text(history, history.elements[i]);
    }
    text += "}";
  }
  return text;
}

std::string value_text(const OperationHistory& history, std::int64_t value) {
  if (value == nil) return "nil";
  if (history.values_are_texts && value >= 0 && static_cast<std::size_t>(value) < history.texts.size()) {
    return history.texts_are_quoted ? history.texts[value] : "\"" + history.texts[value] + "\"";
  }
  return std::to_string(value);
}

std::string process_text(const OperationHistory& history, std::uint32_t process) {
  return process < history.process_names.size() ? history.process_names[process] : std::to_string(process);
}

}  // namespace lockstep::checker
