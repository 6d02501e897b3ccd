// Whatever the program is given: no abort, no hang, no silent exit, and memory that is bounded. It runs as a process of its own, since signals and
// limits are asked about, too.

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/testing/called.hpp"
#include "cli/testing/spawned_testing.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::cli::hostile_test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMegabyte = 1'000'000;
// With sanitizers a process has memory that it does not need, and more addresses than any limit allows.
constexpr std::uint64_t kMemoryMax = (sim::is_sanitized ? 4'000 : 700) * kMegabyte;

constexpr std::string_view kStory = R"(title = { en = "A story", zh = "故事" }
reproduces = ["F000-2"]
cost = "fast"

[lock]
algorithm = "set-nx-px-lua"
key = "stock"
ttl = "50ms"

[network]
latency = ["1ms", "2ms"]
timeout = "20ms"

[resource]
kind = "counter"

[[server]]
name = "redis1"
clock = { offset = "3ms", drift_ppm = 0 }

[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "10ms"]
hold = "5ms"
rounds = 1
attempts = 1
retry = "5ms"

[[client]]
name = "operator"
commands = ["DEL stock"]
acquire_at = "30ms"

[[fault]]
kind = "pause"
client = "A"
after = "acquire"
length = "80ms"

[[may]]
kind = "pause"
clients = ["A"]
length = ["0ms", "100ms"]
times = 1

[properties]
recoverable = { within = "2s" }

[expect.run]
mutual-exclusion = "violated"

[expect.check]
mutual-exclusion = { violated_by = ["B"], from = { pause = "40ms" } }
)";

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "lockstep-hostile-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

std::string shown(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += argument.substr(0, 120) + " ";
  return text;
}

/// Nothing that the terminal would obey.
bool is_neutral(std::string_view text) {
  return text.find('\x1b') == std::string_view::npos && text.find("\xE2\x80\xAE") == std::string_view::npos;
}

Spawned survives(const std::vector<std::string>& arguments, const SpawnOptions& options = {}) {
  const Spawned result = spawned(arguments, options);
  INFO(shown(arguments) << "\nexit " << result.exit << ", " << result.memory / kMegabyte << " MB\n" << result.err);
  CHECK(!result.is_hanging);
  CHECK(result.exit >= 0);
  CHECK(result.exit <= 3);
  CHECK(result.memory < kMemoryMax);
  CHECK((result.exit == 0 || !result.err.empty() || !result.out.empty()));
  CHECK((result.exit != 2 || !result.err.empty()));
  CHECK(is_neutral(result.err));
  CHECK(result.err.find("terminate called") == std::string::npos);
  CHECK(result.err.find("Assertion") == std::string::npos);
  return result;
}

const std::string kGood = in_tree("scenarios/stories/reference/set-nx-px-lua-3x2.toml");

TEST_CASE("hostile: each line of a story left out, twice, or with another value") {
  const Folder folder;
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < kStory.size();) {
    const std::size_t end = kStory.find('\n', begin);
    lines.emplace_back(kStory.substr(begin, end - begin));
    begin = end + 1;
  }
  constexpr std::array<std::string_view, 14> values{"-1",
                                                    "0",
                                                    "1e999",
                                                    "9223372036854775807",
                                                    "true",
                                                    "[]",
                                                    "{}",
                                                    "\"\"",
                                                    "\"0ms\"",
                                                    "\"9999999999999min\"",
                                                    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                                                    "\"\\u202e\\u001b[31m\"",
                                                    "nan",
                                                    "[\"0ms\", \"3000000min\"]"};
  std::size_t cases = 0;
  const auto with = [&](std::size_t i, const std::string& line) {
    std::string text;
    for (std::size_t j = 0; j < lines.size(); ++j) text += (j == i ? line : lines[j]) + "\n";
    const std::string file = folder.write("story.toml", text);
    ++cases;
    const std::string command = cases % 3 == 0 ? "check" : "run";
    if (command == "check")
      survives({"check", file, "--max-traces", "50", "--jobs", "2"});
    else
      survives({"run", file, "--no-timeline"});
  };
  survives({"run", folder.write("story.toml", kStory)});
  for (std::size_t i = 0; i < lines.size(); i += sim::cases<std::size_t>(1, 11)) {
    if (lines[i].empty()) continue;
    with(i, "");
    with(i, lines[i] + "\n" + lines[i]);
    const std::size_t sign = lines[i].find(" = ");
    if (sign == std::string::npos || lines[i].front() == '[') continue;
    for (const std::string_view value : values) with(i, lines[i].substr(0, sign + 3) + std::string(value));
  }
  CHECK(cases >= sim::cases<std::size_t>(450, 30));
}

