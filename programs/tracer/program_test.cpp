#include "programs/tracer/program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "programs/tracer/toy_world_testing.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::programs::tracer {
namespace program_test {

using testing::ToyClock;
using testing::ToyWorld;

std::string sample(const std::string& name) { return in_tree("programs/samples/" + name); }

/// Of this build.
std::string built_sample(const std::string& name) {
  return (std::filesystem::path(built_program()).parent_path() / "programs" / name).string();
}

std::string two_clients(std::uint64_t seed, const std::vector<std::string>& command) {
  ToyWorld world(seed);
  for (const char* name : {"A", "B"}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {name, std::to_string(testing::kToyPort)});
    world.add(arguments);
  }
  world.run();
  // Only root gets a namespace of processes; without one that is said.
  CHECK(world.program(0).escapes().empty() == (::geteuid() == 0));
  return world.events();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
  return times;
}

/// The same bytes of events each time, and other bytes for another seed: or the first half would be no claim.
void check_same_bytes(const std::vector<std::string>& command, int times) {
  if (::geteuid() != 0) {
    std::cout << "SKIPPED: numbers of processes are the same each time for root alone\n";
    return;
  }
  const std::string first = two_clients(1, command);
  INFO(first);
  CHECK(count(first, " got ") == 6);
  CHECK(count(first, " TAKE ") >= 12);
  for (int i = 1; i < times; ++i) REQUIRE(two_clients(1, command) == first);
  CHECK(two_clients(2, command) != first);
}

bool has_program(const char* name) {
  if (std::system((std::string("command -v ") + name + " >/dev/null").c_str()) == 0) return true;
  std::cout << "SKIPPED: there is no " << name << " on this machine\n";
  return false;
}

TEST_CASE("a static program without any library of the system: the same bytes each time") {
  check_same_bytes({built_sample("sample_static_client")}, 10);
}

TEST_CASE("python: the same bytes each time") {
  if (has_program("python3")) check_same_bytes({"/usr/bin/python3", sample("client.py")}, 5);
}

TEST_CASE("node: the same bytes each time") {
  if (has_program("node")) check_same_bytes({"node", sample("client.mjs")}, 3);
}

TEST_CASE("java: the same bytes each time") {
  if (!has_program("javac")) return;
  const std::string classes = std::filesystem::temp_directory_path() / ("lockstep-java-" + std::to_string(::getpid()));
  REQUIRE(std::system(("javac -d " + classes + " " + sample("Client.java")).c_str()) == 0);
  check_same_bytes({"java", "-cp", classes, "Client"}, 3);
  std::filesystem::remove_all(classes);
}

std::string alone(std::uint64_t seed, ToyClock clock) {
  ToyWorld world(seed);
  world.add({built_sample("sample_threads")}, clock);
  world.run();
  CHECK(world.program(0).is_over());
  CHECK(world.program(0).status() == 7 << 8);
  return world.events();
}

TEST_CASE("clocks show what they are set to: to a program that asks the kernel, the library, or the processor") {
  const std::string right = alone(1, {});
  INFO(right);
  CHECK(count(right, "monotonic 1000000000000 wall 1700000000000000000") == 1);
  CHECK(count(right, "by a call 1001000001000 stamp 1001000001000") == 1);
  const std::string off = alone(1, {5'000'000'000, false});
  INFO(off);
  CHECK(count(off, "monotonic 1000000000000 wall 1700000005000000000") == 1);
  // A second of its own takes less true time.
  const std::string fast = alone(1, {0, true});
  INFO(fast);
  CHECK(count(fast, "by a call 100100000") == 1);
  CHECK(count(fast, "  999.00") >= 1);
}

/// By getrandom, from /dev/urandom, and what the kernel gives to each program.
std::vector<std::string> random_numbers(std::uint64_t seed) {
  const std::string events = alone(seed, {});
  const std::size_t at = events.find("random ");
  REQUIRE(at != std::string::npos);
  std::istringstream words(events.substr(at + 7, events.find('\n', at) - at - 7));
  return {std::istream_iterator<std::string>(words), {}};
}

TEST_CASE("what a program draws at random follows from the seed, wherever it draws it") {
  const std::vector<std::string> first = random_numbers(1);
  const std::vector<std::string> other = random_numbers(2);
  REQUIRE(first.size() == 3);
  REQUIRE(other.size() == 3);
  CHECK(random_numbers(1) == first);
  std::set<std::string> different(first.begin(), first.end());
  different.insert(other.begin(), other.end());
  different.insert("0000000000000000");
  CHECK(different.size() == 7);
}

TEST_CASE("threads that meet by mutexes, conditions, words and yields have one order") {
  const std::string first = alone(1, {});
  INFO(first);
  CHECK(count(first, " 7 at ") == 1);
  for (int i = 0; i < 10; ++i) REQUIRE(alone(1, {}) == first);
}

TEST_CASE("a program that looks at the clock until it has gone on comes to an end") {
  ToyWorld world(1);
  world.add({built_sample("sample_threads"), "spin"});
  world.run();
  CHECK(count(world.events(), "spun") == 1);
}

bool is_alive(pid_t process) { return ::kill(process, 0) == 0; }

/// Of the program whose executable this is: the processes that there are.
std::size_t processes_of(const std::string& executable) {
  std::size_t number = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code none;
    if (std::filesystem::read_symlink(entry.path() / "exe", none) == executable) ++number;
  }
  return number;
}

TEST_CASE("a program that computes without end is refused, and does not stay") {
  const std::string executable = built_sample("sample_threads");
  {
    ToyWorld world(1);
    world.add({executable, "compute"});
    REQUIRE_THROWS_WITH(world.run(), Catch::Contains("without end"));
    CHECK(processes_of(executable) == 1);
  }
  CHECK(processes_of(executable) == 0);
}

TEST_CASE("the death of the tracer is that of its programs") {
  const std::string executable = built_sample("sample_threads");
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t tracer = ::fork();
  if (tracer == 0) {
    ToyWorld world(1);
    world.add({executable, "wait"});
    world.run();
    ::_exit(::write(ends[1], "x", 1) == 1 && ::pause() == 0 ? 0 : 1);
  }
  char byte = 0;
  REQUIRE(::read(ends[0], &byte, 1) == 1);
  CHECK(processes_of(executable) == 2);
  ::kill(tracer, SIGKILL);
  ::waitpid(tracer, nullptr, 0);
  CHECK(!is_alive(tracer));
  for (int i = 0; i < 500 && processes_of(executable) != 0; ++i) ::usleep(10'000);
  CHECK(processes_of(executable) == 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a program that cannot be executed ends with the status of the shell") {
  ToyWorld world(1);
  world.add({"/nonexistent/program"});
  world.run();
  CHECK(world.program(0).status() == 127 << 8);
}

}  // namespace program_test
}  // namespace lockstep::programs::tracer
