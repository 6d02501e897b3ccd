#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/arguments/call.hpp"
#include "cli/join_ranks.hpp"
#include "cli/run.hpp"
#ifdef LOCKSTEP_RUNS_PROGRAMS
#include "programs/story_programs.hpp"
#endif

namespace {

/// What the first call of `run` compiles has none, nor has any build for another system than Linux on x86-64.
const lockstep::scenarios::ProgramMaker* program_maker() {
#ifdef LOCKSTEP_RUNS_PROGRAMS
  return &lockstep::programs::story_programs();
#else
  return nullptr;
#endif
}

lockstep::cli::Terminal present_terminal() {
  lockstep::cli::Terminal terminal;
  terminal.is_tty = isatty(STDOUT_FILENO) != 0;
  terminal.is_err_tty = isatty(STDERR_FILENO) != 0;
  // As no-color.org has it: set, and not empty.
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  terminal.no_color = (no_color != nullptr && *no_color != '\0') || (term != nullptr && std::string(term) == "dumb");
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) terminal.width = size.ws_col;
  return terminal;
}

/// Wherever memory runs out: no thread could go on, and none may be left waiting for another. Files are written whole
/// or not at all (reports/text/output_file.hpp).
[[noreturn]] void out_of_memory() {
  constexpr std::string_view message =
      "lockstep: out of memory; a smaller world, --max-events or --max-memory, or --jobs 1 need less\n";
  if (write(STDERR_FILENO, message.data(), message.size()) < 0) _exit(3);
  _exit(3);
}

}  // namespace

int main(int count, char** arguments) {
  std::set_new_handler(out_of_memory);
  // `ulimit -f`: what cannot be written is told as with a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  const std::vector<std::string> args(arguments + std::min(count, 1), arguments + count);
  const auto joined = lockstep::cli::join_ranks();
  if (const auto* trouble = std::get_if<std::string>(&joined)) {
    std::cerr << "lockstep: " << *trouble << '\n';
    return static_cast<int>(lockstep::cli::Exit::bad_input);
  }
  return lockstep::cli::run(args, std::cout, std::cerr, lockstep::models::locks::Catalogue::built_in(),
                            present_terminal(), std::get<0>(joined).get(), program_maker());
}
