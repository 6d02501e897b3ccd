#pragma once

// What order alone decides: which moment comes before which at each server and of each thread. A run has one such
// order, and so has an explored trace, which stands for many times; so the question is the same for both, and stands
// once.

#include <span>
#include <string_view>
#include <vector>

#include "sim/worlds/history.hpp"

namespace lockstep::checker {

class LockObjects;

/// A history, or its beginning, of which nobody looks at the times.
struct OrderedHistory {
  std::span<const sim::Operation> operations;
  std::span<const sim::Effect> effects;  ///< of each server in its order
  const sim::History& history;           ///< all of it: its interruptions and its parts
  std::span<const sim::ProcessId> resources = {};
  const LockObjects* locks = nullptr;  ///< of these operations and effects; null: nobody has found them yet

  static OrderedHistory all_of(const sim::History& history, std::span<const sim::ProcessId> resources = {}) {
    return {history.operations, history.effects, history, resources};
  }
};

/// One way in which the order breaks a property.
struct Breach {
  std::string_view property;
  std::vector<sim::ProcessId> by;  ///< whom to blame
  sim::OperationId operation = 0;  ///< the release, the renewal, the failed attempt, the write, the purchase
  sim::Instant at;                 ///< of the effect or the operation that breaks it
  sim::Step step = sim::no_step;
  bool is_unknown = false;  ///< perhaps: the bench cannot know whose the place was
};

}  // namespace lockstep::checker
