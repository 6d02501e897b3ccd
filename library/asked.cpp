#include "library/asked.hpp"

#include <fmt/format.h>

#include <chrono>

#include "checker/properties/properties.hpp"
#include "scenarios/format/other_algorithm.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep {

const models::locks::Entry& entry_of(const Catalogue& catalogue, const std::string& algorithm) {
  const models::locks::Entry* entry = catalogue.find(algorithm);
  if (entry != nullptr) return *entry;
  throw Error(fmt::format("algorithm {}: {}; one of your own has to be added to the catalogue",
                          scenarios::in_quotes(algorithm), scenarios::suggestion(algorithm, catalogue.ids())));
}

scenarios::Scenario story_of(const Story& story, const std::string& algorithm, const Catalogue& catalogue) {
  const models::locks::Entry* other = algorithm.empty() ? nullptr : &entry_of(catalogue, algorithm);
  scenarios::Scenario loaded = story.load(catalogue);
  if (other == nullptr) return loaded;
  auto with = scenarios::with_algorithm(loaded, *other, catalogue);
  if (const auto* trouble = std::get_if<std::string>(&with))
    throw Error(fmt::format("{} with {}: {}", scenarios::one_line(loaded.file), algorithm, *trouble));
  return std::get<scenarios::Scenario>(std::move(with));
}

void must_be_property(std::string_view name) {
  if (checker::find_property(name) != nullptr) return;
  std::vector<std::string_view> names;
  for (const checker::Property& property : checker::properties()) names.push_back(property.name);
  throw Error(fmt::format("property {}: {}", scenarios::in_quotes(name), scenarios::suggestion(name, names)));
}

double seconds_now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();  // tidy: bounds only
}

}  // namespace lockstep
