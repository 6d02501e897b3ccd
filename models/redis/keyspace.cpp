#include "models/redis/keyspace.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::models::redis {
namespace {

using Kind = sim::Effect::Kind;

/// Where the index looks first. FNV leaves its low bits weak for keys that differ only in the last byte.
std::size_t home(std::uint64_t hash, std::size_t mask) { return static_cast<std::size_t>(hash ^ (hash >> 32)) & mask; }

}  // namespace

std::string_view type_name(const Object& object) {
  struct {
    std::string_view operator()(const Value&) const { return "string"; }
  } name;
  return std::visit(name, object);
}

Entry* Keyspace::find(std::string_view key, const sim::Clock& clock) {
  Entry* entry = lookup(key, digest_bytes(key));
  // Redis 7.0 counts whole milliseconds and keeps a key until `now > deadline`. Here time is dense, a lease of 100 ms is
  // over when 100 ms have passed, and the documented thresholds (10 + 20 + P > 101 of set-nx-px-lua) depend on it.
  if (entry != nullptr && entry->expires && clock.has_reached(entry->deadline)) {
    note(Kind::expire, key);
    erase(*entry);
    entry = nullptr;
  }
  note(Kind::read, key);
  return entry;
}

Entry& Keyspace::overwrite(std::string_view key) {
  const std::uint64_t hash = digest_bytes(key);
  Entry* entry = lookup(key, hash);
  if (entry == nullptr) entry = &insert(key, hash);
  note(Kind::write, key);
  return *entry;
}

void Keyspace::remove(Entry& entry) {
  note(Kind::remove, entry.key);
  erase(entry);
}

void Keyspace::remove_all() {
  for (const Entry& entry : entries()) append(Kind::remove, entry.key);
  count_ = 0;
  index_.clear();
}

void Keyspace::reset() {
  count_ = 0;
  index_.clear();
  changes_count_ = command_begin_ = 0;
}

std::uint64_t Keyspace::digest() const {
  std::uint64_t sum = count_;
  for (const Entry& entry : entries()) {
    std::uint64_t digest = digest_bytes(entry.key);
    digest = digest_number(std::get<Value>(entry.object).digest(), digest);
    if (entry.expires) {
      digest = digest_number(entry.deadline.anchor(), digest);
      digest = digest_number(static_cast<std::uint64_t>(entry.deadline.offset().count_ns()), digest);
    }
    sum += digest;
  }
  return sum;
}

Entry* Keyspace::lookup(std::string_view key, std::uint64_t hash) {
  if (!is_indexed()) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (entries_[i].hash == hash && entries_[i].key == key) return &entries_[i];
    }
    return nullptr;
  }
  const std::size_t mask = index_.size() - 1;
  for (std::size_t slot = home(hash, mask); index_[slot] != kFree; slot = (slot + 1) & mask) {
    Entry& entry = entries_[index_[slot]];
    if (entry.hash == hash && entry.key == key) return &entry;
  }
  return nullptr;
}

Entry& Keyspace::insert(std::string_view key, std::uint64_t hash) {
  if (count_ == entries_.size()) entries_.emplace_back();
  Entry& entry = entries_[count_];
  entry.key = key;
  entry.hash = hash;
  entry.object = Value();
  entry.expires = false;
  ++count_;
  if (is_indexed() && count_ * 2 <= index_.size()) {
    const std::size_t mask = index_.size() - 1;
    std::size_t slot = home(hash, mask);
    while (index_[slot] != kFree) slot = (slot + 1) & mask;
    index_[slot] = static_cast<std::uint32_t>(count_ - 1);
  } else if (count_ > kScanned) {
    build_index(is_indexed() ? index_.size() * 2 : kScanned * 4);
  }
  return entry;
}

void Keyspace::erase(Entry& entry) {
  const auto position = static_cast<std::uint32_t>(&entry - entries_.data());
  const auto last = static_cast<std::uint32_t>(count_ - 1);
  if (is_indexed()) free_slot(slot_of(position));
  if (position != last) {
    if (is_indexed()) index_[slot_of(last)] = position;
    std::swap(entry, entries_[last]);
  }
  --count_;
}

void Keyspace::build_index(std::size_t slots) {
  index_.assign(slots, kFree);
  const std::size_t mask = slots - 1;
  for (std::size_t i = 0; i < count_; ++i) {
    std::size_t slot = home(entries_[i].hash, mask);
    while (index_[slot] != kFree) slot = (slot + 1) & mask;
    index_[slot] = static_cast<std::uint32_t>(i);
  }
}

std::size_t Keyspace::slot_of(std::uint32_t position) const {
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = home(entries_[position].hash, mask);
  while (index_[slot] != position) slot = (slot + 1) & mask;
  return slot;
}

/// Linear probing without tombstones: later entries of the run move up unless that would carry them before their home.
void Keyspace::free_slot(std::size_t slot) {
  const std::size_t mask = index_.size() - 1;
  std::size_t hole = slot;
  for (std::size_t next = (hole + 1) & mask; index_[next] != kFree; next = (next + 1) & mask) {
    const std::size_t wanted = home(entries_[index_[next]].hash, mask);
    if (((next - wanted) & mask) >= ((next - hole) & mask)) {
      index_[hole] = index_[next];
      hole = next;
    }
  }
  index_[hole] = kFree;
}

void Keyspace::note(Kind kind, std::string_view key) {
  // A command looks a key up and then changes it; between the two it has touched few others. Looking far back would make
  // a DEL of thousands of keys quadratic.
  constexpr std::size_t kLookBack = 8;
  const std::size_t oldest = std::max(command_begin_, changes_count_ - std::min(changes_count_, kLookBack));
  for (std::size_t i = changes_count_; kind != Kind::expire && i > oldest; --i) {
    KeyChange& change = changes_[i - 1];
    if (change.kind == Kind::expire || change.key != key) continue;
    if (kind != Kind::read) change.kind = kind;
    return;
  }
  append(kind, key);
}

void Keyspace::append(Kind kind, std::string_view key) {
  if (changes_count_ == changes_.size()) changes_.emplace_back();
  changes_[changes_count_].kind = kind;
  changes_[changes_count_].key = key;
  ++changes_count_;
}

}  // namespace lockstep::models::redis
