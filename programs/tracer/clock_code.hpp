#pragma once

// Machine code that is copied into clock pages (clock_code.cpp). It is only ever run there.

#include <array>
#include <cstddef>
#include <string_view>

namespace lockstep::programs::tracer {

/// All of it, to be placed at byte 64 of a page.
std::string_view clock_code();

struct ClockFunction {
  std::string_view name;  ///< in the vDSO, without its prefix
  std::size_t offset;     ///< in `clock_code`
};
std::array<ClockFunction, 6> clock_functions();

}  // namespace lockstep::programs::tracer
