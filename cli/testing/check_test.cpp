#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/arguments/call.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/run.hpp"
#include "cli/testing/called.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::check_test {

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

/// set-nx-px-lua, whose margin is known: 71ms. `more` stands above the first table.
std::string pause_story(const std::string& more, const std::string& expectation) {
  return more + R"(
title = { en = "A pause that outlives the lease", zh = "比租期还长的停顿" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
attempts = 1
[[may]]
kind = "pause"
length = ["0ms", "10s"]
)" + (expectation.empty() ? "" : "[expect.check]\n" + expectation + "\n");
}

const std::string kAsFound = "mutual-exclusion = { violated = true, from = { pause = \"71ms\" } }";

/// A folder of scenario files that goes away with the test.
class Stories {
 public:
  Stories() : path_(fs::temp_directory_path() / "lockstep-cli-check-test") {
    fs::remove_all(path_);
    fs::create_directories(path_);
    write("good.toml", pause_story("", kAsFound));
  }
  ~Stories() { fs::remove_all(path_); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  std::string folder() const { return path_.string(); }
  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE(
    "check: a story as expected exits 0, one that is not exits 1, and so does one that expects nothing of a claim that "
    "breaks") {
  const Stories stories;
  const cli::Called good = cli::called({"check", stories / "good.toml"});
  CHECK(good.exit == 0);
  CHECK(good.err.empty());
  CHECK(cli::contains(good.out, "✗ mutual-exclusion violated"));
  CHECK(cli::contains(good.out, "for every pause above 71ms, and for none up to it"));
  // Nothing holds of what the story does not have.
  CHECK(cli::contains(good.out, "– not judged: "));
  CHECK(cli::contains(good.out, "capacity"));
  CHECK(cli::contains(good.out, "no-oversell"));
  for (const char* wrong : {"mutual-exclusion = \"holds\"",
                            "mutual-exclusion = { violated = true, from = { pause = \"72ms\" } }", "traces = 1"}) {
    const cli::Called bad = cli::called({"check", stories.write("bad.toml", pause_story("", wrong))});
    INFO(wrong);
    CHECK(bad.exit == 1);
    CHECK(cli::contains(bad.out, "NOT as expected"));
  }
  const cli::Called silent = cli::called({"check", stories.write("silent.toml", pause_story("", ""))});
  // What the algorithm claims is expected of a file that expects nothing.
  CHECK(silent.exit == 1);
  CHECK(cli::contains(silent.out, "✗ mutual-exclusion violated"));
  CHECK(cli::contains(silent.out, "NOT as claimed"));
}

TEST_CASE("check: a bound exits 3, unless what was found contradicts the file all the same") {
  const Stories stories;
  const cli::Called cut = cli::called({"check", stories / "good.toml", "--max-traces", "1"});
  CHECK(cut.exit == 3);
  CHECK(cli::contains(cut.out, "not complete"));
  CHECK(!cli::contains(cut.out, "NOT"));
  // Work outlives the lease: the grid meets the violation early, and a bound does not take it back.
  std::string text = pause_story("", "mutual-exclusion = \"holds\"");
  for (const auto& [from, to] : {std::pair("100ms", "5ms"), std::pair("\"1s\"", "\"8ms\""), std::pair("10s", "0ms")})
    text.replace(text.find(from), std::string_view(from).size(), to);
  const std::string wrong = stories.write("wrong.toml", text);
  const cli::Called contradicted = cli::called({"check", wrong, "--ticks", "8ms", "--max-traces", "20000"});
  CHECK(contradicted.exit == 1);
  CHECK(cli::contains(contradicted.out, "NOT as expected: holds was expected"));
  CHECK(cli::contains(contradicted.out, "not complete: --max-traces was reached"));
  CHECK(cli::called({"check", wrong, "--ticks", "8ms", "--max-traces", "1"}).exit == 3);
}

TEST_CASE("check: --json is one document, the same for any number of jobs once times are left out") {
  const Stories stories;
  stories.write("other.toml", pause_story("", ""));
  const cli::Called first = cli::called({"check", stories.folder(), "--json", "--no-times", "--jobs", "1"});
  CHECK(first.exit == 1);  // the other one expects nothing, and a claim breaks
  CHECK(first.err.empty());
  const auto document = nlohmann::json::parse(first.out);
  CHECK(document["results"].size() == 2);
  CHECK(document["results"][0]["id"] == "good");
  CHECK(document["results"][0]["complete"] == true);
  CHECK(document["results"][0]["properties"][0]["thresholds"][0]["infimum"] == "71ms");
  CHECK(document["results"][0]["seconds"].is_null());
  CHECK(cli::called({"check", stories.folder(), "--json", "--no-times", "--jobs", "4"}).out == first.out);
  const auto timed = nlohmann::json::parse(cli::called({"check", stories.folder(), "--json"}).out);
  CHECK(timed["results"][0]["seconds"].is_number());
  const cli::Called one = cli::called({"check", stories / "good.toml", "--json", "--no-times", "--jobs", "1"});
  CHECK(cli::called({"check", stories / "good.toml", "--json", "--no-times", "--jobs", "4"}).out == one.out);
}

TEST_CASE("check: few runs of reference worlds end because all that is left sleeps") {
  std::vector<std::string> names{"set-nx-px-lua-3x2", "set-nx-px-lua-3x2-work-pause", "set-nx-px-lua-polling"};
  if (!sim::takes_few_cases())
    names.insert(names.end(), {"set-nx-px-lua-3x2-pause", "redlock-seq-5x2", "redlock-par-3x2", "redlock-par-5x2"});
  for (const std::string& name : names) {
    INFO(name);
    const std::string file = in_tree("scenarios/stories/reference/") + name + ".toml";
    const auto document = nlohmann::json::parse(cli::called({"check", "--json", file}).out);
    const nlohmann::json& result = document["results"][0];
    CHECK(result["complete"] == true);
    CHECK(result["blocked"].get<std::uint64_t>() * 10 < result["traces"].get<std::uint64_t>());
  }
}

TEST_CASE("check: of directories only the fast stories, unless --all; named files always") {
  const Stories stories;
  const std::string slow = stories.write("slow.toml", pause_story("cost = \"slow\"", ""));
  stories.write("rare.toml", pause_story("cost = \"rare\"", ""));
  const auto count = [&](std::vector<std::string> args) {
    args.insert(args.begin(), "check");
    args.emplace_back("--json");
    return nlohmann::json::parse(cli::called(args).out)["results"].size();
  };
  CHECK(count({stories.folder()}) == 1);
  CHECK(count({stories.folder(), "--all"}) == 3);
  CHECK(count({slow}) == 1);
  CHECK(count({stories.folder(), slow}) == 2);
  CHECK(count({stories.folder(), stories.folder() + "/./slow.toml"}) == 2);
  CHECK(cli::contains(cli::called({"check", stories.folder()}).out,
                      "2 stories slow or rare left out; --all explores them too"));
  CHECK(!cli::contains(cli::called({"check", stories.folder(), "--all"}).out, "left out"));
  fs::remove(stories / "good.toml");
  const cli::Called none = cli::called({"check", stories.folder()});
  CHECK(none.exit == 2);
  CHECK(cli::contains(none.err, "only slow or rare stories (2); --all"));
}

TEST_CASE("check: a wrong call exits 2, says how to go on, and writes nothing") {
  const Stories stories;
  const std::string good = stories / "good.toml";
  stories.write("other.toml", pause_story("", ""));
  const std::size_t files = stories.file_count();
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  const std::vector<Case> cases{
      {{}, "check needs scenario files or directories, e.g. lockstep check scenarios"},
      {{good, "--max-trace", "3"}, "unknown option \"--max-trace\"; did you mean \"--max-traces\"?"},
      {{good, "--timeline"}, "unknown option \"--timeline\""},
      {{good, "--max-traces", "0"}, "--max-traces \"0\": expected a whole number, 1 or more"},
      {{good, "--max-seconds", "soon"}, "--max-seconds \"soon\": expected a number of seconds such as 60 or 0.5"},
      {{good, "--max-seconds", "-1"}, "expected a number of seconds"},
      {{good, "--max-seconds", "inf"}, "expected a number of seconds"},
      {{good, "--ticks", "5"}, "--ticks \"5\": expected a duration such as 1ms"},
      {{good, "--ticks", "0ms"}, "expected a duration"},
      {{good, "--ticks", "1ms", "--no-reduction"}, "--ticks reduces nothing"},
      {{good, "--ticks", "1ms", "--thorough"}, "--ticks leaves nothing out"},
      {{good, "--no-reduction", "--thorough"}, "--no-reduction leaves nothing out"},
      {{good, "--ticks", "1ms", "--witness", "w.toml"}, "exclude each other"},
      {{good, "--parameter", "pouse"}, "--parameter \"pouse\": did you mean \"pause\"?"},
      {{good, "--given", "pause"}, "--given \"pause\": expected a parameter and its value, as in skew=20ms"},
      {{good, "--given", "pouse=1ms"}, "--given \"pouse=1ms\": did you mean \"pause\"?"},
      {{good, "--given", "pause=1"}, "--given \"pause=1\": expected a length of time after pause="},
      {{good, "--given", "skew=1ms"}, "--given skew=1ms: no [[may]] of " + good + " has a range of it"},
      {{good, "--given", "pause=-1ms"}, "--given pause=-1ms: -1ms is not a pause of " + good},
      {{good, "--given", "pause=1ms", "--given", "pause=2ms"}, "--given \"pause=2ms\": it is given twice"},
      {{good, "--given", "pause=1ms", "--parameter", "pause"}, "the margin of what is given cannot be looked for"},
      {{good, "--parameter", "jump"}, "--parameter jump: no [[may]] of " + good + " has a range of it"},
      {{good, "--resume"}, "--resume needs --checkpoint FILE"},
      {{good, "--witness", ""}, "--witness needs the name of a file"},
      {{stories.folder(), "--witness", stories / "w.toml"}, "--witness needs exactly one story, and here are 2"},
      {{stories.folder(), "--checkpoint", stories / "c"}, "--checkpoint needs exactly one story"},
      {{good, "--graph", "g.png"}, "--graph: "},
      {{stories.folder(), "--graph", stories / "g.dot"}, "--graph needs exactly one story"},
      {{stories.folder(), "--margins-json", stories / "m.json"}, "--margins-json needs exactly one story"},
      {{good, "--margins-json", ""}, "--margins-json needs the name of a file"},
      {{good, "--ticks", "1ms", "--margins-json", "m.json"}, "exclude each other"},
      {{good, "--witness", good}, "would overwrite an input"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> args = c.args;
    args.insert(args.begin(), "check");
    const cli::Called result = cli::called(args);
    INFO(result.err);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(cli::contains(result.err, c.message));
    CHECK(stories.file_count() == files);
  }
}

TEST_CASE("check: Ctrl-C ends it as a bound does, and what was asked for is written whole") {
  const Stories stories;
  // Ctrl-C that comes before it is asked about waits; so the test need not hit a moment.
  const cli::Interrupt waiting;
  CHECK(!waiting.is_requested());
  REQUIRE(raise(SIGINT) == 0);
  CHECK(waiting.is_requested());
  const cli::Called result = cli::called({"check", stories / "good.toml", "--json", "--junit", stories / "out.xml"});
  CHECK(result.exit == 3);
  const auto document = nlohmann::json::parse(result.out);
  CHECK(document["results"][0]["bound"] == "interrupted");
  CHECK(document["results"][0]["complete"] == false);
  CHECK(fs::file_size(stories / "out.xml") > 0);
  // The command has dealt with it: the next one is not interrupted.
  CHECK(!waiting.is_requested());
  CHECK(cli::called({"check", stories / "good.toml"}).exit == 0);
}

TEST_CASE("check: --junit writes the results, and --witness says when there is nothing to write") {
  const Stories stories;
  const std::string calm =
      stories.write("calm.toml", pause_story("", "").replace(pause_story("", "").find("10s\"]"), 3, "1ms"));
  const cli::Called result =
      cli::called({"check", calm, "--junit", stories / "out.xml", "--witness", stories / "w.toml"});
  CHECK(result.exit == 0);
  CHECK(cli::contains(result.err, "there is no witness, so " + (stories / "w.toml") + " is not written"));
  CHECK(!fs::exists(stories / "w.toml"));
  std::ifstream in(stories / "out.xml");
  const std::string xml((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  CHECK(cli::contains(xml, "<testsuite name=\"lockstep check\" tests=\"1\" failures=\"0\""));
  CHECK(cli::called({"check", calm, "--junit", stories / "missing/out.xml"}).exit == 2);
}

TEST_CASE("check: --margins-json writes what happens for each length, the same bytes each time") {
  const Stories stories;
  const std::string good = stories / "good.toml";
  const auto written = [&](const char* name) {
    CHECK(cli::called({"check", good, "--margins-json", stories / name}).exit == 0);
    std::ifstream in(stories / name);
    return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  };
  const std::string text = written("a.json");
  CHECK(text == written("b.json"));
  const auto document = nlohmann::json::parse(text);
  CHECK(document["document"] == "margins");
  bool has_margin = false;
  for (const auto& family : document["families"]) {
    CHECK(!family["pieces"].empty());
    CHECK(family["pieces"][0]["from_ns"] == family["parameter"]["least_ns"]);
    for (const auto& piece : family["pieces"]) {
      for (const auto& event : piece["events"]) CHECK(event[0] < family["events"].size());
    }
    for (const auto& margin : family["margins"]) {
      has_margin = has_margin || margin["kept_up_to_ns"] == document["check"][0]["infimum_ns"];
    }
  }
  CHECK(has_margin);
  REQUIRE(!document["no_return"].empty());
  CHECK(document["no_return"][0]["property"] == "mutual-exclusion");
  CHECK(document["no_return"][0]["answer"] == "end");
}

TEST_CASE("check: --graph writes the states") {
  const Stories stories;
  std::string text = pause_story("", "");
  text.erase(text.find("[[may]]"));
  const std::string small = stories.write("small.toml", text);
  CHECK(cli::called({"check", small, "--graph", stories / "g.dot"}).exit == 0);
  std::ifstream in(stories / "g.dot");
  std::string word;
  in >> word;
  CHECK(word == "digraph");
}

TEST_CASE("check: a deadlock says who waits for whom, in JSON and as a graph") {
  const Stories stories;
  const auto locks = [&](const char* file, const char* second) {
    return stories.write(file, std::string(R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
algorithm = "setnx-del"
[[client]]
name = "A"
locks = ["x", "y"]
attempts = 1
[[client]]
name = "B"
attempts = 1
locks = )") + second + "\n");
  };
  const std::string opposite = locks("opposite.toml", "[\"y\", \"x\"]");
  const std::string graph = stories / "waits.dot";
  const cli::Called result = cli::called({"check", opposite, "--wait-for", graph, "--json"});
  CHECK(result.exit == 0);
  const auto of_check = nlohmann::json::parse(result.out)["results"][0]["properties"][2];
  CHECK(of_check["property"] == "no-deadlock");
  CHECK(of_check["verdict"] == "violated");
  const auto waits =
      nlohmann::json::parse(R"([{"waiter":"A","holder":"B","lock":"y"},{"waiter":"B","holder":"A","lock":"x"}])");
  CHECK(of_check["waits"] == waits);
  const auto of_run =
      nlohmann::json::parse(cli::called({"run", opposite, "--json"}).out)["results"][0]["properties"][2];
  CHECK(of_run["waits"] == waits);
  std::ifstream in(graph);
  const std::string dot((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  CHECK(cli::contains(dot, "0 -> 1 [label=\"y\", color=red"));
  CHECK(cli::contains(dot, "1 -> 0 [label=\"x\", color=red"));
  fs::remove(graph);

  const std::string same = locks("same.toml", "[\"x\", \"y\"]");
  const cli::Called calm = cli::called({"check", same, "--wait-for", graph});
  CHECK(calm.exit == 0);
  CHECK(cli::contains(calm.err, "there is no deadlock, so " + graph + " is not written"));
  CHECK(!fs::exists(graph));
  CHECK(cli::contains(cli::called({"check", same, opposite, "--wait-for", graph}).err,
                      "--wait-for needs exactly one story"));
}

TEST_CASE("check: a grid takes the place of the explorer") {
  const Stories stories;
  const cli::Called result =
      cli::called({"check", stories / "good.toml", "--ticks", "10ms", "--max-traces", "50", "--json"});
  CHECK(result.exit == 3);
  const auto document = nlohmann::json::parse(result.out);
  CHECK(document["results"][0]["tick"] == "10ms");
  CHECK(document["results"][0]["traces"] == 50);
  CHECK(document["results"][0]["bound"] == "max-traces");
}

TEST_CASE("check: progress comes and goes on stderr, and only on a terminal") {
  std::ostringstream err;
  double now = 0;
  {
    cli::ProgressLine line(&err, [&] { return now; }, {.width = 60, .stories = 3});
    scenarios::ExplorationProgress progress{.counts = {.traces = 3000}, .seconds = 2, .estimated_traces = 12000.0};
    line.show("story", progress);
    CHECK(err.str().empty());  // too early to be worth a line
    now = 1;
    line.one_done();
    line.show("story", progress);
    CHECK(cli::contains(err.str(), "1 of 3 done · story: 3000 traces, 1500/s, about 25%"));
    now = 1.1;
    const std::string before = err.str();
    line.show("story", progress);
    CHECK(err.str() == before);
  }
  CHECK(err.str().ends_with("\r\x1b[K"));

  const Stories stories;
  const std::vector<std::string> args{"check", stories / "good.toml", "--ticks", "10ms", "--max-traces", "30000"};
  CHECK(cli::called(args).err.empty());
  const std::string shown = cli::called(args, {.is_err_tty = true}).err;
  CHECK((shown.empty() || shown.ends_with("\r\x1b[K")));
}

}  // namespace lockstep::check_test
