#pragma once

// What a key can hold: one alternative for each type of Redis.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/redis/data/flat_table.hpp"
#include "models/redis/data/sorted_set.hpp"
#include "models/value.hpp"

namespace lockstep::models::redis {

struct HashField {
  std::string key;
  std::uint64_t hash = 0;
  Value value;
};
using Hash = FlatTable<HashField>;

struct SetMember {
  std::string key;
  std::uint64_t hash = 0;
};
using Set = FlatTable<SetMember>;

/// A list is a vector with some room in front, so that both ends are cheap.
class List {
 public:
  std::size_t size() const { return values_.size() - head_; }
  bool empty() const { return size() == 0; }
  Value& operator[](std::size_t i) { return values_[head_ + i]; }
  const Value& operator[](std::size_t i) const { return values_[head_ + i]; }
  void push_back(Value value) { values_.push_back(std::move(value)); }
  void push_front(Value value);
  Value pop_back();
  Value pop_front();
  void insert(std::size_t before, Value value);
  void erase(std::size_t first, std::size_t count = 1);

 private:
  std::vector<Value> values_;
  std::size_t head_ = 0;
};

using Object = std::variant<Value, Hash, List, Set, SortedSet>;

/// As TYPE names it: "string", "zset".
std::string_view type_name(const Object& object);

/// Equal for equal contents, whatever the order in which unordered ones came to be.
std::uint64_t digest_of(const Object& object);

}  // namespace lockstep::models::redis
