#pragma once

// Programs that end themselves, for tests: each runs in a process of its own.

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace lockstep::sim {

/// What `run` says on standard error before it dies by abort(); "(lives)" if it does not.
template <class Run>
std::string last_words(const Run& run) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    run();
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char bytes[512];
  for (ssize_t n = 0; (n = read(ends[0], bytes, sizeof bytes)) > 0;) said.append(bytes, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? said : "(lives)";
}

}  // namespace lockstep::sim
