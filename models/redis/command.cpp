#include "models/redis/command.hpp"

#include <algorithm>
#include <cassert>

#include "models/redis/commands.hpp"

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

Command::Command(const Command& other)
    : spilled_(other.spilled_), count_(other.count_), spec_(other.spec_), is_known_(other.is_known_) {
  if (spilled_.empty()) std::copy_n(other.in_place_.begin(), count_, in_place_.begin());
}

Command::Command(Command&& other) noexcept
    : spilled_(std::move(other.spilled_)), count_(other.count_), spec_(other.spec_), is_known_(other.is_known_) {
  if (spilled_.empty())
    std::move(other.in_place_.begin(), other.in_place_.begin() + static_cast<std::ptrdiff_t>(count_),
              in_place_.begin());
  other.clear();
}

Command& Command::operator=(const Command& other) {
  if (this == &other) return *this;
  spilled_ = other.spilled_;
  count_ = other.count_;
  spec_ = other.spec_;
  is_known_ = other.is_known_;
  if (spilled_.empty()) std::copy_n(other.in_place_.begin(), count_, in_place_.begin());
  return *this;
}

Command& Command::operator=(Command&& other) noexcept {
  if (this == &other) return *this;
  spilled_ = std::move(other.spilled_);
  count_ = other.count_;
  spec_ = other.spec_;
  is_known_ = other.is_known_;
  if (spilled_.empty())
    std::move(other.in_place_.begin(), other.in_place_.begin() + static_cast<std::ptrdiff_t>(count_),
              in_place_.begin());
  other.clear();
  return *this;
}

void Command::reserve(std::size_t count) {
  if (count > kInPlace) spilled_.reserve(count);
}

void Command::push_back(Value value) {
  is_known_ = is_known_ && count_ >= 2;
  if (count_ < kInPlace) {
    in_place_[count_] = std::move(value);
  } else {
    if (count_ == kInPlace) {
      for (Value& kept : in_place_) spilled_.push_back(std::move(kept));
    }
    spilled_.push_back(std::move(value));
  }
  ++count_;
}

void Command::clear() {
  spilled_.clear();
  count_ = 0;
  is_known_ = false;
}

const CommandSpec* Command::spec() const {
  if (!is_known_) {
    spec_ = empty() ? nullptr : find_command(values());
    is_known_ = true;
  }
  return spec_;
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
  std::uint64_t digest = digest_bytes("command");
  for (const Value& value : values()) digest = digest_number(value.digest(), digest);
  return digest;
}

bool Command::operator==(const Command& other) const {
  return std::equal(values().begin(), values().end(), other.values().begin(), other.values().end());
}

}  // namespace lockstep::models::redis
