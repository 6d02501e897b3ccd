#pragma once

// TOML as it is written: strings, values and tables.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::scenarios::toml_text {

/// In quotes, on one line: what TOML calls a basic string. Requires: UTF-8.
std::string basic_string(std::string_view text);
/// The same; but if it is too long for one line, in triple quotes, over several lines that say one.
std::string paragraph(std::string_view text);
/// `["a", "b"]`; if that is too long for one line after `indent` columns, one element a line. The elements are TOML.
std::string array(std::span<const std::string> elements, std::size_t indent);

/// What a key says. But for the key all empty: nothing, and it is left out.
struct Value {
  std::string line = {};                        ///< behind the =, or …
  std::vector<std::string> elements = {};       ///< … of an array, which may be too long for a line, or …
  std::vector<std::vector<Value>> tables = {};  ///< … each below a heading of its own
  bool is_array = false;                        ///< [[client]] and not [lock]
  std::string key = {};
  Value of(std::string_view name) && {
    key = name;
    return std::move(*this);
  }
  bool operator==(const Value&) const;
};
inline bool Value::operator==(const Value&) const = default;

/// A table, in the order of its keys.
using Keys = std::vector<Value>;

/// `{ a = 1, b = 2 }`.
std::string inline_table(const Keys& keys);
/// The keys on a line each, then the tables; `path` leads to the table ("expect."). Headings are left out above tables
/// that hold only tables.
std::string file(const Keys& keys, const std::string& path = "");

}  // namespace lockstep::scenarios::toml_text
