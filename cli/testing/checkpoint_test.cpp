// A check that is killed: whatever the moment, what it leaves is a whole checkpoint or none, and whoever goes on from it comes to
// the same end.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "cli/run.hpp"
#include "cli/testing/called.hpp"
#include "reports/text/output_file.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checkpoint_test {

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

const int kKills = sim::cases<int>(20, 5);

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A folder with two stories, and room for a checkpoint.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("lockstep-checkpoint-test-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    // None is like another: then there are traces enough to be interrupted.
    const auto client = [](const std::string& name, const std::string& hold) {
      return "[[client]]\nname = \"" + name + "\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"" + hold +
             "\"\nattempts = 1\n";
    };
    const std::string two = client("A", "20ms") + client("B", "21ms");
    const std::string expected = "[expect.check]\nmutual-exclusion = \"violated\"\n";
    std::ofstream(story()) << kStory << two << client("C", "22ms") << expected;
    std::ofstream(other()) << kStory << two << client("C", "23ms") << expected;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string story() const { return (path_ / "story.toml").string(); }
  std::string other() const { return (path_ / "other.toml").string(); }
  std::string checkpoint() const { return (path_ / "checkpoint").string(); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  static constexpr const char* kStory = R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
[[may]]
kind = "pause"
length = ["0ms", "10s"]
)";
  fs::path path_;
};

/// Explores, with a checkpoint after every round instead of every two seconds, until somebody ends it. For a child process.
[[noreturn]] void explore_for_ever(const Folder& folder, unsigned jobs) {
  const auto catalogue = models::locks::Catalogue::built_in();
  const auto scenario = scenarios::load(folder.story(), catalogue);
  scenarios::ExplorationOptions options;
  std::atomic<int> seconds{0};
  options.stopwatch = [&] { return static_cast<double>(seconds += 3); };
  options.save = [&](const std::string& text) { reports::write_whole(folder.checkpoint(), text); };
  options.resume_from = content_of(folder.checkpoint());
  options.jobs = jobs;
  options.worst = true;  // as check does
  const auto result = scenarios::explore(std::get<scenarios::Scenario>(scenario), catalogue, options);
  _exit(std::holds_alternative<scenarios::Exploration>(result) ? 0 : 1);
}

}  // namespace

TEST_CASE("check: killed at any moment it leaves a whole checkpoint or none, and goes on to the same result") {
  const Folder folder;
  const auto began = std::chrono::steady_clock::now();  // tidy: real processes
  const cli::Called whole = cli::called({"check", folder.story(), "--json", "--no-times"});
  const auto took = std::chrono::steady_clock::now() - began;  // tidy: real processes
  REQUIRE(whole.exit == 0);
  sim::Random random(20261121);
  int finished = 0;
  int progress = 0;
  std::string before;
  for (int i = 0; i < kKills; ++i) {
    const auto patience = took * random.between(1, 160) / 100;
    const unsigned jobs = 1 + i % 2;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) explore_for_ever(folder, jobs);
    std::this_thread::sleep_for(patience);  // tidy: real processes
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    // Whoever had come to the end had gone on from what the one before had left.
    if (WIFEXITED(status)) CHECK(WEXITSTATUS(status) == 0);
    finished += WIFEXITED(status) ? 1 : 0;
    const std::string left = content_of(folder.checkpoint());
    progress += left != before ? 1 : 0;
    before = left;
    // A complete file beside it, about to get its name, is the worst that a moment of bad luck can leave.
    for (const std::string& name : folder.files()) {
      if (name == "story.toml" || name == "other.toml" || name == "checkpoint") continue;
      CHECK(content_of(fs::path(folder.checkpoint()).parent_path() / name).find("\nend ") != std::string::npos);
    }
    if (WIFEXITED(status)) before.clear();
    if (left.empty()) continue;
    CHECK(left.starts_with("lockstep checkpoint "));
    CHECK(left.find("\nend ") != std::string::npos);
    if (WIFEXITED(status)) fs::remove(folder.checkpoint());
    if (i % 5 != 4 || WIFEXITED(status)) continue;
    const fs::path copy = folder.checkpoint() + "-copy";
    fs::copy_file(folder.checkpoint(), copy);
    const cli::Called resumed =
        cli::called({"check", folder.story(), "--checkpoint", copy.string(), "--resume", "--json", "--no-times"});
    CHECK(resumed.exit == 0);
    CHECK(resumed.out == whole.out);
    fs::remove(copy);
  }
  WARN(kKills << " times killed, " << finished << " of them too late; " << progress << " left something new");
  // So few kills can all come before the first round is over.
  if (kKills >= 20) CHECK(progress > 0);
}

TEST_CASE("check: a checkpoint that is damaged, foreign or of another version is refused, and left as it is") {
  const Folder folder;
  const std::vector<std::string> resume{"check", folder.story(), "--checkpoint", folder.checkpoint(), "--resume"};
  const cli::Called none = cli::called(resume);
  CHECK(none.exit == 2);
  CHECK(none.err.find("there is no checkpoint to read") != std::string::npos);
  CHECK(!fs::exists(folder.checkpoint()));

  REQUIRE(cli::called({"check", folder.story(), "--checkpoint", folder.checkpoint(), "--max-traces", "600"}).exit == 3);
  const std::string good = content_of(folder.checkpoint());
  REQUIRE(good.size() > 100);
  const auto refuses = [&](const std::string& bad, std::string_view message, const std::vector<std::string>& args,
                           std::string_view remedy = "leave out --resume to begin anew") {
    std::ofstream(folder.checkpoint(), std::ios::binary) << bad;
    const cli::Called result = cli::called(args);
    INFO(result.err);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(result.err.find(remedy) != std::string::npos);
    CHECK(content_of(folder.checkpoint()) == bad);
  };
  refuses(good.substr(0, good.size() / 2), "this checkpoint is damaged", resume);
  std::string changed = good;
  changed[good.size() / 2] = changed[good.size() / 2] == '7' ? '8' : '7';
  refuses(changed, "this checkpoint is damaged", resume);
  refuses("lockstep checkpoint 0\n" + good.substr(good.find('\n') + 1), "no checkpoint of this version", resume);
  refuses("digraph {}\n", "is none that lockstep wrote", resume, "remove it, or name another file");
  refuses(good, "belongs to another story", {"check", folder.other(), "--checkpoint", folder.checkpoint(), "--resume"});
  std::vector<std::string> unreduced = resume;
  unreduced.emplace_back("--no-reduction");
  refuses(good, "another way of exploring it", unreduced);
  std::ofstream(folder.checkpoint(), std::ios::binary) << good;
  CHECK(cli::called(resume).exit == 0);
  CHECK(folder.files() == std::vector<std::string>{"checkpoint", "other.toml", "story.toml"});
}

}  // namespace lockstep::checkpoint_test
