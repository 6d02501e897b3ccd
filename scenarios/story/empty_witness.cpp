#include "scenarios/story/empty_witness.hpp"

namespace lockstep::scenarios {

Scenario empty_witness(const Scenario& original) {
  Scenario witness = original;
  witness.id = original.id + "-witness";
  witness.file = witness.id + ".toml";
  witness.source = "lockstep check " + original.id;
  witness.reproduces.clear();
  witness.cost = Cost::fast;
  witness.faults.clear();
  witness.pin.clear();
  witness.schedule.clear();
  witness.expect_run.clear();
  witness.expect_check.clear();
  witness.expect_traces.reset();
  // Until there is a run to tell of.
  witness.title = witness.story = witness.lesson = {"-", "-"};
  return witness;
}

}  // namespace lockstep::scenarios
