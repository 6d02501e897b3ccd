#include "cli/testing/spawned_testing.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

#include "sim/testing/in_tree.hpp"

namespace lockstep::cli {
namespace {

/// A file without a name, for what a child writes.
int nameless_file() {
  std::string name = "/tmp/lockstep-spawned-XXXXXX";
  const int file = mkstemp(name.data());
  unlink(name.c_str());
  return file;
}

std::string content_of(int file) {
  std::string text;
  lseek(file, 0, SEEK_SET);
  char piece[4096];
  for (ssize_t n = read(file, piece, sizeof piece); n > 0; n = read(file, piece, sizeof piece))
    text.append(piece, static_cast<std::size_t>(n));
  close(file);
  return text;
}

void sleep_ms(int ms) {
  const timespec length{ms / 1000, (ms % 1000) * 1'000'000L};
  nanosleep(&length, nullptr);
}

}  // namespace

Spawned spawned(std::vector<std::string> arguments, const SpawnOptions& options) {
  arguments.insert(arguments.begin(), built_program());
  const int out = nameless_file();
  const int err = nameless_file();
  // The test runner has a handler of its own, which must not run in the child.
  sigset_t interrupt;
  sigset_t before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, &before);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &interrupt, nullptr);
    const int where = options.out.empty() ? out : open(options.out.c_str(), O_WRONLY);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(where, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (options.address_space != 0) {
      const rlimit limit{options.address_space, options.address_space};
      setrlimit(RLIMIT_AS, &limit);
    }
    if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(127);
    if (options.file_size != 0) {
      signal(SIGXFSZ, SIG_DFL);
      const rlimit limit{options.file_size, options.file_size};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    execv(words.front(), words.data());
    _exit(127);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  Spawned result;
  int status = 0;
  rusage used{};
  for (int waited = 0;; ++waited) {
    if (wait4(child, &status, WNOHANG, &used) == child) break;
    if (waited == options.interrupt_after_ms) kill(child, SIGINT);
    if (waited >= options.patience_ms) {
      result.is_hanging = true;
      kill(child, SIGKILL);
    }
    sleep_ms(1);
  }
  result.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  result.memory = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  result.out = content_of(out);
  result.err = content_of(err);
  return result;
}

}  // namespace lockstep::cli
