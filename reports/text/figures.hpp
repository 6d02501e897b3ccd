#pragma once

// How figures are written for reading: measured ones in tables, and times in prose. What somebody may copy into a file
// (margins, formulas, witnesses, JSON) is `sim::to_string`, to the last digit.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/time/time.hpp"

namespace lockstep::reports {

/// "1.43": with two digits, rounded down; "-" if there is nothing to divide by.
std::string per(std::uint64_t n, std::uint64_t by);

/// To tenths of a millisecond, from 100ms on to whole ones: more digits say nothing in a table. "-" if there is none.
std::string text_of(std::optional<sim::Duration> d);

/// To three figures, and never less than whole milliseconds: "222ms", "12.3ms", "116694ms". What is a hair's breadth
/// off that stays as it is, as "29.000001ms": there the digits are the point.
sim::Duration rounded_for_reading(sim::Duration d);

/// A sentence with its times rounded for reading, and how long something took ("waited …", "… after everything …") to
/// three figures. Two that differ and would look alike stay as they are.
std::string with_rounded_times(std::string_view sentence);

/// A column of times in one unit, rounded for reading: seconds if all of them are such, else milliseconds. What differs
/// from its neighbours looks different. Requires: ascending.
std::vector<std::string> column_of(std::span<const sim::Instant> times);

}  // namespace lockstep::reports
