#include "models/redis/data/keyspace.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::models::redis {
namespace {

using EffectKind = sim::Effect::Kind;

/// The part of a key that says whether it may hold any text.
std::uint64_t all_texts_of(std::uint64_t key) { return digest_number(digest_bytes("all texts"), key); }
std::uint64_t text_of(std::uint64_t key, const Value& text) { return digest_number(text.digest(), key); }

}  // namespace

std::string name_in_history(const std::string& key, DatabaseId database) {
  return database == 0 ? key : key + " (database " + std::to_string(database) + ")";
}

Entry* Keyspace::find(std::string_view key, const sim::Clock& clock) {
  const std::uint64_t hash = digest_bytes(key);
  watch(hash ^ salt_, false);
  Entry* entry = table_->find(key, hash);
  // Redis 7.0 counts whole milliseconds and keeps a key until `now > deadline`. Here time is dense, a lease of 100 ms
  // is over when 100 ms have passed, and the documented thresholds (10 + 20 + P > 101 of set-nx-px-lua) depend on it.
  if (entry != nullptr && entry->expires && expiry_rule_ != ExpiryRule::ignores && clock.has_reached(entry->at)) {
    if (expiry_rule_ == ExpiryRule::removes) {
      watch(hash ^ salt_, true);
      watch_text(*entry);
      note(EffectKind::expire, key);
      table_->erase(*entry);
    }
    entry = nullptr;
  }
  note(EffectKind::read, key);
  if (entry == nullptr && records_misses_) [[unlikely]]
    misses_.emplace_back(key);
  return entry;
}

Entry& Keyspace::overwrite(std::string_view key) {
  const std::uint64_t hash = digest_bytes(key);
  watch(hash ^ salt_, true);
  watch_all_texts(hash ^ salt_);
  return placed(key, hash);
}

Entry& Keyspace::overwrite(std::string_view key, const Value& by) {
  const std::uint64_t hash = digest_bytes(key);
  watch(hash ^ salt_, true);
  if (watcher_ != nullptr) {
    if (const Entry* entry = table_->find(key, hash)) watch_text(*entry);
    watch_text(hash ^ salt_, by);
  }
  return placed(key, hash);
}

Entry& Keyspace::placed(std::string_view key, std::uint64_t hash) {
  Entry* entry = table_->find(key, hash);
  const bool creates = entry == nullptr;
  if (creates) {
    entry = &table_->insert(key, hash);
    entry->expires = false;
  }
  KeyChange& change = note(EffectKind::write, key);
  if (creates) change.creates = true;
  return *entry;
}

bool Keyspace::holds_another(std::string_view key, const Value& text) {
  if (watcher_ == nullptr || expiry_rule_ != ExpiryRule::removes || text.timestamp() != nullptr) return false;
  const std::uint64_t hash = digest_bytes(key);
  if (const Entry* entry = table_->find(key, hash)) {
    const Value* held = std::get_if<Value>(&entry->object);
    if (held == nullptr || held->timestamp() != nullptr || *held == text) return false;
  }
  watch(text_of(hash ^ salt_, text), false);
  watch(all_texts_of(hash ^ salt_), false);
  note(EffectKind::read, key);
  return true;
}

void Keyspace::watch_text(const Entry& entry) {
  if (watcher_ == nullptr) return;
  const Value* held = std::get_if<Value>(&entry.object);
  if (held != nullptr)
    watch_text(entry.hash ^ salt_, *held);
  else
    watch_all_texts(entry.hash ^ salt_);
}

void Keyspace::watch_text(std::uint64_t key, const Value& text) {
  if (text.timestamp() != nullptr)
    watch_all_texts(key);
  else
    watch(text_of(key, text), true);
}

void Keyspace::watch_all_texts(std::uint64_t key) {
  if (watcher_ != nullptr) watch(all_texts_of(key), true);
}

void Keyspace::remove(Entry& entry) {
  watch(entry.hash ^ salt_, true);
  watch_text(entry);
  note(EffectKind::remove, entry.key);
  table_->erase(entry);
}

void Keyspace::remove_all() {
  for (const Entry& entry : entries()) append(EffectKind::remove, entry.key);
  table_->clear();
}

