// Files with sentinels: what they may say, and the exact answer to what they may not.

#include <catch2/catch.hpp>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/loader_samples.hpp"

namespace lockstep::loader_sentinels_test {

namespace {

using namespace lockstep;
using namespace lockstep::scenarios;
using namespace lockstep::scenarios::samples;

}  // namespace

TEST_CASE("loader: bad input: sentinels") {
  expect_refused({
      {kLeastAnd, "[sentinels]\n", "7:1: [sentinels] needs \"count\", or a [[sentinel]] for each"},
      {kLeastAnd, "[sentinels]\ncount = 0\n", "8:9: count: expected a whole number from 1 to 16, not 0"},
      {kLeastAnd, "[sentinels]\ncount = 17\n", "8:9: count: expected a whole number from 1 to 16, not 17"},
      {kLeastAnd, "[sentinels]\ncount = 3\nquorum = 4\n", "9:10: quorum: 4 of 3 sentinels; expected at most 3"},
      {kLeastAnd, "[sentinels]\ncount = 3\ndown_after = \"0ms\"\n",
       "9:14: down_after: expected at least \"1ms\", as sentinels count milliseconds"},
      {kLeastAnd, "[sentinels]\ncount = 3\nquorm = 2\n",
       R"(9:1: unknown key "quorm" in [sentinels]: did you mean "quorum"?)"},
      {kLeastAnd, "[sentinels]\ncount = 3\nprimary = \"redi\"\n",
       R"(9:11: primary: no server is called "redi": did you mean "redis"?)"},
      {kLeastAnd, "[sentinels]\ncount = 1\nprimary = \"sentinel1\"\n",
       R"(9:11: primary: "sentinel1" is a sentinel; expected the name of a server)"},
      {kLeastAnd, "[sentinels]\ncount = 1\n[[sentinel]]\n",
       "9:1: the sentinels are counted and listed; keep \"count\" if they are all alike, [[sentinel]] if not"},
      {kLeastAnd, "[[sentinel]]\nname = \"redis\"\n",
       R"(7:1: "redis" is a server and a sentinel; every process needs its own name)"},
      {kLeastAnd, "[[sentinel]]\nname = \"s\"\n[[sentinel]]\nname = \"s\"\n",
       R"(10:8: name: "s" is already the name of another process (line 8); every client and server needs its own)"},
      {kLeastAnd, "[[client]]\nname = \"sentinel1\"\n[sentinels]\ncount = 1\n",
       R"(8:8: name: "sentinel1" is the name of a sentinel; choose another)"},
      {kLeastAnd, "[[client]]\nname = \"V\"\nvia = \"sentinel\"\n",
       R"(8:8: "V" finds its server via sentinels, and there are none: add [sentinels] with a count)"},
      {kLeastAnd, "[[client]]\nname = \"V\"\nvia = \"sentinel\"\n[sentinels]\ncount = 1\n",
       R"(8:8: a client via sentinels looks for the primary until its patience is over: add timeout = "200ms" to [network])"},
      {kLeastAnd, "[[client]]\nname = \"V\"\nvia = \"sentinels\"\n",
       R"(9:7: via: there is no "sentinels": did you mean "sentinel"?)"},
      {kLeastAnd, "[[server]]\nname = \"a\"\nreplica_of = \"a\"\n",
       R"(9:14: replica_of: "a" cannot be its own replica; name another server)"},
      {kLeastAnd, "[sentinels]\ncount = 1\nprimary = \"redis2\"\n[[server]]\n[[server]]\nreplica_of = \"redis1\"\n",
       R"(7:1: primary: "redis2" is a replica; expected the name of a primary)"},
      {kLeastAnd, "[sentinels]\ncount = 1\n[[server]]\n[[server]]\nreplica_of = \"sentinel1\"\n",
       R"(11:14: replica_of: "sentinel1" is a sentinel; expected the name of a server)"},
  });
}

TEST_CASE("loader: sentinels are a majority's unless the file says otherwise, and faults may strike them") {
  const auto result = parse(std::string(kLeast) +
                                "[network]\ntimeout = \"1s\"\n[sentinels]\ncount = 5\n[[client]]\nname = \"V\"\nvia = "
                                "\"sentinel\"\n[[fault]]\nkind = \"crash\"\nserver = \"sentinel5\"\nat = \"1s\"\n",
                            "x", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  const Scenario& scenario = std::get<Scenario>(result);
  REQUIRE(scenario.sentinels);
  CHECK(scenario.sentinels->quorum == 3);
  CHECK(scenario.sentinels->primary == scenario.servers.front().name);
  CHECK(scenario.sentinels->each[4].name == "sentinel5");
  CHECK_FALSE(can_be_explored(scenario, catalogue()));
  const auto explored = explore(scenario, catalogue());
  REQUIRE(std::holds_alternative<Diagnostic>(explored));
  CHECK(std::get<Diagnostic>(explored).message ==
        "sentinels look for ever, so they cannot be explored; add played = \"one\" to [sentinels]");
}

}  // namespace lockstep::loader_sentinels_test
