#pragma once

// Tables of keys. A TOML table is described once, as an array of `Key`: from it files are read, unknown keys get their
// suggestion, and the reference docs/manual/scenario-format.md is checked.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/format/schema/tree.hpp"

namespace lockstep::scenarios::schema {

/// What a key's `fallback` says if it may not be left out.
inline constexpr std::string_view kRequired = "required";

/// Some tables take other keys depending on their kind ("pause", "crash", …): a bit for each.
using Kinds = std::uint16_t;
inline constexpr Kinds kEveryKind = 0xFFFF;

/// A key without its reader: what the reference says of it.
struct KeyRow {
  std::string_view name;
  std::string_view type;
  std::string_view fallback;  ///< the default as the reference prints it, or `kRequired`
  std::string_view meaning;
  Kinds kinds = kEveryKind;  ///< of which kinds of table; required, if it is, for those only
};

template <class Target>
struct Key {
  std::string_view name;
  std::string_view type;
  std::string_view fallback;
  std::string_view meaning;
  void (*read)(const Node& value, Target& target) = nullptr;
  Kinds kinds = kEveryKind;
};

template <class Target>
std::vector<KeyRow> rows_of(std::span<const Key<Target>> keys) {
  std::vector<KeyRow> rows;
  for (const Key<Target>& key : keys) rows.push_back({key.name, key.type, key.fallback, key.meaning, key.kinds});
  return rows;
}

/// Which table is being read, for messages.
struct Heading {
  std::string_view what;            ///< "[lock]", "a [[client]]"
  Kinds kind = kEveryKind;          ///< its kind's bit
  std::string_view kind_name = "";  ///< "a pause"
};

/// Calls `read(i, value)` for each entry of the table in the file's order, where `rows[i]` is its key. Throws `Bad` for
/// an entry that no row describes or that is not of this kind, and for a required one that is missing.
void visit_table(const Node& node, const Heading& heading, std::span<const KeyRow> rows,
                 const std::function<void(std::size_t, const Node&)>& read);

template <class Target, std::size_t N>
void read_table(const Node& node, const Heading& heading, const Key<Target> (&keys)[N], Target& target) {
  const std::vector<KeyRow> rows = rows_of(std::span<const Key<Target>>(keys));
  visit_table(node, heading, rows, [&](std::size_t i, const Node& value) { keys[i].read(value, target); });
}

/// Calls `read(table)` for each of these, also after one that fails. Throws `Bad` with what all of them said.
template <class Read>
void read_each(const Array& tables, const Read& read) {
  Mistakes mistakes;
  for (const Node& table : tables) mistakes.attempt([&] { read(table); });
  mistakes.complain();
}

/// The value of a key, or null.
const Node* find(const Node& table, std::string_view key);

/// One table of the format, as the reference lists it.
struct TableRow {
  std::string_view heading;  ///< "[[client]]", "clock"; "" for the keys at the top of a file
  std::vector<KeyRow> keys;
  std::vector<std::string_view> kinds = {};  ///< what the bits of `KeyRow::kinds` are called, from the lowest
};

}  // namespace lockstep::scenarios::schema
