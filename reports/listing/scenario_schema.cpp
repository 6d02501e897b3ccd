#include "reports/listing/scenario_schema.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "models/locks/lock.hpp"
#include "reports/json/json.hpp"
#include "scenarios/format/schema/schema.hpp"
#include "scenarios/story/failures.hpp"

namespace lockstep::reports {
namespace {

using models::locks::Entry;
using models::locks::ParameterSpec;
using scenarios::schema::KeyRow;
using scenarios::schema::Kinds;
using scenarios::schema::kRequired;
using scenarios::schema::TableRow;

constexpr std::string_view kDuration = "^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|min)$";
constexpr std::string_view kSignedDuration = "^-?[0-9]+(\\.[0-9]+)?(ns|us|ms|s|min)$";
/// Of a process, of a thread of one, or of its background tasks.
constexpr std::string_view kName = "^[A-Za-z][A-Za-z0-9_-]{0,30}(/[A-Za-z0-9]+)?$";
constexpr std::string_view kStep = "^[A-Za-z][A-Za-z0-9_ .-]*(#[1-9][0-9]*)?$";

Json text(std::string_view pattern) { return {{"type", "string"}, {"pattern", pattern}}; }
Json some_text() { return text("\\S"); }
Json array_of(Json items, std::size_t least = 1) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", least}};
}
Json either(Json one, Json other) { return {{"anyOf", Json::array({std::move(one), std::move(other)})}}; }
Json range(std::string_view pattern) {
  Json two = array_of(text(pattern), 2);
  two["maxItems"] = 2;
  return either(text(pattern), std::move(two));
}
Json reference(std::string_view definition) { return {{"$ref", fmt::format("#/definitions/{}", definition)}}; }
/// A table of no other keys than those.
Json table_of(Json properties) {
  return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

std::vector<std::string> quoted_in(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find('"'); at != text.npos; at = text.find('"', at + 1)) {
    const std::size_t end = text.find('"', at + 1);
    words.emplace_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return words;
}

Json choice(std::string_view type) { return {{"enum", quoted_in(type)}}; }

/// "whole number, 1 to 64", "whole number, 1 or more".
Json whole_number(std::string_view type) {
  Json schema{{"type", "integer"}};
  std::vector<std::int64_t> bounds;
  for (std::size_t at = type.find_first_of("-0123456789"); at != type.npos;
       at = type.find_first_of("-0123456789", at)) {
    std::int64_t bound = 0;
    const auto [end, error] = std::from_chars(type.data() + at, type.data() + type.size(), bound);
    assert(error == std::errc());
    bounds.push_back(bound);
    at = static_cast<std::size_t>(end - type.data());
  }
  if (!bounds.empty()) schema["minimum"] = bounds.front();
  if (bounds.size() > 1) schema["maximum"] = bounds.back();
  return schema;
}

/// "table: pause, jump = duration".
Json thresholds(std::string_view type) {
  Json properties = Json::object();
  // Words between commas and "or".
  std::string_view list = type.substr(type.find(':') + 1, type.find('=') - type.find(':') - 1);
  while (!list.empty()) {
    const std::size_t begin = list.find_first_not_of(" ,");
    if (begin == list.npos) break;
    const std::size_t end = std::min(list.find_first_of(" ,", begin), list.size());
    const std::string_view word = list.substr(begin, end - begin);
    if (word != "or") properties[word] = text(kSignedDuration);
    list.remove_prefix(end);
  }
  Json schema = table_of(std::move(properties));
  schema["minProperties"] = 1;
  return schema;
}

Json call_names() {
  Json names = Json::array();
  for (const auto& [name, call] : models::locks::call_names) names.push_back(name);
  return {{"enum", names}};
}

Json failure_ids() {
  Json ids = Json::array();
  for (const scenarios::Failure& failure : scenarios::failures()) ids.push_back(failure.id);
  Json schema = array_of({{"enum", std::move(ids)}}, 0);
  schema["uniqueItems"] = true;
  return schema;
}

Json two_sides() {
  Json sides = array_of(array_of(text(kName)), 2);
  sides["maxItems"] = 2;
  return sides;
}

/// The schema of a type as the reference prints it; null: of a table, or of a type that is not known.
Json schema_of(std::string_view type) {
  if (type.starts_with('"')) return choice(type);
  if (type.starts_with("whole number, or array of tables"))
    return either({{"type", "integer"}, {"minimum", 1}, {"maximum", 64}}, array_of(reference("threads")));
  if (type.starts_with("whole number")) return whole_number(type);
  if (type.starts_with("table: ")) return thresholds(type);
  if (type.starts_with("text such as")) return some_text();
  const std::map<std::string_view, Json> known{
      {"string", some_text()},
      {"string, or table: en, zh", either(some_text(), reference("text"))},
      {"array of ids", failure_ids()},
      {"duration", text(kDuration)},
      {"duration, at least 1ms", text(kDuration)},
      {"duration, may be negative", text(kSignedDuration)},
      {"duration or range", range(kDuration)},
      {"duration or range, may be negative", range(kSignedDuration)},
      {"true or false", {{"type", "boolean"}}},
      {"true", {{"const", true}}},
      {"name", text(kName)},
      {"name of a server", text(kName)},
      {"name of a kind", text(kName)},
      {"name, or array of names", either(text(kName), array_of(text(kName)))},
      {"two arrays of names", two_sides()},
      {"array of keys", array_of(some_text())},
      {"array of calls", array_of(call_names())},
      {"array of command lines", array_of(some_text())},
      {"array of strings", array_of({{"type", "string"}})},
      {"table of strings", {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}},
      {"step", text(kStep)},
      {"step that is sent", text(kStep)},
      {"array of CLIENT.COMMAND[#n][@server]", array_of(text("^[A-Za-z][A-Za-z0-9_-]*\\.\\S"), 0)},
      {"array of TIME EVENT", array_of(text("^ *(never|[0-9.]+[a-z]+) +\\S"), 0)},
  };
  const auto found = known.find(type);
  return found == known.end() ? Json() : found->second;
}

std::string definition_of(std::string_view heading) {
  std::string name;
  for (const char c : heading) {
    if (c != '[' && c != ']') name += c == ' ' ? '-' : c;
  }
  return name;
}

/// What an editor shows.
std::string description(const KeyRow& key) {
  std::string text(key.meaning);
  if (key.fallback == kRequired) return text + " (required)";
  return text + fmt::format(" (default: {})", key.fallback);
}

/// Beside "$ref" draft 07 ignores everything.
Json with_description(Json schema, Json text) {
  if (schema.contains("$ref")) schema = {{"allOf", Json::array({std::move(schema)})}};
  schema["description"] = std::move(text);
  return schema;
}

Json schema_of(const KeyRow& key, std::span<const TableRow> tables) {
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [&](const TableRow& one) { return definition_of(one.heading) == key.name; });
  if (key.type == "table") return reference(table == tables.end() ? key.name : definition_of(table->heading));
  if (key.type == "array of tables")
    return array_of(reference(definition_of(table->heading)), key.fallback == kRequired);
  Json schema = schema_of(key.type);
  return schema.is_null() ? Json::object() : schema;
}

Json names_of(const TableRow& table, Kinds kind, bool only_required) {
  Json names = Json::array();
  for (const KeyRow& key : table.keys) {
    if ((key.kinds & kind) != 0 && (!only_required || key.fallback == kRequired)) names.push_back(key.name);
  }
  return names;
}

/// Of which keys just one is needed.
Json just_one(std::initializer_list<std::string_view> names) {
  Json one_of = Json::array();
  for (const std::string_view name : names) one_of.push_back({{"required", Json::array({name})}});
  return {{"oneOf", std::move(one_of)}};
}

/// What the rows of [[fault]] do not say: whom, and when.
void add_together(std::string_view heading, std::string_view kind, Json& then) {
  const auto fault = heading == "[[fault]]" ? sim::kind_named(kind) : std::nullopt;
  if (!fault || cuts_off(*fault)) return;
  const bool of_anybody = entry_of(*fault).whose == sim::Whose::anybody;
  if (strikes_process(*fault)) {
    then["allOf"] = Json::array();
    if (of_anybody) then["allOf"].push_back(just_one({"client", "server"}));
    then["allOf"].push_back(just_one({"at", "before", "sent", "after"}));
  }
  if (!of_anybody) then["required"].push_back(may_name(*fault, sim::Whose::clients) ? "client" : "server");
}

/// A table with the keys of all kinds, and for each kind the condition that only its own are there.
Json schema_of(const TableRow& table, std::span<const TableRow> tables) {
  Json properties = Json::object();
  for (const KeyRow& key : table.keys)
    properties[key.name] = with_description(schema_of(key, tables), description(key));
  Json schema = table_of(std::move(properties));
  const auto kind =
      std::find_if(table.keys.begin(), table.keys.end(), [](const KeyRow& key) { return key.name == "kind"; });
  if (table.heading == "[[client]]") {
    // Who sends commands, or is a program, is no user of the lock that a file could tell what to do.
    const auto only = [&](Kinds kind) { return Json{{"propertyNames", {{"enum", names_of(table, kind, false)}}}}; };
    schema["if"] = {{"required", Json::array({"commands"})}};
    schema["then"] = only(2);
    schema["else"] = {{"if", {{"required", Json::array({"command"})}}}, {"then", only(4)}, {"else", only(1)}};
  } else if (kind != table.keys.end() && !table.kinds.empty()) {
    schema["allOf"] = Json::array();
    for (std::size_t i = 0; i < table.kinds.size(); ++i) {
      const auto own = static_cast<Kinds>(1u << i);
      Json then{{"propertyNames", {{"enum", names_of(table, own, false)}}}, {"required", names_of(table, own, true)}};
      add_together(table.heading, table.kinds[i], then);
      Json is_it{{"properties", {{"kind", {{"const", table.kinds[i]}}}}}};
      // Of a kind that need not be said a schema knows nothing.
      if (kind->fallback != kRequired) is_it["required"] = Json::array({"kind"});
      schema["allOf"].push_back({{"if", std::move(is_it)}, {"then", std::move(then)}});
    }
  }
  schema["required"] = Json::array();
  for (const KeyRow& key : table.keys) {
    if (key.fallback == kRequired && key.kinds == scenarios::schema::kEveryKind) schema["required"].push_back(key.name);
  }
  return schema;
}

/// [expect.run] or [expect.check]: the keys are the properties.
Json expectations(const TableRow& table, std::span<const TableRow> tables, Kinds mode) {
  Json properties = Json::object();
  Json told = Json::object();
  for (const KeyRow& key : table.keys) {
    if ((key.kinds & mode) != 0) told[key.name] = with_description(schema_of(key, tables), description(key));
  }
  Json tells_more = table_of(std::move(told));
  tells_more["oneOf"] = just_one({"holds", "violated", "violated_by"})["oneOf"];
  for (const std::string_view late : {"at", "from", "up_to", "frontier"}) {
    if (!tells_more["properties"].contains(late)) continue;
    tells_more["dependencies"][late] = {{"not", {{"required", Json::array({"holds"})}}}};
  }
  for (const checker::Property& property : checker::properties()) {
    Json expected = either({{"enum", Json::array({"holds", "violated", "unknown", "not judged"})}}, tells_more);
    properties[property.name] = with_description(std::move(expected), property.meaning);
  }
  if (mode == 2)
    properties["traces"] = {{"type", "integer"}, {"minimum", 1}, {"description", "how many traces are explored"}};
  return table_of(std::move(properties));
}

// --- Parameters of algorithms, which are keys of [lock] and of a client's "lock".

struct ParameterSchema {
  const ParameterSpec& spec;

