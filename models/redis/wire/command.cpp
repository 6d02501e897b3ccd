#include "models/redis/wire/command.hpp"

#include <algorithm>
#include <cassert>
#include <memory>

#include "models/redis/wire/command_spec.hpp"

namespace lockstep::models::redis {
namespace {

/// A timeline's column is narrow: a UUID fits, a JSON document does not.
constexpr std::size_t kLongestWord = 64;

bool needs_quotes(std::string_view word) {
  return word.empty() ||
         std::any_of(word.begin(), word.end(), [](char c) { return c <= ' ' || c > '~' || c == '"' || c == '\''; });
}

void append_word(std::string& out, const Value& value) {
  if (const Timestamp* t = value.timestamp(); t != nullptr && t->instant.anchor() != 0) {
    out += "<timestamp>";
    return;
  }
  std::string scratch;
  std::string_view word = value.view(scratch);
  const bool cut = word.size() > kLongestWord;
  if (cut) word = word.substr(0, kLongestWord - 3);
  if (!needs_quotes(word)) {
    out += word;
  } else {
    append_quoted(out, word);
  }
  if (cut) out += "...";
}

bool takes_a_script(std::string_view name) { return name == "EVAL" || name == "SCRIPT LOAD"; }

}  // namespace

void Command::give_back() noexcept { std::allocator<Value>().deallocate(spilled_, capacity_); }

void Command::grow(std::size_t count) {
  const auto capacity = static_cast<std::uint32_t>(std::max<std::size_t>(count, std::size_t{2} * capacity_));
  Value* const room = std::allocator<Value>().allocate(capacity);
  std::uninitialized_move_n(values_begin(), count_, room);
  drop();
  spilled_ = room;
  capacity_ = capacity;
}

void Command::push_back(Value value) {
  is_known_ = is_known_ && count_ >= 2;
  reserve(count_ + 1);
  std::construct_at(values_begin() + count_, std::move(value));
  ++count_;
}

void Command::clear() {
  std::destroy_n(values_begin(), count_);
  count_ = 0;
  is_known_ = false;
}

void Command::look_up() const {
  spec_ = empty() ? nullptr : find_command(values());
  is_known_ = true;
}

std::string_view Command::name() const {
  const CommandSpec* known = spec();
  return known != nullptr ? known->name : "(unknown)";
}

std::string Command::describe() const {
  std::string out;
  const CommandSpec* known = spec();
  const std::size_t words_of_name =
      known == nullptr ? 0 : 1 + static_cast<std::size_t>(std::count(known->name.begin(), known->name.end(), ' '));
  if (known != nullptr) out += known->name;
  for (std::size_t i = words_of_name; i < size(); ++i) {
    if (i > 0) out += ' ';
    if (known != nullptr && i == words_of_name && takes_a_script(known->name)) {
      out += "<script>";
    } else {
      append_word(out, values()[i]);
    }
  }
  return out;
}

std::uint64_t Command::digest() const {
  constexpr std::uint64_t begin = digest_bytes("command");
  const std::span<const Value> all = values();
  const CommandSpec* known = spec();
  const bool is_spelt = known != nullptr && all[0].bytes() == known->name;
  std::uint64_t digest = is_spelt ? known->digest : begin;
  for (const Value& value : all.subspan(is_spelt ? 1 : 0)) {
    const std::optional<std::string_view> bytes = value.bytes();
    digest = digest_number(bytes ? digest_bytes(*bytes) : value.digest(), digest);
  }
  return digest;
}

bool Command::operator==(const Command& other) const {
  return std::equal(values().begin(), values().end(), other.values().begin(), other.values().end());
}

}  // namespace lockstep::models::redis
