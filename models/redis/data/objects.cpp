#include "models/redis/data/objects.hpp"

#include <algorithm>
#include <array>

namespace lockstep::models::redis {

void List::push_front(Value value) {
  if (head_ == 0) {
    const std::size_t room = 4 + size() / 2;
    values_.insert(values_.begin(), room, Value());
    head_ = room;
  }
  values_[--head_] = std::move(value);
}

Value List::pop_back() {
  Value value = std::move(values_.back());
  values_.pop_back();
  return value;
}

Value List::pop_front() {
  Value value = std::move(values_[head_]);
  ++head_;
  if (empty()) {
    values_.clear();
    head_ = 0;
  }
  return value;
}

void List::insert(std::size_t before, Value value) {
  values_.insert(values_.begin() + static_cast<std::ptrdiff_t>(head_ + before), std::move(value));
}

void List::erase(std::size_t first, std::size_t count) {
  const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(head_ + first);
  values_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
}

std::string_view type_name(const Object& object) {
  constexpr std::array<std::string_view, 5> kNames = {"string", "hash", "list", "set", "zset"};
  static_assert(std::variant_size_v<Object> == kNames.size());
  return kNames[object.index()];
}

std::uint64_t digest_of(const Object& object) {
  const std::uint64_t seed = digest_bytes(type_name(object));
  struct {
    std::uint64_t seed;
    std::uint64_t operator()(const Value& value) const { return value.digest(); }
    std::uint64_t operator()(const Hash& hash) const {
      std::uint64_t sum = hash.size();
      for (const HashField& field : hash.items()) sum += digest_number(field.value.digest(), digest_bytes(field.key));
      return digest_number(sum, seed);
    }
    std::uint64_t operator()(const List& list) const {
      std::uint64_t digest = seed;
      for (std::size_t i = 0; i < list.size(); ++i) digest = digest_number(list[i].digest(), digest);
      return digest;
    }
    std::uint64_t operator()(const Set& set) const {
      std::uint64_t sum = set.size();
      for (const SetMember& member : set.items()) sum += digest_bytes(member.key);
      return digest_number(sum, seed);
    }
    std::uint64_t operator()(const SortedSet& set) const {
      std::uint64_t sum = set.size();
      for (const ScoredMember& member : set.members()) {
        sum += digest_number(member.score.digest(), digest_bytes(member.key));
      }
      return digest_number(sum, seed);
    }
  } digest{seed};
  return std::visit(digest, object);
}

}  // namespace lockstep::models::redis
