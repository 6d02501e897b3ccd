#pragma once

// Tables of keys. A TOML table is described once, as an array of `Key`: from it files are read and written, unknown
// keys get their suggestion, and the reference docs/manual/scenario-format.md is checked.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "scenarios/format/schema/value.hpp"
#include "scenarios/format/toml/toml_text.hpp"
#include "scenarios/format/toml/tree.hpp"

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

/// What a table is written from: if it is read into a draft, what the draft says it becomes.
template <class Target>
struct SpecOfTarget : std::type_identity<Target> {};
template <class Target>
  requires requires { typename Target::Spec; }
struct SpecOfTarget<Target> : std::type_identity<typename Target::Spec> {};
template <class Target>
using SpecOf = typename SpecOfTarget<Target>::type;

/// How a key is read and how it is written. There is no default for either: a key that only one side knows does not
/// compile.
template <class Target>
struct Way {
  using Read = void (*)(const Node& value, Target& target);
  using Write = Value (*)(const SpecOf<Target>& spec);
  constexpr Way(Read r, Write w) : read(r), write(w) {}
  Way(Read, std::nullptr_t) = delete;
  Way(std::nullptr_t, Write) = delete;

  Read read;
  Write write;
};

template <class Target>
struct Key {
  std::string_view name;
  std::string_view type;
  std::string_view fallback;
  std::string_view meaning;
  Way<Target> way;
  Kinds kinds = kEveryKind;
  std::string_view below = "";  ///< in files that are written, if not below the key before it: below this one
};

template <class Target, std::size_t N>
std::vector<KeyRow> rows_of(const Key<Target> (&keys)[N]) {
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
  const std::vector<KeyRow> rows = rows_of(keys);
  visit_table(node, heading, rows, [&](std::size_t i, const Node& value) { keys[i].way.read(value, target); });
}

/// The table, without keys that say the same of `standard`; required ones are always said.
template <class Target, std::size_t N>
Keys write_table(const Key<Target> (&keys)[N], const SpecOf<Target>& spec, const SpecOf<Target>& standard,
                 Kinds kind = kEveryKind) {
  Keys written;
  const auto write = [&](const Key<Target>& key) {
    if ((key.kinds & kind) == 0) return;
    Value value = key.way.write(spec);
    if (value == Value{} || (key.fallback != kRequired && value == key.way.write(standard))) return;
    written.push_back(std::move(value).of(key.name));
  };
  for (const Key<Target>& key : keys) {
    if (!key.below.empty()) continue;
    write(key);
    for (const Key<Target>& other : keys) {
      if (!other.below.empty() && other.below == key.name) write(other);
    }
  }
  return written;
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

// The ways of keys that stand for one field: `field<&NetworkSpec::latency, range_of>` reads it, and writes what it has
// read.

/// The target, or what it drafts.
template <class Target>
auto& spec_in(Target& target) {
  if constexpr (requires { target.spec(); }) {
    return target.spec();
  } else {
    return target;
  }
}

/// `Self` has the templates `read` and `write`.
template <class Self>
struct AnyWay {
  template <class Target>
  constexpr operator Way<Target>() const {
    return {Self::template read<Target>, Self::template write<SpecOf<Target>>};
  }
};

/// `value_of` gets the node, and the draft if it asks for it.
template <auto member, auto value_of>
struct Field : AnyWay<Field<member, value_of>> {
  template <class Target>
  static void read(const Node& value, Target& target) {
    if constexpr (requires { value_of(value, target.draft); }) {
      spec_in(target).*member = value_of(value, target.draft);
    } else {
      spec_in(target).*member = value_of(value);
    }
  }
  template <class Spec>
  static Value write(const Spec& spec) {
    return as_toml(spec_in(spec).*member);
  }
};
template <auto member, auto value_of>
inline constexpr Field<member, value_of> field;

/// One of several names.
template <auto member, const auto& choices>
struct Choice : AnyWay<Choice<member, choices>> {
  template <class Target>
  static void read(const Node& value, Target& target) {
    spec_in(target).*member = choice_of(value, choices);
  }
  template <class Spec>
  static Value write(const Spec& spec) {
    const std::string name = name_in(choices, spec_in(spec).*member);
    return name.empty() ? Value{} : as_toml(name);
  }
};
template <auto member, const auto& choices>
inline constexpr Choice<member, choices> choice;

/// A table on the line of its key that says more of the same target.
template <const auto& keys>
struct Inside : AnyWay<Inside<keys>> {
  template <class Target>
  static void read(const Node& value, Target& target) {
    read_table(value, {value.key}, keys, target);
  }
  template <class Spec>
  static Value write(const Spec& spec) {
    const Keys written = write_table(keys, spec, spec);
    return written.empty() ? Value{} : Value{inline_table(written)};
  }
};
template <const auto& keys>
inline constexpr Inside<keys> inside;

/// Any other: functions that take what those of `Way<Target>` take.
template <class Read, class Write>
struct Both {
  Read read;
  Write write;
  template <class Target>
  constexpr operator Way<Target>() const {
    return {read, write};
  }
};
template <class Read, class Write>
constexpr Both<Read, Write> both(Read read, Write write) {
  return {read, write};
}

template <std::int64_t min, std::int64_t max = std::numeric_limits<std::int64_t>::max()>
std::int64_t whole(const Node& node) {
  return whole_of(node, min, max);
}

/// One table of the format, as the reference lists it.
struct TableRow {
  std::string_view heading;  ///< "[[client]]", "clock"; "" for the keys at the top of a file
  std::vector<KeyRow> keys;
  std::vector<std::string_view> kinds = {};  ///< what the bits of `KeyRow::kinds` are called, from the lowest
};

}  // namespace lockstep::scenarios::schema
