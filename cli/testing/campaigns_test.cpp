// lockstep fuzz as it is called: what it leaves in its folder, how it goes on, and what it refuses.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "cli/testing/called.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::campaigns_test {

namespace fs = std::filesystem;
using cli::Called;
using cli::called;
using cli::contains;

namespace {

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("lockstep-campaigns-test-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    std::ofstream(in("story.toml")) << R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
timeout = "50ms"
[[client]]
name = ["A", "B", "C"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
attempts = 2
[[may]]
kind = "pause"
length = ["0ms", "1s"]
[[may]]
kind = "crash"
server = "redis"
restart_after = ["0ms", "1s"]
)";
  }
  ~Folder() { fs::remove_all(path_); }
  std::string in(const std::string& name) const { return (path_ / name).string(); }
  std::string story() const { return in("story.toml"); }

 private:
  fs::path path_;
};

/// The findings of a folder: name to content.
std::map<std::string, std::string> findings_in(const std::string& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".toml") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    found[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  return found;
}

const std::string kRuns = std::to_string(sim::cases(9'000, 1'500));

}  // namespace

TEST_CASE("fuzz: its findings are files that run replays, and the same for any number of threads") {
  const Folder folder;
  const Called one = called({"fuzz", folder.story(), "--runs", kRuns, "--found", folder.in("one"), "--jobs", "1"});
  INFO(one.out << one.err);
  CHECK(one.exit == 1);
  CHECK(contains(one.out, "hold the lock at once"));
  CHECK(contains(one.out, "lockstep run " + folder.in("one")));
  const auto found = findings_in(folder.in("one"));
  CHECK(found.size() >= 2);
  CHECK(fs::exists(folder.in("one/campaign.state")));
  CHECK(called({"run", folder.in("one")}).exit == 0);
  const Called json =
      called({"fuzz", folder.story(), "--runs", kRuns, "--found", folder.in("two"), "--jobs", "3", "--json"});
  CHECK(json.exit == 1);
  CHECK(contains(json.out, "\"is_minimal\": true"));
  CHECK(findings_in(folder.in("two")) == found);
}

TEST_CASE("fuzz: killed at any moment nothing is lost, and it goes on to the same findings") {
  const Folder folder;
  const std::vector<std::string> call{"fuzz", folder.story(), "--runs", kRuns, "--jobs", "2", "--found"};
  const auto with = [&](const std::string& name, bool resumes) {
    std::vector<std::string> args = call;
    args.push_back(folder.in(name));
    if (resumes) args.emplace_back("--resume");
    return args;
  };
  const auto began = std::chrono::steady_clock::now();  // tidy: real processes
  REQUIRE(called(with("whole", false)).exit == 1);
  const auto took = std::chrono::steady_clock::now() - began;  // tidy: real processes
  sim::Random random(20261123);
  std::map<std::string, std::string> before;
  int finished = 0;
  for (int kills = 0; kills < 12 && finished == 0; ++kills) {
    const auto patience = took * random.between(5, 60) / 100;
    const bool resumes = fs::exists(folder.in("killed/campaign.state"));
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(called(with("killed", resumes)).exit);
    std::this_thread::sleep_for(patience);  // tidy: real processes
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status)) {
      CHECK(WEXITSTATUS(status) == 1);
      ++finished;
    }
    if (!fs::exists(folder.in("killed"))) continue;
    const auto now = findings_in(folder.in("killed"));
    for (const auto& [name, text] : before) {
      INFO(name);
      REQUIRE(now.count(name) == 1);
      CHECK(now.at(name) == text);
    }
    before = now;
  }
  if (finished == 0) CHECK(called(with("killed", fs::exists(folder.in("killed/campaign.state")))).exit == 1);
  CHECK(findings_in(folder.in("killed")) == findings_in(folder.in("whole")));
}

TEST_CASE("fuzz: shards are joined") {
  const Folder folder;
  for (const char* shard : {"0/2", "1/2"}) {
    const std::string name = std::string("part") + shard[0];
    const Called part =
        called({"fuzz", folder.story(), "--runs", "2500", "--shard", shard, "--found", folder.in(name)});
    CHECK(part.exit == 1);
  }
  const Called joined =
      called({"fuzz", "--merge", folder.in("part0"), folder.in("part1"), "--found", folder.in("all")});
  INFO(joined.out << joined.err);
  CHECK(joined.exit == 1);
  const auto all = findings_in(folder.in("all"));
  CHECK(all.size() >= findings_in(folder.in("part0")).size());
  CHECK(called({"run", folder.in("all")}).exit == 0);
  CHECK(called({"fuzz", "--merge", folder.in("part0"), "--found", folder.in("all")}).exit == 2);
}

TEST_CASE("fuzz: bad calls, and folders that must not be overwritten") {
  const Folder folder;
  const auto refuses = [&](const std::vector<std::string>& args, std::string_view message) {
    std::vector<std::string> call{"fuzz"};
    call.insert(call.end(), args.begin(), args.end());
    const Called result = called(call);
    INFO(result.out << result.err);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(contains(result.err, message));
  };
  refuses({}, "fuzz needs scenario files or directories, or algorithms");
  refuses({"--algorithm", "redlok-seq"}, "did you mean \"redlock-seq\"");
  refuses({folder.story(), "--strategy", "unifrom"}, "did you mean \"uniform\"");
  refuses({folder.story(), "--depth", "0"}, "--depth \"0\": expected a whole number from 1 to 100");
  refuses({folder.story(), "--shard", "2/2"}, "--shard \"2/2\": expected I/N");
  refuses({folder.story(), "--shard", "x"}, "--shard \"x\": expected I/N");
  refuses({folder.story(), "--runs", "none"}, "--runs \"none\"");
  refuses({folder.story(), "--max-seconds", "-1"}, "--max-seconds \"-1\": expected a number of seconds");
  refuses({folder.story(), "--found", folder.story()}, "cannot write there");
  refuses({folder.story(), "--resume", "--found", folder.in("none")}, "there is no campaign in");
  refuses({folder.in("missing.toml")}, "missing.toml");
  refuses({"--merge", folder.in("none"), "--found", folder.in("all")}, "there is no campaign that could be read");
  refuses({folder.story(), "--merge", folder.in("none")}, "--merge joins the folders of campaigns");
  refuses({folder.story(), "--no-coverag"}, "did you mean \"--no-coverage\"");

  const std::vector<std::string> call{"fuzz", folder.story(), "--runs", "2048", "--found", folder.in("found")};
  REQUIRE(called(call).exit == 1);
  std::vector<std::string> again(call.begin() + 1, call.end());
  refuses(again, "there is a campaign in it; add --resume");
  again.insert(again.end(), {"--resume", "--seed", "2"});
  refuses(again, "other stories, or with another seed or other options");
  std::ofstream(folder.in("found/campaign.state"), std::ios::binary | std::ios::app) << "x";
  std::vector<std::string> changed(call.begin() + 1, call.end());
  changed.emplace_back("--resume");
  refuses(changed, "cut off, or was changed");
}

}  // namespace lockstep::campaigns_test
