// The repository itself, judged by the rules of "tidy/rules.hpp": what git tracks. What else lies in the tree is its
// owner's.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tidy/rules.hpp"

namespace lockstep {
// Of sim/testing/in_tree.hpp: this folder uses no other.
std::string in_tree(std::string_view path);
std::vector<std::string> tracked_files(const std::string& root, const std::string& pathspec);
}  // namespace lockstep

namespace lockstep::tidy_test {
namespace {

namespace fs = std::filesystem;
using tidy::File;

void run_git(const fs::path& root, const std::string& arguments) {
  // A hook that runs the tests is told its own repository, by variables that are stronger than a folder.
  const std::string git = "env -u GIT_DIR -u GIT_INDEX_FILE -u GIT_WORK_TREE git -C '" + root.string() + "' ";
  if (std::system((git + arguments).c_str()) != 0) throw std::runtime_error("git " + arguments + " failed");
}

bool is_text(const fs::path& path) {
  static const std::array<std::string, 12> extensions{".cpp", ".hpp", ".lua",  ".toml", ".md",  ".cmake",
                                                      ".txt", ".in",  ".json", ".html", ".css", ""};
  return std::find(extensions.begin(), extensions.end(), path.extension().string()) != extensions.end() ||
         path.generic_string().find("/corpus/") != std::string::npos;
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// All tracked files that are still there. Of pictures only that they are.
std::vector<File> files_of(const fs::path& root) {
  std::vector<File> files;
  for (const std::string& path : tracked_files(root, "*")) {
    files.push_back({path, is_text(path) ? content_of(root / path) : ""});
  }
  if (files.empty())
    throw std::runtime_error("tidy reads what git tracks: nothing in " + root.string() +
                             "; is there git, and is this a checkout?");
  return files;
}

std::string report_on(const std::vector<File>& files) {
  std::string report;
  for (const auto& finding : tidy::all_findings(files)) report += to_string(finding) + "\n";
  return report;
}

/// A folder that is gone after the test.
struct Repository {
  fs::path path;

  Repository() {
    std::string name = (fs::temp_directory_path() / "tidy-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
    run_git(path, "init -q");
  }
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;
  ~Repository() { fs::remove_all(path); }

  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
  }
  void track_all() const { run_git(path, "add --force ."); }
};

}  // namespace

TEST_CASE("tidy: the repository keeps its own rules") {
  const std::vector<File> files = files_of(in_tree("."));
  // A search that finds nothing because it looks nowhere would always be content.
  REQUIRE(std::any_of(files.begin(), files.end(), [](const File& f) { return f.path == "tidy/tidy_test.cpp"; }));
  REQUIRE(std::any_of(files.begin(), files.end(), [](const File& f) { return f.path == "sim/time/time.hpp"; }));
  const std::string report = report_on(files);
  INFO(std::count(report.begin(), report.end(), '\n') << " findings in " << files.size() << " files\n" << report);
  REQUIRE(report.empty());
}

TEST_CASE("tidy: what git does not track neither breaks a rule nor is there for a link") {
  const Repository repository;
  repository.write("docs/README.md", "[own](own/a.md)\n");
  repository.track_all();
  repository.write("docs/own/a.md", "[b](b.md)\n");
  repository.write("main.cpp", "int main() {}\n");
  repository.write("build-foo/utils/a.hpp", "int a();\n");
  repository.write(".hidden/a.md", "[b](b.md)\n");
  for (int i = 0; i < 26; ++i) repository.write("sc/" + std::to_string(i) + ".toml", "a = 1 \n");
  CHECK(report_on(files_of(repository.path)) == "docs/README.md:1: `own/a.md` leads nowhere\n");

  repository.track_all();
  fs::remove(repository.path / "main.cpp");
  const std::string report = report_on(files_of(repository.path));
  INFO(report);
  for (const char* finding : {"docs/own/a.md:1: `b.md` leads",
                              "build-foo/utils/a.hpp: ", ".hidden/a.md:1: ", "sc/0.toml:1: ", "sc: 26 files"})
    CHECK(report.find(finding) != std::string::npos);
  for (const char* nothing : {"docs/README.md", "main.cpp"}) CHECK(report.find(nothing) == std::string::npos);
}

TEST_CASE("tidy: where git tracks nothing, it says so") {
  const Repository repository;
  repository.write("a.md", "a\n");
  CHECK_THROWS_WITH(files_of(repository.path), Catch::StartsWith("tidy reads what git tracks: "));
}

}  // namespace lockstep::tidy_test
