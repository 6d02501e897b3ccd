#include "reports/words/conflicts.hpp"

#include <catch2/catch.hpp>

#include "checker/properties/properties.hpp"
#include "reports/words/property_names.hpp"
#include "reports/words/reasons.hpp"

namespace lockstep::reports::conflicts_test {
namespace {

std::string plain(const char* reason) { return reason_in(Language::en, reason); }

TEST_CASE("conflicts: what no order explains is said in plain words, with the clients' names") {
  constexpr const char* two =
      "A's acquire (0ms to 2ms) and B's acquire (51ms to 53ms) cannot all be what a mutex that only its owner releases "
      "did";
  CHECK(plain(two) ==
        "A's acquire (0ms to 2ms) and B's acquire (51ms to 53ms): both were told that they got the lock, and A had not "
        "released it");
  CHECK(*in_chinese(two) ==
        "A 的加锁（0ms 到 2ms）、B 的加锁（51ms 到 53ms）：两者都被告知得到了锁，而 A 没有释放过它");
  CHECK(plain("B's release (15ms to 17ms) cannot be what a mutex that only its owner releases did") ==
        "B's release (15ms to 17ms): B was told that it succeeded, and did not hold the lock");
  CHECK(
      plain("A's acquire (0ms to 2ms), B's acquire (1ms to 3ms) and C's acquire (2ms to 4ms) cannot all be what a "
            "semaphore of 2 places did") ==
      "A's acquire (0ms to 2ms), B's acquire (1ms to 3ms) and C's acquire (2ms to 4ms): all were told that they got a "
      "place, there are 2, and none had been given back");
  // Whose release came between is not known then.
  const std::string three = plain(
      "A's acquire (0ms to 2ms), A's acquire (5ms to 6ms) and B's acquire (1ms to unknown) cannot all be what a mutex "
      "did");
  CHECK(three.ends_with(": one lock cannot have given all these answers, one after the other"));
  CHECK(plain("nobody waited") == "nobody waited");
  CHECK(plain("A (since 1ms) and B (since 2ms) all believed at 2ms to hold one of 1 place") ==
        "A (since 1ms) and B (since 2ms) both believed at 2ms to hold the only place");
}

TEST_CASE("conflicts: more operations than are named are no reason to stay in English") {
  const std::string many =
      "A's acquire (0ms to 2ms), B's acquire (1ms to 3ms) and 7 more cannot all be what a semaphore of 8 places did";
  CHECK(in_chinese(many));
  CHECK(plain(many.c_str()).find("cannot all be") == std::string::npos);
}

TEST_CASE("properties: each has a Chinese name, beside the one that files use") {
  for (const checker::Property& property : checker::properties()) {
    const std::string name = property_in(Language::zh, property.name);
    INFO(name);
    CHECK(name != property.name);
    CHECK(name.ends_with(std::string(" ").append(property.name)));
    CHECK(property_in(Language::en, property.name) == property.name);
  }
}

}  // namespace
}  // namespace lockstep::reports::conflicts_test