  Json operator()(sim::Duration) const { return text(kDuration); }
  Json operator()(sim::DurationRange) const { return range(kDuration); }
  Json operator()(std::int64_t) const { return {{"type", "integer"}, {"minimum", spec.min}}; }
  Json operator()(bool) const { return {{"type", "boolean"}}; }
  Json operator()(const std::string&) const {
    if (spec.choices.empty()) return {{"type", "string"}};
    return {{"enum", std::vector<std::string_view>(spec.choices.begin(), spec.choices.end())}};
  }
};

bool is_own(const ParameterSpec& spec) {
  return spec.one_for_all.empty() && spec.name != "attempts" && spec.name != "retry";
}

/// For completion, whichever algorithm it is: every parameter of any.
Json parameters_of_all(const models::locks::Catalogue& catalogue, bool only_own) {
  Json all = Json::object();
  for (const Entry& entry : catalogue.entries()) {
    for (const ParameterSpec& spec : entry.parameters) {
      if (only_own && !is_own(spec)) continue;
      Json& said = all[spec.name];
      if (said.is_null()) said = {{"description", spec.meaning}};
    }
  }
  return all;
}

/// Which parameters there are, and of what kind, depends on [lock]'s algorithm, for [lock] and for clients alike.
void add_algorithms(const models::locks::Catalogue& catalogue, Json& schema) {
  Json& definitions = schema["definitions"];
  Json& lock = definitions["lock"];
  lock["properties"]["algorithm"] = {{"enum", catalogue.ids()}, {"description", "the id of a lock algorithm"}};
  // One of them; a script declares what parameters it has, and a schema cannot look.
  lock["oneOf"] = just_one({"algorithm", "script"})["oneOf"];
  const std::vector<std::string> common = lock["properties"].names();
  lock["properties"].update(parameters_of_all(catalogue, false));
  definitions["own-lock"] = table_of(parameters_of_all(catalogue, true));
  for (const char* open : {"lock", "own-lock"}) definitions[open].erase("additionalProperties");
  for (const Entry& entry : catalogue.entries()) {
    Json parameters = Json::object(), own = Json::array();
    Json names = common;
    for (const ParameterSpec& spec : entry.parameters) {
      parameters[spec.name] = with_description(std::visit(ParameterSchema{spec}, spec.fallback), spec.meaning);
      names.push_back(spec.name);
      if (is_own(spec)) own.push_back(spec.name);
    }
    const std::string id = fmt::format("parameters-of-{}", entry.id);
    definitions[id] = {{"properties", std::move(parameters)}};
    const auto only = [&](const Json& which) {
      Json both = Json::array({reference(id)});
      both.push_back({{"propertyNames", {{"enum", which}}}});
      return Json{{"allOf", std::move(both)}};
    };
    Json of_clients{{"items", {{"properties", {{"lock", only(own)}}}}}};
    schema["allOf"].push_back(
        {{"if",
          {{"properties",
            {{"lock",
              {{"properties", {{"algorithm", {{"const", entry.id}}}}}, {"required", Json::array({"algorithm"})}}}}}}},
         {"then", {{"properties", {{"lock", only(names)}, {"client", std::move(of_clients)}}}}}});
  }
}

/// A lost message needs [network] with a timeout.
void add_losses(Json& schema) {
  for (const char* table : {"fault", "may"}) {
    const Json lost{{"properties", {{"kind", {{"const", "lose"}}}}}, {"required", Json::array({"kind"})}};
    schema["allOf"].push_back(
        {{"if", {{"properties", {{table, {{"contains", lost}}}}}, {"required", Json::array({table})}}},
         {"then",
          {{"required", Json::array({"network"})},
           {"properties", {{"network", {{"required", Json::array({"timeout"})}}}}}}}});
  }
}

}  // namespace

