#pragma once

// What properties are called in the reader's language. In files, in JSON and in English they have one name each.

#include <string>
#include <string_view>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// "互斥" of mutual-exclusion; empty if it is no property's name.
std::string_view chinese_property(std::string_view name);

/// "mutual-exclusion"; in Chinese "互斥 mutual-exclusion", with the name that files use.
std::string property_in(Language language, std::string_view name);

}  // namespace lockstep::reports
