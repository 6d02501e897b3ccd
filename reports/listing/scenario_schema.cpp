#include "reports/listing/scenario_schema.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "models/locks/lock.hpp"
#include "scenarios/format/schema/schema.hpp"
#include "scenarios/story/failures.hpp"

namespace lockstep::reports {
namespace {

using models::locks::Entry;
using models::locks::ParameterSpec;
using nlohmann::ordered_json;
using scenarios::schema::KeyRow;
using scenarios::schema::Kinds;
using scenarios::schema::kRequired;
using scenarios::schema::TableRow;

constexpr std::string_view kDuration = "^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|min)$";
constexpr std::string_view kSignedDuration = "^-?[0-9]+(\\.[0-9]+)?(ns|us|ms|s|min)$";
/// Of a process, of a thread of one, or of its background tasks.
constexpr std::string_view kName = "^[A-Za-z][A-Za-z0-9_-]{0,30}(/[A-Za-z0-9]+)?$";
constexpr std::string_view kStep = "^[A-Za-z][A-Za-z0-9_ .-]*(#[1-9][0-9]*)?$";

ordered_json text(std::string_view pattern) { return {{"type", "string"}, {"pattern", pattern}}; }
ordered_json some_text() { return text("\\S"); }
ordered_json array_of(ordered_json items, std::size_t least = 1) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", least}};
}
ordered_json either(ordered_json one, ordered_json other) {
  return {{"anyOf", ordered_json::array({std::move(one), std::move(other)})}};
}
ordered_json range(std::string_view pattern) {
  ordered_json two = array_of(text(pattern), 2);
  two["maxItems"] = 2;
  return either(text(pattern), std::move(two));
}
ordered_json reference(std::string_view definition) { return {{"$ref", fmt::format("#/definitions/{}", definition)}}; }
/// A table of no other keys than those.
ordered_json table_of(ordered_json properties) {
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

ordered_json choice(std::string_view type) { return {{"enum", quoted_in(type)}}; }

/// "whole number, 1 to 64", "whole number, 1 or more".
ordered_json whole_number(std::string_view type) {
  ordered_json schema{{"type", "integer"}};
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
ordered_json thresholds(std::string_view type) {
  ordered_json properties = ordered_json::object();
  // Words between commas and "or".
  std::string_view list = type.substr(type.find(':') + 1, type.find('=') - type.find(':') - 1);
  while (!list.empty()) {
    const std::size_t begin = list.find_first_not_of(" ,");
    if (begin == list.npos) break;
    const std::size_t end = std::min(list.find_first_of(" ,", begin), list.size());
    const std::string_view word = list.substr(begin, end - begin);
    if (word != "or") properties[std::string(word)] = text(kSignedDuration);
    list.remove_prefix(end);
  }
  ordered_json schema = table_of(std::move(properties));
  schema["minProperties"] = 1;
  return schema;
}

ordered_json call_names() {
  ordered_json names = ordered_json::array();
  for (const auto& [name, call] : models::locks::call_names) names.push_back(name);
  return {{"enum", names}};
}

ordered_json failure_ids() {
  ordered_json ids = ordered_json::array();
  for (const scenarios::Failure& failure : scenarios::failures()) ids.push_back(failure.id);
  ordered_json schema = array_of({{"enum", std::move(ids)}}, 0);
  schema["uniqueItems"] = true;
  return schema;
}

ordered_json two_sides() {
  ordered_json sides = array_of(array_of(text(kName)), 2);
  sides["maxItems"] = 2;
  return sides;
}

/// The schema of a type as the reference prints it; null: of a table, or of a type that is not known.
ordered_json schema_of(std::string_view type) {
  if (type.starts_with('"')) return choice(type);
  if (type.starts_with("whole number, or array of tables"))
    return either({{"type", "integer"}, {"minimum", 1}, {"maximum", 64}}, array_of(reference("threads")));
  if (type.starts_with("whole number")) return whole_number(type);
  if (type.starts_with("table: ")) return thresholds(type);
  if (type.starts_with("text such as")) return some_text();
  const std::map<std::string_view, ordered_json> known{
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
      {"step", text(kStep)},
      {"step that is sent", text(kStep)},
      {"array of CLIENT.COMMAND[#n][@server]", array_of(text("^[A-Za-z][A-Za-z0-9_-]*\\.\\S"), 0)},
      {"array of TIME EVENT", array_of(text("^ *(never|[0-9.]+[a-z]+) +\\S"), 0)},
  };
  const auto found = known.find(type);
  return found == known.end() ? ordered_json() : found->second;
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
ordered_json with_description(ordered_json schema, std::string text) {
  if (schema.contains("$ref")) schema = {{"allOf", ordered_json::array({std::move(schema)})}};
  schema["description"] = std::move(text);
  return schema;
}

ordered_json schema_of(const KeyRow& key, std::span<const TableRow> tables) {
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [&](const TableRow& one) { return definition_of(one.heading) == key.name; });
  if (key.type == "table") return reference(table == tables.end() ? key.name : definition_of(table->heading));
  if (key.type == "array of tables")
    return array_of(reference(definition_of(table->heading)), key.fallback == kRequired);
  ordered_json schema = schema_of(key.type);
  return schema.is_null() ? ordered_json::object() : schema;
}

ordered_json names_of(const TableRow& table, Kinds kind, bool only_required) {
  ordered_json names = ordered_json::array();
  for (const KeyRow& key : table.keys) {
    if ((key.kinds & kind) != 0 && (!only_required || key.fallback == kRequired)) names.push_back(key.name);
  }
  return names;
}

/// Of which keys just one is needed.
ordered_json just_one(std::initializer_list<std::string_view> names) {
  ordered_json one_of = ordered_json::array();
  for (const std::string_view name : names) one_of.push_back({{"required", ordered_json::array({name})}});
  return {{"oneOf", std::move(one_of)}};
}

/// What the rows of [[fault]] do not say: whom, and when.
void add_together(std::string_view heading, std::string_view kind, ordered_json& then) {
  const auto fault = heading == "[[fault]]" ? sim::kind_named(kind) : std::nullopt;
  if (!fault || cuts_off(*fault)) return;
  const bool of_anybody = entry_of(*fault).whose == sim::Whose::anybody;
  if (strikes_process(*fault)) {
    then["allOf"] = ordered_json::array();
    if (of_anybody) then["allOf"].push_back(just_one({"client", "server"}));
    then["allOf"].push_back(just_one({"at", "before", "sent", "after"}));
  }
  if (!of_anybody) then["required"].push_back(may_name(*fault, sim::Whose::clients) ? "client" : "server");
}

/// A table with the keys of all kinds, and for each kind the condition that only its own are there.
ordered_json schema_of(const TableRow& table, std::span<const TableRow> tables) {
  ordered_json properties = ordered_json::object();
  for (const KeyRow& key : table.keys)
    properties[std::string(key.name)] = with_description(schema_of(key, tables), description(key));
  ordered_json schema = table_of(std::move(properties));
  const auto kind =
      std::find_if(table.keys.begin(), table.keys.end(), [](const KeyRow& key) { return key.name == "kind"; });
  if (table.heading == "[[client]]") {
    // Who sends commands is no user of the lock.
    schema["if"] = {{"required", {"commands"}}};
    schema["then"] = {{"propertyNames", {{"enum", names_of(table, 2, false)}}}};
    schema["else"] = {{"propertyNames", {{"enum", names_of(table, 1, false)}}}};
  } else if (kind != table.keys.end() && !table.kinds.empty()) {
    schema["allOf"] = ordered_json::array();
    for (std::size_t i = 0; i < table.kinds.size(); ++i) {
      const auto own = static_cast<Kinds>(1u << i);
      ordered_json then{{"propertyNames", {{"enum", names_of(table, own, false)}}},
                        {"required", names_of(table, own, true)}};
      add_together(table.heading, table.kinds[i], then);
      ordered_json is_it{{"properties", {{"kind", {{"const", table.kinds[i]}}}}}};
      // Of a kind that need not be said a schema knows nothing.
      if (kind->fallback != kRequired) is_it["required"] = {"kind"};
      schema["allOf"].push_back({{"if", std::move(is_it)}, {"then", std::move(then)}});
    }
  }
  schema["required"] = ordered_json::array();
  for (const KeyRow& key : table.keys) {
    if (key.fallback == kRequired && key.kinds == scenarios::schema::kEveryKind) schema["required"].push_back(key.name);
  }
  return schema;
}

/// [expect.run] or [expect.check]: the keys are the properties.
ordered_json expectations(const TableRow& table, std::span<const TableRow> tables, Kinds mode) {
  ordered_json properties = ordered_json::object();
  ordered_json told = ordered_json::object();
  for (const KeyRow& key : table.keys) {
    if ((key.kinds & mode) != 0)
      told[std::string(key.name)] = with_description(schema_of(key, tables), description(key));
  }
  ordered_json tells_more = table_of(std::move(told));
  tells_more["oneOf"] = just_one({"holds", "violated", "violated_by"})["oneOf"];
  for (const std::string_view late : {"at", "from", "up_to", "frontier"}) {
    if (!tells_more["properties"].contains(late)) continue;
    tells_more["dependencies"][std::string(late)] = {{"not", {{"required", {"holds"}}}}};
  }
  for (const checker::Property& property : checker::properties()) {
    ordered_json expected = either({{"enum", {"holds", "violated", "unknown"}}}, tells_more);
    properties[std::string(property.name)] = with_description(std::move(expected), std::string(property.meaning));
  }
  if (mode == 2)
    properties["traces"] = {{"type", "integer"}, {"minimum", 1}, {"description", "how many traces are explored"}};
  return table_of(std::move(properties));
}

// --- Parameters of algorithms, which are keys of [lock] and of a client's "lock".

struct ParameterSchema {
  const ParameterSpec& spec;

  ordered_json operator()(sim::Duration) const { return text(kDuration); }
  ordered_json operator()(sim::DurationRange) const { return range(kDuration); }
  ordered_json operator()(std::int64_t) const { return {{"type", "integer"}, {"minimum", spec.min}}; }
  ordered_json operator()(bool) const { return {{"type", "boolean"}}; }
  ordered_json operator()(const std::string&) const {
    if (spec.choices.empty()) return {{"type", "string"}};
    return {{"enum", std::vector<std::string>(spec.choices.begin(), spec.choices.end())}};
  }
};

bool is_own(const ParameterSpec& spec) {
  return spec.one_for_all.empty() && spec.name != "attempts" && spec.name != "retry";
}

/// For completion, whichever algorithm it is: every parameter of any.
ordered_json parameters_of_all(const models::locks::Catalogue& catalogue, bool only_own) {
  ordered_json all = ordered_json::object();
  for (const Entry& entry : catalogue.entries()) {
    for (const ParameterSpec& spec : entry.parameters) {
      if (only_own && !is_own(spec)) continue;
      ordered_json& said = all[std::string(spec.name)];
      if (said.is_null()) said = {{"description", spec.meaning}};
    }
  }
  return all;
}

/// Which parameters there are, and of what kind, depends on [lock]'s algorithm, for [lock] and for clients alike.
void add_algorithms(const models::locks::Catalogue& catalogue, ordered_json& schema) {
  ordered_json& definitions = schema["definitions"];
  ordered_json& lock = definitions["lock"];
  lock["properties"]["algorithm"] = {{"enum", catalogue.ids()}, {"description", "the id of a lock algorithm"}};
  // One of them; a script declares what parameters it has, and a schema cannot look.
  lock["oneOf"] = {{{"required", {"algorithm"}}}, {{"required", {"script"}}}};
  std::vector<std::string> common;
  for (const auto& [name, ignored] : lock["properties"].items()) common.push_back(name);
  lock["properties"].update(parameters_of_all(catalogue, false));
  definitions["own-lock"] = table_of(parameters_of_all(catalogue, true));
  for (const char* open : {"lock", "own-lock"}) definitions[open].erase("additionalProperties");
  for (const Entry& entry : catalogue.entries()) {
    ordered_json parameters = ordered_json::object(), own = ordered_json::array();
    ordered_json names = common;
    for (const ParameterSpec& spec : entry.parameters) {
      parameters[std::string(spec.name)] =
          with_description(std::visit(ParameterSchema{spec}, spec.fallback), std::string(spec.meaning));
      names.push_back(spec.name);
      if (is_own(spec)) own.push_back(spec.name);
    }
    const std::string id = fmt::format("parameters-of-{}", entry.id);
    definitions[id] = {{"properties", std::move(parameters)}};
    const auto only = [&](const ordered_json& which) {
      ordered_json both = ordered_json::array({reference(id)});
      both.push_back({{"propertyNames", {{"enum", which}}}});
      return ordered_json{{"allOf", std::move(both)}};
    };
    ordered_json of_clients{{"items", {{"properties", {{"lock", only(own)}}}}}};
    schema["allOf"].push_back(
        {{"if",
          {{"properties",
            {{"lock", {{"properties", {{"algorithm", {{"const", entry.id}}}}}, {"required", {"algorithm"}}}}}}}},
         {"then", {{"properties", {{"lock", only(names)}, {"client", std::move(of_clients)}}}}}});
  }
}

/// A lost message needs [network] with a timeout.
void add_losses(ordered_json& schema) {
  for (const char* table : {"fault", "may"}) {
    const ordered_json lost{{"properties", {{"kind", {{"const", "lose"}}}}}, {"required", {"kind"}}};
    schema["allOf"].push_back(
        {{"if", {{"properties", {{table, {{"contains", lost}}}}}, {"required", {table}}}},
         {"then", {{"required", {"network"}}, {"properties", {{"network", {{"required", {"timeout"}}}}}}}}});
  }
}

}  // namespace

bool knows_type(std::string_view type) {
  return type == "table" || type == "array of tables" || !schema_of(type).is_null();
}

std::string scenario_schema(const models::locks::Catalogue& catalogue) {
  const std::vector<TableRow> tables = scenarios::schema::tables();
  const auto top = std::find_if(tables.begin(), tables.end(), [](const TableRow& one) { return one.heading.empty(); });
  ordered_json schema;
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "Lockstep scenario";
  schema["description"] = "A story about a distributed lock, for lockstep run and check.";
  schema.update(schema_of(*top, tables));
  schema["definitions"] = ordered_json::object();
  schema["allOf"] = ordered_json::array();
  for (const TableRow& table : tables) {
    if (!table.heading.empty()) schema["definitions"][definition_of(table.heading)] = schema_of(table, tables);
  }
  // A client's "lock" is another table than [lock].
  ordered_json& client = schema["definitions"]["client"]["properties"]["lock"];
  client = with_description(reference("own-lock"), client["description"].get<std::string>());
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
