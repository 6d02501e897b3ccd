// Which line of an algorithm a step of a run comes from: of every story, and as its page shows it.

#include "reports/site/story/code_part.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <variant>

#include <catch2/catch.hpp>

#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::reports::site::code_part_test {
namespace {

using scenarios::testing::catalogue;

Story told(const std::string& file) {
  auto loaded = scenarios::load(file, catalogue());
  if (const auto* problem = std::get_if<scenarios::Diagnostic>(&loaded)) FAIL(problem->to_string());
  auto scenario = std::get<scenarios::Scenario>(std::move(loaded));
  auto outcome = scenarios::run(scenario, catalogue(), {.trace = true, .key_states = true, .max_events = 200'000});
  if (const auto* problem = std::get_if<scenarios::Diagnostic>(&outcome)) FAIL(problem->to_string());
  return {std::move(scenario), std::get<scenarios::Outcome>(std::move(outcome))};
}

std::string text_of(const CodeOfRun& code, const CodeLine& line) {
  std::string_view text = code.files[line.file].text;
  for (std::uint32_t i = 1; i < line.line; ++i) text.remove_prefix(text.find('\n') + 1);
  return std::string(text.substr(0, text.find('\n')));
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE(
    "each step of SET NX PX stands at the line that sent it, and so do its answer and what strikes while it waits") {
  const Story story = told(in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml"));
  const picture::Diagram diagram = picture::diagram_of(story);
  const CodeOfRun code = code_of(story, diagram);
  REQUIRE(code.files.size() == 1);
  CHECK(code.files[0].name == "models/locks/redis/set_nx_px_lua.cpp");
  const auto line_at = [&](std::size_t step) {
    const auto& lines = code.lines[step - 1];
    return lines.size() == 1 ? text_of(code, lines[0]) : "";
  };
  CHECK(contains(line_at(1), "co_await redis::server_of(client).set(key(), token"));
  CHECK(contains(line_at(2),
                 "co_await redis::server_of(client).set(key(), token"));  // "has the lock": its answer
  CHECK(line_at(3).empty());                                              // paused when it has the answer
  CHECK(contains(line_at(8), "co_await redis::server_of(client).eval(scripts::delete_if_mine_lua"));
}

TEST_CASE(
    "where functions call each other each is marked, from the algorithm's own down to the library's network layer") {
  const Story story = told(in_tree("scenarios/stories/redisson-source/f003-2-watchdog-pause.toml"));
  const picture::Diagram diagram = picture::diagram_of(story);
  const CodeOfRun code = code_of(story, diagram);
  const auto first = std::find_if(diagram.rows.begin(), diagram.rows.end(),
                                  [](const picture::DiagramRow& row) { return row.event.text.starts_with("EVAL"); });
  REQUIRE(first != diagram.rows.end());
  std::string files;
  for (const CodeLine& line : code.lines[static_cast<std::size_t>(first - diagram.rows.begin())]) {
    files += code.files[line.file].name + " ";
    CHECK(contains(text_of(code, line), "co_await"));
  }
  CHECK(files ==
        "models/locks/redis/redisson_lock.cpp models/locks/redis/rlock.cpp models/locks/redis/rlock.cpp "
        "models/locks/redis/rlock.cpp ");
}

TEST_CASE("of every story: a command of a client's lock has a line, and something waits there") {
  std::size_t commands = 0, scripted = 0;
  for (const std::filesystem::path file : repository_stories()) {
    INFO(file.string());
    const Story story = told(file.string());
    const picture::Diagram diagram = picture::diagram_of(story);
    const CodeOfRun code = code_of(story, diagram);
    const bool is_script = story.scenario.lock.own.entry != nullptr;
    for (std::size_t row = 0; row < diagram.rows.size(); ++row) {
      const Event& event = diagram.rows[row].event;
      const auto role = [&](sim::ProcessId process) { return story.outcome.lanes[process.index].role; };
      const bool is_command = event.arrow && role(event.arrow->from) == scenarios::Lane::Role::client &&
                              role(event.arrow->to) == scenarios::Lane::Role::server && event.command_size > 0;
      // Who sends commands of the file's own has no lock; and what a library asks to find the primary, or a machine says for a dead client, is no algorithm's.
      const bool has_lock = std::none_of(
          story.scenario.clients.begin(), story.scenario.clients.end(),
          [&](const auto& c) { return name_of(story.outcome, event.who) == c.name && !c.commands.empty(); });
      const bool is_search = event.text.starts_with("ROLE") || event.text.starts_with("connection closed");
      // What ZooKeeper's client library does to keep a session.
      const bool keeps_session = event.text.starts_with("PING") || event.text.starts_with("CONNECT session") ||
                                 event.text.starts_with("SET_WATCHES") || event.text.starts_with("CLOSE_SESSION");
      INFO("step " << row + 1 << ": " << event.text);
      if (is_command && has_lock && !is_search && !keeps_session && !story.scenario.market)
        CHECK_FALSE(code.lines[row].empty());
      if (!code.lines[row].empty()) ++(is_script ? scripted : commands);
      for (const CodeLine& line : code.lines[row]) {
        const std::string text = text_of(code, line);
        CHECK(contains(text, is_script ? "" : "co_await"));
        CHECK(!text.empty());
      }
    }
  }
  CHECK(commands > 1'000);
  CHECK(scripted > 80);
}

TEST_CASE("of a script beside its story: the line that calls") {
  const Story story = told(in_tree("scenarios/stories/own-lock/node-redis-lock.toml"));
  const picture::Diagram diagram = picture::diagram_of(story);
  const CodeOfRun code = code_of(story, diagram);
  REQUIRE(code.files.size() == 1);
  CHECK(code.files[0].name == "node-redis-lock.lua");
  for (std::size_t row = 0; row < diagram.rows.size(); ++row) {
    const Event& event = diagram.rows[row].event;
    if (event.command_size == 0 || !event.arrow || event.arrow->fate == Arrow::Fate::lost) continue;
    INFO(event.text);
    if (code.lines[row].empty()) continue;
    CHECK(contains(text_of(code, code.lines[row].back()), "redis:"));
  }
}

TEST_CASE("the page marks the lines, and links to them and back") {
  const Story story = told(in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml"));
  const picture::Diagram diagram = picture::diagram_of(story);
  const CodeOfRun code = code_of(story, diagram);
  const std::string rest = "../algorithms/set-nx-px-lua.html";
  const std::string html = code_part(code, &rest);
  CHECK(contains(
      html,
      "class=\"at\">    const Reply created = co_await redis::server_of(client).set(key(), token, {.nx = true, "
      ".px = ttl_});<span class=\"by\"> <a href=\"#s1\">1</a> <a href=\"#s2\">2</a>"));
  CHECK(contains(html, "<a href=\"../algorithms/set-nx-px-lua.html#source\">"));
  // Includes are left out, and numbered: the header's four lines, then what is hidden, then the class.
  CHECK(contains(html, "<span>// SET NX PX with a random value"));
  CHECK_FALSE(contains(html, "#include"));
  const std::string hidden = "<i></i>";
  const std::size_t gap = html.find(hidden);
  REQUIRE(gap != std::string::npos);
  std::size_t count = 0;
  while (html.compare(gap + count * hidden.size(), hidden.size(), hidden) == 0) ++count;
  const std::string class_line = "class SetNxPxLua";
  const std::string_view text = code.files[0].text;
  const auto above = text.substr(0, text.find(class_line));
  CHECK(4 + count == static_cast<std::size_t>(std::count(above.begin(), above.end(), '\n')));
  CHECK(html.find(class_line) < gap + count * hidden.size() + 20);
  const std::string link = links_to_code(code, 0);
  const std::string anchor = link.substr(link.find('#') + 1, link.find('"', link.find('#')) - link.find('#') - 1);
  CHECK(contains(html, "<span id=\"" + anchor + "\" class=\"at\">"));
  CHECK(code_part({}, nullptr).empty());
}

}  // namespace lockstep::reports::site::code_part_test
