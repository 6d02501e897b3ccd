#pragma once

// How tables write measured figures.

#include <cstdint>
#include <optional>
#include <string>

#include "sim/time/time.hpp"

namespace lockstep::reports {

/// "1.43": with two digits, rounded down; "-" if there is nothing to divide by.
std::string per(std::uint64_t n, std::uint64_t by);

/// To tenths of a millisecond, from 100ms on to whole ones: more digits say nothing in a table. "-" if there is none.
std::string text_of(std::optional<sim::Duration> d);

}  // namespace lockstep::reports
