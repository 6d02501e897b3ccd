// No command overwrites what it has read, or what somebody else has written, whichever option says where to write. The options are
// those of the manuals, so that a new one is asked, too.

#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/own_folder.hpp"
#include "cli/formats/format.hpp"
#include "cli/testing/called.hpp"
#include "reports/export/export.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::cli::overwrites_test {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A story with its script, and a history.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(fs::temp_directory_path() / ("lockstep-overwrites-" + name + "-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    for (const char* file : {"steal-expired.toml", "steal-expired.lua"})
      fs::copy_file(in_tree(std::string("scenarios/stories/own-lock/") + file), path_ / file);
    std::ofstream(path_ / "history.edn")
        << "{:process 0 :type :invoke :f :acquire}\n{:process 0 :type :ok :f :acquire}\n";
  }
  ~Folder() { fs::remove_all(path_); }
  std::string in(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }

 private:
  fs::path path_;
};

struct Writing {
  std::string option;
  std::string before;  ///< of the file, in the value
};

/// All options of a command that name a file to write.
std::vector<Writing> writing_options(const Manual& manual) {
  std::vector<Writing> options;
  for (const Option& option : manual.options) {
    if (option.output != nullptr) options.push_back({std::string(option.name), ""});
  }
  for (const Format* format : formats_for(manual)) {
    if (!format->argument.empty()) options.push_back({std::string(format->option), ""});
  }
  if (manual.name == "check") options.push_back({"--export", "sarif="});
  if (manual.name != "run") return options;
  for (const auto& format : reports::export_formats()) options.push_back({"--export", std::string(format.name) + "="});
  return options;
}

/// What each command reads; those that are not here write no files that an option names.
std::map<std::string, std::vector<std::string>> calls_of(const Folder& folder) {
  const std::string story = folder.in("steal-expired.toml");
  return {{"run", {story}},
          {"check", {story}},
          {"confirm", {story, "--redis"}},
          {"report", {"--stories", story}},
          {"linearize", {folder.in("history.edn"), "--model", "mutex"}}};
}

}  // namespace

TEST_CASE("overwrites: an option whose value is a file or a folder is known as one that writes, or that reads") {
  // Folders have tests below; --merge and --stories are read.
  const std::set<std::string> others{"--found", "--witnesses", "--merge", "--stories"};
  const Folder folder("table");
  const auto calls = calls_of(folder);
  for (const auto& command : all_commands()) {
    const Manual manual = command->manual();
    const std::vector<Writing> writing = writing_options(manual);
    if (!writing.empty()) CHECK(calls.contains(std::string(manual.name)));
    for (const Option& option : manual.options) {
      INFO(manual.name << " " << option.name);
      const bool names_file = contains(option.argument, "FILE") || contains(option.argument, "DIR");
      const bool is_writing =
          std::any_of(writing.begin(), writing.end(), [&](const Writing& each) { return each.option == option.name; });
      CHECK(names_file == (is_writing || others.contains(std::string(option.name))));
    }
  }
}

TEST_CASE("overwrites: no option overwrites a story, its script or a history, nor under another name") {
  const Folder folder("inputs");
  const std::vector<std::string> read{"steal-expired.toml", "steal-expired.lua", "history.edn"};
  std::map<std::string, std::string> before;
  for (const std::string& file : read) before[file] = content_of(folder.in(file));
  for (const auto& [command, call] : calls_of(folder)) {
    for (const auto& each : all_commands()) {
      if (each->manual().name != command) continue;
      for (const Writing& writing : writing_options(each->manual())) {
        for (const std::string& file : read) {
          if ((command == "linearize") != (file == "history.edn")) continue;
          std::size_t told = 0;
          // Some options want an ending.
          for (const std::string ending : {"", ".dot", ".graphml", ".edn", ".jsonl"}) {
            for (const bool is_hard : {false, true}) {
              const std::string link = ending.empty() && !is_hard ? folder.in(file) : folder.in("link" + ending);
              if (link != folder.in(file))
                is_hard ? fs::create_hard_link(folder.in(file), link) : fs::create_symlink(file, link);
              std::vector<std::string> args{command};
              args.insert(args.end(), call.begin(), call.end());
              args.insert(args.end(), {writing.option, writing.before + link});
              const Called result = called(args);
              INFO(command << " " << writing.option << " " << link << ": " << result.err);
              CHECK(result.exit == 2);
              told += contains(result.err, "would overwrite an input") ? 1 : 0;
              CHECK(result.out.empty());
              for (const std::string& kept : read) CHECK(content_of(folder.in(kept)) == before[kept]);
              if (link != folder.in(file)) fs::remove(link);
            }
          }
          INFO(command << " " << writing.option << " " << file);
          CHECK(told >= 2);
        }
      }
    }
  }
}

