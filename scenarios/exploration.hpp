#pragma once

// A story in every order and with every delay that its file allows: `[[client]]` and `[network]` ranges, and the pauses of
// `[[may]]`. So far it judges mutual exclusion.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "checker/difference_constraints.hpp"
#include "checker/explorer.hpp"
#include "checker/verdict.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/scenario.hpp"

namespace lockstep::scenarios {

struct ExplorationOptions {
  bool reduction = true;
  std::uint64_t max_traces = 0;  ///< 0: no bound
};

struct Exploration {
  checker::ExplorerCounts counts;
  /// violated: some order and delays break it. holds: none does, and `counts.complete`. unknown: a bound was hit.
  checker::Verdict mutual_exclusion = checker::Verdict::unknown;
  std::uint64_t violating_traces = 0;
  /// Traces whose only violation rests on an expression that is no difference of two instants and was widened.
  std::uint64_t unconfirmed = 0;
  /// The least pause with which it is violable, and whether that very length suffices. Nothing without pauses.
  std::optional<checker::Extent> pause_threshold;
};

/// A diagnostic when the file allows something that this exploration does not know yet.
std::variant<Exploration, Diagnostic> explore(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                              const ExplorationOptions& options = {});

}  // namespace lockstep::scenarios
