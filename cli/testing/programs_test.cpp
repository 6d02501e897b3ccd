// Stories whose clients are programs: what `run` prints of them, and which commands refuse them.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "cli/run.hpp"
#include "cli/testing/called.hpp"
#include "sim/testing/in_tree.hpp"
#ifdef LOCKSTEP_RUNS_PROGRAMS
#include "programs/story_programs.hpp"
#endif

namespace lockstep::cli::programs_test {
namespace {

/// A folder with stories, gone at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("lockstep-programs-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_.string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

constexpr std::string_view kHead = "title = \"Other people's programs\"\n[lock]\nkey = \"stock\"\n";

/// Both clients do this.
std::string story_of(const std::string& command) {
  return std::string(kHead) + "[network]\nlatency = \"1ms\"\n[[client]]\nname = [\"A\", \"B\"]\ncommand = " + command +
         "\n";
}

/// A lock of 100ms, twice, for work of that many seconds.
std::string taking_turns(const std::string& work) {
  return story_of("[\"/usr/bin/python3\", \"redis_lock.py\", \"{redis}\", \"" + work + "\"]\ncwd = \"" +
                  in_tree("programs/samples") + "\"");
}

std::string python(const std::string& code) { return story_of("[\"/usr/bin/python3\", \"-c\", '''" + code + "''']"); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
  return times;
}

#ifdef LOCKSTEP_RUNS_PROGRAMS

Called run_with_programs(const std::vector<std::string>& args) {
  std::ostringstream out;
  std::ostringstream err;
  const int exit = run(args, out, err, models::locks::Catalogue::built_in(), {}, nullptr, &programs::story_programs());
  return {exit, out.str(), err.str()};
}

bool can_run() {
  if (::access("/usr/bin/python3", X_OK) == 0) return true;
  std::cout << "SKIPPED: there is no /usr/bin/python3 on this machine\n";
  return false;
}

Called run_story(const std::string& text, const std::vector<std::string>& options = {}) {
  const Folder folder;
  std::vector<std::string> args{"run", folder.write("story.toml", text)};
  args.insert(args.end(), options.begin(), options.end());
  return run_with_programs(args);
}

TEST_CASE("a story of programs is run and judged: who works longer than the lease breaks mutual exclusion") {
  if (!can_run()) return;
  const Called good = run_story(taking_turns("0.02"));
  INFO(good.out << good.err);
  CHECK(good.exit == 0);
  CHECK(count(good.out, "has the lock") == 4);
  CHECK(contains(good.out, "✓ holds (this run): mutual-exclusion"));
  CHECK(contains(good.out, "A  SET stock "));
  CHECK(contains(good.out, "which says when it holds the lock and nothing else"));
  CHECK(count(good.out, "✓") == 1);
  const Called bad = run_story(taking_turns("0.15"));
  INFO(bad.out << bad.err);
  CHECK(bad.exit == 1);
  CHECK(contains(bad.out, "✗ mutual-exclusion violated by A, B at 132"));
}

TEST_CASE("what a program does not tell is not judged, and never called kept") {
  if (!can_run()) return;
  const Called silent = run_story(python("print('nothing of locks')"));
  INFO(silent.out << silent.err);
  CHECK(silent.exit == 3);
  CHECK(!contains(silent.out, "✓"));
  CHECK(contains(silent.out, "nobody ever got the lock"));
  CHECK(contains(silent.err, "nothing is judged: no program said that it got a lock"));
}

TEST_CASE("a program of which nothing can be known is a message, and no verdict") {
  if (!can_run()) return;
  const auto refused = [](const std::string& text, const std::string& why) {
    const Called result = run_story(text);
    INFO(result.out << result.err);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(contains(result.err, why));
  };
  refused(story_of("[\"/nonexistent/program\"]"), "client A cannot be executed: \"/nonexistent/program\"");
  refused(python("import nothing_of_this_name"),
          "client A did nothing, and ended with status 1: ModuleNotFoundError: No module named");
  refused(python("print('lockstep: acquired stock')\nprint('lockstep: released stock')"),
          "it has to print \"lockstep: releasing stock\"");
  refused(python("print('lockstep: acquired stock')\nprint('lockstep: acquired stock')"), "which it holds already");
}

TEST_CASE("a program that does not do the same twice gets no verdict") {
  if (!can_run()) return;
  const Folder folder;
  const std::string counter = folder.write("counter", "");
  const Called result = run_story(python("open('" + counter +
                                         "', 'a').write('x')\n"
                                         "print('lockstep: acquired', len(open('" +
                                         counter + "').read()))"));
  INFO(result.out << result.err);
  CHECK(result.exit == 3);
  CHECK(result.out.empty());
  CHECK(contains(result.err, "not deterministic, so there is no verdict: two runs differ; the first time A: acquire"));
  CHECK(contains(result.err, "; A had called last, by its thread 1: "));
  CHECK(contains(result.err, "openat, write"));
}

/// No lock at all: A says that it has one from 0 to 20ms, B from 50ms on.
std::string in_turn(const std::string& rest, const std::string& lock = "stock") {
  const auto client = [&](const std::string& name, const std::string& from) {
    return "[[client]]\nname = \"" + name + "\"\nacquire_at = \"" + from +
           "\"\ncommand = [\"/bin/sh\", \"-c\", 'lock=" + lock +
           "; echo lockstep: acquired $lock; sleep 0.02; echo lockstep: releasing $lock; echo lockstep: released "
           "$lock']\n";
  };
  return std::string(kHead) + client("A", "0ms") + client("B", "50ms") + rest;
}

TEST_CASE("what a child of a program writes to a pipe is not the program's output") {
  const Called result = run_story(in_turn("", "$(echo stock | cat)"));
  INFO(result.out << result.err);
  CHECK(result.exit == 0);
  CHECK(count(result.out, "has the lock") == 2);
}

TEST_CASE("fuzz finds what breaks a program's lock, makes it small, and run shows it again") {
  const Folder folder;
  const std::string found = folder.path() + "/found";
  const std::string story = in_turn("[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = \"200ms\"\n");
  const Called result =
      run_with_programs({"fuzz", folder.write("story.toml", story), "--runs", "100", "--found", found});
  INFO(result.out << result.err);
  CHECK(result.exit == 1);
  CHECK(contains(result.out, "A and B hold the lock at once"));
  CHECK(contains(result.out, "1 finding; each file in "));
  CHECK(!contains(result.out, "check tells"));
  // The smallest is one without a pause, in which both come at once.
  const Called again = run_with_programs({"run", found + "/programs-mutual-exclusion.toml"});
  INFO(again.out << again.err);
  CHECK(again.exit == 0);
  CHECK(contains(again.out, "mutual-exclusion violated by A, B"));
}

TEST_CASE("fuzz and report refuse a program that does not do the same twice") {
  if (!can_run()) return;
  const Folder folder;
  const std::string counter = folder.write("counter", "");
  const std::string file = folder.write("story.toml", python("open('" + counter +
                                                             "', 'a').write('x')\n"
                                                             "print('lockstep: acquired', len(open('" +
                                                             counter + "').read()))"));
  const Called fuzzed = run_with_programs({"fuzz", file, "--runs", "1", "--found", folder.path() + "/found"});
  INFO(fuzzed.out << fuzzed.err);
  CHECK(fuzzed.exit == 3);
  CHECK(fuzzed.out.empty());
  CHECK(contains(fuzzed.err, "two runs differ"));
  CHECK(!std::filesystem::exists(folder.path() + "/found"));
  const Called told = run_with_programs({"report", folder.path() + "/out", "--stories", file});
  CHECK(told.exit == 2);
  CHECK(contains(told.err, "two runs differ"));
}

TEST_CASE("a page of a program's story shows its run, and says that nothing else was looked at") {
  const Folder folder;
  const std::string page = folder.path() + "/page.html";
  const Called result =
      run_with_programs({"report", "--single", page, "--stories", folder.write("story.toml", in_turn(""))});
  INFO(result.out << result.err);
  CHECK(result.exit == 0);
  std::ostringstream text;
  text << std::ifstream(page).rdbuf();
  CHECK(contains(text.str(), "has the lock"));
  CHECK(contains(text.str(), "a client is a program, of which only runs can be shown"));
}

TEST_CASE("check leaves a program out of a folder, and says of a file why it cannot be explored") {
  const Folder folder;
  const std::string file = folder.write("story.toml", in_turn(""));
  folder.write("other.toml", std::string(kHead) + "algorithm = \"set-nx-px-lua\"\n[[client]]\nname = \"A\"\n");
  const Called all = run_with_programs({"check", folder.path()});
  INFO(all.out << all.err);
  CHECK(all.exit == 0);
  CHECK(contains(all.out, "1 story left out that cannot be explored"));
  const Called one = run_with_programs({"check", file});
  INFO(one.out << one.err);
  CHECK(one.exit == 2);
  CHECK(one.out.empty());
  CHECK(contains(one.err, "client A is a program, which check cannot take; `lockstep run` and `lockstep fuzz` can"));
}

#endif

TEST_CASE("a command that cannot run programs refuses them, and calls nothing kept") {
  const Folder folder;
  const std::string file = folder.write("story.toml", taking_turns("0.02"));
  for (const std::string command : {"check", "compare", "confirm", "serve"}) {
    std::vector<std::string> args{command, file};
    if (command == "confirm") args.push_back("--redis");
    const Called result = called(args);
    INFO(command << ": " << result.out << result.err);
    CHECK(result.exit == 2);
    CHECK(!contains(result.out, "✓"));
    CHECK(contains(result.err,
                   "client A is a program, which " + command + " cannot take; `lockstep run` and `lockstep fuzz` can"));
  }
  const Called plain = called({"run", file});
  CHECK(plain.exit == 2);
  CHECK(plain.out.empty());
  CHECK(contains(plain.err, "client A is a program, which needs Linux on x86-64 and the optimised build"));
}

}  // namespace
}  // namespace lockstep::cli::programs_test