TEST_CASE("overwrites: no option replaces a file that it has not written, and each replaces its own") {
  const Folder folder("foreign");
  // Explored at once, and broken, so that there is a witness; and a deadlock for --wait-for.
  const std::string broken = in_tree("scenarios/stories/redisson-source/f003-2-pause-margin.toml");
  const std::string deadlock = in_tree("scenarios/stories/several-locks/opposite-orders.toml");
  std::map<std::string, std::vector<std::string>> calls = calls_of(folder);
  calls.erase("confirm");  // it wants a server: redis_confirm_test
  for (auto& [command, call] : calls) std::replace(call.begin(), call.end(), folder.in("steal-expired.toml"), broken);
  const std::string mine = "title = \"mine\"\n-- function acquire(c) end\n# notes\n{}\n<html></html>\n";
  for (const auto& [command, call] : calls) {
    for (const auto& each : all_commands()) {
      if (each->manual().name != command) continue;
      for (const Writing& writing : writing_options(each->manual())) {
        const bool is_history = writing.option == "--history";
        const std::string ending = is_history ? ".edn" : writing.option == "--graph" ? ".dot" : "";
        const std::string file = folder.in("result" + ending);
        std::vector<std::string> args{command};
        args.insert(args.end(), call.begin(), call.end());
        if (writing.option == "--wait-for") args[1] = deadlock;
        args.insert(args.end(), {writing.option, writing.before + file});
        INFO(command << " " << writing.option << " " << writing.before);
        folder.write("result" + ending, mine);
        const Called refused = called(args);
        CHECK(refused.exit == 2);
        CHECK(contains(refused.err, "is there, and is none that lockstep wrote; remove it, or name another file"));
        CHECK(refused.out.empty());
        CHECK(content_of(file) == mine);
        for (const char* before : {"not there", "empty", "its own"}) {
          if (before == std::string("not there")) fs::remove(file);
          if (before == std::string("empty")) folder.write("result" + ending, "");
          const Called written = called(args);
          INFO(before << ": " << written.err);
          CHECK(written.exit != 2);
          CHECK(content_of(file).size() > 20);
        }
        fs::remove(file);
        fs::remove(folder.in("result.svg"));
      }
    }
  }
}

TEST_CASE("overwrites: a story that the shell put where a result should go is kept") {
  const Folder folder("glob");
  const std::string first = folder.in("a.toml");
  fs::copy_file(folder.in("steal-expired.toml"), first);
  const std::string before = content_of(first);
  // check --witness *.toml
  const Called result = called({"check", "--witness", first, folder.in("steal-expired.toml")});
  CHECK(result.exit == 2);
  CHECK(contains(result.err, "--witness " + first + " is there, and is none that lockstep wrote"));
  CHECK(content_of(first) == before);
}

