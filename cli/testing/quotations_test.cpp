// What documents show of the program is what the program says. A fence marked `console` is a session at a shell:
//
//   ```console
//   $ ./lockstep list properties
//   mutual-exclusion  …
//   …
//   $ cat > a.txt << 'END'
//   > text
//   > END
//   ```
//
// Each page is played in a folder of its own that has the program and the stories, from its first command to its last.
// A line that is only `…` stands for any number of lines, `…` within a line for any text. `in 0.02 s` is any time. A
// file that a page shows below `<!-- file NAME -->` is written there. `console not-run: WHY` is not played, and counted.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/testing/in_tree.hpp"

namespace lockstep::cli::quotations_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAnything = "…";
constexpr std::string_view kSession = "```console";
constexpr std::string_view kNotRun = "```console not-run: ";
constexpr std::string_view kFile = "<!-- file ";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    while (line.ends_with(' ')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

/// A command and what is shown of its output, or (without a command) a file and what it holds.
struct Step {
  std::size_t line = 0;  ///< from 1
  std::string command;
  std::string file;
  std::vector<std::string> shown;
};

struct Page {
  std::vector<Step> steps;
  std::vector<std::string> not_run;   ///< reasons
  std::vector<std::size_t> unmarked;  ///< lines of commands that stand in no fence of a session
};

Page page_of(const std::string& document) {
  static const std::regex kCommand(R"(^ *\$ (\./|\./build/release/)?lockstep( |$).*)");
  enum class Inside { prose, session, file, other };
  Page page;
  Inside inside = Inside::prose;
  std::string file;
  const std::vector<std::string> lines = lines_of(document);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    // As long as nothing is shown of its output a command may go on, behind the shell's second prompt.
    const bool is_command = !page.steps.empty() && page.steps.back().file.empty() && page.steps.back().shown.empty();
    if (line.starts_with("```") && inside != Inside::prose) {
      inside = Inside::prose;
    } else if (line == kSession) {
      inside = Inside::session;
    } else if (line.starts_with(kNotRun)) {
      inside = Inside::other;
      page.not_run.push_back(line.substr(kNotRun.size()));
    } else if (line.starts_with("```")) {
      inside = file.empty() ? Inside::other : Inside::file;
      if (!file.empty()) page.steps.push_back({i + 1, "", file, {}});
      file.clear();
    } else if (inside == Inside::session && line.starts_with("$ ")) {
      page.steps.push_back({i + 1, line.substr(2), "", {}});
    } else if (inside == Inside::session && line.starts_with(">") && is_command) {
      page.steps.back().command += "\n" + line.substr(std::min<std::size_t>(line.size(), 2));
    } else if (inside == Inside::session || inside == Inside::file) {
      INFO("a session begins with a command: " << line);
      REQUIRE_FALSE(page.steps.empty());
      page.steps.back().shown.push_back(line);
    } else if (inside == Inside::prose && line.starts_with(kFile)) {
      file = line.substr(kFile.size(), line.find(' ', kFile.size()) - kFile.size());
    } else if (inside == Inside::prose && std::regex_match(line, kCommand)) {
      page.unmarked.push_back(i + 1);
    }
  }
  return page;
}

std::string without_times(const std::string& line) {
  static const std::regex kTime(R"(in [0-9]+(\.[0-9]+)? s\b)");
  return std::regex_replace(line, kTime, "in N s");
}

/// Whether `line` is what is shown of it: each `…` within is any text.
bool agrees(const std::string& line, const std::string& shown) {
  std::size_t at = 0, from = 0;
  for (std::size_t to = shown.find(kAnything);; to = shown.find(kAnything, from)) {
    const std::string part = shown.substr(from, to == std::string::npos ? to : to - from);
    if (to == std::string::npos) {
      return from == 0 ? line == part : line.size() >= at + part.size() && line.ends_with(part);
    }
    const std::size_t found = line.find(part, at);
    if (found == std::string::npos || (from == 0 && found != 0)) return false;
    at = found + part.size();
    from = to + kAnything.size();
  }
}

/// What of `shown` does not stand where it should, or what is said and not shown. Empty: it is quoted faithfully.
std::string difference(const std::vector<std::string>& said, const std::vector<std::string>& shown) {
  std::size_t at = 0;
  for (std::size_t begin = 0;;) {
    const auto end = static_cast<std::size_t>(
        std::find(shown.begin() + static_cast<std::ptrdiff_t>(begin), shown.end(), kAnything) - shown.begin());
    const std::size_t size = end - begin;
    const bool is_first = begin == 0, is_last = end == shown.size();
    std::size_t best = 0;
    const auto is_there = [&](std::size_t where) {
      std::size_t i = 0;
      while (i < size && where + i < said.size() &&
             agrees(without_times(said[where + i]), without_times(shown[begin + i]))) {
        ++i;
      }
      best = std::max(best, i);
      return i == size;
    };
    std::size_t where = at;
    if (is_last && !is_first && said.size() > size) where = std::max(at, said.size() - size);
    while (!is_there(where)) {
      if (is_first || is_last || ++where > said.size()) return "shown, but not said there: " + shown[begin + best];
    }
    at = where + size;
    if (is_last) return at == said.size() ? "" : "said, but not shown: " + said[at];
    begin = end + 1;
  }
}

