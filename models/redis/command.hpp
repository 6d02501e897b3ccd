#pragma once

// A request to a Redis server: the command's name and its arguments.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "models/redis/value.hpp"

namespace lockstep::models::redis {

struct CommandSpec;

/// What a client sends, name first: `Command{"SET", key, token, "NX", "PX", 100}`. Up to eight values are stored in
/// place; more of them, and strings that do not fit a std::string's own buffer, are allocated.
class Command {
 public:
  Command() = default;
  template <class First, class... Rest>
    requires(!std::is_same_v<std::remove_cvref_t<First>, Command> && std::is_constructible_v<Value, First>)
  explicit(sizeof...(Rest) == 0) Command(First&& name, Rest&&... arguments) {
    reserve(1 + sizeof...(arguments));
    push_back(Value(std::forward<First>(name)));
    (push_back(Value(std::forward<Rest>(arguments))), ...);
  }
  Command(const Command& other);
  Command(Command&& other) noexcept;
  Command& operator=(const Command& other);
  Command& operator=(Command&& other) noexcept;
  ~Command() = default;

  void reserve(std::size_t count);
  void push_back(Value value);
  /// Empties it and keeps what it had allocated.
  void clear();

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Value& operator[](std::size_t i) const { return values()[i]; }
  std::span<const Value> values() const { return {spilled_.empty() ? in_place_.data() : spilled_.data(), count_}; }

  /// The command's entry in the table of commands, or null: then a server answers "ERR unknown command".
  const CommandSpec* spec() const;
  /// As the table spells it: "SETNX", "SCRIPT LOAD"; "(unknown)" for what is not in the table. Static text.
  std::string_view name() const;

  /// For timelines: `SET lock A-1 NX PX 100`. Text that would not survive the command line is quoted; the text of a
  /// script is `<script>`, and other long text is cut.
  std::string describe() const;
  std::uint64_t digest() const;
  bool operator==(const Command& other) const;

 private:
  static constexpr std::size_t kInPlace = 8;
  Value* data() { return spilled_.empty() ? in_place_.data() : spilled_.data(); }

  std::array<Value, kInPlace> in_place_;
  std::vector<Value> spilled_;  ///< all of them, once there are more than eight
  std::size_t count_ = 0;
  mutable const CommandSpec* spec_ = nullptr;  ///< once `is_known_`: a request is asked for its name several times
  mutable bool is_known_ = false;
};

/// Why a line is no command. `column` counts bytes from 1.
struct CommandLineError {
  std::size_t column = 0;
  std::string message;  ///< "the quote that opens here is never closed"
};

/// Reads a command as redis-cli does: words between blanks; "double quotes" with \n \r \t \a \b \\ \" \xHH; 'single
/// quotes' with \' alone. Does not check that the command exists: see `Command::spec`.
std::variant<Command, CommandLineError> parse_command_line(std::string_view line);

}  // namespace lockstep::models::redis
