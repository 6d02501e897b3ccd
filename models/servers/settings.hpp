#pragma once

// What a server of some kind is told besides its name and its clocks, and the table that says which keys of a file that
// is: from it files are read and written, times are scaled, and the reference docs/manual/scenario-format.md is
// checked.

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/time/time.hpp"

namespace lockstep::models {

class Settings;

/// The last is a table, or several of them.
using SettingValue =
    std::variant<sim::Duration, sim::DurationRange, std::int64_t, bool, std::string, std::vector<Settings>>;

/// Values by name: only those that are not as the table of the kind has them.
class Settings {
 public:
  Settings() = default;
  Settings(std::initializer_list<std::pair<const std::string, SettingValue>> values) : values_(values) {}

  /// Null: as the table has it.
  const SettingValue* find(std::string_view name) const;
  SettingValue* find(std::string_view name);
  void set(std::string_view name, SettingValue value);
  /// The value, or `otherwise`. Requires: it is of this type.
  template <class T>
  T get(std::string_view name, T otherwise) const {
    const SettingValue* value = find(name);
    return value == nullptr ? otherwise : std::get<T>(*value);
  }
  bool is_empty() const { return values_.empty(); }
  bool operator==(const Settings&) const;

 private:
  std::map<std::string, SettingValue, std::less<>> values_;
};

/// Declares one key of a [[server]], or of a table in it. Its type is the alternative that `fallback` holds.
struct SettingSpec {
  std::string_view name;     ///< snake_case, as in files
  std::string_view type;     ///< "duration", for the reference
  SettingValue fallback;     ///< the value when a file says nothing
  std::string_view told;     ///< the same as the reference prints it; "required": it may not be left out
  std::string_view meaning;  ///< one line
  std::int64_t min = 0;      ///< for numbers
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  std::span<const std::string_view> choices = {};  ///< for strings: all allowed values
  bool names_server = false;                       ///< for strings: it is the name of a server of the story
  std::span<const SettingSpec> inside = {};        ///< for tables: their keys
  bool is_constant = false;                        ///< for durations: the same in slower time, as in whole seconds
};

}  // namespace lockstep::models
