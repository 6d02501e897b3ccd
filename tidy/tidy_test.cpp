// The repository itself, judged by the rules of "tidy/rules.hpp".

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tidy/rules.hpp"

namespace lockstep {
std::string in_tree(std::string_view path);  // of sim/testing/in_tree.hpp: this folder uses no other
}

namespace {

namespace fs = std::filesystem;
using lockstep::tidy::File;

bool is_text(const fs::path& path) {
  static const std::array<std::string, 12> extensions{".cpp", ".hpp", ".lua",  ".toml", ".md",  ".cmake",
                                                      ".txt", ".in",  ".json", ".html", ".css", ""};
  return std::find(extensions.begin(), extensions.end(), path.extension().string()) != extensions.end() ||
         path.generic_string().find("/corpus/") != std::string::npos;
}

/// All files of the project: not what is built, and of what is hidden only what is ours. Of pictures only that they are
/// there.
std::vector<File> files_of(const fs::path& root) {
  std::vector<File> files;
  fs::recursive_directory_iterator it(root);
  for (; it != fs::recursive_directory_iterator(); ++it) {
    const std::string name = it->path().filename().string();
    if (it->is_directory()) {
      const bool is_foreign = name.starts_with('.') && name != ".ci";
      if (is_foreign || (it.depth() == 0 && name == "build")) it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file()) continue;
    File& file = files.emplace_back();
    file.path = fs::relative(it->path(), root).generic_string();
    if (!is_text(it->path())) continue;
    std::ifstream in(it->path(), std::ios::binary);
    file.text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  // The order of a directory is the file system's.
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

}  // namespace

TEST_CASE("tidy: the repository keeps its own rules") {
  const std::vector<File> files = files_of(lockstep::in_tree("."));
  // A search that finds nothing because it looks nowhere would always be content.
  REQUIRE(std::any_of(files.begin(), files.end(), [](const File& f) { return f.path == "tidy/tidy_test.cpp"; }));
  REQUIRE(std::any_of(files.begin(), files.end(), [](const File& f) { return f.path == "sim/time/time.hpp"; }));
  std::string report;
  const lockstep::tidy::Findings findings = lockstep::tidy::all_findings(files);
  for (const auto& finding : findings) report += to_string(finding) + "\n";
  INFO(findings.size() << " findings in " << files.size() << " files\n" << report);
  REQUIRE(findings.empty());
}
