#include "cli/run.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/arguments/reading.hpp"
#include "cli/commands/commands.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::cli {
namespace {

constexpr std::size_t kWidthUnknown = 100;
constexpr std::size_t kWidthMin = 40;

Output output_for(const Call& call, std::ostream& out, std::ostream& err, Terminal terminal) {
  Output output{.out = out, .err = err};
  output.width = call.width.value_or(terminal.width == 0 ? kWidthUnknown : std::max(terminal.width, kWidthMin));
  const bool automatic = terminal.is_tty && !terminal.no_color;
  output.colour = call.colour == Call::Colour::always || (call.colour == Call::Colour::automatic && automatic);
  output.progress = terminal.is_err_tty;
  return output;
}

Exit perform(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  switch (call.command) {
    case Call::Command::list: return list(call, catalogue, output);
    case Call::Command::run: return run_stories(call, catalogue, output);
    case Call::Command::check: return check_stories(call, catalogue, output);
    case Call::Command::linearize: return linearize(call, output);
    case Call::Command::compare: return compare(call, catalogue, output);
    case Call::Command::matrix: return matrix(call, catalogue, output);
    case Call::Command::fuzz: return fuzz(call, catalogue, output);
    case Call::Command::new_story: return new_story(call, catalogue, output);
    case Call::Command::schema: return schema(catalogue, output);
    case Call::Command::confirm: return confirm_stories(call, catalogue, output);
    case Call::Command::report: return report(call, catalogue, output);
    case Call::Command::play: return play(call, catalogue, output);
    case Call::Command::serve: return serve(call, catalogue, output);
  }
  return Exit::bad_input;
}

/// Other commands are done by one process.
bool is_split(Call::Command command) {
  return command == Call::Command::fuzz || command == Call::Command::check || command == Call::Command::matrix;
}

/// Where algorithms are named, a script is one, too. What is wrong with one of them, or nothing.
std::string add_scripts(Call& call, models::locks::Catalogue& catalogue) {
  std::vector<std::string*> names;
  const bool are_files =
      call.command == Call::Command::matrix || (call.command == Call::Command::list && call.what == "algorithms");
  if (are_files) {
    for (std::string& name : call.files) names.push_back(&name);
  } else if (call.command == Call::Command::compare) {
    for (std::string& name : call.compare.algorithms) names.push_back(&name);
  } else if (call.command == Call::Command::fuzz) {
    for (std::string& name : call.fuzz.algorithms) names.push_back(&name);
  }
  for (std::string* name : names) {
    if (std::string problem = scenarios::add_script(*name, catalogue); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace

int run(std::span<const std::string> args, std::ostream& out, std::ostream& err,
        const models::locks::Catalogue& catalogue, Terminal terminal, scenarios::Ranks* ranks) {
  const std::variant<Call, Answer> read = read_arguments(args);
  if (ranks != nullptr && ranks->rank() > 0) {
    const Call* call = std::get_if<Call>(&read);
    if (call != nullptr && is_split(call->command)) {
      std::ostringstream nobody_reads;
      Output output{.out = nobody_reads, .err = nobody_reads};
      output.ranks = ranks;
      perform(*call, catalogue, output);
    }
    return static_cast<int>(Exit::as_expected);
  }
  Exit exit = Exit::as_expected;
  if (const Answer* answer = std::get_if<Answer>(&read)) {
    (answer->exit == Exit::as_expected ? out : err) << answer->text;
    exit = answer->exit;
  } else {
    Call call = std::get<Call>(read);
    Output output = output_for(call, out, err, terminal);
    output.ranks = is_split(call.command) ? ranks : nullptr;
    models::locks::Catalogue with_scripts = catalogue;
    if (const std::string problem = add_scripts(call, with_scripts); !problem.empty()) {
      err << "lockstep: " << problem << '\n';
      exit = Exit::bad_input;
    } else {
      exit = perform(call, with_scripts, output);
    }
  }
  // A result that nobody could read is no result: a full disk must not look like success.
  if (!out.flush()) {
    err << "lockstep: cannot write to standard output\n";
    exit = Exit::bad_input;
  }
  return static_cast<int>(exit);
}

}  // namespace lockstep::cli
