#include "checker/properties/properties.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"

namespace lockstep::checker {

std::span<const Property> properties() {
#define LOCKSTEP_ENTRY(property) entries::property(),
  static const std::array table{LOCKSTEP_PROPERTIES(LOCKSTEP_ENTRY)};
#undef LOCKSTEP_ENTRY
  return table;
}

bool is_seen(const Property& property, const OrderedHistory& history) {
  return property.is_seen != nullptr ? property.is_seen(history) : has_operation(history, "acquire", sim::Phase::ok);
}

const Property* find_property(std::string_view name) {
  for (const Property& property : properties()) {
    if (property.name == name) return &property;
  }
  return nullptr;
}

const Property& property_named(std::string_view name) {
  if (const Property* property = find_property(name)) return *property;
  std::fprintf(stderr, "lockstep: our bug: there is no property \"%.*s\"\n", static_cast<int>(name.size()),
               name.data());
  std::abort();
}

std::size_t position_of_property(std::string_view name) {
  return static_cast<std::size_t>(&property_named(name) - properties().data());
}

}  // namespace lockstep::checker
