#include "scenarios/witness/explored_trace.hpp"

namespace lockstep::scenarios {

ExploredTrace trace_of(checker::Explorer& explorer) {
  ExploredTrace trace;
  trace.events = explorer.trace();
  trace.events.resize(explorer.story_length());
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) trace.choices.push_back(explorer.choices_at(i));
  for (const checker::ExploredFault& fault : explorer.faults()) {
    const bool is_of_coda = fault.event != checker::ExploredEvent::no_cause && fault.event >= trace.events.size();
    if (!is_of_coda) trace.faults.push_back(fault);
  }
  trace.parameters.assign(explorer.parameters().begin(), explorer.parameters().end());
  trace.parametric.assign(explorer.parametric().begin(), explorer.parametric().end());
  trace.whole_units.assign(explorer.whole_units().begin(), explorer.whole_units().end());
  trace.constraints = explorer.constraints();
  return trace;
}

}  // namespace lockstep::scenarios
