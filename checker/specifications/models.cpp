// The models, and how their operations read.

#include <array>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker {

std::span<const Model* const> models() {
  namespace s = specifications;
  static const std::array<const Model*, 13> all = {&s::mutex(),
                                                   &s::owner_mutex(),
                                                   &s::reentrant_mutex(),
                                                   &s::fenced_mutex(),
                                                   &s::reentrant_fenced_mutex(),
                                                   &s::read_write_lock(),
                                                   &s::semaphore(),
                                                   &s::register_of_one_value(),
                                                   &s::cas_register(),
                                                   &s::multi_register(),
                                                   &s::key_value_map(),
                                                   &s::set(),
                                                   &s::fifo_queue()};
  return all;
}

const Model* find_model(std::string_view name) {
  for (const Model* model : models()) {
    if (model->name() == name) return model;
  }
  return nullptr;
}

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
  if (o.out_known && function.result == ModelFunction::Result::value) text += " -> " + value_text(history, o.out);
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
