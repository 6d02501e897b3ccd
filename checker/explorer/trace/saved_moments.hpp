#pragma once

// Moments of the present trace that the world can go back to, instead of running again from its beginning.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checker/explorer/trace/moment.hpp"
#include "sim/coroutines/region.hpp"

namespace lockstep::checker::explorer {

class SavedMoments {
 public:
  struct Saved {
    std::uint32_t position = 0;  ///< of the event that comes next
    sim::Region::Copy world;
    Moment::State moment;
  };

  /// A world that lies in this region; null: in none. False: the world is not as it was left, and nothing is known of
  /// it.
  bool watch(sim::Region* region, bool goes_back);

  /// The world's memory, if it has its own.
  sim::Region* region() const { return region_; }
  /// Whether it is worth its copy at this position. `is_open`: the search is sure to come back to it.
  template <class IsOpen>
  bool is_worth_saving(std::uint32_t position, const IsOpen& is_open) const;
  /// Requires: `is_worth_saving`, with this position.
  void save(std::uint32_t position, const Moment& moment);
  /// Brings the world to the last saved moment before the trace's last event: its position, and where things stood.
  /// Null: there is none, and the world has to begin again.
  const Saved* go_back(std::uint32_t length);
  /// The trace has other events from this position on.
  void forget_after(std::uint32_t position) {
    while (count_ > 0 && saved_[count_ - 1].position > position) --count_;
  }
  void forget_all() { count_ = 0; }

 private:
  sim::Region* region_ = nullptr;
  bool goes_back_ = false;    ///< false: each trace runs from its beginning
  std::vector<Saved> saved_;  ///< by position; those that are not in use keep their memory
  std::size_t count_ = 0;
};

/// What is sure to be come back to, and now and then another: then no way from a saved moment is long. How often hardly
/// matters: a copy costs as much as some ten events.
template <class IsOpen>
bool SavedMoments::is_worth_saving(std::uint32_t position, const IsOpen& is_open) const {
  if (!goes_back_ || !region_->is_whole()) return false;
  if (count_ == 0) return true;
  constexpr std::size_t bytes_most = std::size_t{32} << 20;
  if (count_ * region_->used_bytes() > bytes_most) return false;
  constexpr std::uint32_t now_and_then = 16;
  constexpr std::uint32_t least_distance = 4;
  const std::uint32_t distance = position - saved_[count_ - 1].position;
  return distance >= now_and_then || (distance >= least_distance && is_open());
}

}  // namespace lockstep::checker::explorer
