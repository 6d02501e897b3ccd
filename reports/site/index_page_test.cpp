// Pages about all stories: what they say is compared with runs, not with other pages.

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <set>
#include <string>

#include "reports/site/findings/chapters.hpp"
#include "reports/site/frame/page_testing.hpp"
#include "reports/site/index_page.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::reports::site::index_page_test {
namespace {

using scenarios::testing::catalogue;

/// Stories of the tree by name, run as they are.
struct Shelf {
  std::deque<Story> stories;
  Findings findings;

  Shelf() { findings.catalogue = &catalogue(); }
  void add(const std::string& file) {
    auto scenario = std::get<scenarios::Scenario>(scenarios::load(in_tree("scenarios/stories/" + file), catalogue()));
    add(std::move(scenario));
  }
  void add(scenarios::Scenario scenario) {
    auto outcome = std::get<scenarios::Outcome>(scenarios::run(scenario, catalogue(), {.trace = true}));
    const Story& story = stories.emplace_back(Story{std::move(scenario), std::move(outcome)});
    findings.stories.push_back(
        {"scenarios/" + story.scenario.id + ".toml", "stories/" + story.scenario.id + ".html", &story, nullptr});
  }
};

std::set<std::string> names_of_all_stories() {
  std::set<std::string> names;
  for (const std::filesystem::path path : repository_stories()) names.insert(path.stem().string());
  return names;
}

std::string href_of_row(const pugi::xml_node& table, std::string_view algorithm, std::size_t column) {
  for (const pugi::xml_node& row : table.child("tbody").children("tr")) {
    if (testing::text_of_page(row.child("th")) != algorithm) continue;
    pugi::xml_node cell = row.child("td");
    for (std::size_t i = 0; i < column; ++i) cell = cell.next_sibling("td");
    return cell.child("a").attribute("href").value();
  }
  return "no row";
}

}  // namespace

TEST_CASE("chapters: every story that they name is in the tree") {
  const std::set<std::string> names = names_of_all_stories();
  for (const Chapter& chapter : chapters()) {
    for (const std::string_view id : chapter.stories) {
      INFO(id);
      REQUIRE(names.contains(std::string(id)));
    }
  }
}

TEST_CASE("families: every algorithm of the catalogue is in exactly one") {
  std::multiset<std::string_view> in_families;
  for (const Family& family : families()) in_families.insert(family.algorithms.begin(), family.algorithms.end());
  for (const std::string_view id : catalogue().ids()) {
    INFO(id);
    REQUIRE(in_families.count(id) == 1);
  }
  REQUIRE(in_families.size() == catalogue().ids().size());
}

TEST_CASE("findings: the fault of a story is the column of the matrix that has it") {
  Shelf shelf;
  const auto fault = [&](const std::string& file) {
    shelf.add(file);
    return fault_of(shelf.stories.back().scenario, catalogue());
  };
  REQUIRE(fault("redis-lock-java/f000-1-crashed-holder.toml") == "crash");
  REQUIRE(fault("redisson-source/f003-2-pause-outlives-lease.toml") == "pause");
  REQUIRE(fault("redisson-source/f003-1-work-outlives-lease.toml") == "overrun");
  REQUIRE(fault("redisson-source/f003-3-server-clock-jumps.toml") == "server-jump");
  REQUIRE(fault("redis-lock-java/f000-5-fast-clock-steals.toml") == "client-skew");
  // A crash and a pause: the matrix has no column for both.
  REQUIRE(fault("redis-lock-java/f000-2-both-delete-expired.toml").empty());
}

TEST_CASE("index: a cell that is broken leads to a story that breaks it, others to the algorithm") {
  Shelf shelf;
  // The first of them has the same lock and the same kind of fault, and breaks nothing.
  scenarios::Scenario harmless = std::get<scenarios::Scenario>(
      scenarios::load(in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml"), catalogue()));
  harmless.id = "harmless";
  for (scenarios::FaultSpec& fault : harmless.faults)
    fault.length = sim::DurationRange::exactly(sim::Duration::milliseconds(1));
  shelf.add(std::move(harmless));
  REQUIRE(broken_properties(shelf.findings.stories.front()).empty());
  shelf.add("redisson-source/f003-2-pause-outlives-lease.toml");
  scenarios::MatrixOptions options{.algorithms = {"set-nx-px-lua"}, .faults = {"pause", "none"}};
  options.max_traces = 2'000;
  options.runs = 5;
  const auto matrix = std::get<scenarios::Matrix>(scenarios::matrix(catalogue(), options));
  shelf.findings.matrix = &matrix;
  shelf.findings.matrix_bounds = options;
  const std::string table = matrix_table(shelf.findings, "index.html", scenarios::matrix_questions().front());
  pugi::xml_document document;
  REQUIRE(document.load_string(table.c_str()));
  const pugi::xml_node rows = document.child("div").child("table");
  REQUIRE(href_of_row(rows, "set-nx-px-lua", 3) == "stories/f003-2-pause-outlives-lease.html");
  REQUIRE(href_of_row(rows, "set-nx-px-lua", 0) == "algorithms/set-nx-px-lua.html#cell-none-mutual-exclusion");
  // The margin that `docs/manual/matrix.md` derives on paper.
  REQUIRE(testing::text_of_page(rows).find("✗ broken: > 971ms") != std::string::npos);
  REQUIRE(href_of_row(rows, "set-nx-px-lua", 1).empty());
}

TEST_CASE("index: the page is sound, with hostile stories as well") {
  Shelf shelf;
  shelf.add("redis-lock-java/f000-1-crashed-holder.toml");
  shelf.add("redis-lock-java/f000-1-crashed-holder-fixed.toml");
  scenarios::Scenario hostile = shelf.stories.front().scenario;
  hostile.title = {"<script>alert(1)</script> {{{body}}} \" onclick=\"x", "</style>\xE2\x80\xAE"};
  hostile.id = "\"><img src=x>";
  hostile.reproduces = {"F000-1", "<b>"};
  shelf.add(std::move(hostile));
  shelf.findings.stories.back().source = "\"><img src=x>.toml";
  shelf.findings.stories.back().path = "stories/hostile.html";
  const std::string html = html_of(index_page(shelf.findings));
  testing::require_sound(html);
  const pugi::xml_document document = testing::read_back(html);
  REQUIRE(testing::text_of_page(document).find("<script>alert(1)</script> {{{body}}} \" onclick=\"x") !=
          std::string::npos);
}

TEST_CASE("index: a claim is broken where its stories break it, and kept where they keep it") {
  Shelf shelf;
  shelf.add("redis-lock-java/f000-1-crashed-holder.toml");
  shelf.add("lock-summary/f001-6-expires-between-get-and-del.toml");
  const auto cell = [&](std::string_view algorithm, std::string_view claim) {
    pugi::xml_document document;
    REQUIRE(
        document.load_string(("<x>" + claim_cell(shelf.findings, "index.html", algorithm, claim) + "</x>").c_str()));
    return testing::text_of_page(document);
  };
  REQUIRE(cell("set-nx-px-get-del", "own-release").starts_with("✗ broken in 1 of 1 story"));
  REQUIRE(cell("setnx-del", "own-release").starts_with("✓ kept in 1 story"));
  REQUIRE(cell("set-nx-px-lua", "own-release").starts_with("no story asks"));
}

}  // namespace lockstep::reports::site::index_page_test
