#pragma once

// What every compared run has, whatever is compared: bounds that it never meets, and the count of its messages.

#include <cstdint>

#include "sim/schedules/simulation.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::scenarios {

/// Rounds or attempts: more than any run has time for.
inline constexpr std::int64_t kForEver = 1'000'000;
inline constexpr std::uint64_t kMaxEvents = 50'000'000;

/// Counts the messages that arrive, and lets everything happen.
class MessageCount final : public sim::Fate {
 public:
  explicit MessageCount(const sim::World& world) : world_(world) {}
  Answer of(std::uint32_t slot, sim::Instant) override {
    if (world_.event(slot).kind == sim::EventKind::message) ++count_;
    return Answer::happens;
  }
  std::uint64_t count() const { return count_; }

 private:
  const sim::World& world_;
  std::uint64_t count_ = 0;
};

}  // namespace lockstep::scenarios