TEST_CASE("overwrites: findings leave alone what somebody else has written, or has edited") {
  const Folder folder("found");
  const auto fuzz = [&](const std::string& found, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args{
        "fuzz", folder.in("steal-expired.toml"), "--runs", "60", "--jobs", "1", "--found", folder.in(found)};
    args.insert(args.end(), more.begin(), more.end());
    return called(args);
  };
  REQUIRE(fuzz("one").exit == 1);
  std::string finding;
  for (const auto& entry : fs::directory_iterator(folder.in("one"))) {
    if (entry.path().extension() == ".toml") finding = entry.path().filename().string();
  }
  REQUIRE_FALSE(finding.empty());

  CHECK(fuzz("one", {"--resume"}).exit == 1);
  const std::string own = content_of(folder.in("one/" + finding));
  folder.write("one/" + finding, own + "# looked at\n");
  const Called resumed = fuzz("one", {"--resume"});
  CHECK(resumed.exit == 2);
  CHECK(contains(resumed.err, finding + " is there, and not as lockstep wrote it"));
  CHECK(content_of(folder.in("one/" + finding)) == own + "# looked at\n");
  // Away with it, and the campaign goes on.
  fs::remove(folder.in("one/" + finding));
  CHECK(fuzz("one", {"--resume"}).exit == 1);
  CHECK(content_of(folder.in("one/" + finding)) == own);

  fs::create_directories(folder.in("two"));
  folder.write("two/" + finding, "mine\n");
  const Called fresh = fuzz("two");
  CHECK(fresh.exit == 2);
  CHECK(contains(fresh.err, "is there, and not as lockstep wrote it"));
  CHECK(content_of(folder.in("two/" + finding)) == "mine\n");

  const Called merged = called({"fuzz", "--merge", folder.in("one"), "--found", folder.in("two")});
  CHECK(merged.exit == 2);
  CHECK(content_of(folder.in("two/" + finding)) == "mine\n");
}

TEST_CASE(
    "overwrites: of two campaigns in one folder the second is refused, and one that was killed is in nobody's way") {
  const Folder folder("two");
  const std::string found = folder.in("found");
  const auto fuzz = [&](const std::vector<std::string>& more = {}) {
    std::vector<std::string> args{"fuzz", folder.in("steal-expired.toml"), "--runs", "50", "--jobs", "1", "--found",
                                  found};
    args.insert(args.end(), more.begin(), more.end());
    return called(args);
  };
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t other = fork();
  if (other == 0) {
    OwnFolder at_work;
    const char is_open = at_work.open("--found", found) ? 'n' : 'y';
    static_cast<void>(!write(ready[1], &is_open, 1));
    pause();
    _exit(0);
  }
  char is_open = '?';
  REQUIRE(read(ready[0], &is_open, 1) == 1);
  REQUIRE(is_open == 'y');
  const Called second = fuzz();
  CHECK(second.exit == 2);
  CHECK(contains(second.err, "another call of lockstep is writing there"));
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  CHECK(fuzz().exit < 2);
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("overwrites: witnesses of the matrix are replaced as long as nobody has edited them") {
  const Folder folder("witnesses");
  const std::vector<std::string> args{"matrix", "setnx-del", "--faults",    "pause,crash",
                                      "--runs", "1",         "--witnesses", folder.in("w")};
  const Called first = called(args);
  REQUIRE(first.exit != 2);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.in("w"))) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  REQUIRE_FALSE(files.empty());
  CHECK(called(args).exit == first.exit);
  const std::string edited = content_of(files.front()) + "# mine\n";
  std::ofstream(files.front()) << edited;
  const Called again = called(args);
  CHECK(again.exit == 2);
  CHECK(contains(again.err, "is there, and not as lockstep wrote it"));
  CHECK(content_of(files.front()) == edited);
}

TEST_CASE("overwrites: a list of files that is not lockstep's is left alone") {
  const Folder folder("list");
  fs::create_directories(folder.in("found"));
  folder.write("found/.lockstep-files", "mine\n");
  OwnFolder own;
  const auto trouble = own.open("--found", folder.in("found"));
  REQUIRE(trouble);
  CHECK(contains(*trouble, ".lockstep-files is not lockstep's"));
  CHECK(content_of(folder.in("found/.lockstep-files")) == "mine\n");
}

}  // namespace lockstep::cli::overwrites_test
