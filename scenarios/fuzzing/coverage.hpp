#pragma once

// What runs have shown so far, so that a run that shows something new can be told from one that does not. Not of code:
// of what happened.

#include <cstdint>
#include <vector>

#include "sim/worlds/history.hpp"

namespace lockstep::scenarios {

/// One thing that a run may show, as a number below `Coverage::size`: two different ones may share a number, and then
/// the second is not noticed.
using Feature = std::uint32_t;

class Coverage {
 public:
  static constexpr std::uint32_t size = 1U << 18U;

  Coverage() : seen_(size / 64) {}
  bool has(Feature feature) const { return (seen_[feature / 64] >> (feature % 64) & 1U) != 0; }
  /// Whether it is new.
  bool add(Feature feature);
  std::size_t count() const { return count_; }

 private:
  std::vector<std::uint64_t> seen_;
  std::size_t count_ = 0;
};

/// What the run with this history showed and is not known, ascending, each once:
///
///   - at each server and key: which kinds of effects came one after the other (two and three), and whether they were
///     of the same client, of another, or of nobody (an expiry, a crash);
///   - how operations ended, while how many others believed to hold the lock, or were trying to get it;
///   - what a client was at when a fault struck it, and what it did next.
///
/// Nothing in it depends on names, on times, or on how many clients there are. `out` is overwritten.
void features_of(const sim::History& history, std::uint64_t salt, const Coverage& known, std::vector<Feature>& out);

}  // namespace lockstep::scenarios