/// What a shell says, both its streams together.
std::string said_by(const std::string& command, const fs::path& folder) {
  std::ofstream(folder / ".command") << "cd '" << folder.string() << "' || exit 1\nexport PATH=\"$PWD:$PATH\"\n"
                                     << command << "\n";
  std::FILE* pipe = ::popen(("sh '" + (folder / ".command").string() + "' 2>&1 < /dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), n);
  ::pclose(pipe);
  return text;
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("lockstep-quotations-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_ / "scenarios");
    fs::copy(in_tree("scenarios/stories"), path_ / "scenarios/stories", fs::copy_options::recursive);
    fs::copy(in_tree("scenarios/confirmed.json"), path_ / "scenarios/confirmed.json");
    fs::create_symlink(built_program(), path_ / "lockstep");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<fs::path> documents() {
  std::vector<fs::path> paths;
  for (const std::string& page : tracked_files(in_tree(""), "*.md")) {
    const bool is_ours = page == "README.md" || page == "CONTRIBUTING.md" || page.starts_with("docs/");
    if (is_ours) paths.emplace_back(in_tree(page));
  }
  return paths;
}

void play(const Page& page) {
  const Folder folder;
  for (const Step& step : page.steps) {
    if (!step.file.empty()) {
      std::ofstream out(folder.path() / step.file, std::ios::binary);
      for (const std::string& line : step.shown) out << line << "\n";
      continue;
    }
    std::vector<std::string> shown = step.shown;
    while (!shown.empty() && shown.back().empty()) shown.pop_back();
    std::vector<std::string> said = lines_of(said_by(step.command, folder.path()));
    while (!said.empty() && said.back().empty()) said.pop_back();
    std::string text;
    for (const std::string& line : said) text += line + "\n";
    INFO("line " << step.line << ": $ " << step.command << "\n" << text);
    CHECK(difference(said, shown) == "");
  }
}

}  // namespace

TEST_CASE("quotations: documents show what the program says") {
  std::size_t played = 0, not_run = 0;
  const std::vector<fs::path> pages = documents();
  if (pages.empty()) {
    std::cout << "SKIPPED: no checkout of git, which says what the documents are\n";
    return;
  }
  for (const fs::path& path : pages) {
    const Page page = page_of(text_of(path));
    INFO(path.string());
    CAPTURE(page.unmarked);
    CHECK(page.unmarked.empty());  // a command with `$` stands in a fence: ```console, or ```console not-run: WHY
    for (const std::string& why : page.not_run) {
      std::cout << "not run, " << fs::relative(path, in_tree(".")).string() << ": " << why << "\n";
    }
    not_run += page.not_run.size();
    for (const Step& step : page.steps) played += step.file.empty() ? 1 : 0;
    play(page);
  }
  std::cout << played << " commands of documents were played, " << not_run << " sessions are marked as not run\n";
  CHECK(played >= 10);
}

TEST_CASE("quotations: what differs is found") {
  using Lines = std::vector<std::string>;
  const Lines said{"a", "b 1", "c", "in 0.5 s", "e"};
  const auto is_quoted = [&](const Lines& shown) { return difference(said, shown).empty(); };
  CHECK(is_quoted({"a", "b 1", "c", "in 7 s", "e"}));
  CHECK(is_quoted({"…"}));
  CHECK(is_quoted({"a", "…", "e"}));
  CHECK(is_quoted({"…", "b …", "c", "…"}));
  CHECK(is_quoted({"a", "…", "c", "…"}));
  CHECK(is_quoted({"…", "c", "…", "e"}));
  CHECK(is_quoted({"a", "…1", "…", "i… s", "e"}));
  CHECK_FALSE(is_quoted({"a", "b 1", "c"}));
  CHECK_FALSE(is_quoted({"b 1", "…"}));
  CHECK_FALSE(is_quoted({"…", "c"}));
  CHECK_FALSE(is_quoted({"…", "c", "b 1", "…"}));
  CHECK_FALSE(is_quoted({"a", "…", "b 2", "…"}));
  CHECK_FALSE(is_quoted({"a", "b 1", "c", "in 7 s", "e", "f"}));
  CHECK_FALSE(is_quoted({}));
  CHECK(difference({}, {}) == "");
  CHECK(difference({"a"}, {}) == "said, but not shown: a");
}

TEST_CASE("quotations: sessions are read from a page") {
  const Page page = page_of(
      "# A\n<!-- file mine.toml -->\n```toml\nx = 1\n\ny = 2\n```\n```console\n$ a b\nsays\n$ c\n> d\n>\n> e\n```\n"
      "```console not-run: a server\n$ lockstep serve\n```\n    $ ./lockstep run\n");
  REQUIRE(page.steps.size() == 3);
  CHECK(page.steps[0].file == "mine.toml");
  CHECK(page.steps[0].shown == std::vector<std::string>{"x = 1", "", "y = 2"});
  CHECK(page.steps[1].command == "a b");
  CHECK(page.steps[1].shown == std::vector<std::string>{"says"});
  CHECK(page.steps[2].command == "c\nd\n\ne");
  CHECK(page.not_run == std::vector<std::string>{"a server"});
  CHECK(page.unmarked == std::vector<std::size_t>{19});
}

}  // namespace lockstep::cli::quotations_test
