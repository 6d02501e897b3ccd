#include "models/redis/wire/command.hpp"

#include <catch2/catch.hpp>

#include "models/redis/database/commands.hpp"

namespace lockstep::models::redis::command_test {
namespace {

Command parsed(std::string_view line) {
  auto result = parse_command_line(line);
  INFO(line);
  REQUIRE(std::holds_alternative<Command>(result));
  return std::get<Command>(result);
}

std::size_t error_column(std::string_view line) {
  const auto result = parse_command_line(line);
  const auto* error = std::get_if<CommandLineError>(&result);
  return error != nullptr ? error->column : 0;
}

}  // namespace

TEST_CASE("a command line is read with redis-cli's quoting") {
  CHECK(parsed("  set  lock\tA-1 ") == Command{"set", "lock", "A-1"});
  CHECK(parsed(R"(SET "a b" 'c d')") == Command{"SET", "a b", "c d"});
  CHECK(parsed(R"(SET "\x41\n\r\t\a\b\\\"\q" '\n\'x')") == Command{"SET", "A\n\r\t\a\b\\\"q", "\\n'x"});
  CHECK(parsed(R"(SET "" '')") == Command{"SET", "", ""});
  CHECK(parsed(R"(SET a"b c" d)") == Command{"SET", "ab c", "d"});
  CHECK(parsed("SET \"\\xzz\" 1") == Command{"SET", "xzz", "1"});
}

TEST_CASE("a command line that is wrong says where") {
  CHECK(error_column("SET \"abc") == 5);
  CHECK(error_column("SET 'abc") == 5);
  CHECK(error_column("SET \"abc\\\"") == 5);
  CHECK(error_column("SET \"abc\"def") == 10);
  CHECK(error_column("SET 'abc''def'") == 10);
  CHECK(error_column("") == 1);
  CHECK(error_column("   ") == 1);
  CHECK(error_column("GET a") == 0);
}

TEST_CASE("a command knows its name in capitals, subcommands included") {
  CHECK(Command{"setnx", "k", "v"}.name() == "SETNX");
  CHECK(Command{"Script", "load", "return 1"}.name() == "SCRIPT LOAD");
  CHECK(Command{"script", "nonsense"}.name() == "SCRIPT");
  CHECK(Command{"nonsense"}.name() == "(unknown)");
  CHECK(Command{17, "x"}.name() == "(unknown)");
  CHECK(Command{"script load", "x"}.spec() == nullptr);
}

TEST_CASE("a timeline shows commands briefly") {
  CHECK(Command{"set", "lock", "A-1", "NX", "PX", 100}.describe() == "SET lock A-1 NX PX 100");
  CHECK(Command{"EVAL", "return redis.call('get', KEYS[1])", 1, "lock", "A-1"}.describe() ==
        "EVAL <script> 1 lock A-1");
  CHECK(Command{"script", "load", "return 1"}.describe() == "SCRIPT LOAD <script>");
  CHECK(Command{"SET", "k", "a b"}.describe() == "SET k \"a b\"");
  CHECK(Command{"SET", "k", ""}.describe() == "SET k \"\"");
  CHECK(Command{"foo", "a"}.describe() == "foo a");
  CHECK(Command{"SET", "k", std::string(200, 'x')}.describe().size() < 80);
  CHECK(Command{"SET", "k", Value::milliseconds(sim::Instant(3, {}))}.describe() == "SET k <timestamp>");
}

TEST_CASE("a command of more than eight values is the same as a short one") {
  Command command;
  for (int i = 0; i < 20; ++i) command.push_back(i);
  CHECK(command.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(command[static_cast<std::size_t>(i)] == Value(i));
  Command copy = command;
  CHECK(copy == command);
  CHECK(copy.digest() == command.digest());
  Command moved = std::move(copy);
  CHECK(moved == command);
  CHECK(copy.empty());  // NOLINT(bugprone-use-after-move)
  copy = Command{"GET", "k"};
  CHECK(copy.size() == 2);
  copy = moved;
  CHECK(copy == command);
  moved.clear();
  moved.push_back("GET");
  CHECK(moved == Command{"GET"});
}

TEST_CASE("equal commands have equal digests, other commands others") {
  CHECK(Command{"SET", "k", 12}.digest() == Command{"SET", "k", "12"}.digest());
  CHECK(Command{"SET", "k", 12} == Command{"SET", "k", "12"});
  CHECK(Command{"SET", "k", "1"}.digest() != Command{"SET", "k", "2"}.digest());
  CHECK(Command{"SET", "ab", "c"}.digest() != Command{"SET", "a", "bc"}.digest());
  CHECK(Command{"GET", "k"}.digest() != Command{"GET", "k", ""}.digest());
}

}  // namespace lockstep::models::redis::command_test
