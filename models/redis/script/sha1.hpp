#pragma once

// SHA-1 (FIPS 180-4), by which Redis names scripts.

#include <string>
#include <string_view>

namespace lockstep::models::redis {

/// 40 lower-case hexadecimal digits.
std::string sha1_hex(std::string_view bytes);

}  // namespace lockstep::models::redis
