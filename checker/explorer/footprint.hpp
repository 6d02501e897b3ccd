#pragma once

// What an event read and changed of its process's state.

#include <array>
#include <cstdint>
#include <istream>
#include <ostream>

namespace lockstep::checker {

/// A few parts, or all. Which parts there are is the process's business; they are told apart by number.
class Footprint {
 public:
  static Footprint everything() {
    Footprint f;
    f.is_everything_ = true;
    return f;
  }

  void add(std::uint64_t part, bool changes) {
    for (std::uint8_t i = 0; i < count_; ++i) {
      if (parts_[i] != part) continue;
      changed_ |= static_cast<std::uint8_t>(changes ? 1u << i : 0u);
      return;
    }
    if (count_ == parts_.size()) {
      is_everything_ = true;  // more than it can name
      return;
    }
    parts_[count_] = part;
    changed_ |= static_cast<std::uint8_t>(changes ? 1u << count_ : 0u);
    ++count_;
  }
  void add_everything() { is_everything_ = true; }
  void add(const Footprint& other) {
    is_everything_ = is_everything_ || other.is_everything_;
    for (std::uint8_t i = 0; i < other.count_; ++i) add(other.parts_[i], other.changes_at(i));
  }

  bool is_everything() const { return is_everything_; }
  bool reads(std::uint64_t part) const { return find(part) < count_; }
  bool changes(std::uint64_t part) const {
    const std::uint8_t i = find(part);
    return i < count_ && changes_at(i);
  }

  /// Whether it reads or changes each part that the other one does.
  bool covers(const Footprint& other) const {
    if (is_everything_ || other.is_everything_) return is_everything_;
    for (std::uint8_t i = 0; i < other.count_; ++i) {
      if (!reads(other.parts_[i])) return false;
    }
    return true;
  }
  /// Whether two events of one process with these footprints depend on each other: one changes what the other reads or
  /// changes.
  bool conflicts(const Footprint& other) const {
    if (is_everything_ || other.is_everything_) return true;
    for (std::uint8_t i = 0; i < count_; ++i) {
      const std::uint8_t j = other.find(parts_[i]);
      if (j < other.count_ && (changes_at(i) || other.changes_at(j))) return true;
    }
    return false;
  }

  /// As numbers between blanks.
  void write(std::ostream& out) const {
    out << is_everything_ << ' ' << static_cast<unsigned>(changed_) << ' ' << static_cast<unsigned>(count_);
    for (std::uint8_t i = 0; i < count_; ++i) out << ' ' << parts_[i];
  }
  /// What `write` wrote; else the stream has failed.
  static Footprint read(std::istream& in) {
    Footprint f;
    unsigned changed = 0;
    unsigned count = 0;
    in >> f.is_everything_ >> changed >> count;
    if (count > f.parts_.size()) in.setstate(std::ios::failbit);
    if (!in) return f;
    f.changed_ = static_cast<std::uint8_t>(changed);
    f.count_ = static_cast<std::uint8_t>(count);
    for (unsigned i = 0; i < count; ++i) in >> f.parts_[i];
    return f;
  }

 private:
  bool changes_at(std::uint8_t i) const { return (changed_ >> i & 1) != 0; }
  std::uint8_t find(std::uint64_t part) const {
    std::uint8_t i = 0;
    while (i < count_ && parts_[i] != part) ++i;
    return i;
  }

  std::array<std::uint64_t, 8> parts_{};
  std::uint8_t count_ = 0;
  std::uint8_t changed_ = 0;  ///< a bit for each part
  bool is_everything_ = false;
};

}  // namespace lockstep::checker
