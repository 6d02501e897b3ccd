// `lockstep run --export`: what is written, what is refused, and that nothing is half-written.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/testing/called.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::cli::export_test {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / "lockstep-export-test") {
    fs::remove_all(path_);
    fs::create_directories(path_);
    fs::copy_file(in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml"), path_ / "story.toml");
    std::ofstream(path_ / "surprise.toml", std::ios::binary) << surprise();
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string text(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  static std::string surprise() {
    return "title = { en = \"One client\", zh = \"一个客户端\" }\n"
           "[lock]\nalgorithm = \"set-nx-px-lua\"\n[[client]]\nname = \"A\"\nacquire_at = \"0ms\"\nhold = \"1ms\"\n"
           "[expect.run]\n  mutual-exclusion = \"violated\"\n";
  }
  fs::path path_;
};

}  // namespace

TEST_CASE("run --export: every kind is written, and the report on the terminal stays the same") {
  const Folder folder;
  std::vector<std::string> args{"run", folder / "story.toml"};
  const Called plain = called(args);
  for (const std::string kind :
       {"shiviz", "chrome-trace", "itf", "edn", "dot", "graphml", "sarif", "junit", "markdown"}) {
    args.emplace_back("--export");
    args.push_back(kind + "=" + (folder / (kind + ".out")));
  }
  const Called result = called(args);
  CHECK(result.err.empty());
  CHECK(result.exit == 0);
  CHECK(result.out == plain.out);
  CHECK(folder.count() == 2 + 9 + 1);
  CHECK(folder.text("shiviz.out").starts_with("(?<host>"));
  CHECK(nlohmann::json::accept(folder.text("chrome-trace.out")));
  CHECK(nlohmann::json::accept(folder.text("itf.out")));
  CHECK(folder.text("edn.out").starts_with("{:index 0"));
  CHECK(folder.text("dot.out").starts_with("digraph"));
  CHECK(contains(folder.text("graphml.out"), "<graphml"));
  CHECK(contains(folder.text("junit.out"), "<testsuites>"));
  CHECK(contains(folder.text("markdown.out"), "(<markdown.out.svg>)"));
  CHECK(contains(folder.text("markdown.out.svg"), "<svg"));
}

TEST_CASE("run --export: sarif points at the expectation's line and column, of any number of stories") {
  const Folder folder;
  const Called result =
      called({"run", folder / "story.toml", folder / "surprise.toml", "--export=sarif=" + (folder / "out.sarif")});
  CHECK(result.exit == 1);
  const auto document = nlohmann::json::parse(folder.text("out.sarif"));
  const auto& results = document["runs"][0]["results"];
  REQUIRE(results.size() == 1);
  CHECK(results[0]["ruleId"] == "mutual-exclusion");
  CHECK(results[0]["locations"][0]["physicalLocation"]["region"] ==
        nlohmann::json({{"startLine", 9}, {"startColumn", 3}}));
}

TEST_CASE("run --export: a kind of one story refuses several, before anything is run or written") {
  const Folder folder;
  for (const std::string kind : {"shiviz", "chrome-trace", "itf", "edn", "dot", "graphml", "markdown"}) {
    const Called result = called({"run", folder / ".", "--export", kind + "=" + (folder / "out")});
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(result.err == "lockstep: --export " + kind + " takes one story, but there are 2; name one file\n");
  }
  CHECK(folder.count() == 2);
}

TEST_CASE("run --export: a call that makes no sense exits 2 and says how to go on") {
  const Folder folder;
  const std::string story = folder / "story.toml";
  const std::string before = folder.text("story.toml");
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  const std::vector<Case> cases{
      {{"--export", "shivis=x"}, "--export \"shivis\": did you mean \"shiviz\"?"},
      {{"--export", "shiviz"}, "--export \"shiviz\" needs the name of a file"},
      {{"--export", "shiviz="}, "needs the name of a file"},
      {{"--export", "=x"}, "--export \"\": expected one of shiviz"},
      {{"--export"}, "--export needs a value"},
      {{"--export", "dot=" + story}, "--export dot " + story + " would overwrite an input; name another file"},
      {{"--export", "dot=" + (folder / "x"), "--export", "graphml=" + (folder / "./x")},
       "--export dot and --export graphml name the same file"},
      {{"--export", "markdown=" + (folder / "x.md"), "--export", "dot=" + (folder / "x.svg")},
       "--export markdown's picture and --export dot name the same file"},
      {{"--junit", folder / "x", "--export", "junit=" + (folder / "x")},
       "--junit and --export junit name the same file"},
      {{"--export", "dot=" + (folder / "missing/x.dot")}, "cannot write"},
  };
  for (const Case& each : cases) {
    std::vector<std::string> args{"run", story};
    args.insert(args.end(), each.args.begin(), each.args.end());
    const Called result = called(args);
    INFO(result.err << "\nexpected: " << each.message);
    CHECK(result.exit == 2);
    CHECK(contains(result.err, each.message));
  }
  CHECK(folder.text("story.toml") == before);
  CHECK(folder.count() == 2);
}

TEST_CASE("run --export: the script of an own lock is an input, too") {
  const Folder folder;
  REQUIRE(called({"new", "--lock", folder / "mine"}).exit == 0);
  const std::string before = folder.text("mine.lua");
  const Called result = called({"run", folder / "mine.toml", "--export", "dot=" + (folder / "mine.lua")});
  CHECK(result.exit == 2);
  CHECK(contains(result.err, "would overwrite an input"));
  CHECK(folder.text("mine.lua") == before);
}

}  // namespace lockstep::cli::export_test
