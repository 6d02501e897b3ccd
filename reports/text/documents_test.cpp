// The documents that other programs read: JSON, JUnit XML, and the files that they are written to.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "reports/run/forged_story.hpp"
#include "reports/run/json.hpp"
#include "reports/run/junit.hpp"
#include "reports/text/output_file.hpp"

namespace lockstep::documents_test {

using namespace lockstep;
using namespace lockstep::reports;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / "lockstep-documents-test") {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("json: a run has the keys that others rely on") {
  const std::vector<Story> stories{ForgedStory().story(), ForgedStory::unexpected()};
  const std::string text = run_json(stories);
  const json document = json::parse(text);
  CHECK(document["lockstep"] == 1);
  CHECK(document["command"] == "run");
  CHECK(document["summary"] == json({{"stories", 2}, {"as_expected", 1}}));
  const json& result = document["results"][0];
  CHECK(result["file"] == "stories/pause.toml");
  CHECK(result["id"] == "pause");
  CHECK(result["reproduces"] == json({"F003-2"}));
  CHECK(result["algorithm"] == "set-nx-px-lua");
  CHECK(result["as_expected"] == true);
  CHECK(result["digest"] == "0000000000000abc");
  const json& broken = result["properties"][0];
  CHECK(broken["name"] == "mutual-exclusion");
  CHECK(broken["view"] == "belief");
  CHECK(broken["expected"] == "violated");
  CHECK(broken["verdict"] == "violated");
  CHECK(broken["by"] == json({"A", "B"}));
  CHECK(broken["at"] == "122ms");
  CHECK(broken["why"].get<std::string>().starts_with("B got the lock"));
  CHECK(broken["evidence"] == json({2, 4}));
  const json& kept = result["properties"][1];
  CHECK(kept["expected"].is_null());
  CHECK(kept["at"].is_null());
  CHECK(kept["by"] == json::array());
  CHECK(kept["verdict"] == "holds");
  CHECK(document["results"][1]["properties"][0]["as_expected"] == false);
  CHECK(run_json(stories) == text);
}

TEST_CASE("json: bytes that are no UTF-8 still give a valid document") {
  ForgedStory forged;
  forged.story().outcome.properties[0].finding.why = "value \xff\xfe";
  forged.story().scenario.file = "stories/\x80.toml";
  CHECK(json::accept(run_json(std::vector<Story>{forged.story()})));
}

TEST_CASE("json: lists say what scenario files can name") {
  const json scenarios = json::parse(scenarios_json(std::vector<scenarios::Scenario>{ForgedStory().story().scenario}));
  CHECK(scenarios["command"] == "list");
  CHECK(scenarios["scenarios"][0]["reproduces"] == json({"F003-2"}));
  CHECK(scenarios["scenarios"][0]["title"]["zh"] == "停顿超过了租约");
  CHECK(scenarios["scenarios"][0]["cost"] == "fast");
  CHECK(json::parse(properties_json())["properties"][0]["name"] == "mutual-exclusion");
  CHECK(json::parse(faults_json())["faults"][0]["name"] == "pause");

  models::locks::Catalogue catalogue;
  models::locks::Entry entry;
  entry.id = "demo";
  entry.documents = {"a-text"};
  entry.parameters = {
      {"ttl", sim::Duration::milliseconds(100), "time to live"},
      {"retry", sim::DurationRange{sim::Duration::milliseconds(1), sim::Duration::milliseconds(5)}, "wait"}};
  catalogue.add(entry);
  const json algorithms = json::parse(algorithms_json(catalogue.entries()))["algorithms"];
  CHECK(algorithms[0]["id"] == "demo");
  CHECK(algorithms[0]["documents"] == json({"a-text"}));
  CHECK(algorithms[0]["parameters"][0]["default"] == "100ms");
  CHECK(algorithms[0]["parameters"][1]["default"] == json({"1ms", "5ms"}));
  CHECK(algorithms[0]["repaired_by"].is_null());
}

TEST_CASE("junit: a test case for each story, and a failure for each that is not as expected") {
  const std::vector<Story> stories{ForgedStory().story(), ForgedStory::unexpected()};
  pugi::xml_document document;
  REQUIRE(document.load_string(junit_xml("lockstep run", junit_cases(stories)).c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  CHECK(suite.attribute("tests").as_int() == 2);
  CHECK(suite.attribute("failures").as_int() == 1);
  const pugi::xml_node good = suite.first_child();
  CHECK(std::string(good.attribute("name").value()) == "pause: A pause outlives the lease");
  CHECK(!good.child("failure"));
  const pugi::xml_node failure = good.next_sibling().child("failure");
  CHECK(std::string(failure.attribute("message").value()) ==
        "mutual-exclusion: expected: holds; observed: violated by A, B at 122ms");
  CHECK(std::string(failure.text().get()).find("B got the lock at 122ms") != std::string::npos);
}

TEST_CASE("junit: a title may contain anything") {
  Story story = ForgedStory::unexpected();
  story.scenario.title.en = "<lock> & \"quotes\" ]]> \x01\x1b\xff 锁";
  story.outcome.properties[0].finding.why = "]]> </failure> \x02";
  const std::string xml = junit_xml("lockstep run", junit_cases(std::vector<Story>{story}));
  for (const char c : xml) CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
  CHECK(xml.find("&#") == std::string::npos);
  pugi::xml_document document;
  REQUIRE(document.load_string(xml.c_str()));
  const pugi::xml_node testcase = document.child("testsuites").child("testsuite").first_child();
  CHECK(std::string(testcase.attribute("name").value()) == "pause: <lock> & \"quotes\" ]]> \uFFFD\uFFFD\uFFFD 锁");
}

TEST_CASE("output file: written whole, over what was there, and through a symbolic link") {
  const Folder folder;
  REQUIRE(!write_whole(folder / "a.xml", "old"));
  REQUIRE(!write_whole(folder / "a.xml", "new"));
  CHECK(content_of(folder / "a.xml") == "new");
  fs::create_symlink("a.xml", folder / "link.xml");
  REQUIRE(!write_whole(folder / "link.xml", "linked"));
  CHECK(fs::is_symlink(folder / "link.xml"));
  CHECK(content_of(folder / "a.xml") == "linked");
  CHECK(folder.count() == 2);
}

TEST_CASE("output file: what cannot be written leaves nothing behind and says why") {
  const Folder folder;
  CHECK(write_whole(folder / "missing/a.xml", "x") == "No such file or directory");
  fs::create_directory(folder / "dir");
  CHECK(write_whole(folder / "dir", "x") == "it is a directory");
  CHECK(folder.count() == 1);
}

TEST_CASE("output file: a device is written to, never replaced") {
  CHECK(!write_whole("/dev/null", "x"));
  CHECK(fs::is_character_file("/dev/null"));
}

}  // namespace lockstep::documents_test
