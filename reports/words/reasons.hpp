#pragma once

// Why a property is broken or kept, in the reader's language. Checkers give their reasons in English, once, for reports
// and JSON alike.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// The reason in Chinese; nothing if it is none of those that are known here.
std::optional<std::string> in_chinese(std::string_view reason);

/// The reason in the language, or in English where it is not known in another: in plain words, with times rounded for
/// reading. JSON has it as the checker gives it.
std::string reason_in(Language language, const std::string& reason);

/// Properties and why nothing is known of each: those with the same reason together, "fair, capacity (WHY); fencing
/// (WHY)".
using NamesAndReasons = std::vector<std::pair<std::string, std::string>>;
std::string with_reasons(const NamesAndReasons& properties, Language language);

}  // namespace lockstep::reports
