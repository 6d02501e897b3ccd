#include "models/redis/keyspace.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::models::redis {
namespace {

using Kind = sim::Effect::Kind;

}  // namespace

Entry* Keyspace::find(std::string_view key, const sim::Clock& clock) {
  const std::uint64_t hash = digest_bytes(key);
  watch(hash, false);
  Entry* entry = entries_.find(key, hash);
  // Redis 7.0 counts whole milliseconds and keeps a key until `now > deadline`. Here time is dense, a lease of 100 ms is
  // over when 100 ms have passed, and the documented thresholds (10 + 20 + P > 101 of set-nx-px-lua) depend on it.
  if (entry != nullptr && entry->expires && expiry_rule_ != ExpiryRule::ignores && clock.has_reached(entry->deadline)) {
    if (expiry_rule_ == ExpiryRule::removes) {
      watch(hash, true);
      note(Kind::expire, key);
      entries_.erase(*entry);
    }
    entry = nullptr;
  }
  note(Kind::read, key);
  return entry;
}

Entry& Keyspace::overwrite(std::string_view key) {
  const std::uint64_t hash = digest_bytes(key);
  watch(hash, true);
  Entry* entry = entries_.find(key, hash);
  if (entry == nullptr) {
    entry = &entries_.insert(key, hash);
    entry->expires = false;
  }
  note(Kind::write, key);
  return *entry;
}

void Keyspace::remove(Entry& entry) {
  watch(entry.hash, true);
  note(Kind::remove, entry.key);
  entries_.erase(entry);
}

void Keyspace::remove_all() {
  for (const Entry& entry : entries()) append(Kind::remove, entry.key);
  entries_.clear();
}

void Keyspace::reset() {
  entries_.clear();
  changes_count_ = command_begin_ = 0;
}

std::uint64_t Keyspace::digest() const {
  std::uint64_t sum = size();
  for (const Entry& entry : entries()) {
    std::uint64_t digest = digest_bytes(entry.key);
    digest = digest_number(digest_of(entry.object), digest);
    if (entry.expires) {
      digest = digest_number(entry.deadline.anchor(), digest);
      digest = digest_number(static_cast<std::uint64_t>(entry.deadline.offset().count_ns()), digest);
    }
    sum += digest;
  }
  return sum;
}

void Keyspace::note(Kind kind, std::string_view key) {
  // A command looks a key up and then changes it; between the two it has touched few others. Looking far back would make
  // a DEL of thousands of keys quadratic.
  constexpr std::size_t kLookBack = 8;
  const std::size_t oldest = std::max(command_begin_, changes_count_ - std::min(changes_count_, kLookBack));
  for (std::size_t i = changes_count_; kind != Kind::expire && i > oldest; --i) {
    KeyChange& change = changes_[i - 1];
    if (change.kind == Kind::expire || change.key != key) continue;
    if (kind != Kind::read && !(kind == Kind::touch && change.kind == Kind::write)) change.kind = kind;
    return;
  }
  append(kind, key);
}

void Keyspace::append(Kind kind, std::string_view key) {
  if (changes_count_ == changes_.size()) changes_.emplace_back();
  KeyChange& change = changes_[changes_count_];
  change.kind = kind;
  // One request after the other is about the same key: looking is cheaper than writing.
  if (change.key != key) change.key = key;
  change.by = by_;
  ++changes_count_;
}

}  // namespace lockstep::models::redis
