// Python's client library against served servers, where it is installed.

#include <catch2/catch.hpp>

#include <iostream>

#include "cli/testing/clients/client_library_testing.hpp"

namespace lockstep::python_clients_test {

TEST_CASE("redis-py locks, waits, extends, releases, and hears of its losses") {
  const char* chosen = std::getenv("LOCKSTEP_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "/usr/bin/python3";
  if (cli::output_of(python + " -c 'import redis'").exit != 0) {
    std::cout << "SKIPPED: " << python << " has no module redis (Debian: python3-redis); no library was tried\n";
    return;
  }
  cli::LibraryRun run(python + " " + in_tree("door/clients/redis_py.py"));
  const cli::Ended ended = run.end();
  std::cout << ended.output;
  INFO(ended.output);
  CHECK(ended.exit == 0);
  CHECK(ended.output.ends_with(" agrees\n"));
}

}  // namespace lockstep::python_clients_test
