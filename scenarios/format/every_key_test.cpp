// Every key of every table is written, where it belongs and as it is laid out, and read back as what it was.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "scenarios/format/every_key_files.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/schema/schema.hpp"
#include "scenarios/format/toml/tree.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::every_key_test {
namespace {

using schema::Array;
using schema::Node;
using schema::Table;
using schema::TableRow;
using testing::catalogue;

/// What is never written, and why.
using Place = std::pair<std::string, std::string>;
const std::set<Place> kNeverWritten = {
    {"[[server]]", "kind"},       // the algorithm says it
    {"[servers]", "replicas"},    // short for [[server]] with replica_of
    {"[servers]", "failover"},    // short for [sentinels] with played, and via
    {"an expectation", "holds"},  // "holds" is shorter
};

Scenario parsed(const std::string& text) {
  auto result = parse(text, "x.toml", catalogue(), nullptr, Programs::taken);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string() << "\n" << text);
  return std::get<Scenario>(std::move(result));
}

/// A story whose lock is a script on the disk.
Scenario own_lock() {
  auto result = load(in_tree("scenarios/stories/own-lock/node-redis-lock.toml"), catalogue());
  return std::get<Scenario>(std::move(result));
}

/// A key, in a table of some kind; no kind where it does not matter.
using Where = std::tuple<std::string, std::string, std::string>;

class Walk {
 public:
  explicit Walk(const Scenario& scenario) : server_kind_(scenario.servers.front().kind->name()) {}

  std::set<Where> operator()(const std::string& text) {
    visit(schema::parse_tree(text), "");
    return std::move(seen_);
  }

 private:
  static const TableRow* find_row(std::string_view heading) {
    static const std::vector<TableRow> tables = schema::tables();
    const auto found =
        std::find_if(tables.begin(), tables.end(), [&](const TableRow& t) { return t.heading == heading; });
    return found == tables.end() ? nullptr : &*found;
  }

  /// The table that a key of this one holds.
  static std::string heading_of(const std::string& above, const std::string& key) {
    if (above == "[expect]") return key;
    if (above == "run" || above == "check") return "an expectation";
    if (above.empty() && (key == "story" || key == "lesson")) return "text";  // a title is written in its own way
    for (const std::string& heading : {"[" + key + "]", "[[" + key + "]]"}) {
      if (above.empty() && find_row(heading) != nullptr) return heading;
    }
    return key;
  }

  std::string kind_of(const Node& node, const std::string& heading) const {
    if (heading == "[[client]]") {
      if (schema::find(node, "commands") != nullptr) return "with commands";
      return schema::find(node, "command") != nullptr ? "programs" : "users";
    }
    if (heading == "an expectation") return mode_;
    if (heading == "[servers]" || heading == "[[server]]") return server_kind_;
    const Node* kind = heading == "[[fault]]" || heading == "[[may]]" ? schema::find(node, "kind") : nullptr;
    return kind == nullptr ? "" : std::get<std::string>(kind->value);
  }

  void visit(const Node& node, const std::string& heading) {
    if (const auto* array = std::get_if<Array>(&node.value)) {
      for (const Node& element : *array) visit(element, heading);
    }
    const auto* table = std::get_if<Table>(&node.value);
    if (table == nullptr) return;
    if (heading == "run" || heading == "check") mode_ = heading;
    for (const schema::Entry& entry : *table) {
      seen_.emplace(heading, entry.node.key, kind_of(node, heading));
      visit(entry.node, heading_of(heading, entry.node.key));
    }
  }

  std::string server_kind_;
  std::string mode_;
  std::set<Where> seen_;
};

}  // namespace

TEST_CASE("every key of every table is written, in every kind of table that has it") {
  std::set<Where> written;
  for (const std::string_view text : kFiles) {
    const Scenario scenario = parsed(std::string(text));
    written.merge(Walk(scenario)(to_toml(scenario)));
  }
  const Scenario own = own_lock();
  written.merge(Walk(own)(to_toml(own)));
  std::set<Place> missing;
  for (const TableRow& table : schema::tables()) {
    for (const schema::KeyRow& row : table.keys) {
      const Place place{std::string(table.heading), std::string(row.name)};
      for (std::size_t i = 0; i < std::max(table.kinds.size(), std::size_t{1}); ++i) {
        const bool is_of_all = row.kinds == schema::kEveryKind || table.kinds.empty();
        if (!is_of_all && (row.kinds >> i & 1) == 0) continue;
        const auto is_there = [&](const Where& where) {
          return std::get<0>(where) == place.first && std::get<1>(where) == place.second &&
                 (is_of_all || std::get<2>(where) == table.kinds[i]);
        };
        if (std::any_of(written.begin(), written.end(), is_there)) continue;
        missing.insert(place);
        if (kNeverWritten.count(place) == 0)
          FAIL_CHECK(place.second << " of " << place.first << (is_of_all ? "" : ", ")
                                  << (is_of_all ? std::string_view() : table.kinds[i]) << " is not written");
      }
    }
  }
  CHECK(missing == kNeverWritten);
}

TEST_CASE("a file is written as it is laid out by hand, and read back as the same story") {
  for (const std::string_view text : kFiles) {
    const Scenario scenario = parsed(std::string(text));
    CHECK(to_toml(scenario) == text);
    CHECK(without_positions(parsed(to_toml(scenario))) == without_positions(scenario));
  }
}

TEST_CASE("what says the same as another key is read, and written as that") {
  const std::string head = "title  = \"t\"\n\n[lock]\nalgorithm = \"set-nx-px-lua\"\n";
  const std::string tail = "\n[[client]]\nname = \"A\"\n";
  CHECK(to_toml(parsed(head + "[[server]]\nkind = \"redis\"\n" + tail)) == head + tail);
  CHECK(to_toml(parsed(head + tail + "[expect.run]\nown-release = { holds = true }\n")) ==
        head + tail + "\n[expect.run]\nown-release = \"holds\"\n");
}

TEST_CASE("a key with a value of another type is refused, or read; nothing is thrown") {
  std::size_t refused = 0;
  for (const std::string_view file : kFiles) {
    const std::string text(file);
    for (std::size_t at = text.find(" = "); at != std::string::npos; at = text.find(" = ", at + 1)) {
      const std::size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
      if (text[begin] == ' ' || text[end - 1] == '[' || text.find(" = ", begin) != at) continue;
      for (const std::string_view other : {"5", "true", "[]", "[7]", "{}"}) {
        const auto result = parse(std::string(text).replace(at + 3, end - at - 3, other), "x.toml", catalogue());
        refused += std::holds_alternative<Diagnostic>(result) ? 1 : 0;
      }
    }
  }
  CHECK(refused > 500);
}

}  // namespace lockstep::scenarios::every_key_test
