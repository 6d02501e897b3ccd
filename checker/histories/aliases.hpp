#pragma once

// What files call the functions of models, and of which model they are.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/histories/formats/event.hpp"
#include "checker/linearizability/linearizability.hpp"

namespace lockstep::checker::history_formats {

/// A name that files use for a function of a model.
struct Alias {
  std::string_view name;      ///< in the file
  std::string_view function;  ///< of the model
};

/// All names by which files may call this model's functions, its own ones first.
std::vector<Alias> aliases(const Model& model);

/// Lockstep's own histories say their model in each event.
struct SaidModel {
  const Model* model = nullptr;
  std::optional<std::int64_t> permits;
};
/// Nothing: it says none that there is.
std::optional<SaidModel> model_said(const Event& event);

/// Of which model a history is that calls its functions so, as far as that can be seen; null: of none, or there are
/// several. Capitals do not matter.
const Model* model_with(std::span<const std::string> functions);

/// The function that a file calls so: a name as it is written, or else whatever its capitals.
std::optional<std::string_view> function_named(std::span<const Alias> aliases, std::string_view name);

}  // namespace lockstep::checker::history_formats
