// docs/manual/scenario-format.md is the reference: it lists what the loader reads, all of it and in the loader's own words.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/locks/catalogue.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/schema/schema.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenario_format_test {

namespace {

using namespace lockstep;
using namespace lockstep::scenarios;

std::string reference() {
  std::ifstream in(in_tree("docs/manual/scenario-format.md"), std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// For which kinds of its table a key is: "pause, crash", or nothing if for all.
std::string kinds_of(const schema::KeyRow& key, const schema::TableRow& table) {
  std::string list;
  bool every = true;
  for (std::size_t i = 0; i < table.kinds.size(); ++i) {
    const bool is = (key.kinds & (1u << i)) != 0;
    every = every && is;
    if (is) list += (list.empty() ? "" : ", ") + std::string(table.kinds[i]);
  }
  return every ? "" : list;
}

std::string heading_of(const schema::TableRow& table) {
  const std::string heading = table.heading.empty() ? "The top of a file" : "`" + std::string(table.heading) + "`";
  return "## " + heading + "\n";
}

std::string row_of(const schema::KeyRow& key, const schema::TableRow& table) {
  std::string row = "| `" + std::string(key.name) + "` | ";
  if (!table.kinds.empty()) row += kinds_of(key, table) + " | ";
  row += std::string(key.type) + " | " + std::string(key.fallback) + " | " + std::string(key.meaning) + " |\n";
  return row;
}

}  // namespace

TEST_CASE("scenario format: the reference has a row for every key that the loader reads, and for no other") {
  const std::string text = reference();
  std::size_t rows = 0;
  for (const schema::TableRow& table : schema::tables()) {
    const std::string heading = heading_of(table);
    const std::size_t begin = text.find(heading);
    INFO("missing in docs/manual/scenario-format.md: " << heading);
    REQUIRE(begin != std::string::npos);
    const std::string section = text.substr(begin, text.find("\n## ", begin) - begin);
    for (const schema::KeyRow& key : table.keys) {
      INFO("missing there under " << heading << row_of(key, table));
      CHECK(section.find(row_of(key, table)) != std::string::npos);
      ++rows;
    }
  }
  std::size_t listed = 0;
  for (std::size_t at = text.find("\n| `"); at != std::string::npos; at = text.find("\n| `", at + 1)) ++listed;
  CHECK(listed == rows);
}

TEST_CASE("scenario format: the example of the reference is a scenario") {
  const std::string text = reference();
  const std::string fence = "```toml\n";
  const std::size_t begin = text.find(fence);
  REQUIRE(begin != std::string::npos);
  const std::string example =
      text.substr(begin + fence.size(), text.find("```\n", begin + fence.size()) - begin - fence.size());
  const auto result = parse(example, "docs/manual/scenario-format.md", models::locks::Catalogue::built_in());
  if (const auto* diagnostic = std::get_if<Diagnostic>(&result)) FAIL(diagnostic->to_string());
  const Scenario& scenario = std::get<Scenario>(result);
  CHECK(scenario.clients.size() == 3);
  CHECK(scenario.pin.size() == 6);
}

TEST_CASE("scenario format: no parameter of an algorithm is called like a key of [lock]") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  for (const models::locks::Entry& entry : catalogue.entries()) {
    for (const models::locks::ParameterSpec& parameter : entry.parameters) {
      CAPTURE(entry.id, parameter.name);
      CHECK(parameter.name != "algorithm");
      CHECK(parameter.name != "key");
    }
  }
}

}  // namespace lockstep::scenario_format_test
