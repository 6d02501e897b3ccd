#pragma once

// Builds a world from a story, lets it happen once, and judges it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/schedules/decisions.hpp"

namespace lockstep::scenarios {

struct RunOptions {
  /// Random delays and ties instead of the shortest ones and first come, first served. Pins and faults stay; the `at`
  /// of expectations is not asked.
  std::optional<std::uint64_t> seed;
  /// Answers every question of the run: for recording and replay. Takes the place of `seed`.
  sim::Decisions* decisions = nullptr;
  /// With `decisions`: delays are multiples of this. Nothing: microseconds beyond the least.
  std::optional<sim::Duration> tick = std::nullopt;
  /// Fill `Outcome::trace`.
  bool trace = false;
  /// With `trace`: where in its program each request comes from. A quarter of the time of a run that nobody looks at.
  bool places_in_programs = true;
  /// With `trace`: what each message says. A seventh of the time of a run of sentinels.
  bool texts = true;
  /// Cheaper, for thousands of runs of which only verdicts and moments are compared. A trace is of the story without
  /// the probe, and without the places in programs. The probe gives up soon after the bound that decides the verdict:
  /// the reason does not say whether the lock came back much later.
  bool brief = false;
  /// Of a property: whether somebody wants to know. Empty: of all. The others are unknown, "not asked"; and where
  /// nobody wants to know whether the lock can be had again, the run ends with the story, without a probe.
  std::function<bool(std::string_view)> asks = nullptr;
  /// Fill `Outcome::key_states`. Costs time: for people only.
  bool key_states = false;
  std::uint64_t max_events = 5'000'000;
};

/// One execution. A diagnostic when the story cannot happen as the file has it: a pin that cannot be kept, a story that
/// does not end, a script that runs away.
std::variant<Outcome, Diagnostic> run(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                      const RunOptions& options = {});

/// The same of a story with programs among its clients, which is believed only if it goes the same way twice: what is
/// known of a program is what it did, and not what else it could do. A diagnostic also if it does not.
std::variant<Outcome, Diagnostic> run_twice(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                            const RunOptions& options = {});
/// The first thing that two runs of one story did not have in common, in a sentence. Nothing: they are the same.
/// Requires: both have a trace.
std::optional<std::string> first_difference(const Outcome& first, const Outcome& second);

}  // namespace lockstep::scenarios