TEST_CASE("hostile: files that are none") {
  const Folder folder;
  const std::string good = folder.write("good.toml", kStory);
  const std::string pipe = folder / "pipe.toml";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_symlink(folder / "nowhere", folder / "dangling.toml");
  fs::create_directory(folder / "loop");
  fs::create_directory_symlink(folder / "loop", folder / "loop/loop");
  fs::create_symlink(folder / "self.toml", folder / "self.toml");
  fs::create_directory(folder / "dir.toml");
  const std::string binary = folder.write("binary.toml", std::string("\0\xff\x1b[31m\x07", 8));
  const std::string ill = folder.write("ill\x1b[31m\xE2\x80\xAE.toml", "nonsense");
  const std::string large = folder.write("large.toml", std::string(3 << 20, 'x'));
  const std::string deep = folder.write("deep.toml", "a = " + std::string(200'000, '['));
  const std::vector<std::string> files{"/dev/zero",
                                       "/dev/null",
                                       "/dev/full",
                                       "/dev/urandom",
                                       pipe,
                                       folder / "dangling.toml",
                                       folder / "self.toml",
                                       folder / "loop",
                                       folder / "dir.toml",
                                       binary,
                                       ill,
                                       large,
                                       deep,
                                       "/proc/self/mem",
                                       "/proc/self",
                                       folder / "",
                                       "",
                                       "-",

                                       "\x1b[31m",
                                       "no\nsuch"};
  for (const std::string& file : files) {
    for (const std::string command : {"run", "check", "compare", "list scenarios", "serve"}) {
      std::vector<std::string> words{command};
      if (sim::is_sanitized && command != "run")
        continue;  // with sanitizers a process begins slowly, and all load alike
      if (command == "list scenarios") words = {"list", "scenarios"};
      words.push_back(file);
      const Spawned result = survives(words, {.patience_ms = 20'000});
      INFO(shown(words));
      CHECK(result.exit == 2);
    }
    const Spawned result = survives({"linearize", "--model", "mutex", file, "--max-memory", "200MB"});
    CHECK(result.exit != 1);
  }
  CHECK(survives({"run", folder / "dangling.toml"}).err.find("a link to") != std::string::npos);
  CHECK(survives({"run", pipe}).err.find("a pipe into which nobody writes") != std::string::npos);
}

TEST_CASE("hostile: what is written never takes the place of what is read") {
  const Folder folder;
  const std::string story = folder.write("story.toml", kStory);
  fs::create_hard_link(story, folder / "other.toml");
  const std::string history = folder.write("h.edn", "{:process 0 :type :invoke :f :acquire :value nil}\n");
  const auto is_kept = [&] {
    std::ifstream in(story);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    return text == kStory;
  };
  fs::create_directory(folder / "all");
  fs::copy_file(story, folder / "all/a.toml");
  const std::vector<std::vector<std::string>> calls{
      {"run", story, "--junit", story},
      {"run", story, "--junit", folder / "./other.toml"},
      {"run", folder / "all", "--junit", folder / "all/a.toml"},
      {"check", story, "--junit", story},
      {"check", story, "--witness", folder / "other.toml"},
      {"check", story, "--checkpoint", story},
      {"check", story, "--wait-for", story},
      {"check", story, "--margins-json", story},
      {"check", story, "--junit", folder / "x", "--witness", folder / "x"},
      {"linearize", history, "--model", "mutex", "--html", history}};
  for (const std::vector<std::string>& call : calls) {
    const Spawned result = survives(call);
    INFO(shown(call));
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(is_kept());
  }
  CHECK(fs::file_size(history) > 10);
  CHECK(survives({"new", folder / "story"}).exit == 2);
  CHECK(is_kept());
}

TEST_CASE("hostile: Ctrl-C ends every command with a word, whatever it is doing") {
  const Folder folder;
  const std::string long_one = folder.write("long.toml", R"(title = "long"
[lock]
algorithm = "redlock-seq"
[servers]
count = 5
[network]
latency = ["1ms", "20ms"]
[[client]]
name = ["A", "B", "C", "D"]
rounds = 4
)");
  const std::vector<std::vector<std::string>> calls{
      {"check", long_one, "--jobs", "1"},
      {"check", long_one, "--jobs", "4"},
      {"check", long_one, in_tree("scenarios"), "--jobs", "4", "--all"},
      {"compare", in_tree("scenarios/stories/compare/short-work.toml"), "--clients", "64", "--seconds", "80000",
       "--jobs", "2"},
      {"matrix", "--jobs", "3"},
  };
  for (const std::vector<std::string>& call : calls) {
    // Before it can say what it does about the signal, it is killed by it as any program is.
    for (const int after : {0, 1, 3}) {
      const Spawned result = spawned(call, {.interrupt_after_ms = after});
      CHECK((result.exit == -SIGINT || result.exit == 3));
    }
    for (const int after : {200, 600}) {
      if (sim::takes_few_cases() && after != 200) continue;
      const Spawned result = survives(call, {.interrupt_after_ms = after});
      INFO(shown(call) << " after " << after << " ms");
      CHECK(result.exit == 3);
    }
  }
}

TEST_CASE("hostile: too little memory, too few threads, a full disk") {
  if (!sim::is_sanitized) {  // no program with sanitizers can begin within these
    const std::string some = in_tree("scenarios/stories/reference");
    for (const std::uint64_t megabytes : {40, 60, 80, 100, 150, 300}) {
      for (const std::string jobs : {"1", "8", "100"}) {
        if (sim::takes_few_cases() && jobs == "8") continue;
        survives({"run", some, "--jobs", jobs}, {.address_space = megabytes * kMegabyte});
        survives({"check", kGood, "--jobs", jobs}, {.address_space = megabytes * kMegabyte});
        survives({"matrix", "set-nx-px-lua", "--faults", "none", "--runs", "2", "--jobs", jobs},
                 {.address_space = megabytes * kMegabyte});
      }
    }
  }
  for (const std::string option : {"--json", "--no-timeline"})
    CHECK(survives({"run", kGood, option}, {.out = "/dev/full"}).exit == 2);
  CHECK(survives({"check", kGood}, {.out = "/dev/full"}).exit == 2);
  CHECK(survives({"run", kGood, "--junit", "/dev/full"}).exit == 2);
  // As by ulimit -f: the system would kill the program for it.
  const Spawned small = survives({"schema"}, {.file_size = 1024});
  CHECK(small.exit == 2);
  CHECK(contains(small.err, "cannot write"));
  const std::string page = "/tmp/lockstep-too-large-" + std::to_string(getpid());
  const Spawned report = survives({"run", kGood, "--export", "chrome-trace=" + page}, {.file_size = 1024});
  CHECK(report.exit == 2);
  CHECK(contains(report.err, "File too large (ulimit -f)"));
  CHECK_FALSE(std::filesystem::exists(page));
  CHECK(survives({"check", kGood, "--junit", "/nowhere/x.xml"}).exit == 2);
  CHECK(survives({"matrix", "setnx-del", "--witnesses", "/dev/null/x"}).exit == 2);
  CHECK(survives({"matrix", "setnx-del", "--witnesses", "/proc/x"}).exit == 2);
}

}  // namespace
}  // namespace lockstep::cli::hostile_test
