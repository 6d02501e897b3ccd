#pragma once

// Sets of positions in a trace.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::checker::explorer {

using Positions = std::vector<std::uint64_t>;  ///< a bit for each

inline bool has_bit(const Positions& bits, std::uint32_t position) {
  const std::size_t word = position / 64;
  return word < bits.size() && (bits[word] >> (position % 64) & 1) != 0;
}

inline void set_bit(Positions& bits, std::uint32_t position) {
  if (position / 64 >= bits.size()) bits.resize(position / 64 + 1, 0);
  bits[position / 64] |= std::uint64_t{1} << (position % 64);
}

inline bool contains(const Positions& bits, const Positions& others) {
  for (std::size_t i = 0; i < others.size(); ++i) {
    if ((others[i] & ~(i < bits.size() ? bits[i] : 0)) != 0) return false;
  }
  return true;
}

inline void join(Positions& bits, const Positions& others) {
  if (others.size() > bits.size()) bits.resize(others.size(), 0);
  for (std::size_t i = 0; i < others.size(); ++i) bits[i] |= others[i];
}

}  // namespace lockstep::checker::explorer
