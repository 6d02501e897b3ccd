// A bound ends whatever is going on: time, Ctrl-C, memory, and the instructions of a script between two moments.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/testing/spawned_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::cli::bounds_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Two seconds after the bound, and three for a machine with four times as many programs as cores.
constexpr double kSlack = sim::is_sanitized ? 20 : 5;

struct Timed {
  Spawned result;
  double seconds = 0;
};

/// Stories that go on for ever, or for minutes, each in a way of its own.
class Endless {
 public:
  Endless() {
    std::string name = (fs::temp_directory_path() / "lockstep-bounds-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    script("protects", "repeat local ok = pcall(error, 'x') until ok");
    script("protects-deeply", "local function f() pcall(f) pcall(f) end while true do f() end");
    script("burns", "while true do end");
    script("never-waits", "local l = c:latch()\n  while true do l:release() l:wait() end");
    script("hardly-waits", "while true do for i = 1, 300000 do end c:sleep(0) end");
    script("asks-for-ever", "while true do for i = 1, 100000 do end c.redis:get(c.key) end");
    std::string names = "\"N0\"";
    for (int i = 1; i < 250; ++i) names += ", \"N" + std::to_string(i) + '"';
    write("many-clients.toml",
          "title = \"x\"\n[lock]\nalgorithm = \"set-nx-px-lua\"\n[[client]]\nname = [" + names + "]\n");
    std::string mays;
    for (int i = 0; i < 5000; ++i) mays += "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"1s\"]\n";
    write(
        "many-faults.toml",
        "title = \"x\"\n[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"50ms\"\n[[client]]\nname = [\"A\", \"B\"]\nhold "
        "= \"5ms\"\n" +
            mays);
    write(
        "many-rounds.toml",
        "title = \"x\"\n[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"50ms\"\n[[client]]\nname = [\"A\", \"B\"]\nhold "
        "= \"5ms\"\nrounds = 1000000\n[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"1s\"]\n");
    write("many-reentries.toml",
          "title = \"x\"\n[lock]\nalgorithm = \"redisson-lock\"\n[[client]]\nname = [\"A\", \"B\"]\nreenter = "
          "100\nrounds "
          "= 10000\nthreads = 64\n");
    write("large-space.toml",
          "title = \"x\"\n[lock]\nalgorithm = \"redlock-seq\"\n[[server]]\nname = [\"r1\", \"r2\", \"r3\"]\n[network]\n"
          "latency = [\"1ms\", \"9ms\"]\n[[client]]\nname = [\"A\", \"B\", \"C\"]\nacquire_at = [\"0ms\", "
          "\"1s\"]\n[[may]]\n"
          "kind = \"pause\"\nlength = [\"0ms\", \"1s\"]\n");
  }
  ~Endless() { fs::remove_all(path_); }
  Endless(const Endless&) = delete;
  Endless& operator=(const Endless&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  Timed timed(const Words& arguments, int interrupt_after_ms = -1) const {
    using Clock = std::chrono::steady_clock;  // tidy: real processes
    const Clock::time_point begin = Clock::now();
    Spawned result = spawned(arguments, {.interrupt_after_ms = interrupt_after_ms});
    return {std::move(result), std::chrono::duration<double>(Clock::now() - begin).count()};
  }

 private:
  void write(const std::string& name, std::string_view text) const { std::ofstream(path_ / name) << text; }
  void script(const std::string& name, const std::string& body) const {
    write(name + ".lua", "function acquire(c)\n  " + body + "\nend\nfunction release(c, hold) end\n");
    write(name + ".toml", "title = \"x\"\n[lock]\nscript = \"" + name + ".lua\"\n[[client]]\nname = \"A\"\n");
  }
  fs::path path_;
};

std::string in_words(const Words& arguments, const Timed& timed) {
  std::string text;
  for (const std::string& argument : arguments) text += argument + " ";
  return text + "\nexit " + std::to_string(timed.result.exit) + " after " + std::to_string(timed.seconds) + " s, " +
         std::to_string(timed.result.memory >> 20) + " MB\n" + timed.result.err;
}

std::vector<std::string> some(const std::vector<std::string>& all, const std::vector<std::string>& few) {
  return sim::takes_few_cases() ? few : all;
}

const std::vector<std::string> kAll = {"protects",     "protects-deeply", "burns",        "never-waits",
                                       "hardly-waits", "asks-for-ever",   "many-clients", "many-faults",
                                       "many-rounds",  "many-reentries",  "large-space"};

}  // namespace

TEST_CASE("--max-seconds ends every command that has it within two seconds, whatever it is at") {
  const Endless stories;
  int found = 0;
  for (const std::string& name : some(kAll, {"protects", "many-clients", "many-faults", "large-space"})) {
    const std::string file = stories / (name + ".toml");
    std::vector<Words> calls = {{"check", file},
                                {"fuzz", file, "--found", stories / ("found" + std::to_string(++found))}};
    if (!sim::takes_few_cases()) {
      calls.push_back({"check", file, "--no-reduction", "--no-second-opinion"});
      calls.push_back({"check", file, "--ticks", "1ms"});
      calls.push_back({"check", file, "--margins-json", stories / "margins.json"});
      calls.push_back({"check", file, "--graph", stories / "graph.dot"});
    }
    for (Words& call : calls) {
      call.insert(call.end(), {"--max-seconds", "1"});
      const Timed timed = stories.timed(call);
      INFO(in_words(call, timed));
      CHECK(timed.seconds < 1 + kSlack);
      CHECK(timed.result.exit >= 0);
      CHECK(timed.result.exit <= 3);
    }
  }
}

TEST_CASE("Ctrl-C ends every command within two seconds, whatever it is at") {
  const Endless stories;
  int found = 0;
  for (const std::string& name : some(kAll, {"many-faults"})) {
    const std::string file = stories / (name + ".toml");
    std::vector<Words> calls = {{"check", file},
                                {"fuzz", file, "--found", stories / ("found" + std::to_string(++found))}};
    if (!sim::takes_few_cases()) {
      calls.push_back({"run", file});
      calls.push_back({"compare", file});
      calls.push_back({"check", file, "--margins-json", stories / "margins.json"});
      calls.push_back({"report", stories / "pages", "--stories", file});
      calls.push_back({"matrix", "redlock-seq"});
    }
    for (const Words& call : calls) {
      const Timed timed = stories.timed(call, 300);
      INFO(in_words(call, timed));
      CHECK(timed.seconds < 0.3 + kSlack);
      CHECK(timed.result.exit <= 3);
      CHECK((timed.result.exit >= 0 || timed.result.exit == -2));  // run has nothing to tell then
    }
  }
}

TEST_CASE("a script that goes on for ever at one moment is stopped, and its line is told") {
  const Endless stories;
  for (const std::string name : {"protects", "protects-deeply", "burns", "never-waits", "hardly-waits"}) {
    const Words call = {"run", stories / (name + ".toml")};
    const Timed timed = stories.timed(call);
    INFO(in_words(call, timed));
    CHECK(timed.result.exit == 2);
    CHECK(timed.result.err.find(name + (name == "never-waits" ? ".lua:3: script ran for more than"
                                                              : ".lua:2: script ran for more than")) !=
          std::string::npos);
  }
}

TEST_CASE("--max-memory ends what needs more, with a line and exit status 3") {
  const Endless stories;
  const std::string rounds = stories / "many-rounds.toml";
  std::vector<Words> calls = {{"run", rounds}};
  if (!sim::takes_few_cases()) {
    calls.push_back({"run", stories / "many-reentries.toml"});
    calls.push_back({"compare", rounds, "--seconds", "86400"});
    calls.push_back({"fuzz", stories / "large-space.toml", "--found", stories / "found"});
    calls.push_back({"check", stories / "large-space.toml"});
  }
  for (Words& call : calls) {
    const std::uint64_t megabytes = sim::is_sanitized ? 500 : 60;
    call.insert(call.end(), {"--max-memory", std::to_string(megabytes) + "MB"});
    const bool has_no_time = call.front() == "run" || call.front() == "compare";
    if (!has_no_time) call.insert(call.end(), {"--max-seconds", "5"});
    const Timed timed = stories.timed(call);
    INFO(in_words(call, timed));
    CHECK(timed.result.memory < 5 * megabytes << 20);
    if (!has_no_time) continue;
    CHECK(timed.result.exit == 3);
    CHECK(timed.result.err.find("--max-memory") != std::string::npos);
  }
}

TEST_CASE("most runs of a fuzzed story that does not end are not judged, and that is no success") {
  const Endless stories;
  const Timed timed =
      stories.timed({"fuzz", stories / "burns.toml", "--max-seconds", "1", "--found", stories / "found"});
  CHECK(timed.result.exit == 3);
  CHECK(timed.result.out.find("not judged") != std::string::npos);
}

}  // namespace lockstep::cli::bounds_test
