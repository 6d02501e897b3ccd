#include "cli/run.hpp"

#include <algorithm>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "cli/arguments/reading.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/join_ranks.hpp"
#include "cli/messages.hpp"
#include "scenarios/story/own_lock.hpp"
#include "sim/stop.hpp"

namespace lockstep::cli {
namespace {

constexpr std::size_t kWidthUnknown = 100;
constexpr std::size_t kWidthMin = 40;

Output output_for(const Call& call, std::ostream& out, std::ostream& err, Terminal terminal) {
  Output output{.out = out, .err = err};
  output.width = call.width.value_or(terminal.width == 0 ? kWidthUnknown : std::max(terminal.width, kWidthMin));
  const bool automatic = terminal.is_tty && !terminal.no_color;
  output.colour = call.colour == Colour::always || (call.colour == Colour::automatic && automatic);
  output.progress = terminal.is_err_tty;
  return output;
}

/// Where algorithms are named, a script is one, too.
Exit perform_with_scripts(Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  std::vector<std::string>* names = call.lock_names();
  if (names == nullptr) return call.perform(catalogue, output);
  models::locks::Catalogue with_scripts = catalogue;
  std::string problem;
  for (std::string& name : *names) {
    const std::string file = name;
    if (problem.empty()) problem = scenarios::add_script(name, with_scripts);
    if (name != file) call.inputs.push_back(file);
  }
  if (problem.empty()) problem = refuse_outputs(call.outputs, call.inputs).value_or("");
  if (problem = objection_of_any(problem, output); !problem.empty()) return refuse(output, problem);
  return call.perform(with_scripts, output);
}

Exit perform(Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  try {
    return perform_with_scripts(call, catalogue, output);
  } catch (const sim::Stopped&) {
    output.err << "lockstep: interrupted\n";
    return Exit::incomplete;
  }
}

}  // namespace

int run(std::span<const std::string> args, std::ostream& out, std::ostream& err,
        const models::locks::Catalogue& catalogue, Terminal terminal, scenarios::Ranks* ranks,
        const scenarios::ProgramMaker* programs) {
  Messages messages(err);
  const std::variant<std::unique_ptr<Call>, Answer> read = read_arguments(args);
  const auto* call = std::get_if<std::unique_ptr<Call>>(&read);
  const bool is_split = call != nullptr && (*call)->manual().is_split;  // other commands are done by one process
  if (ranks != nullptr && ranks->rank() > 0) {
    if (is_split) {
      std::ostringstream nobody_reads;
      Output output{.out = nobody_reads, .err = nobody_reads};
      output.ranks = ranks;
      perform(**call, catalogue, output);
    }
    return static_cast<int>(Exit::as_expected);
  }
  Exit exit = Exit::as_expected;
  if (call != nullptr) {
    (*call)->programs = programs;
    Output output = output_for(**call, out, messages, terminal);
    output.ranks = is_split ? ranks : nullptr;
    exit = perform(**call, catalogue, output);
  } else {
    const Answer& answer = std::get<Answer>(read);
    (answer.exit == Exit::as_expected ? out : messages) << answer.text;
    exit = answer.exit;
  }
  // A result that nobody could read is no result: a full disk must not look like success.
  if (!out.flush()) {
    messages << "lockstep: cannot write to standard output\n";
    exit = Exit::bad_input;
  }
  return static_cast<int>(exit);
}

}  // namespace lockstep::cli
