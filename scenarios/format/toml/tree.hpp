#pragma once

// A scenario file as a tree of values, in the order of the file, each with its position. Only schema/tree.cpp knows
// which library reads TOML.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios::schema {

/// What is wrong with a file. Thrown by everything in this namespace and caught in one place, `parse` of loader.hpp:
/// a reader of a value deep inside a table has nothing to say to the readers around it but "stop".
struct Bad {
  Position at;
  std::string message;
  /// `at` is a string, and the mistake is this many bytes into what it says.
  std::optional<std::size_t> inside = std::nullopt;
  /// What else is wrong, in no order; none of these has others.
  std::vector<Bad> others = {};
};

/// Readers that do not need each other: each may fail, and then all fail with what every one of them said.
class Mistakes {
 public:
  template <class Read>
  void attempt(const Read& read) {
    try {
      read();
    } catch (Bad& bad) {
      add(std::move(bad));
    }
  }
  void add(Bad bad);
  bool none() const { return !all_; }
  /// Throws if there are any.
  void complain() {
    if (all_) throw *std::move(all_);
  }

 private:
  std::optional<Bad> all_;
};

struct Node;
struct Entry;
using Array = std::vector<Node>;
using Table = std::vector<Entry>;

/// What TOML has and no scenario needs: "a date", "a number with a fraction".
struct Unused {
  std::string_view what;
};

struct Node {
  Position at;      ///< a table with a header begins at its bracket
  std::string key;  ///< the key that it, or the array around it, belongs to
  std::variant<std::string, std::int64_t, bool, Array, Table, Unused> value;
};

struct Entry {
  Position key_at;
  Node node;  ///< its `key` is the entry's
};

/// Lengths above which a text is refused.
inline constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kStringBytesMax = std::size_t{1} << 16;

/// Refuses what no TOML parser should be bothered with: too much, not UTF-8, nothing at all, keys so deeply dotted that
/// a tree of them could not even be destroyed on a normal stack (values in values are limited by the parser itself).
void screen(std::string_view text);

/// Requires: `screen` has passed the text.
Node parse_tree(std::string_view text);

/// Where a byte of the text is: columns count characters.
Position position_of(std::string_view text, std::size_t offset);

/// And back: which byte is at a position. Of none that is in the text: one behind its end, or near to it.
std::size_t offset_of(std::string_view text, Position at);

/// Where the value begins that the byte `offset` belongs to, or that ends there: behind the last = , [ or { outside of
/// strings and comments, or on its line.
std::size_t begin_of_value(std::string_view text, std::size_t offset);

/// The position of the character `offset` bytes into what the string that begins at `begin` says, escapes considered.
/// `begin` itself for a string of several lines.
Position position_inside(std::string_view text, Position begin, std::size_t offset);

}  // namespace lockstep::scenarios::schema
