#include "sim/invariant.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "sim/testing/last_words.hpp"

namespace lockstep::sim::invariant_test {
TEST_CASE("invariant: one that does not hold ends the program, and says what it was and where") {
  CHECK(last_words([] { invariant(true, "one is one"); }) == "(lives)");
  const std::string said = last_words([] { invariant(false, "one is two"); });
  CHECK(said.find("our bug: it does not hold that one is two\n") != std::string::npos);
  CHECK(said.find("sim/invariant_test.cpp:") != std::string::npos);
}

TEST_CASE("invariant: a program of tests asks the costly ones, too") {
  CHECK(last_words([] { costly_invariant([] { return true; }, "one is one"); }) == "(lives)");
  CHECK(last_words([] { costly_invariant([] { return false; }, "one is two"); }).find("one is two") !=
        std::string::npos);
}

}  // namespace lockstep::sim::invariant_test
