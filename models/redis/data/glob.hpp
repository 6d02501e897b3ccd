#pragma once

#include <string_view>

namespace lockstep::models::redis {

/// Redis' patterns, as KEYS, SCAN's MATCH and PSUBSCRIBE take them: * ? [a-c] [^x] and \ before a character that stands
/// for itself. Takes at most |pattern| * |text| steps.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace lockstep::models::redis