bool knows_type(std::string_view type) {
  return type == "table" || type == "array of tables" || !schema_of(type).is_null();
}

std::string scenario_schema(const models::locks::Catalogue& catalogue) {
  const std::vector<TableRow> tables = scenarios::schema::tables();
  const auto top = std::find_if(tables.begin(), tables.end(), [](const TableRow& one) { return one.heading.empty(); });
  Json schema;
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "Lockstep scenario";
  schema["description"] = "A story about a distributed lock, for lockstep run and check.";
  schema.update(schema_of(*top, tables));
  schema["definitions"] = Json::object();
  schema["allOf"] = Json::array();
  for (const TableRow& table : tables) {
    if (!table.heading.empty()) schema["definitions"][definition_of(table.heading)] = schema_of(table, tables);
  }
  // A client's "lock" is another table than [lock].
  Json& client = schema["definitions"]["client"]["properties"]["lock"];
  client = with_description(reference("own-lock"), client["description"]);
  const auto expectation =
      std::find_if(tables.begin(), tables.end(), [](const TableRow& one) { return one.heading == "an expectation"; });
  schema["definitions"]["run"] = expectations(*expectation, tables, 1);
  schema["definitions"]["check"] = expectations(*expectation, tables, 2);
  schema["definitions"].erase("an-expectation");
  add_algorithms(catalogue, schema);
  add_losses(schema);
  return schema.dump(2) + "\n";
}

}  // namespace lockstep::reports
