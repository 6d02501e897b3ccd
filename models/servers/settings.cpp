#include "models/servers/settings.hpp"

namespace lockstep::models {

const SettingValue* Settings::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

SettingValue* Settings::find(std::string_view name) {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

void Settings::set(std::string_view name, SettingValue value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

bool Settings::operator==(const Settings&) const = default;

}  // namespace lockstep::models
