#include "scenarios/story/empty_witness.hpp"

#include <fmt/format.h>

namespace lockstep::scenarios {

Scenario empty_witness(const Scenario& original) {
  Scenario witness = original;
  name_witness(witness, original.id);
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

void name_witness(Scenario& witness, const std::string& original) {
  witness.id = original + "-witness";
  witness.file = witness.id + ".toml";
  witness.source = "lockstep check " + original;
}

Text lesson_of_witness(const std::string& original, std::string_view property) {
  return {
      fmt::format("Found by `lockstep check` in {}: of all orders and delays that it allows, this is one in which {} "
                  "does not hold. [schedule] has the time of every event.",
                  original, property),
      fmt::format("由 `lockstep check` 在 {} 中找到：在它允许的所有顺序和延迟中，这是 {} 不成立的一种。[schedule] "
                  "列出了每个事件的时间。",
                  original, property)};
}

}  // namespace lockstep::scenarios
