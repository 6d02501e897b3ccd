#pragma once

// Every algorithm under every kind of fault: whether its promises are proved within bounds, were only not broken by random
// runs, or are broken, with a story that shows it. Nothing here is known beforehand: each cell is explored and run.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"
#include "scenarios/workers/ranks.hpp"

namespace lockstep::scenarios {

/// What may go wrong in a column.
struct MatrixFault {
  std::string_view name;
  std::string_view meaning;
  std::string_view meaning_zh;
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
    proved,  ///< holds in every order and with every delay of the small world, for `clients`, and random runs of the larger one did not break it
    fuzzed,  ///< random runs did not break it; that is all that is known
    broken,  ///< the witness breaks it
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

struct MatrixCell {
  std::string algorithm;
  const MatrixFault* fault = nullptr;
  std::vector<MatrixAnswer> answers;  ///< in the order of `matrix_questions`
};

struct MatrixOptions {
  std::vector<std::string> algorithms;   ///< ids of the catalogue; empty: all that are locks for one holder
  std::vector<std::string> faults;       ///< empty: all
  std::uint64_t max_traces = 50'000;     ///< of each exploration; then random runs are all there is
  std::uint64_t max_events = 5'000'000;  ///< likewise, of its executions, those that are no traces included
  std::uint64_t runs = 300;              ///< random ones of each question that the small world did not break
  std::uint64_t seed = 1;
  unsigned jobs = 1;       ///< threads; the result is the same for any number
  Ranks* ranks = nullptr;  ///< processes that fill in these cells together; each has all of the result
  std::function<bool()> interrupted;
  std::function<void(std::size_t done, std::size_t all)> progress;
};

enum class MatrixWorld : std::uint8_t {
  two,    ///< explored: two clients, a round each
  three,  ///< explored where two do not break it: the same with a third client
  large   ///< of random runs: three clients, with a round and attempts more
};
/// The world of a cell.
Scenario matrix_world(const models::locks::Entry& entry, const MatrixFault& fault, const MatrixQuestion& question,
                      MatrixWorld world);

struct Matrix {
  std::vector<MatrixCell> cells;  ///< algorithm by algorithm, in the order of the catalogue
  bool is_complete = true;        ///< false: interrupted, and the cells that were not begun have no answers
};

/// Requires: the names in `options` are known. A diagnostic is a story that cannot be run, which is a defect of this program.
std::variant<Matrix, Diagnostic> matrix(const models::locks::Catalogue& catalogue, const MatrixOptions& options);

/// Whether the matrix has a row for it: an exclusive lock.
bool has_matrix_row(const models::locks::Entry& entry);

}  // namespace lockstep::scenarios
