#include "sim/schedules/decisions.hpp"

#include <fmt/format.h>

namespace lockstep::sim {

std::string_view to_string(Choice choice) {
  switch (choice) {
    case Choice::delay: return "delay";
    case Choice::order: return "order";
    case Choice::fault: return "fault";
    case Choice::comparison: return "comparison";
    case Choice::model: return "model";
  }
  return "?";
}

std::uint64_t RecordedDecisions::choose(Choice choice, std::uint64_t options, EventId event) {
  if (diverged()) return 0;
  if (next_ == record_.size()) {
    divergence_ =
        fmt::format("decision {}: the record has ended, but the world asks for a {} among {} at event {:016x}", next_,
                    to_string(choice), options, event.value);
    return 0;
  }
  const Decision& expected = record_[next_];
  if (expected.choice != choice || expected.options != options || expected.event != event) {
    divergence_ = fmt::format(
        "decision {}: recorded a {} among {} at event {:016x}, the world asks for a {} among {} at event {:016x}",
        next_, to_string(expected.choice), expected.options, expected.event.value, to_string(choice), options,
        event.value);
    return 0;
  }
  if (expected.index >= options) {
    divergence_ = fmt::format("decision {}: the record answers {}, but there are only {} options", next_,
                              expected.index, options);
    return 0;
  }
  ++next_;
  return expected.index;
}

}  // namespace lockstep::sim
