#pragma once

// A violating trace of the explorer as a story with exact times. Start here: keep the smallest trace of an exploration
// (`checker/explorer/witness_size.hpp`, `trace_of`), and make a witness of it at the end.
//
//   witness_times     times for a trace: small faults, short delays, round numbers
//   witness_replay    the trace once more, at these times: what its events are called, and the ordinal of the step at
//                     which a fault strikes
//   witness_story     what happens, in sentences
//   witness           all of it together, and the proof by `run`

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checker/properties/verdict.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"
#include "scenarios/witness/explored_trace.hpp"

namespace lockstep::scenarios {

struct Witness {
  /// The story with its schedule and faults, and with the violated property as the expectation of `run`. Its clients
  /// are as they were; what the story had of [pin], [[fault]] and [[may]] is gone.
  Scenario scenario;
  std::string text;  ///< the same as a file
  std::vector<std::string> by;
  std::string why;                           ///< what run says of it
  std::vector<checker::WaitFor> waits = {};  ///< no-deadlock: who waits for whom
};

/// The trace could not be shown to violate the property: its constraints were widened, or something is wrong.
struct Unconfirmed {
  std::string reason;
  std::string text;  ///< the file that was tried, if it came so far
  /// It needs moments so close that a run may not tell them apart, which stores whole milliseconds
  /// (docs/decisions/instants-are-exact.md).
  bool has_close_moments = false;
  /// The run itself leaves it open, or judges nothing: `reason` is its reason, and there is no violation to speak of.
  bool is_left_open = false;
};

/// `scenario` is what was explored. The file was written, read back and run.
std::variant<Witness, Unconfirmed> make_witness(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                                const ExploredTrace& trace, const Violation& violation);

/// A trace as a story that is to show nothing but itself.
struct Scheduled {
  Scenario scenario;              ///< with its schedule and faults, and with the texts of the original
  std::vector<sim::Duration> at;  ///< of each event of the trace
};

/// At times at which these constraints hold, besides those of the trace. A sentence where there are none. Nothing is
/// run.
std::variant<Scheduled, std::string> scheduled(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                               const ExploredTrace& trace,
                                               const std::vector<checker::Constraint>& constraints);

/// Whether `run` shows the violation in this story, which is written, read back and run: then it gets its texts, and
/// its expectation. `by`: as in `Violation`.
std::variant<Witness, Unconfirmed> confirm(Scenario candidate, const Scenario& original,
                                           const models::locks::Catalogue& catalogue, std::string_view property,
                                           const std::vector<std::string>& by);

}  // namespace lockstep::scenarios
