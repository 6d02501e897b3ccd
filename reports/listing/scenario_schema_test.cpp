// The schema for editors against the loader: every story that the loader takes is valid, and files with a mistake that a schema can
// know of are not. The validator is this test's own, of the keywords that the schema uses: a keyword that it does not know is a failure.

#include "reports/listing/scenario_schema.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "scenarios/format/loader_bad_inputs.hpp"
#include "scenarios/format/new_story.hpp"
#include "scenarios/format/schema/schema.hpp"
#include "scenarios/format/toml/tree.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::reports::scenario_schema_test {
namespace {

using scenarios::testing::catalogue;

using nlohmann::json;
using scenarios::schema::Node;

struct AsJson {
  json operator()(const std::string& text) const { return text; }
  json operator()(std::int64_t number) const { return number; }
  json operator()(bool flag) const { return flag; }
  json operator()(const scenarios::schema::Array& array) const {
    json all = json::array();
    for (const Node& node : array) all.push_back(std::visit(*this, node.value));
    return all;
  }
  json operator()(const scenarios::schema::Table& table) const {
    json all = json::object();
    for (const scenarios::schema::Entry& entry : table) all[entry.node.key] = std::visit(*this, entry.node.value);
    return all;
  }
  json operator()(const scenarios::schema::Unused&) const { return 0.5; }
};

json json_of(const std::string& toml) {
  scenarios::schema::screen(toml);
  return std::visit(AsJson{}, scenarios::schema::parse_tree(toml).value);
}

/// Draft 07, as far as the schema goes. A keyword that it does not know is a failure.
class Validator {
 public:
  explicit Validator(const std::string& schema) : root_(json::parse(schema)) {}

  /// What is wrong, at "/client/0/hold"; empty: nothing.
  std::string check(const json& value) const { return check(value, root_, ""); }

