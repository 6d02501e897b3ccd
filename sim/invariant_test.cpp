#include "sim/invariant.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace lockstep::sim::invariant_test {
namespace {

/// What it says on standard error before it dies by abort(); "(lives)" if it does not.
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

}  // namespace

TEST_CASE("invariant: one that does not hold ends the program, and says what it was and where") {
  CHECK(last_words([] { invariant(true, "one is one"); }) == "(lives)");
  const std::string said = last_words([] { invariant(false, "one is two"); });
  CHECK(said.find("our bug: it does not hold that one is two\n") != std::string::npos);
  CHECK(said.find("sim/invariant_test.cpp:") != std::string::npos);
}

TEST_CASE("invariant: a program of tests asks the costly ones, too") {
  CHECK(last_words([] { costly_invariant([] { return true; }, "one is one"); }) == "(lives)");
  CHECK(last_words([] { costly_invariant([] { return false; }, "one is two"); }).find("one is two") !=
        std::string::npos);
}

}  // namespace lockstep::sim::invariant_test
