#include "scenarios/format/schema/table.hpp"

#include <algorithm>

#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

std::vector<std::string_view> names_of(std::span<const KeyRow> rows, Kinds kind) {
  std::vector<std::string_view> names;
  for (const KeyRow& row : rows) {
    if ((row.kinds & kind) != 0) names.push_back(row.name);
  }
  return names;
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

}  // namespace

void visit_table(const Node& node, const Heading& heading, std::span<const KeyRow> rows,
                 const std::function<void(std::size_t, const Node&)>& read) {
  const std::string what(heading.what);
  const std::vector<std::string_view> valid = names_of(rows, heading.kind);
  const Table& table = table_of(node, "a table with " + listed(valid));
  Mistakes mistakes;
  bool knows_all = true;
  for (const Entry& entry : table) {
    const std::string& key = entry.node.key;
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const KeyRow& r) { return r.name == key; });
    if (row == rows.end()) {
      knows_all = false;
      mistakes.add({entry.key_at, "unknown key " + in_quotes(key) + " in " + what + ": " + suggestion(key, valid)});
    } else if ((row->kinds & heading.kind) == 0) {
      mistakes.add({entry.key_at, in_quotes(key) + " says nothing about " + std::string(heading.kind_name) +
                                      "; its keys are " + listed(valid)});
    } else {
      mistakes.attempt([&] { read(static_cast<std::size_t>(row - rows.begin()), entry.node); });
    }
  }
  // A key that nobody knows may be the one that is missing.
  for (const KeyRow& row : rows) {
    if (row.fallback != kRequired || (row.kinds & heading.kind) == 0 || find(node, row.name) != nullptr || !knows_all)
      continue;
    const std::string subject(heading.kind_name.empty() ? heading.what : heading.kind_name);
    mistakes.add({node.at, subject + " needs " + in_quotes(row.name) + ": " + std::string(row.meaning)});
  }
  mistakes.complain();
}

const Node* find(const Node& table, std::string_view key) {
  const auto* entries = std::get_if<Table>(&table.value);
  if (entries == nullptr) return nullptr;
  const auto found = std::find_if(entries->begin(), entries->end(), [&](const Entry& e) { return e.node.key == key; });
  return found == entries->end() ? nullptr : &found->node;
}

}  // namespace lockstep::scenarios::schema
