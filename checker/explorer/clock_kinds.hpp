#pragma once

// How an exploration tells clocks apart: for explorer*.cpp alone.

#include <cstdint>

namespace lockstep::checker {

/// Scales of clocks: this and those after it drift, by process; those before are off by a parameter.
inline constexpr std::uint32_t kFirstDrifting = 128;

}  // namespace lockstep::checker
