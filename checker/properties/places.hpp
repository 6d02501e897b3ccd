#pragma once

// What one effect did to the places of a lock: which of an object's parts an owner can have for himself. The table is
// in docs/decisions/ownership-is-what-was-granted.md.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// A lock's place, or a part of it that has an owner of its own.
struct Place {
  sim::ProcessId server;
  std::string_view object;
  std::string_view member;  ///< empty: of the object as a whole, or of its nameless parts

  auto operator<=>(const Place&) const = default;
};

struct PlaceChange {
  enum class Kind : std::uint8_t {
    written,
    removed,
    nameless  ///< a unit of a counter, an element of a list: came or went
  };
  std::string_view member;
  Kind kind = Kind::written;
};

/// Each part that a write or a removal concerns; `operation`: during which it came to be, null if outside any. Empty
/// for what concerns all of the object: `is_whole`. The second form puts them behind what is there.
std::vector<PlaceChange> place_changes(const sim::Effect& effect, const sim::Operation* operation,
                                       const sim::History& history);
void place_changes(const sim::Effect& effect, const sim::Operation* operation, const sim::History& history,
                   std::vector<PlaceChange>& changes);

/// Whether the effect concerns all places of its object: removed, expired, lost, or given another time to live.
bool is_whole(const sim::Effect& effect, const sim::History& history);

/// The effects of each operation, by their positions in the history.
class EffectsByOperation {
 public:
  explicit EffectsByOperation(std::span<const sim::Effect> effects);
  /// Those of this operation after this position.
  std::span<const std::size_t> after(sim::OperationId operation, std::size_t position) const;

 private:
  std::vector<std::size_t> begin_;  ///< by operation: where its positions begin
  std::vector<std::size_t> positions_;
};

}  // namespace lockstep::checker
