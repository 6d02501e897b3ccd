#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/commands/commands.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/interrupt.hpp"
#include "reports/check/matrix.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/matrix/matrix.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

/// A message about names that there are not.
std::optional<std::string> objection(const Call& call, const models::locks::Catalogue& catalogue) {
  const std::vector<std::string_view> algorithms = catalogue.ids();
  for (const std::string& name : call.files) {
    if (catalogue.find(name) == nullptr)
      return fmt::format("matrix {}: {}", scenarios::in_quotes(name), scenarios::suggestion(name, algorithms));
  }
  std::vector<std::string_view> faults;
  for (const scenarios::MatrixFault& fault : scenarios::matrix_faults()) faults.push_back(fault.name);
  for (const std::string& name : call.matrix.faults) {
    if (std::find(faults.begin(), faults.end(), name) == faults.end())
      return fmt::format("--faults {}: {}", scenarios::in_quotes(name), scenarios::suggestion(name, faults));
  }
  return std::nullopt;
}

/// Each witness as a file of its own. False after a message.
bool write_witnesses(const scenarios::Matrix& matrix, const std::string& folder, std::ostream& err) {
  for (const scenarios::MatrixCell& cell : matrix.cells) {
    for (const scenarios::MatrixAnswer& answer : cell.answers) {
      if (!answer.witness) continue;
      const std::string file =
          fmt::format("{}/{}-{}-{}.toml", folder, cell.algorithm, cell.fault->name, answer.question->name);
      if (!write_file(file, scenarios::to_toml(*answer.witness, folder), err)) return false;
    }
  }
  return true;
}

}  // namespace

Exit matrix(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  std::optional<std::string> trouble = objection(call, catalogue);
  if (!trouble && call.matrix.witnesses && output.is_first())
    trouble = trouble_with_folder("--witnesses", *call.matrix.witnesses);
  if (const std::string said = objection_of_any(trouble.value_or(""), output); !said.empty()) {
    output.err << "lockstep: " << said << '\n';
    return Exit::bad_input;
  }
  const Interrupt interrupt;
  scenarios::MatrixOptions options;
  options.algorithms = call.files;
  options.faults = call.matrix.faults;
  if (call.matrix.max_traces) options.max_traces = *call.matrix.max_traces;
  if (call.matrix.max_events) options.max_events = *call.matrix.max_events;
  if (call.matrix.runs) options.runs = *call.matrix.runs;
  if (call.seed) options.seed = *call.seed;
  options.jobs = static_cast<unsigned>(call.jobs);
  options.ranks = output.ranks;
  options.interrupted = [&interrupt] { return interrupt.is_requested(); };
  if (output.progress) {
    options.progress = [&](std::size_t done, std::size_t all) {
      output.err << fmt::format("\r{} of {} cells{}", done, all, done == all ? "\r\x1b[K" : "") << std::flush;
    };
  }

  const auto result = scenarios::matrix(catalogue, options);
  if (const auto* problem = std::get_if<scenarios::Diagnostic>(&result)) {
    output.err << problem->to_string() << '\n';
    return Exit::bad_input;
  }
  const scenarios::Matrix& found = std::get<scenarios::Matrix>(result);
  if (!output.is_first()) return Exit::as_expected;
  if (call.matrix.witnesses && !write_witnesses(found, *call.matrix.witnesses, output.err)) return Exit::bad_input;
  if (call.json) {
    output.out << reports::matrix_json(found, options);
  } else {
    const reports::MatrixReportOptions how{.width = output.width, .language = call.language};
    output.out << reports::to_string(reports::matrix(found, options, how), output.colour);
  }
  return found.is_complete ? Exit::as_expected : Exit::incomplete;
}

}  // namespace lockstep::cli
