#pragma once

// What the matrix asks of an algorithm under a fault, and what it can be told.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/exploring/exploration_result.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// What may go wrong in a column.
struct MatrixFault {
  std::string_view name;
  std::string_view meaning;
  std::string_view meaning_zh;
  /// The kind of fault that it is: of a client or of a server; of those that may come back, one that does.
  std::optional<sim::FaultKind> kind = {};
  sim::Whose whose = sim::Whose::clients;
  bool comes_back = false;
};
std::span<const MatrixFault> matrix_faults();

/// What is asked of each cell.
struct MatrixQuestion {
  std::string_view name;      ///< "mutual-exclusion", "damage", "damage-fenced", "recovery"
  std::string_view property;  ///< as the checkers call it
  std::string_view meaning;
  std::string_view meaning_zh;
};
std::span<const MatrixQuestion> matrix_questions();

struct MatrixAnswer {
  enum class Ground : std::uint8_t {
    /// holds in every order and with every delay of the small world, for `clients`, and random runs of the larger one
    /// did not break it
    proved,
    fuzzed,       ///< random runs did not break it; that is all that is known
    broken,       ///< the witness breaks it
    inapplicable  ///< the question has no meaning here; `why` says so
  };
  const MatrixQuestion* question = nullptr;
  Ground ground = Ground::inapplicable;
  std::size_t clients = 0;            ///< proved: for so many, 2 or 3. broken: the witness has so many
  std::uint64_t traces = 0;           ///< explored, of the small world
  std::uint64_t traces_of_three = 0;  ///< likewise, of the small world with a third client; 0: it was not explored
  std::uint64_t runs = 0;             ///< random ones, of the larger world
  std::vector<Threshold> thresholds;
  std::string why;
  std::optional<Scenario> witness;  ///< broken: `run` shows it
};

}  // namespace lockstep::scenarios
