#pragma once

// The keys of one Redis database: what they hold, when they expire, and what the current command did to which of them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/redis/value.hpp"
#include "sim/clock.hpp"
#include "sim/history.hpp"
#include "sim/time.hpp"

namespace lockstep::models::redis {

/// What a key holds. Each further type of Redis is one more alternative.
using Object = std::variant<Value>;

/// As TYPE names it: "string".
std::string_view type_name(const Object& object);

struct Entry {
  std::string key;
  std::uint64_t hash = 0;
  Object object;
  bool expires = false;
  sim::Instant deadline;  ///< on the server's own clock; meaningless unless `expires`
};

/// What a command really did to one key, one record for each: the strongest of read, touch, write and remove. A SET NX that found
/// the key taken only read it, and so did a DEL or a GET that found nothing. An expiry that the command noticed is a
/// record of its own, before the command's.
struct KeyChange {
  sim::Effect::Kind kind = sim::Effect::Kind::read;
  std::string key;
  bool operator==(const KeyChange&) const = default;
};

/// Keys in a flat array, found by a linear scan while there are few and through an open-addressing index once there are
/// many. Order is that of insertion, except that the last key takes the place of a removed one: a function of the
/// commands alone, so iteration is the same everywhere. Nothing is freed before destruction.
class Keyspace {
 public:
  // --- For command handlers. A returned entry is valid until the next call that may insert or remove a key.

  /// The key's entry, or null. A key whose deadline the clock has reached is removed now: expiry is lazy.
  Entry* find(std::string_view key, const sim::Clock& clock);
  /// The key's entry, new and holding an empty string if there was none, without asking whether an old one had expired:
  /// for commands that overwrite whatever was there, so that an exploration does not fork over it.
  Entry& overwrite(std::string_view key);
  /// Says that the command changed what the entry holds.
  void written(const Entry& entry) { note(sim::Effect::Kind::write, entry.key); }
  /// Says that the command changed only the entry's deadline.
  void touched(const Entry& entry) { note(sim::Effect::Kind::touch, entry.key); }
  void remove(Entry& entry);
  void remove_all();

  std::size_t size() const { return count_; }
  std::span<const Entry> entries() const { return {entries_.data(), count_}; }

  // --- For the server.

  /// Forgets the changes of the command before.
  void begin_request() { changes_count_ = command_begin_ = 0; }
  /// A script's calls are commands of one request: each has its own records.
  void begin_command() { command_begin_ = changes_count_; }
  std::span<const KeyChange> changes() const { return {changes_.data(), changes_count_}; }

  /// No keys, no changes; memory is kept.
  void reset();
  /// Equal for equal keys, values and deadlines, whatever the order.
  std::uint64_t digest() const;

 private:
  static constexpr std::size_t kScanned = 8;  ///< up to here a scan of the hashes is faster than the index
  static constexpr std::uint32_t kFree = 0xffffffff;

  Entry* lookup(std::string_view key, std::uint64_t hash);
  Entry& insert(std::string_view key, std::uint64_t hash);
  void erase(Entry& entry);
  void note(sim::Effect::Kind kind, std::string_view key);
  void append(sim::Effect::Kind kind, std::string_view key);

  bool is_indexed() const { return !index_.empty(); }
  void build_index(std::size_t slots);
  std::size_t slot_of(std::uint32_t position) const;
  void free_slot(std::size_t slot);

  std::vector<Entry> entries_;  ///< the first `count_` are alive; the rest keep their memory
  std::size_t count_ = 0;
  std::vector<std::uint32_t> index_;  ///< positions in `entries_`; a power of two, or empty while few keys
  std::vector<KeyChange> changes_;
  std::size_t changes_count_ = 0;
  std::size_t command_begin_ = 0;
};

}  // namespace lockstep::models::redis
