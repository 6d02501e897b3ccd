#pragma once

// A request to a Redis server: the command's name and its arguments.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/value.hpp"

namespace lockstep::models::redis {

struct CommandSpec;

/// What a client sends, name first: `Command{"SET", key, token, "NX", "PX", 100}`. Up to eight values are stored in
/// place; more of them, and strings that do not fit a `Value`, are allocated.
class Command {
 public:
  Command() = default;
  template <class First, class... Rest>
    requires(!std::is_same_v<std::remove_cvref_t<First>, Command> && std::is_constructible_v<Value, First>)
  explicit(sizeof...(Rest) == 0) Command(First&& name, Rest&&... arguments) {
    reserve(1 + sizeof...(arguments));
    Value* end = values_begin();
    std::construct_at(end++, std::forward<First>(name));
    (std::construct_at(end++, std::forward<Rest>(arguments)), ...);
    count_ = 1 + sizeof...(arguments);
    look_up();
  }
  /// A command that the table does not name: no client can send it.
  static Command as(const CommandSpec& spec, std::initializer_list<Value> values) {
    Command command;
    for (const Value& value : values) command.push_back(value);
    command.spec_ = &spec;
    command.is_known_ = true;
    return command;
  }
  Command(const Command& other) : spec_(other.spec_), is_known_(other.is_known_) {
    reserve(other.count_);
    std::uninitialized_copy_n(other.values_begin(), other.count_, values_begin());
    count_ = other.count_;
  }
  Command(Command&& other) noexcept { take(other); }
  Command& operator=(const Command& other) {
    if (this != &other) *this = Command(other);
    return *this;
  }
  Command& operator=(Command&& other) noexcept {
    if (this == &other) return *this;
    drop();
    take(other);
    return *this;
  }
  ~Command() { drop(); }

  void reserve(std::size_t count) {
    if (count > capacity_) [[unlikely]]
      grow(count);
  }
  void push_back(Value value);
  /// Empties it and keeps what it had allocated.
  void clear();

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Value& operator[](std::size_t i) const { return values_begin()[i]; }
  std::span<const Value> values() const { return {values_begin(), count_}; }

  /// The command's entry in the table of commands, or null: then a server answers "ERR unknown command".
  const CommandSpec* spec() const {
    if (!is_known_) look_up();
    return spec_;
  }
  /// As the table spells it: "SETNX", "SCRIPT LOAD"; "(unknown)" for what is not in the table. Static text.
  std::string_view name() const;

  /// For timelines: `SET lock A-1 NX PX 100`. Text that would not survive the command line is quoted; the text of a
  /// script is `<script>`, and other long text is cut.
  std::string describe() const;
  std::uint64_t digest() const;
  bool operator==(const Command& other) const;

 private:
  static constexpr std::uint32_t kInPlace = 8;
  /// Where the values are: there is room for `capacity_` of them.
  Value* values_begin() { return spilled_ != nullptr ? spilled_ : reinterpret_cast<Value*>(room_); }
  const Value* values_begin() const { return const_cast<Command*>(this)->values_begin(); }
  void take(Command& other) noexcept {
    spec_ = other.spec_;
    is_known_ = std::exchange(other.is_known_, false);
    spilled_ = std::exchange(other.spilled_, nullptr);
    capacity_ = std::exchange(other.capacity_, kInPlace);
    count_ = std::exchange(other.count_, 0);
    if (spilled_ != nullptr) [[unlikely]]
      return;
    auto* from = reinterpret_cast<Value*>(other.room_);
    auto* to = reinterpret_cast<Value*>(room_);
    for (std::uint32_t i = 0; i < count_; ++i) {
      std::construct_at(to + i, std::move(from[i]));
      std::destroy_at(from + i);
    }
  }
  void drop() noexcept {
    std::destroy_n(values_begin(), count_);
    if (spilled_ != nullptr) [[unlikely]]
      give_back();
  }
  void give_back() noexcept;
  void grow(std::size_t count);
  void look_up() const;

  /// The values, unless they are more than fit: most commands have few, and are moved often.
  alignas(Value) std::byte room_[kInPlace * sizeof(Value)];
  Value* spilled_ = nullptr;  ///< all of them, once there are more
  std::uint32_t capacity_ = kInPlace;
  std::uint32_t count_ = 0;
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
