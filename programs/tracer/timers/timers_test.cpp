#include "programs/tracer/timers/timers.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>

#include "programs/tracer/toy_world_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::programs::tracer {
namespace timers_test {

using testing::ToyWorld;

std::string sample() {
  return (std::filesystem::path(built_program()).parent_path() / "programs" / "sample_timers").string();
}

std::string events() {
  ToyWorld world(1);
  world.add({sample()});
  world.run();
  CHECK(world.program(0).is_over());
  CHECK(world.program(0).status() == 7 << 8);
  CHECK(world.program(0).escapes().empty() == (::geteuid() == 0));
  return world.events();
}

TEST_CASE("timers of the system expire in virtual time, and interrupt what they would interrupt") {
  const std::string first = events();
  INFO(first);
  for (const char* line :
       {"epoll 1 after 50", "read 1 after 50", "tick 1 after 10", "tick 1 after 20", "tick 1 after 30",
        "ticks 3 after 65", "left 4 after 65",  // it is 65.00x: 4.99 are left of the ten
        "nanosleep 970 after 30", "poll 14 after 2000", "made 42 after 20", "deleted 0 after 70",
        "condition 1 after 100"}) {
    INFO(line);
    CHECK(first.find(line) != std::string::npos);
  }
  for (int i = 0; i < 5; ++i) REQUIRE(events() == first);
}

TEST_CASE("a signal of a timer that a program does not handle ends it") {
  ToyWorld world(1);
  world.add({sample(), "die"});
  world.run();
  CHECK(world.program(0).is_over());
  CHECK(world.program(0).status() == SIGALRM);
}

}  // namespace timers_test
}  // namespace lockstep::programs::tracer
