// docs/redis-fidelity.md lists the commands that there are.

#include <catch2/catch.hpp>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "models/redis/commands.hpp"
#include "sim/in_tree.hpp"

namespace lockstep::models::redis::fidelity_test {

TEST_CASE("the page on fidelity lists every command of the table and no other") {
  std::ifstream file(in_tree("docs/redis-fidelity.md"));
  std::stringstream page;
  page << file.rdbuf();
  std::string text = page.str();
  const std::size_t begin = text.find("<!-- commands -->");
  const std::size_t end = text.find("<!-- end of commands -->");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  text = text.substr(begin, end - begin);
  std::set<std::string> listed;
  for (std::size_t at = text.find('`'); at != std::string::npos;) {
    const std::size_t close = text.find('`', at + 1);
    REQUIRE(close != std::string::npos);
    listed.insert(text.substr(at + 1, close - at - 1));
    at = text.find('`', close + 1);
  }
  std::set<std::string> known;
  for (const CommandSpec& spec : command_table()) known.insert(std::string(spec.name));
  CHECK(listed == known);
}

}  // namespace lockstep::models::redis::fidelity_test
