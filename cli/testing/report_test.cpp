// `lockstep report`: what it writes, what it leaves alone, and that it writes the same again.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include "cli/arguments/call.hpp"
#include "cli/commands/report_folder.hpp"
#include "cli/testing/called.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::cli::report_test {
namespace {

namespace fs = std::filesystem;

constexpr int kGood = 0, kBad = 2;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / "lockstep-report-test") {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = content_of(entry.path());
  }
  return files;
}

reports::site::SiteFile file(const std::string& path, const std::string& content) { return {path, content}; }

const std::string kStory = in_tree("scenarios/stories/redisson-source/f003-2-pause-margin.toml");

}  // namespace

TEST_CASE("report: a folder that holds something else is left alone") {
  const Folder folder;
  std::ofstream(folder / "mine.txt") << "mine";
  const Called result = called({"report", (folder / "").string(), "--stories", kStory});
  CHECK(result.exit == kBad);
  CHECK(result.err.find("holds files that are no report") != std::string::npos);
  CHECK(files_in(folder / "").size() == 1);
  CHECK(called({"report", (folder / "mine.txt").string(), "--stories", kStory}).exit == kBad);
  CHECK(content_of(folder / "mine.txt") == "mine");
}

TEST_CASE("report: what an earlier report wrote goes, and nothing else") {
  const Folder folder;
  const fs::path out = folder / "out";
  ReportFolder report(out);
  REQUIRE_FALSE(report.open());
  REQUIRE_FALSE(report.write({file("index.html", "one"), file("stories/a.html", "a")}));
  std::ofstream(out / "notes.txt") << "mine";
  // Whoever changes the list cannot have files removed that lie elsewhere.
  std::ofstream(folder / "elsewhere.txt") << "mine";
  std::ofstream(out / ".lockstep-report", std::ios::app) << "../elsewhere.txt\n/etc/hostname\n";
  ReportFolder again(out);
  REQUIRE_FALSE(again.open());
  REQUIRE_FALSE(again.write({file("index.html", "two")}));
  CHECK(content_of(out / "index.html") == "two");
  CHECK_FALSE(fs::exists(out / "stories/a.html"));
  CHECK(content_of(out / "notes.txt") == "mine");
  CHECK(content_of(folder / "elsewhere.txt") == "mine");
}

TEST_CASE("report: results are those of the same name, and of no other") {
  const Folder folder;
  ResultsKept kept(folder / "results");
  CHECK_FALSE(kept.find("a"));
  kept.keep("a", "text\nof a");
  CHECK(kept.find("a") == "text\nof a");
  CHECK_FALSE(kept.find("a\ntext"));
  ResultsKept next(folder / "results");
  next.keep("b", "");
  CHECK(next.find("b") == "");
  next.forget_others();
  CHECK_FALSE(next.find("a"));
  CHECK(next.find("b") == "");
  ResultsKept none;
  none.keep("a", "x");
  CHECK_FALSE(none.find("a"));
}

TEST_CASE("report: one page that stands alone, the same each time") {
  const Folder folder;
  const std::string page = (folder / "page.html").string();
  REQUIRE(called({"report", "--single", page, "--stories", kStory}).exit == kGood);
  const std::string first = content_of(page);
  CHECK(first.find("for every pause above 71ms") != std::string::npos);
  CHECK(first.find("slider-0") != std::string::npos);
  CHECK(first.find("href=\"index.html\"") == std::string::npos);
  REQUIRE(called({"report", "--single", page, "--stories", kStory, "--jobs", "2"}).exit == kGood);
  CHECK(content_of(page) == first);
}

TEST_CASE("report: calls that make no sense") {
  const Folder folder;
  const std::string page = (folder / "page.html").string();
  const auto refused = [](const std::vector<std::string>& words, std::string_view why) {
    const Called result = called(words);
    INFO(result.err);
    CHECK(result.exit == kBad);
    CHECK(result.err.find(why) != std::string::npos);
  };
  refused({"report", "--single", page, "--stories", in_tree("scenarios/stories/redisson-source")}, "one story");
  refused({"report", "--single", kStory, "--stories", kStory}, "--single");
  refused({"report", "out", "--single", page}, "leave the folder out");
  refused({"report", "one", "two"}, "one folder");
  refused({"report", (folder / "x").string(), "--stories", "no-such-folder"}, "no-such-folder");
  CHECK_FALSE(fs::exists(page));
  CHECK_FALSE(fs::exists(folder / "x"));
}

}  // namespace lockstep::cli::report_test