 private:
  std::string check(const json& value, const json& schema, const std::string& at) const {
    if (schema.is_boolean()) return schema.get<bool>() ? "" : at + ": not allowed";
    if (schema.contains("$ref")) {
      const std::string pointer = schema["$ref"].get<std::string>().substr(1);
      return check(value, root_.at(json::json_pointer(pointer)), at);
    }
    for (const auto& [keyword, said] : schema.items()) {
      REQUIRE(known_.count(keyword) == 1);
      if (std::string wrong = one(keyword, said, value, schema, at); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string one(const std::string& keyword, const json& said, const json& value, const json& schema,
                  const std::string& at) const {
    const auto fail = [&] { return at + ": " + keyword + " " + said.dump().substr(0, 200); };
    const auto holds = [&](const json& other) { return check(value, other, at).empty(); };
    if (keyword == "type") return is_of(value, said) ? "" : fail();
    if (keyword == "enum") return std::find(said.begin(), said.end(), value) != said.end() ? "" : fail();
    if (keyword == "const") return value == said ? "" : fail();
    if (keyword == "not") return holds(said) ? fail() : "";
    if (keyword == "anyOf") return std::any_of(said.begin(), said.end(), holds) ? "" : fail();
    if (keyword == "oneOf") return std::count_if(said.begin(), said.end(), holds) == 1 ? "" : fail();
    if (keyword == "allOf") {
      for (const json& each : said) {
        if (std::string wrong = check(value, each, at); !wrong.empty()) return wrong;
      }
      return "";
    }
    if (keyword == "if") {
      const char* branch = holds(said) ? "then" : "else";
      return schema.contains(branch) ? check(value, schema[branch], at) : "";
    }
    if (value.is_number()) {
      if (keyword == "minimum") return value.get<double>() >= said.get<double>() ? "" : fail();
      if (keyword == "maximum") return value.get<double>() <= said.get<double>() ? "" : fail();
    }
    if (value.is_string() && keyword == "pattern")
      return std::regex_search(value.get<std::string>(), pattern(said.get<std::string>())) ? "" : fail();
    if (value.is_array()) return of_array(keyword, said, value, at);
    if (value.is_object()) return of_object(keyword, said, value, schema, at);
    return "";
  }

  std::string of_array(const std::string& keyword, const json& said, const json& value, const std::string& at) const {
    const auto fail = [&] { return at + ": " + keyword + " " + said.dump(); };
    if (keyword == "minItems") return value.size() >= said.get<std::size_t>() ? "" : fail();
    if (keyword == "maxItems") return value.size() <= said.get<std::size_t>() ? "" : fail();
    if (keyword == "uniqueItems")
      return std::set<json>(value.begin(), value.end()).size() == value.size() ? "" : fail();
    if (keyword == "contains") {
      return std::any_of(value.begin(), value.end(), [&](const json& v) { return check(v, said, at).empty(); })
                 ? ""
                 : fail();
    }
    if (keyword != "items") return "";
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (std::string wrong = check(value[i], said, at + "/" + std::to_string(i)); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string of_object(const std::string& keyword, const json& said, const json& value, const json& schema,
                        const std::string& at) const {
    const auto fail = [&] { return at + ": " + keyword + " " + said.dump(); };
    if (keyword == "minProperties") return value.size() >= said.get<std::size_t>() ? "" : fail();
    if (keyword == "required") {
      for (const json& name : said) {
        if (!value.contains(name.get<std::string>())) return at + ": needs " + name.dump();
      }
    }
    for (const auto& [name, part] : value.items()) {
      std::string wrong;
      if (keyword == "propertyNames") wrong = check(name, said, at + "/" + name);
      if (keyword == "properties" && said.contains(name)) wrong = check(part, said[name], at + "/" + name);
      if (keyword == "additionalProperties" && !schema["properties"].contains(name)) wrong = at + ": unknown " + name;
      if (keyword == "dependencies" && said.contains(name)) wrong = check(value, said[name], at);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  static bool is_of(const json& value, const std::string& type) {
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "boolean") return value.is_boolean();
    if (type == "array") return value.is_array();
    REQUIRE(type == "object");
    return value.is_object();
  }

  const std::regex& pattern(const std::string& text) const {
    const auto known = patterns_.find(text);
    return known != patterns_.end() ? known->second : patterns_.emplace(text, std::regex(text)).first->second;
  }

  json root_;
  mutable std::map<std::string, std::regex> patterns_;
  std::set<std::string> known_{"$schema",       "title",         "description",
                               "definitions",   "type",          "enum",
                               "const",         "not",           "anyOf",
                               "oneOf",         "allOf",         "if",
                               "then",          "else",          "minimum",
                               "maximum",       "pattern",       "minItems",
                               "maxItems",      "items",         "uniqueItems",
                               "contains",      "required",      "properties",
                               "propertyNames", "minProperties", "additionalProperties",
                               "dependencies"};
};

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// What takes a look at two places of a file, or at the size of a duration, or at more of a string than its form.
bool only_the_loader_knows(std::string_view message) {
  if (message.find("a lease of 1ms or more") != message.npos) return true;
  return message.find("the smaller one first") != message.npos || message.find("at most ten years") != message.npos;
}

}  // namespace

TEST_CASE("scenario schema: it knows every type of the reference") {
  for (const scenarios::schema::TableRow& table : scenarios::schema::tables()) {
    for (const scenarios::schema::KeyRow& key : table.keys) {
      INFO(table.heading << " " << key.name << ": teach reports/listing/scenario_schema.cpp the type \"" << key.type
                         << "\"");
      CHECK(knows_type(key.type));
    }
  }
}

TEST_CASE("scenario schema: all stories of the repository are valid, and new ones") {
  const Validator validator(scenario_schema(catalogue()));
  std::size_t valid = 0;
  for (const std::filesystem::path file : repository_stories()) {
    INFO(file.string());
    if (!std::holds_alternative<scenarios::Scenario>(scenarios::load(file, catalogue()))) continue;
    CHECK(validator.check(json_of(content_of(file))) == "");
    ++valid;
  }
  CHECK(valid > 150);
  for (const models::locks::Entry& entry : catalogue().entries()) {
    INFO(entry.id);
    CHECK(validator.check(json_of(scenarios::new_story(entry, "t", "f"))) == "");
  }
}

TEST_CASE("scenario schema: what the loader refuses for its keys and types, it refuses") {
  using namespace scenarios::samples;
  const Validator validator(scenario_schema(scenarios::samples::catalogue()));
  CHECK(validator.check(json_of(std::string(kGood))) == "");
  CHECK(validator.check(json_of(std::string(kLeast))) == "");
  std::size_t refused = 0;
  for (const auto& inputs : {unknown_keys(), missing_keys(), wrong_kinds()}) {
    for (const BadInput& input : inputs) {
      const std::string wrong = validator.check(json_of(text_of(input)));
      INFO(input.message << "\nschema: " << wrong);
      CHECK(wrong.empty() == only_the_loader_knows(input.message));
      refused += !wrong.empty();
    }
  }
  CHECK(refused > 60);
}

TEST_CASE("scenario schema: parameters are those of the algorithm, for [lock] and for clients") {
  const Validator validator(scenario_schema(catalogue()));
  const auto check = [&](const std::string& lock, const std::string& own) {
    return validator.check(
        json_of("title = \"t\"\nlock = { " + lock + " }\n[[client]]\nname = \"A\"\nlock = { " + own + " }\n"));
  };
  CHECK(check("algorithm = \"set-nx-px-lua\", ttl = \"5ms\"", "ttl = \"50ms\"") == "");
  CHECK(check("algorithm = \"set-nx-px-lua\", lease = \"5ms\"", "") != "");
  CHECK(check("algorithm = \"set-nx-px-lua\", ttl = 5", "") != "");
  CHECK(check("algorithm = \"set-nx-px-lua\"", "ttl = 5") != "");
  CHECK(check("algorithm = \"set-nx-px-lua\"", "lease = \"5ms\"") != "");
  CHECK(check("algorithm = \"set-nx-px-lua\"", "attempts = 3") != "");
  CHECK(check("algorithm = \"redisson-multilock\", parts = 3", "lease = \"5ms\"") == "");
  CHECK(check("algorithm = \"redisson-multilock\"", "parts = 3") != "");
  CHECK(check("algorithm = \"redlock-par\", wait = \"all\"", "wait = \"decided\"") == "");
  CHECK(check("algorithm = \"redlock-par\", wait = \"5s\"", "") != "");
  // What a script declares no schema knows.
  CHECK(check("script = \"mine.lua\", ttl = \"5ms\", size = 3", "size = 4") == "");
  CHECK(check("script = \"mine.lua\", algorithm = \"redlock-par\"", "") != "");
  CHECK(check("script = 3", "") != "");
}

TEST_CASE("scenario schema: durations are those that the loader reads") {
  const Validator validator(scenario_schema(catalogue()));
  for (const std::string text : {"5ms", "1.5s", "0ns", "10min", "20us", "5", "ms", "-5ms", "5 ms", "1.s", ".5s",
                                 "1.2.3s", "5h", "5MS", "5ms ", "+5ms", "1e3ms", ""}) {
    const std::string toml =
        "title = \"t\"\nlock.algorithm = \"setnx-del\"\n[[client]]\nname = \"A\"\nhold = \"" + text + "\"\n";
    INFO(toml);
    const bool loads = std::holds_alternative<scenarios::Scenario>(scenarios::parse(toml, "x", catalogue()));
    CHECK(validator.check(json_of(toml)).empty() == loads);
  }
}

}  // namespace lockstep::reports::scenario_schema_test
