// What comes back from `lockstep serve` when several clients speak at once, beside a real server.

#include <catch2/catch.hpp>

#include <iostream>

#include "cli/testing/clients/client_library_testing.hpp"

namespace lockstep::side_by_side_test {

TEST_CASE("five connections that speak at once hear the same bytes from a real server, in both protocols") {
  if (cli::output_of("/usr/bin/python3 --version").exit != 0 ||
      cli::output_of("redis-server --version").output.find("v=7.0.") == std::string::npos) {
    std::cout << "SKIPPED: there is no /usr/bin/python3 or no redis-server 7.0; nothing was compared\n";
    return;
  }
  for (const std::string protocol : {"2", "3"}) {
    const cli::Ended ended = cli::output_of(
        "timeout 120 /usr/bin/python3 " + in_tree("door/clients/side_by_side.py") + " " + built_program() + " " +
        in_tree("scenarios/stories/reference/set-nx-px-lua-3x2.toml") + " " + protocol + " 5000 20261123");
    std::cout << ended.output;
    INFO(ended.output);
    CHECK(ended.exit == 0);
    CHECK(ended.output.ends_with(" agree\n"));
  }
}

}  // namespace lockstep::side_by_side_test
