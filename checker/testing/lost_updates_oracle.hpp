#pragma once

// no-lost-update by its definition, each update by itself, backwards: as it stood in the judge of explorations before
// lost_updates(). The tests compare both.

#include <cstddef>
#include <span>
#include <string_view>

#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// Whether some write of an operation "write" comes after the writer's own latest read of the object with somebody else's
/// write between the two.
inline bool loses_an_update(const sim::History& history, sim::ProcessId where) {
  for (std::size_t i = 0; i < history.effects.size(); ++i) {
    const sim::Effect& update = history.effects[i];
    if (update.kind != sim::Effect::Kind::write || update.server != where || update.operation == 0) continue;
    if (history.operations[update.operation - 1].function != "write") continue;
    bool is_other_between = false;
    for (std::size_t j = i; j-- > 0;) {
      const sim::Effect& before = history.effects[j];
      if (before.server != update.server || before.object != update.object) continue;
      if (before.kind == sim::Effect::Kind::write && before.by != update.by) is_other_between = true;
      if (before.kind != sim::Effect::Kind::read || before.by != update.by) continue;
      if (is_other_between) return true;
      break;
    }
  }
  return false;
}

}  // namespace lockstep::checker
