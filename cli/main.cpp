#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cli/run.hpp"

namespace {

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

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> args(arguments + std::min(count, 1), arguments + count);
  return lockstep::cli::run(args, std::cout, std::cerr, lockstep::models::locks::Catalogue::built_in(),
                            present_terminal());
}
