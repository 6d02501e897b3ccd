// What files say of SQL servers, and of a row that one of them keeps.

#include <catch2/catch.hpp>

#include <string>

#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::sql_format_test {
namespace {

std::string told(const std::string& algorithm, const std::string& text) {
  const auto loaded =
      parse("title = \"t\"\n[[client]]\nname = \"A\"\n[lock]\nalgorithm = \"" + algorithm + "\"\n" + text, "x.toml",
            testing::catalogue());
  const auto* trouble = std::get_if<Diagnostic>(&loaded);
  return trouble == nullptr ? "(a scenario)" : trouble->message;
}

}  // namespace

TEST_CASE("loader: a setting of the other SQL product is refused") {
  CHECK(told("sql-advisory", "[[server]]\nproduct = \"mariadb\"\ninnodb_lock_wait_timeout = \"5s\"\n") ==
        "(a scenario)");
  CHECK(told("sql-advisory", "[[server]]\nproduct = \"mariadb\"\nlock_timeout = \"5s\"\n") ==
        "lock_timeout: a setting of PostgreSQL, and this server is product = \"mariadb\"; leave it out");
  CHECK(told("sql-advisory", "[[server]]\ninnodb_lock_wait_timeout = \"5s\"\n") ==
        "innodb_lock_wait_timeout: a setting of MariaDB, and this server is product = \"postgresql\"; leave it out");
  CHECK(told("sql-advisory", "[[server]]\nproduct = \"mariadb\"\ninnodb_lock_wait_timeout = \"1500ms\"\n") ==
        "innodb_lock_wait_timeout: expected whole seconds, one or more, such as \"50s\"");
}

TEST_CASE("loader: a row is for locks that reach to it, and has nothing of a resource of its own") {
  CHECK(told("lock-inside-transaction", "[resource]\nkind = \"row\"\n") == "(a scenario)");
  CHECK(told("lock-inside-transaction", "[resource]\nkind = \"counter\"\nfenced = true\n") == "(a scenario)");
  CHECK(told("sql-advisory", "[resource]\nkind = \"row\"\n") ==
        "kind: \"row\" is a row of the lock's server, to which sql-advisory does not reach; write \"counter\"");
  CHECK(told("lock-inside-transaction", "[resource]\nkind = \"row\"\nlatency = \"3ms\"\n") ==
        "latency: a row of the lock's server has no such key of its own; leave it out");
}

}  // namespace lockstep::scenarios::sql_format_test
