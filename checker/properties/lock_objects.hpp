#pragma once

// Which objects of the servers are a lock: not those of some name, but those where its grants lie. Why these, and what
// else an acquire may write: docs/decisions/ownership-is-what-was-granted.md.

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// The objects in which the holds of each lock have their places. Only order decides, so it is the same for a run and
/// for an explored trace. Its texts belong to the history.
class LockObjects {
 public:
  LockObjects() = default;
  /// `operations`, `effects`: of the history, or of its beginning; the effects of each server in its order.
  LockObjects(std::span<const sim::Operation> operations, std::span<const sim::Effect> effects,
              const sim::History& history);

  bool contains(std::string_view lock, std::string_view object) const;
  /// Those of this lock, each beside it, by name.
  std::span<const std::pair<std::string_view, std::string_view>> of(std::string_view lock) const;
  /// Whether it is one of any lock's.
  bool contains(std::string_view object) const;

 private:
  std::vector<std::pair<std::string_view, std::string_view>> objects_;  ///< lock and object, ascending
};

}  // namespace lockstep::checker
