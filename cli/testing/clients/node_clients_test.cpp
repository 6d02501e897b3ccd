// Node's client libraries and what locks are made of them, against served servers, where they are installed.

#include <catch2/catch.hpp>

#include <iostream>
#include <memory>
#include <vector>

#include "cli/testing/clients/client_library_testing.hpp"

namespace lockstep::node_clients_test {

TEST_CASE("libraries of Node lock, wait, extend, release, and hear of their losses") {
  const char* modules = std::getenv("LOCKSTEP_NODE_MODULES");
  if (modules == nullptr) {
    std::cout
        << "SKIPPED: LOCKSTEP_NODE_MODULES names no folder node_modules (docs/manual/serve.md); no library was tried\n";
    return;
  }
  std::vector<std::unique_ptr<cli::LibraryRun>> runs;
  for (const std::string library : {"ioredis", "redis", "redlock", "redis-semaphore", "simple-redis-mutex"}) {
    runs.push_back(std::make_unique<cli::LibraryRun>("NODE_PATH='" + std::string(modules) + "' node " +
                                                     in_tree("door/clients/locks.js") + " " + library));
  }
  for (const auto& run : runs) {
    const cli::Ended ended = run->end();
    std::cout << ended.output;
    INFO(ended.output);
    CHECK(ended.exit == 0);
    CHECK(ended.output.ends_with(" agrees\n"));
  }
}

}  // namespace lockstep::node_clients_test
