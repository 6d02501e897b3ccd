#pragma once

// Numbers and texts one after another, as one text and back: "12 5:hello". For what processes of this program tell each
// other, and themselves later.

#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lockstep::scenarios {

/// Numbers end with a blank, texts begin with their length.
class Writing {
 public:
  explicit Writing(std::string_view head = {}) : text_(head) {}
  void add(std::uint64_t number) { fmt::format_to(std::back_inserter(text_), "{} ", number); }
  void add(const std::string& text) { fmt::format_to(std::back_inserter(text_), "{}:{}", text.size(), text); }
  void end_line() { text_ += '\n'; }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

/// After the first mistake all is zero, and `is_good` says so.
class Reading {
 public:
  explicit Reading(std::string_view text) : rest_(text) {}

  std::uint64_t number(char end = ' ') {
    while (!rest_.empty() && rest_.front() == '\n') rest_.remove_prefix(1);
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || stop == rest_.data() + rest_.size() || *stop != end) return fail();
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()) + 1);
    return value;
  }
  std::uint32_t small() {
    const std::uint64_t value = number();
    return value > UINT32_MAX ? static_cast<std::uint32_t>(fail()) : static_cast<std::uint32_t>(value);
  }
  std::string text() {
    const std::uint64_t size = number(':');
    if (size > rest_.size()) {
      fail();
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  /// How many come: no more than there is text.
  std::uint64_t count() {
    const std::uint64_t value = number();
    return value > rest_.size() ? fail() : value;
  }
  bool is_good() const { return is_good_; }
  /// What was read so far makes no sense to its reader.
  void refuse() { fail(); }
  bool is_at_end() const { return rest_.find_first_not_of('\n') == std::string_view::npos; }

 private:
  std::uint64_t fail() {
    is_good_ = false;
    rest_ = {};
    return 0;
  }
  std::string_view rest_;
  bool is_good_ = true;
};

}  // namespace lockstep::scenarios
