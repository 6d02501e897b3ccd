#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "cli/commands/own_folder.hpp"
#include "cli/formats/format.hpp"
#include "cli/guard.hpp"
#include "cli/interrupt.hpp"
#include "cli/join_ranks.hpp"
#include "reports/check/matrix.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/matrix/matrix.hpp"

namespace lockstep::cli {
namespace {

/// Each witness as a file of its own. False after a message.
bool write_witnesses(const scenarios::Matrix& matrix, const std::string& path, OwnFolder& folder, std::ostream& err) {
  bool is_good = true;
  for (const scenarios::MatrixCell& cell : matrix.cells) {
    for (const scenarios::MatrixAnswer& answer : cell.answers) {
      if (!answer.witness) continue;
      const std::string name = fmt::format("{}-{}-{}.toml", cell.algorithm, cell.fault->name, answer.question->name);
      if (const auto trouble = folder.write(name, scenarios::to_toml(*answer.witness, path))) {
        err << fmt::format("lockstep: {}\n", *trouble);
        is_good = false;
      }
    }
  }
  return is_good;
}

class MatrixCall final : public Call {
 public:
  Manual manual() override {
    return {
        .name = "matrix",
        .summary = "every lock algorithm under every kind of fault: proved within bounds, fuzzed, or broken",
        .example = "matrix set-nx-px-lua redlock-seq",
        .head =
            R"(Puts each lock algorithm into a small world for each kind of fault, explores it in every order and with every
delay, and says whether it is proved within these bounds or broken, and from which margin on. What a bound leaves open
is run at random in a larger world.

usage: lockstep matrix [ALGORITHM...] [OPTIONS]

Without names: all algorithms of lockstep list algorithms that claim mutual exclusion.

)",
        .options = {list({"--faults", "NAME,NAME...", "these columns alone (without it: all)"}, Option::Takes::words,
                         options_.faults),
                    whole({"--max-traces", "N", "end each exploration after N traces (50000)"}, {},
                          options_.max_traces),
                    whole({"--max-events", "N", "or after N events, of runs that are no traces, too (5000000)"}, {},
                          options_.max_events),
                    whole({"--runs", "N", "random runs of what was neither proved nor broken (300)"}, {},
                          options_.runs),
                    memory_bound(max_memory_),
                    folder({"--witnesses", "DIR", "write each run that breaks something as a scenario file there"},
                           witnesses_)},
        .tail = R"(
example: lockstep matrix set-nx-px-lua redlock-seq --faults pause,crash --witnesses build/witnesses
)",
        .seed = "of the random runs (1)",
        .jobs = "work on N cells at a time; the results are the same for any N",
        .language = "language of the report",
        .is_split = true};
  }

  std::vector<std::string>* lock_names() override { return &files; }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  /// A message about names that there are not.
  std::string objection(const models::locks::Catalogue& catalogue) const {
    for (const std::string& name : files) {
      if (catalogue.find(name) == nullptr) return not_one_of("matrix", name, catalogue.ids());
    }
    std::vector<std::string_view> faults;
    for (const scenarios::MatrixFault& fault : scenarios::matrix_faults()) faults.push_back(fault.name);
    for (const std::string& name : options_.faults) {
      if (std::find(faults.begin(), faults.end(), name) == faults.end()) return not_one_of("--faults", name, faults);
    }
    return "";
  }

  scenarios::MatrixOptions options_;
  std::uint64_t max_memory_ = half_of_memory();
  std::optional<std::string> witnesses_;
};

Exit MatrixCall::perform(const models::locks::Catalogue& catalogue, Output& output) {
  std::string trouble = objection(catalogue);
  OwnFolder folder;
  if (trouble.empty() && witnesses_ && output.is_first())
    trouble = folder.open("--witnesses", *witnesses_).value_or("");
  if (const std::string said = objection_of_any(trouble, output); !said.empty()) return refuse(output, said);
  const Interrupt interrupt;
  const Guard guard(max_memory_);
  options_.algorithms = files;
  options_.seed = seed.value_or(1);
  options_.jobs = static_cast<unsigned>(jobs);
  options_.ranks = output.ranks;
  options_.interrupted = [&interrupt] { return interrupt.is_requested(); };
  if (output.progress) {
    options_.progress = [&](std::size_t done, std::size_t all) {
      output.err << fmt::format("\r{} of {} cells{}", done, all, done == all ? "\r\x1b[K" : "") << std::flush;
    };
  }

  const auto result = scenarios::matrix(catalogue, options_);
  if (const auto* problem = std::get_if<scenarios::Diagnostic>(&result)) {
    output.err << problem->to_string() << '\n';
    return Exit::bad_input;
  }
  const scenarios::Matrix& found = std::get<scenarios::Matrix>(result);
  if (!output.is_first()) return Exit::as_expected;
  const bool is_written = !witnesses_ || write_witnesses(found, *witnesses_, folder, output.err);
  const reports::MatrixReportOptions how{.width = output.width, .language = language};
  if (!report(*this,
              {.lines = [&] { return reports::matrix(found, options_, how); },
               .json = [&] { return reports::matrix_json(found, options_); }},
              output) ||
      !is_written)
    return Exit::bad_input;
  return found.is_complete ? Exit::as_expected : Exit::incomplete;
}

}  // namespace

std::unique_ptr<Call> matrix_call() { return std::make_unique<MatrixCall>(); }

}  // namespace lockstep::cli
