// docs/evidence/redis-fidelity.md lists the commands that there are.

#include <catch2/catch.hpp>

#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "models/redis/conformance/real_redis.hpp"
#include "models/redis/database/commands.hpp"
#include "models/redis/wire/resp.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::models::redis::fidelity_test {

namespace {

/// What stands between two marks of the page, each in `backquotes`.
std::set<std::string> listed_between(std::string_view first, std::string_view last) {
  std::ifstream file(in_tree("docs/evidence/redis-fidelity.md"));
  std::stringstream page;
  page << file.rdbuf();
  std::string text = page.str();
  const std::size_t begin = text.find(first);
  const std::size_t end = text.find(last);
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
  return listed;
}

std::set<std::string> modelled() { return listed_between("<!-- commands -->", "<!-- end of commands -->"); }

}  // namespace

TEST_CASE("the page on fidelity lists every command of the table and no other") {
  std::set<std::string> known;
  for (const CommandSpec& spec : command_table()) known.insert(std::string(spec.name));
  std::set<std::string> told = modelled();
  told.merge(listed_between("<!-- later commands -->", "<!-- end of later commands -->"));
  CHECK(told == known);
}

TEST_CASE("every command of the real server is modelled, or is on the list of those that are not") {
  std::string why;
  const auto server = RealRedis::start(why);
  if (server == nullptr) {
    WARN("SKIPPED: " << why);
    return;
  }
  RealRedis::Connection connection = server->connect();
  std::string request;
  append_request(request, Command{"COMMAND", "LIST"});
  connection.send(request);
  std::set<std::string> real;
  const Reply names = connection.receive();
  for (const Reply& name : names.items()) {
    std::string capitals = name.value().text();
    for (char& c : capitals) c = c == '|' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    real.insert(capitals);
  }
  CHECK(real.size() > 300);
  std::set<std::string> told = modelled();
  for (const std::string& name : listed_between("<!-- not modelled -->", "<!-- end of not modelled -->")) {
    INFO(name);
    CHECK(told.insert(name).second);
  }
  CHECK(told == real);
}

}  // namespace lockstep::models::redis::fidelity_test
