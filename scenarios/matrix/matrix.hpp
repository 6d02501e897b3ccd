#pragma once

// Every algorithm under every kind of fault: whether its promises are proved within bounds, were only not broken by
// random runs, or are broken, with a story that shows it. Nothing here is known beforehand: each cell is explored and
// run.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/matrix/answer.hpp"
#include "scenarios/running/effort.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"
#include "scenarios/workers/ranks.hpp"

namespace lockstep::scenarios {

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
  std::uint64_t parts_for_three = 1;     ///< the bounds of three clients are such a part of these
  /// What three clients need at least, for each event that two need; where that is more than the bound, their search,
  /// which would hardly end, is not begun. 0: it always is.
  std::uint64_t times_for_three = 0;
  std::uint64_t runs = 300;  ///< random ones of each question that the small world did not break
  Effort opinion_effort;     ///< of each exploration's second opinion
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

/// Requires: the names in `options` are known. A diagnostic is a story that cannot be run, which is a defect of this
/// program.
std::variant<Matrix, Diagnostic> matrix(const models::locks::Catalogue& catalogue, const MatrixOptions& options);

/// Whether the matrix has a row for it: an exclusive lock.
bool has_matrix_row(const models::locks::Entry& entry);

}  // namespace lockstep::scenarios
