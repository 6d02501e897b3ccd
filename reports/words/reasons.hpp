#pragma once

// Why a property is broken or kept, in the reader's language. Checkers give their reasons in English, once, for reports
// and JSON alike.

#include <optional>
#include <string>
#include <string_view>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// The reason in Chinese; nothing if it is none of those that are known here.
std::optional<std::string> in_chinese(std::string_view reason);

/// The reason in the language, or in English where it is not known in another.
std::string reason_in(Language language, const std::string& reason);

}  // namespace lockstep::reports
