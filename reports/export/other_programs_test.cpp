// Graphviz and GitHub's Markdown, if they are installed, at what is written for them: the story's texts, hostile ones too, become no markup.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <pugixml.hpp>
#include <set>
#include <string>

#include "reports/export/export.hpp"
#include "reports/export/hostile_story_testing.hpp"
#include "reports/export/run_stories_testing.hpp"

namespace lockstep::reports::other_programs_test {
namespace {

namespace fs = std::filesystem;

std::string written(std::string_view format, const Story& story) {
  return find_export_format(format)->write({.stories = {&story, 1}, .not_run = {}, .version = "1"}, "run.md");
}

bool is_installed(const std::string& program) {
  const bool is_there = std::system(("command -v " + program + " > /dev/null").c_str()) == 0;
  if (!is_there) std::cout << "SKIPPED: " << program << " is not installed\n";
  return is_there;
}

struct Piped {
  std::string out;
  int status = -1;
};

/// What the program answers to this input.
Piped piped(const std::string& command, const std::string& input) {
  const fs::path file = fs::temp_directory_path() / ("lockstep-other-programs-" + std::to_string(::getpid()));
  std::ofstream(file, std::ios::binary) << input;
  Piped result;
  FILE* pipe = ::popen((command + " < " + file.string()).c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.out.append(buffer, n);
  result.status = ::pclose(pipe);
  fs::remove(file);
  return result;
}

void collect_elements(const pugi::xml_node& node, std::set<std::string>& names) {
  for (const pugi::xml_node child : node.children()) {
    if (child.type() == pugi::node_element) names.insert(child.name());
    collect_elements(child, names);
  }
}

const std::string kKnownStory = "scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml";

}  // namespace

TEST_CASE("other programs: Graphviz draws the graph of events") {
  if (!is_installed("dot")) return;
  for (const Story& story : {testing::run_for_exports(in_tree(kKnownStory)), testing::hostile_story()}) {
    const Piped drawn = piped("timeout 60 dot -Tsvg", written("dot", story));
    CHECK(drawn.status == 0);
    pugi::xml_document picture;
    CHECK(picture.load_string(drawn.out.c_str()));
    CHECK(picture.child("svg"));
  }
}

TEST_CASE("other programs: GitHub's Markdown finds headings, tables and one picture, and no more") {
  if (!is_installed("cmark-gfm")) return;
  const std::set<std::string> ours{"h1",    "h2", "p",  "img", "table",  "thead",
                                   "tbody", "tr", "th", "td",  "strong", "code"};
  for (const Story& story : {testing::run_for_exports(in_tree(kKnownStory)), testing::hostile_story()}) {
    const Piped html = piped("timeout 60 cmark-gfm --unsafe -e table -e strikethrough", written("markdown", story));
    CHECK(html.status == 0);
    pugi::xml_document page;
    REQUIRE(page.load_string(("<page>" + html.out + "</page>").c_str()));
    std::set<std::string> elements;
    collect_elements(page.child("page"), elements);
    for (const std::string& element : elements) {
      INFO(element);
      CHECK(ours.contains(element));
    }
    CHECK(elements.size() >= ours.size() - 1);
    CHECK(page.select_nodes("//img").size() == 1);
    CHECK(page.select_nodes("//table").size() == 2);
    CHECK(page.select_nodes("//tr[count(td|th) != count(../../thead/tr/th)]").empty());
  }
}

}  // namespace lockstep::reports::other_programs_test