void Keyspace::swap(DatabaseId one, DatabaseId other) {
  const DatabaseId before = selected_;
  const auto keys_in = [&](DatabaseId database) {
    std::vector<std::string> names;
    for (const Entry& entry : entries(database)) names.push_back(entry.key);
    return names;
  };
  const std::vector<std::string> first = keys_in(one), second = keys_in(other);
  std::swap(table(one), table(other));
  for (const DatabaseId database : {one, other}) {
    select(database);
    for (const std::vector<std::string>* names : {&first, &second}) {
      for (const std::string& name : *names) {
        const bool is_there = peek(name) != nullptr;
        append(is_there ? EffectKind::write : EffectKind::remove, name).creates = is_there;
      }
    }
  }
  select(before);
}

std::span<const Entry> Keyspace::entries(DatabaseId database) const {
  const FlatTable<Entry>* keys = table(database);
  return keys != nullptr ? keys->items() : std::span<const Entry>();
}

bool Keyspace::empty() const {
  return first_.empty() && std::all_of(others_.begin(), others_.end(), [](const auto& keys) { return keys.empty(); });
}

const FlatTable<Entry>* Keyspace::table(DatabaseId database) const {
  if (database == 0) return &first_;
  return others_.empty() ? nullptr : &others_[database - 1U];
}

FlatTable<Entry>& Keyspace::table(DatabaseId database) {
  if (database == 0) return first_;
  if (others_.empty()) others_.resize(kDatabases - 1);
  return others_[database - 1U];
}

void Keyspace::change_selection(DatabaseId database) {
  selected_ = database;
  table_ = &table(database);
  salt_ = salt_of(database);
}

void Keyspace::load(const Keyspace& other) {
  first_ = other.first_;
  libraries_ = other.libraries_;
  if (!others_.empty() || !other.others_.empty()) {
    others_ = other.others_;
    change_selection(0);
  }
}

void Keyspace::part_changed(std::string_view key, std::string_view member, sim::MemberChange::Kind kind) {
  std::size_t change = changes_count_;
  while (change > 0 && (changes_[change - 1].key != key || changes_[change - 1].database != selected_)) --change;
  if (change == 0) return;
  if (parts_count_ == parts_.size()) parts_.emplace_back();
  PartChange& part = parts_[parts_count_];
  part.change = change - 1;
  if (part.member != member) part.member = member;
  part.kind = kind;
  ++parts_count_;
}

void Keyspace::reset() {
  first_.clear();
  for (FlatTable<Entry>& table : others_) table.clear();
  select(0);
  changes_count_ = command_begin_ = parts_count_ = 0;
  records_misses_ = false;
  libraries_.clear();
}

std::uint64_t Keyspace::digest() const {
  std::uint64_t sum = 0;
  for (DatabaseId database = 0; database <= others_.size(); ++database) {
    sum += entries(database).size();
    for (const Entry& entry : entries(database)) {
      std::uint64_t digest = identity(entry.key, database);
      digest = digest_number(digest_of(entry.object), digest);
      if (entry.expires) {
        digest = digest_number(entry.at.anchor(), digest);
        digest = digest_number(static_cast<std::uint64_t>(entry.at.offset().count_ns()), digest);
      }
      sum += digest;
    }
  }
  for (const Library& library : libraries_) sum += digest_bytes(library.code, digest_bytes("library"));
  return sum;
}

KeyChange& Keyspace::note(EffectKind kind, std::string_view key) {
  // A command looks a key up and then changes it; between the two it has touched few others. Looking far back would
  // make a DEL of thousands of keys quadratic.
  constexpr std::size_t kLookBack = 8;
  const std::size_t oldest = std::max(command_begin_, changes_count_ - std::min(changes_count_, kLookBack));
  for (std::size_t i = changes_count_; kind != EffectKind::expire && i > oldest; --i) {
    KeyChange& change = changes_[i - 1];
    if (change.kind == EffectKind::expire || change.key != key || change.database != selected_) continue;
    if (kind != EffectKind::read && !(kind == EffectKind::touch && change.kind == EffectKind::write))
      change.kind = kind;
    return change;
  }
  return append(kind, key);
}

KeyChange& Keyspace::append(EffectKind kind, std::string_view key) {
  if (changes_count_ == changes_.size()) changes_.emplace_back();
  KeyChange& change = changes_[changes_count_];
  change.kind = kind;
  // One request after the other is about the same key: looking is cheaper than writing.
  if (change.key != key) change.key = key;
  change.by = by_;
  change.database = selected_;
  change.creates = false;
  ++changes_count_;
  return change;
}

}  // namespace lockstep::models::redis
