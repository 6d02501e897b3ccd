#pragma once

// Things with names, in a flat array: the keys of a database, the fields of a hash, the members of a set.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/value.hpp"

namespace lockstep::models::redis {

/// Found by a linear scan while there are few and through an open-addressing index once there are many. Order is that
/// of insertion, except that the last item takes the place of a removed one: a function of the calls alone, so
/// iteration is the same everywhere. Memory of removed items is kept for later ones.
///
/// An item has `std::string key` and `std::uint64_t hash`.
template <class Item>
class FlatTable {
 public:
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::span<const Item> items() const { return {items_.data(), count_}; }
  std::span<Item> items() { return {items_.data(), count_}; }

  Item* find(std::string_view key) { return find(key, digest_bytes(key)); }
  const Item* find(std::string_view key) const { return const_cast<FlatTable*>(this)->find(key); }
  Item* find(std::string_view key, std::uint64_t hash);
  /// Requires: no item has this key. All but `key` and `hash` is left as an item before it left it.
  Item& insert(std::string_view key, std::uint64_t hash);
  Item& insert(std::string_view key) { return insert(key, digest_bytes(key)); }
  /// Requires: an item of this table.
  void erase(Item& item);
  /// Memory is kept.
  void clear() {
    count_ = 0;
    index_.clear();
  }

 private:
  static constexpr std::size_t kScanned = 8;  ///< up to here a scan of the hashes is faster than the index
  static constexpr std::uint32_t kFree = 0xffffffff;

  /// Where the index looks first: the high bits know more than the low ones.
  static std::size_t home(std::uint64_t hash, std::size_t mask) {
    return static_cast<std::size_t>(hash ^ (hash >> 32)) & mask;
  }
  bool is_indexed() const { return !index_.empty(); }
  void build_index(std::size_t slots);
  void enter(std::size_t position);
  std::size_t slot_of(std::uint32_t position) const;
  void free_slot(std::size_t slot);

  std::vector<Item> items_;  ///< the first `count_` are alive; the rest keep their memory
  std::size_t count_ = 0;
  std::vector<std::uint32_t> index_;  ///< positions in `items_`; a power of two, or empty while few
};

template <class Item>
Item* FlatTable<Item>::find(std::string_view key, std::uint64_t hash) {
  if (!is_indexed()) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (items_[i].hash == hash && items_[i].key == key) return &items_[i];
    }
    return nullptr;
  }
  const std::size_t mask = index_.size() - 1;
  for (std::size_t slot = home(hash, mask); index_[slot] != kFree; slot = (slot + 1) & mask) {
    Item& item = items_[index_[slot]];
    if (item.hash == hash && item.key == key) return &item;
  }
  return nullptr;
}

template <class Item>
Item& FlatTable<Item>::insert(std::string_view key, std::uint64_t hash) {
  if (count_ == items_.size()) items_.emplace_back();
  Item& item = items_[count_];
  item.key = key;
  item.hash = hash;
  ++count_;
  if (is_indexed() && count_ * 2 <= index_.size()) {
    enter(count_ - 1);
  } else if (count_ > kScanned) {
    build_index(is_indexed() ? index_.size() * 2 : kScanned * 4);
  }
  return item;
}

template <class Item>
void FlatTable<Item>::erase(Item& item) {
  const auto position = static_cast<std::uint32_t>(&item - items_.data());
  const auto last = static_cast<std::uint32_t>(count_ - 1);
  if (is_indexed()) free_slot(slot_of(position));
  if (position != last) {
    if (is_indexed()) index_[slot_of(last)] = position;
    std::swap(item, items_[last]);
  }
  --count_;
}

template <class Item>
void FlatTable<Item>::build_index(std::size_t slots) {
  index_.assign(slots, kFree);
  for (std::size_t i = 0; i < count_; ++i) enter(i);
}

template <class Item>
void FlatTable<Item>::enter(std::size_t position) {
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = home(items_[position].hash, mask);
  while (index_[slot] != kFree) slot = (slot + 1) & mask;
  index_[slot] = static_cast<std::uint32_t>(position);
}

template <class Item>
std::size_t FlatTable<Item>::slot_of(std::uint32_t position) const {
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = home(items_[position].hash, mask);
  while (index_[slot] != position) slot = (slot + 1) & mask;
  return slot;
}

/// Linear probing without tombstones: later items of the run move up unless that would carry them before their home.
template <class Item>
void FlatTable<Item>::free_slot(std::size_t slot) {
  const std::size_t mask = index_.size() - 1;
  std::size_t hole = slot;
  for (std::size_t next = (hole + 1) & mask; index_[next] != kFree; next = (next + 1) & mask) {
    const std::size_t wanted = home(items_[index_[next]].hash, mask);
    if (((next - wanted) & mask) >= ((next - hole) & mask)) {
      index_[hole] = index_[next];
      hole = next;
    }
  }
  index_[hole] = kFree;
}

}  // namespace lockstep::models::redis
