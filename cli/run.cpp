#include "cli/run.hpp"

#include <algorithm>
#include <ostream>

#include "cli/commands.hpp"

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
    case Call::Command::new_story: return new_story(call, catalogue, output);
    case Call::Command::schema: return schema(catalogue, output);
    case Call::Command::confirm: return confirm_stories(call, catalogue, output);
    case Call::Command::serve: return serve(call, catalogue, output);
  }
  return Exit::bad_input;
}

}  // namespace

int run(std::span<const std::string> args, std::ostream& out, std::ostream& err,
        const models::locks::Catalogue& catalogue, Terminal terminal) {
  const std::variant<Call, Answer> read = read_arguments(args);
  Exit exit = Exit::as_expected;
  if (const Answer* answer = std::get_if<Answer>(&read)) {
    (answer->exit == Exit::as_expected ? out : err) << answer->text;
    exit = answer->exit;
  } else {
    const Call& call = std::get<Call>(read);
    Output output = output_for(call, out, err, terminal);
    exit = perform(call, catalogue, output);
  }
  // A result that nobody could read is no result: a full disk must not look like success.
  if (!out.flush()) {
    err << "lockstep: cannot write to standard output\n";
    exit = Exit::bad_input;
  }
  return static_cast<int>(exit);
}

}  // namespace lockstep::cli
