#include "scenarios/story/suggestion.hpp"

#include <array>
#include <catch2/catch.hpp>

namespace lockstep::suggestion_test {

namespace {

using namespace lockstep::scenarios;

constexpr std::array<std::string_view, 4> kCommands{"DEL", "GET", "SETNX", "SET"};

}  // namespace

TEST_CASE("suggestion: the nearest name counts a swap once, and no capitals") {
  CHECK(nearest("GTE", kCommands) == "GET");
  CHECK(nearest("setnx", kCommands) == "SETNX");
  CHECK(nearest("SETN", kCommands) == "SETNX");
  CHECK(nearest("", kCommands) == "DEL");
  CHECK_FALSE(nearest("GET", {}));
}

TEST_CASE("suggestion: a slip gets its correction, everything else the list") {
  CHECK(suggestion("DLE", kCommands) == "did you mean \"DEL\"?");
  CHECK(suggestion("EXPLODE", kCommands) == "expected one of DEL, GET, SETNX, SET");
  CHECK(suggestion("x", std::span(kCommands).first(1)) == "expected DEL");
  CHECK(suggestion("x", {}) == "there is none to choose from");
  CHECK(suggestion(std::string(1'000'000, 'x'), kCommands) == "expected one of DEL, GET, SETNX, SET");
}

TEST_CASE("suggestion: quoted text is short, and stays on its line") {
  CHECK(scenarios::in_quotes("ttl") == "\"ttl\"");
  CHECK(scenarios::in_quotes("a\nb\x1b[31m") == "\"a\\nb\\x1b[31m\"");
  CHECK(scenarios::in_quotes(std::string(41, 'x')) == "\"" + std::string(40, 'x') + "...\"");
  CHECK(scenarios::in_quotes("锁") == "\"锁\"");
}

}  // namespace lockstep::suggestion_test
