#pragma once

#include <cstdint>

namespace lockstep::scenarios {

/// How many concrete runs are played beside an exploration (`second_opinion`): so many times, or such a part of, what
/// `check` plays of itself.
struct Effort {
  std::uint64_t times = 1;
  std::uint64_t parts = 1;
  std::uint64_t of(std::uint64_t usual) const { return usual * times / parts; }
};

}  // namespace lockstep::scenarios
