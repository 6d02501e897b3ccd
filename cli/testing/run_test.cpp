#include "cli/run.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/arguments/call.hpp"
#include "cli/commands/commands.hpp"
#include "cli/testing/called.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::run_test {

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStory = R"(
title = { en = "One client takes the lock", zh = "一个客户端拿到锁" }
story = { en = "A takes it and gives it back.", zh = "A 拿到锁，又还回去。" }
lesson = { en = "Alone it is easy.", zh = "只有一个就很容易。" }
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[[client]]
name = "A"
acquire_at = "0ms"
hold = "20ms"
[expect.run]
mutual-exclusion = )";

/// A folder of scenario files that goes away with the test.
class Stories {
 public:
  Stories() : path_(fs::temp_directory_path() / "lockstep-cli-test") {
    fs::remove_all(path_);
    fs::create_directories(path_);
    write("good.toml", std::string(kStory) + "\"holds\"\n");
  }
  ~Stories() { fs::remove_all(path_); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  std::string folder() const { return path_.string(); }
  std::string surprise() const { return write("surprise.toml", std::string(kStory) + "\"violated\"\n"); }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("cli: a story as expected exits 0, and one that is not exits 1") {
  const Stories stories;
  const cli::Called good = cli::called({"run", stories / "good.toml"});
  CHECK(good.exit == 0);
  CHECK(good.err.empty());
  CHECK(cli::contains(good.out, "A  has the lock"));
  CHECK(cli::contains(good.out, "✓ holds (this run): mutual-exclusion"));
  CHECK(cli::contains(good.out, "Alone it is easy."));

  const cli::Called bad = cli::called({"run", stories.surprise()});
  CHECK(bad.exit == 1);
  CHECK(cli::contains(bad.out, "NOT as expected: violated was expected"));
}

TEST_CASE("cli: one story is a timeline, several are a table, and --timeline is both") {
  const Stories stories;
  stories.surprise();
  const cli::Called table = cli::called({"run", stories.folder()});
  CHECK(table.exit == 1);
  CHECK(!cli::contains(table.out, "has the lock"));
  CHECK(cli::contains(table.out, "2 stories: 1 as expected, 1 NOT"));
  const cli::Called both = cli::called({"run", stories.folder(), "--timeline"});
  CHECK(cli::contains(both.out, "has the lock"));
  CHECK(cli::contains(both.out, "2 stories: 1 as expected, 1 NOT"));
  const cli::Called neither = cli::called({"run", stories / "good.toml", "--no-timeline"});
  CHECK(!cli::contains(neither.out, "has the lock"));
  CHECK(cli::contains(neither.out, "1 story, as expected"));
}

TEST_CASE("cli: --json is one document and nothing else, the same every time and for any number of jobs") {
  const Stories stories;
  stories.surprise();
  const cli::Called first = cli::called({"run", stories.folder(), "--json", "--jobs", "1"});
  CHECK(first.exit == 1);
  CHECK(first.err.empty());
  const auto document = nlohmann::json::parse(first.out);
  CHECK(document["summary"]["stories"] == 2);
  CHECK(document["results"][0]["file"] == stories / "good.toml");
  CHECK(cli::called({"run", stories.folder(), "--json", "--jobs", "4"}).out == first.out);
  CHECK(cli::called({"--json", "run", stories.folder()}).out == first.out);
}

TEST_CASE("cli: bad input is refused before anything is reported, with a message for each bad file") {
  const Stories stories;
  const std::string typo = stories.write("typo.toml", std::string(kStory) + "\"holds\"\nnonsense = 3\n");
  const std::string junk = stories.write("junk.toml", std::string("\0\xff junk", 7));
  for (const bool json : {false, true}) {
    std::vector<std::string> args{"run", stories / "good.toml", typo, junk};
    if (json) args.emplace_back("--json");
    const cli::Called result = cli::called(args);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(cli::contains(result.err, typo + ":"));
    CHECK(cli::contains(result.err, junk + ":"));
    CHECK(!cli::contains(result.err, "good.toml"));
  }
  const cli::Called missing = cli::called({"run", stories / "no1.toml", stories / "no2.toml", "--json"});
  CHECK(missing.exit == 2);
  CHECK(missing.out.empty());
  CHECK(cli::contains(missing.err, "no1.toml"));
  CHECK(cli::contains(missing.err, "no2.toml"));
}

TEST_CASE("cli: a wrong call exits 2 and says how to go on") {
  struct Case {
    std::vector<std::string> args;
    std::string_view message;
  };
  const std::vector<Case> cases{
      {{"chek", "x"}, "unknown command \"chek\"; did you mean \"check\"? there are: list, new, run, check"},
      {{"rnu", "x"}, "did you mean \"run\"?"},
      {{"run", "--jsn", "x"}, "unknown option \"--jsn\"; did you mean \"--json\"?"},
      {{"run", "--junt=x.xml", "x"}, "did you mean \"--junit\"?"},
      {{"list", "--junit", "x"}, "unknown option \"--junit\""},
      {{"run"}, "run needs scenario files or directories, e.g. lockstep run scenarios"},
      {{"run", "x", "--seed"}, "--seed needs a value"},
      {{"run", "x", "--seed", "12x"}, "--seed \"12x\": expected a whole number"},
      {{"run", "x", "--seed", "18446744073709551616"}, "expected a whole number from 0 to 2^64-1"},
      {{"run", "x", "--jobs", "0"}, "--jobs \"0\": expected a whole number from 1 to 1024"},
      {{"run", "x", "--width", "20"}, "--width \"20\": expected a whole number from 40 to 1000"},
      {{"run", "x", "--color", "alwais"}, "did you mean \"always\"?"},
      {{"run", "x", "--lang", "fr"}, "expected one of en, zh"},
      {{"run", "x", "--timeline", "--no-timeline"}, "exclude each other"},
      {{"list", "algoritms"}, "did you mean \"algorithms\"?"},
      {{"list", "faults", "x"}, "list faults takes no files"},
      {{"matrix", "redlock-sek"}, "did you mean \"redlock-seq\"?"},
      {{"matrix", "--faults", "pauze"}, "did you mean \"pause\"?"},
      {{"matrix", "--runs", "0"}, "--runs \"0\": expected a whole number, 1 or more"},
      {{"matrix", "--witnesses", ""}, "needs the name of a folder"},
      {{"compare"}, "compare needs scenario files"},
      {{"compare", "x", "--clients", "2,x"}, "--clients \"x\": expected whole numbers from 1 to 256"},
      {{"compare", "x", "--seconds", "0"}, "--seconds \"0\": expected seconds of virtual time"},
      {{"--junit", "f", "run", "x"}, "unknown option \"--junit\""},
      {{"run", "--json=yes", "x"}, "--json takes no value"},
      {{"run", "x", "--lang="}, "--lang \"\": expected one of en, zh"},
      {{"run", "x", "--seed", "1", "--seed", "y"}, "--seed \"y\": expected a whole number"},
      {{"matrix", "--faults", "pause", "pauze"}, "--faults \"pauze\": did you mean \"pause\"?"},
      {{"run", "--", "--json"}, "--json: no such file"},
      {{}, "usage: lockstep COMMAND"},
  };
  for (const Case& c : cases) {
    const cli::Called result = cli::called(c.args);
    INFO(result.err);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(cli::contains(result.err, c.message));
  }
}

TEST_CASE("cli: help names every command and gives examples") {
  const cli::Called help = cli::called({"--help"});
  CHECK(help.exit == 0);
  CHECK(help.err.empty());
  for (const auto& each : cli::all_commands()) {
    const std::string command(each->manual().name);
    CHECK(cli::contains(help.out, "  " + command + " "));
    const cli::Called own = cli::called({command, "--help"});
    CHECK(own.exit == 0);
    CHECK(cli::contains(own.out, "usage: lockstep " + command));
    CHECK(cli::contains(own.out, "example: lockstep " + command));
    for (const cli::Option& option : each->manual().options) CHECK(cli::contains(own.out, std::string(option.name)));
    for (const std::string_view option : {"--json", "--seed", "--jobs", "--color", "--lang", "--width", "--help"}) {
      CHECK(cli::contains(own.out, option));
    }
  }
  CHECK(cli::called({"help"}).out == help.out);
  CHECK(cli::called({"run", "--nonsense", "--seed", "x", "-h"}).out == cli::called({"run", "--help"}).out);
}

TEST_CASE("cli: the version is the project's") {
  std::ifstream in(in_tree("CMakeLists.txt"));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  CHECK(cli::contains(text, "project(lockstep VERSION " + std::string(cli::kVersion) + " "));
  CHECK(cli::called({"--version"}).out == "lockstep " + std::string(cli::kVersion) + "\n");
}

TEST_CASE("cli: colours only on a terminal, without NO_COLOR, or when asked for") {
  const Stories stories;
  const std::string file = stories / "good.toml";
  const auto is_coloured = [](const cli::Called& result) { return cli::contains(result.out, "\x1b["); };
  CHECK(!is_coloured(cli::called({"run", file})));
  CHECK(is_coloured(cli::called({"run", file}, {.is_tty = true})));
  CHECK(!is_coloured(cli::called({"run", file}, {.is_tty = true, .no_color = true})));
  CHECK(is_coloured(cli::called({"run", file, "--color=always"}, {.no_color = true})));
  CHECK(!is_coloured(cli::called({"run", file, "--color", "never"}, {.is_tty = true})));
}

TEST_CASE("cli: titles, stories and lessons come in the language that was asked for") {
  const Stories stories;
  const cli::Called result = cli::called({"run", stories / "good.toml", "--lang", "zh"});
  CHECK(cli::contains(result.out, "一个客户端拿到锁"));
  CHECK(cli::contains(result.out, "只有一个就很容易。"));
  CHECK(!cli::contains(result.out, "Alone it is easy."));
}

TEST_CASE("cli: --junit writes a file, and a file that cannot be written costs nothing but the exit status") {
  const Stories stories;
  const cli::Called good = cli::called({"run", stories / "good.toml", "--junit", stories / "out.xml"});
  CHECK(good.exit == 0);
  CHECK(fs::exists(stories / "out.xml"));
  const cli::Called bad = cli::called({"run", stories / "good.toml", "--junit", stories / "missing/out.xml"});
  CHECK(bad.exit == 2);
  CHECK(cli::contains(bad.err, "cannot write"));
  CHECK(cli::contains(bad.out, "✓ holds"));
}

TEST_CASE("cli: list shows algorithms, scenarios, properties and faults") {
  const Stories stories;
  CHECK(cli::contains(cli::called({"list"}).out, "set-nx-px-lua"));
  CHECK(cli::called({"list", "algorithms"}).out == cli::called({"list"}).out);
  CHECK(cli::contains(cli::called({"list", "properties"}).out, "mutual-exclusion"));
  CHECK(cli::contains(cli::called({"list", "faults"}).out, "partition"));
  CHECK(cli::contains(cli::called({"list", "scenarios", stories.folder()}).out, "One client takes the lock"));
  for (const char* what : {"algorithms", "properties", "faults"}) {
    const auto document = nlohmann::json::parse(cli::called({"list", what, "--json"}).out);
    CHECK(document["command"] == "list");
    CHECK(!document[what].empty());
  }
  const auto scenarios = nlohmann::json::parse(cli::called({"list", "scenarios", stories.folder(), "--json"}).out);
  CHECK(scenarios["scenarios"][0]["id"] == "good");
}

TEST_CASE("cli: list failures tells which files reproduce each documented failure") {
  const Stories stories;
  stories.write("one.toml", "reproduces = [\"F000-4b\"]\n" + std::string(kStory) + "\"holds\"\n");
  CHECK(
      cli::contains(cli::called({"list", "failures", stories.folder(), "--width", "200"}).out, "1 of them reproduced"));
  const auto failures =
      nlohmann::json::parse(cli::called({"list", "failures", stories.folder(), "--json"}).out)["failures"];
  for (const auto& failure : failures) {
    const bool here = failure["id"] == "F000-4b";
    CHECK(failure["files"].size() == (here ? 1 : 0));
    if (here) CHECK(failure["told"] == false);
  }
  CHECK(cli::called({"list", "failures", "no/such/folder"}).exit == 2);
}

TEST_CASE("cli: matrix writes its witnesses as scenario files that run confirms") {
  const Stories stories;
  const std::string folder = stories / "witnesses";
  const cli::Called result =
      cli::called({"matrix", "setnx-del", "--faults", "crash,none", "--runs", "20", "--witnesses", folder, "--json"});
  CHECK(result.exit == 0);
  const auto cells = nlohmann::json::parse(result.out)["cells"];
  REQUIRE(cells.size() == 2);
  CHECK(cells[0]["fault"] == "none");
  CHECK(fs::exists(folder + "/setnx-del-crash-recovery.toml"));
  CHECK(cli::called({"run", folder}).exit == 0);
  CHECK(cli::contains(cli::called({"matrix", "setnx-del", "--faults", "crash", "--runs", "20"}).out, "✗ broken"));
}

TEST_CASE("cli: compare takes algorithms and numbers of clients") {
  const Stories stories;
  const std::string file = stories / "good.toml";
  const cli::Called result = cli::called(
      {"compare", file, "--algorithms", "setnx-del,set-nx-px-lua", "--clients", "1,3", "--seconds", "1", "--json"});
  CHECK(result.exit == 0);
  const auto runs = nlohmann::json::parse(result.out)["results"][0]["runs"];
  REQUIRE(runs.size() == 4);
  CHECK(runs[1]["algorithm"] == "set-nx-px-lua");
  CHECK(runs[1]["clients"] == 1);
  CHECK(cli::called({"compare", file, "--seconds", "1"}).out != "");
  const cli::Called unknown = cli::called({"compare", file, "--algorithms", "setnx-dell"});
  CHECK(unknown.exit == 2);
  CHECK(cli::contains(unknown.err, "did you mean \"setnx-del\"?"));
}

TEST_CASE("cli: new writes a story that runs, and leaves alone what is there") {
  const Stories stories;
  const cli::Called made = cli::called({"new", stories / "mine", "--algorithm", "redlock-seq"});
  CHECK(made.exit == 0);
  CHECK(cli::contains(made.out, "lockstep run "));
  CHECK(cli::called({"run", stories / "mine.toml"}).exit == 0);
  const cli::Called again = cli::called({"new", stories / "mine.toml"});
  CHECK(again.exit == 2);
  CHECK(cli::contains(again.err, "is there already"));
  const cli::Called typo = cli::called({"new", stories / "other", "--algorithm", "redlock-sek"});
  CHECK(typo.exit == 2);
  CHECK(cli::contains(typo.err, "did you mean \"redlock-seq\"?"));
  CHECK(!fs::exists(stories / "other.toml"));
  CHECK(cli::called({"new"}).exit == 2);
}

TEST_CASE("cli: --only-failures shows what is not as expected, and the totals of all") {
  const Stories stories;
  stories.write("bad.toml", std::string(kStory) + "\"violated\"\n");
  const cli::Called all = cli::called({"run", stories.folder()});
  const cli::Called few = cli::called({"run", stories.folder(), "--only-failures"});
  CHECK(all.exit == few.exit);
  CHECK(few.out.size() < all.out.size());
  CHECK(cli::contains(few.out, "bad"));
  CHECK(!cli::contains(few.out, "good "));
  CHECK(few.out.substr(few.out.rfind('\n', few.out.size() - 2)) ==
        all.out.substr(all.out.rfind('\n', all.out.size() - 2)));
  const cli::Called none =
      cli::called({"run", stories / "good.toml", stories / "good.toml", "--only-failures", "--no-timeline"});
  CHECK(std::count(none.out.begin(), none.out.end(), '\n') == 1);
  CHECK(cli::called({"check", stories.folder(), "--only-failures", "--no-times"}).out.size() <
        cli::called({"check", stories.folder(), "--no-times"}).out.size());
}

TEST_CASE("cli: a story that cannot happen does not keep the others from it") {
  const Stories stories;
  stories.write("stuck.toml", std::string(kStory) + "\"holds\"\n[pin]\norder = [\"A.DEL\", \"A.SET\"]\n");
  const cli::Called result = cli::called({"run", stories / "stuck.toml", stories / "good.toml"});
  CHECK(result.exit == 2);
  CHECK(cli::contains(result.err, "stuck.toml"));
  CHECK(cli::contains(result.err, "1 of 2 stories could not be run"));
  CHECK(cli::contains(result.out, "as expected"));
}

TEST_CASE("cli: list algorithms NAME shows it in full, and a list of all is short") {
  const cli::Called all = cli::called({"list", "algorithms"});
  const cli::Called one = cli::called({"list", "algorithms", "redlock-seq"});
  CHECK(one.exit == 0);
  CHECK(cli::contains(one.out, "node_timeout = 50ms"));
  CHECK(!cli::contains(all.out, "node_timeout"));
  CHECK(std::count(all.out.begin(), all.out.end(), '\n') < 100);
  CHECK(nlohmann::json::parse(cli::called({"list", "algorithms", "redlock-seq", "--json"}).out)["algorithms"].size() ==
        1);
  CHECK(cli::contains(cli::called({"list", "algorithms", "redlock-sek"}).err, "did you mean \"redlock-seq\"?"));
}

TEST_CASE("cli: --may-seed runs one of the executions that check looks at") {
  const Stories stories;
  const std::string head =
      "title = \"t\"\n[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n[network]\nlatency = \"1ms\"\n";
  const std::string clients =
      "[[client]]\nname = \"A\"\nhold = \"20ms\"\n[[client]]\nname = \"B\"\nacquire_at = [\"0ms\", \"300ms\"]\nhold = "
      "\"20ms\"\n";
  const std::string may = "[[may]]\nkind = \"pause\"\nclient = \"A\"\nduring = \"work\"\nlength = \"200ms\"\n";
  stories.write("may.toml", head + clients + may + "[expect.check]\nmutual-exclusion = { violated = true }\n");
  stories.write("wrong.toml", head + clients + may + "[expect.check]\nmutual-exclusion = \"holds\"\n");
  std::set<std::string> outputs;
  bool is_wrong = false;
  for (int seed = 1; seed <= 20; ++seed) {
    const std::vector<std::string> call{"run", stories / "may.toml", "--json", "--may-seed", std::to_string(seed)};
    const cli::Called one = cli::called(call);
    CHECK(one.exit == 0);
    CHECK(cli::called(call).out == one.out);
    outputs.insert(one.out);
    const int wrong = cli::called({"run", stories / "wrong.toml", "--may-seed", std::to_string(seed)}).exit;
    CHECK((wrong == 0 || wrong == 1));
    is_wrong = is_wrong || wrong == 1;
  }
  CHECK(outputs.size() > 5);
  CHECK(is_wrong);
  CHECK(cli::called({"run", stories / "may.toml", "--may-seed", "x"}).err.find("--may-seed \"x\": expected") !=
        std::string::npos);
}

TEST_CASE("cli: a seed reproduces its run") {
  const Stories stories;
  const std::string file =
      stories.write("wide.toml", std::string(kStory) + "\"holds\"\n[network]\nlatency = [\"1ms\", \"9ms\"]\n");
  const std::string one = cli::called({"run", file, "--json", "--seed", "7"}).out;
  CHECK(cli::called({"run", file, "--json", "--seed", "7"}).out == one);
  CHECK(cli::called({"run", file, "--json", "--seed", "8"}).out != one);
}

TEST_CASE("cli: output that cannot be written is not a success") {
  const Stories stories;
  std::ofstream full("/dev/full");
  std::ostringstream err;
  const std::vector<std::string> args{"run", stories / "good.toml"};
  CHECK(cli::run(args, full, err, models::locks::Catalogue::built_in(), {}) == 2);
  CHECK(cli::contains(err.str(), "cannot write"));
}

}  // namespace lockstep::run_test
