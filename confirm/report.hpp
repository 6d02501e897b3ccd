#pragma once

// What was played, for people and for programs.

#include <span>
#include <string>

#include "confirm/confirm.hpp"
#include "reports/line.hpp"

namespace lockstep::confirm {

/// One story: what was said, and what became of it.
reports::Lines report(const Confirmation& confirmation, std::size_t width);
/// Several: a row for each, and how many were confirmed.
reports::Lines report(std::span<const Confirmation> confirmations, std::size_t width);
std::string json(std::span<const Confirmation> confirmations);

}  // namespace lockstep::confirm
