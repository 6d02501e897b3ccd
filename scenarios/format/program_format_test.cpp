// Clients that are programs: what their tables may say, and what the rest of the file must not.

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::program_format_test {
namespace {

using testing::catalogue;

constexpr std::string_view kLock = "title = \"t\"\n[lock]\n";
constexpr std::string_view kProgram = "[[client]]\nname = \"A\"\ncommand = [\"true\"]\n";

std::string text_of(std::string_view lock, std::string_view rest) {
  return std::string(kLock) + std::string(lock) + std::string(kProgram) + std::string(rest);
}

Scenario parsed(const std::string& text, const std::string& file = "/srv/x.toml") {
  auto result = parse(text, file, catalogue(), nullptr, Programs::taken);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string() << "\n" << text);
  return std::get<Scenario>(std::move(result));
}

void refused(const std::string& text, const std::string& why) {
  const auto result = parse(text, "/srv/x.toml", catalogue(), nullptr, Programs::taken);
  INFO(text);
  REQUIRE(std::holds_alternative<Diagnostic>(result));
  CHECK_THAT(std::get<Diagnostic>(result).to_string(), Catch::Contains(why));
}

TEST_CASE("programs: a lock that is theirs alone needs no algorithm") {
  const Scenario story = parsed(text_of("key = \"stock\"\n", ""));
  CHECK(is_lock_of_programs(story.lock));
  CHECK(to_toml(story).find("algorithm") == std::string::npos);
  CHECK(without_positions(parsed(to_toml(story))) == without_positions(story));
  refused(text_of("", "[[client]]\nname = \"B\"\n"), "[lock] needs \"algorithm\"");
  refused(text_of("algorithm = \"programs\"\n", ""), "there is no algorithm \"programs\"");
  refused(text_of("attempts = 3\n", ""), "attempts");
}

TEST_CASE("programs: they are started in the folder of their file, or in one that it names") {
  CHECK(parsed(text_of("", "")).clients[0].program.folder == "/srv");
  CHECK(parsed(text_of("", "cwd = \"..\"\n")).clients[0].program.folder == "/");
  const Scenario usr = parsed(text_of("", "cwd = \"/usr/lib/..\"\n"));
  CHECK(usr.clients[0].program.folder == "/usr");
  CHECK(to_toml(usr, "/usr").find("cwd") == std::string::npos);
  CHECK(to_toml(usr, "/usr/bin").find("cwd = \"..\"") != std::string::npos);
  CHECK(to_toml(usr).find("cwd = \"/usr\"") != std::string::npos);
  refused(text_of("", "cwd = \"/nonexistent\"\n"), "there is no folder \"/nonexistent\"");
}

TEST_CASE("programs: what only Lockstep's own clients have is refused") {
  refused(text_of("", "hold = \"5ms\"\n"), "hold");
  refused(text_of("", "commands = [\"DEL lock\"]\n"), "command");
  refused(text_of("", "via = \"sentinel\"\n"), "via");
  refused(std::string(kLock) + "[[client]]\nname = \"A\"\ncommand = []\n", "expected a program and its arguments");
  refused(std::string(kLock) + "[[client]]\nname = \"A\"\ncommand = \"app\"\n", "expected a program and its arguments");
  refused(text_of("", "env = { \"A=B\" = \"c\" }\n"), "no name of an environment variable");
  refused(text_of("", "env = { A = 1 }\n"), "expected a text");
  refused(text_of("", "[resource]\nkind = \"counter\"\n"), "\"A\" is a program, which does not know of [resource]");
  refused(text_of("algorithm = \"etcd-mutex\"\n", ""), "servers of kind \"redis\" alone");
  for (const char* step : {"acquire", "release", "work"}) {
    refused(text_of("", "[[fault]]\nkind = \"pause\"\nclient = \"A\"\nlength = \"1ms\"\nafter = \"" +
                            std::string(step) + "\"\n"),
            "\"A\" is a program, whose steps are the commands that it sends");
  }
}

TEST_CASE("programs: a lost message needs no timeout of the network, since a program has its own") {
  const std::string lose = "[[fault]]\nkind = \"lose\"\nclient = \"A\"\nmessage = \"SET\"\n";
  CHECK(parsed(text_of("", lose)).faults.size() == 1);
  refused(text_of("algorithm = \"set-nx-px-lua\"\n", "[[client]]\nname = \"B\"\n" + lose), "timeout");
}

TEST_CASE("programs: a caller that does not ask for them gets none, and without a maker none is run") {
  const std::string text = text_of("", "");
  const auto refusal = parse(text, "/srv/x.toml", catalogue());
  REQUIRE(std::holds_alternative<Diagnostic>(refusal));
  CHECK(std::get<Diagnostic>(refusal).to_string() ==
        "/srv/x.toml:4:8: client A is a program, which only `lockstep run`, `fuzz` and `report` can take");
  const auto run_result = run(parsed(text), catalogue());
  REQUIRE(std::holds_alternative<Diagnostic>(run_result));
  CHECK(!refusal_of(parsed(text), catalogue()));
}

}  // namespace
}  // namespace lockstep::scenarios::program_format_test
