#pragma once

// The keys of a Redis server, by database: what they hold, when they expire, and what the current command did to which
// of them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/redis/data/flat_table.hpp"
#include "models/redis/data/ids.hpp"
#include "models/redis/data/objects.hpp"
#include "models/value.hpp"
#include "sim/time/clock.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::models::redis {

/// When a key's time is over.
struct Deadline {
  sim::Instant at;         ///< on the server's own clock
  sim::Duration lifetime;  ///< how long it was to live when that was said; zero if it was said as a moment

  /// 250 years: what an `Instant` in nanoseconds holds, with some room.
  static constexpr std::int64_t kLongestMilliseconds = 250LL * 365 * 86'400 * 1000;
  /// So many milliseconds since the clock's origin. What no `Instant` holds is kept as a number, and `at` is a moment
  /// that nobody lives to see, or that was over before anything began. There is room for that number in `lifetime`, and
  /// no other: each request carries deadlines.
  static Deadline moment(std::int64_t milliseconds) {
    if (milliseconds >= kLongestMilliseconds) return {last(), sim::Duration::nanoseconds(milliseconds)};
    if (milliseconds <= -kLongestMilliseconds) return {first(), sim::Duration::nanoseconds(milliseconds)};
    return {sim::Instant::at(sim::Duration::milliseconds(milliseconds)), sim::Duration::zero()};
  }
  /// Milliseconds since the clock's origin of a moment that no `Instant` holds; 0: `at` is the moment.
  std::int64_t far_ms() const { return at.identical(last()) || at.identical(first()) ? lifetime.count_ns() : 0; }
  static constexpr sim::Instant last() { return sim::Instant::at(sim::Duration::milliseconds(kLongestMilliseconds)); }
  static constexpr sim::Instant first() { return sim::Instant::at(sim::Duration::milliseconds(-kLongestMilliseconds)); }
};

struct Entry : Deadline {
  std::string key;
  std::uint64_t hash = 0;
  Object object;
  bool expires = false;  ///< if not, the deadline means nothing
};

/// What a command really did to one key, one record for each: the strongest of read, touch, write and remove. A SET NX
/// that found the key taken only read it, and so did a DEL or a GET that found nothing. An expiry that the command
/// noticed is a record of its own, before the command's.
struct KeyChange {
  sim::Effect::Kind kind = sim::Effect::Kind::read;
  std::string key;
  SessionId by = 0;  ///< whose command it was: a push may serve somebody else's BLPOP
  DatabaseId database = 0;
  bool creates = false;  ///< the key was not there before it
  bool operator==(const KeyChange&) const = default;
};

/// As histories and reports call a key: those of database 0 by their names.
std::string name_in_history(const std::string& key, DatabaseId database);

/// What a command did to one part of what a key holds.
struct PartChange {
  std::size_t change = 0;  ///< of which `KeyChange`
  std::string member;      ///< of a list's element or a counter's unit: empty
  sim::MemberChange::Kind kind = sim::MemberChange::Kind::written;
};

/// Hears of accesses to keys, each before it happens. Keys are told apart by their digest; so is what a key may hold
/// from the key.
class KeyWatcher {
 public:
  virtual void key_accessed(std::uint64_t key, bool changes) = 0;

 protected:
  ~KeyWatcher() = default;
};

/// What FUNCTION LOAD has loaded. It is kept and sent along with the keys.
struct Library {
  struct Function {
    std::string name;
    std::optional<std::string> description;
    std::vector<std::string> flags;
  };
  std::string name;
  std::string code;  ///< as it was sent
  std::vector<Function> functions;
};

/// What is done about a key whose deadline has been reached.
enum class ExpiryRule : std::uint8_t {
  removes,  ///< it is removed when a command comes upon it
  hides,    ///< a replica's clients do not see it; it stays until the primary says that it is gone
  ignores   ///< what the primary says is done to whatever is there
};

/// A key is told apart by its name and its database: all that is said of a name here is said of the one that is
/// selected, and watchers hear of different keys where the databases differ.
class Keyspace {
 public:
  Keyspace() = default;
  Keyspace(const Keyspace&) = delete;
  Keyspace& operator=(const Keyspace&) = delete;

  /// Requires: below `kDatabases`. Entries of the other databases stay valid.
  void select(DatabaseId database) {
    if (database != selected_) [[unlikely]]
      change_selection(database);
  }
  DatabaseId selected() const { return selected_; }

  // --- For command handlers. A returned entry is valid until the next call that may insert or remove a key.

  /// The key's entry, or null. A key whose deadline the clock has reached is removed now, or as `set_expiry_rule` says:
  /// expiry is lazy.
  Entry* find(std::string_view key, const sim::Clock& clock);
  /// The key's entry, new and holding an empty string if there was none, without asking whether an old one had expired:
  /// for commands that overwrite whatever was there, so that an exploration does not fork over it.
  Entry& overwrite(std::string_view key);
  /// The same for a command that is about to store this string.
  Entry& overwrite(std::string_view key, const Value& by);
  /// Whether the key holds another string than this one, expired or not, or nothing, so that `find` would not find this
  /// one whatever the time. Who is told so depends on those alone who put this string there or take it away
  /// (`KeyWatcher`). False where nobody watches, and where such a look would leave a mark.
  bool holds_another(std::string_view key, const Value& text);
  /// The same key as `find` has just not found, holding nothing of a type yet. Requires: there is no such key.
  template <class Type>
  Type& create(std::string_view key) {
    return overwrite(key).object.template emplace<Type>();
  }
  /// Says that the command changed what the entry holds.
  void written(const Entry& entry) {
    watch(entry.hash ^ salt_, true);
    watch_all_texts(entry.hash ^ salt_);
    note(sim::Effect::Kind::write, entry.key);
  }
  /// Says that the command changed only the entry's deadline. Whoever asks for the text that is there looks at all of
  /// the key, so its own part is as it was.
  void touched(const Entry& entry) {
    watch(entry.hash ^ salt_, true);
    note(sim::Effect::Kind::touch, entry.key);
  }
  void remove(Entry& entry);
  void remove_all();
  /// What is in the one is in the other; a key that was in either has changed in both. Requires: different ones.
  void swap(DatabaseId one, DatabaseId other);
  /// Says what that change, or removal, was about. Requires: the change itself has been said.
  void part_changed(std::string_view key, std::string_view member, sim::MemberChange::Kind kind);

  std::size_t size() const { return table_->size(); }
  std::span<const Entry> entries() const { return table_->items(); }
  /// Of a database whether selected or not.
  std::span<const Entry> entries(DatabaseId database) const;
  /// In all databases.
  bool empty() const;
  /// The key's entry as it lies there, expired or not, without a trace: for the server, not for commands.
  const Entry* peek(std::string_view key) const { return table_->find(key); }
  const Entry* peek(std::string_view key, DatabaseId database) const {
    const FlatTable<Entry>* keys = table(database);
    return keys != nullptr ? keys->find(key) : nullptr;
  }

  // --- For the server.

  /// Null: nobody watches. Requires: the watcher outlives the keyspace, or is taken back.
  void set_watcher(KeyWatcher* watcher) { watcher_ = watcher; }
  void watch(std::uint64_t hash, bool changes) {
    if (watcher_ != nullptr) watcher_->key_accessed(hash, changes);
  }
  /// By what a watcher knows a key.
  std::uint64_t identity(std::string_view key) const { return digest_bytes(key) ^ salt_; }
  static std::uint64_t identity(std::string_view key, DatabaseId database) {
    return digest_bytes(key) ^ salt_of(database);
  }

  void set_expiry_rule(ExpiryRule rule) { expiry_rule_ = rule; }
  ExpiryRule expiry_rule() const { return expiry_rule_; }
  /// Another's keys in place of those that are there, without a trace.
  void load(const Keyspace& other);

  /// Forgets the changes of the command before.
  void begin_request() { changes_count_ = command_begin_ = parts_count_ = 0; }
  /// A script's calls are commands of one request: each has its own records.
  void begin_command(SessionId by) {
    command_begin_ = changes_count_;
    by_ = by;
  }
  /// Names that the command looked up in vain, in order, if that was asked for.
  void record_misses(bool on) {
    records_misses_ = on;
    if (on) misses_.clear();
  }
  std::span<const std::string> misses() const { return misses_; }
  std::span<const KeyChange> changes() const { return {changes_.data(), changes_count_}; }
  /// By change.
  std::span<const PartChange> parts() const { return {parts_.data(), parts_count_}; }
  /// Of the command that began last.
  std::span<const KeyChange> changes_of_command() const { return changes().subspan(command_begin_); }

  /// No keys, no changes; memory is kept.
  void reset();
  const std::vector<Library>& libraries() const { return libraries_; }
  void set_libraries(std::vector<Library> libraries) { libraries_ = std::move(libraries); }

  /// Equal for equal keys, values and deadlines, whatever the order, and equal libraries.
  std::uint64_t digest() const;

 private:
  /// Whether the key holds one text is a part of its own, and so is whether it may hold any: who puts a text there or
  /// takes one away changes the first, who does something else to it the second. Who asks for a text reads both.
  void watch_text(const Entry& entry);
  void watch_text(std::uint64_t key, const Value& text);
  void watch_all_texts(std::uint64_t key);
  Entry& placed(std::string_view key, std::uint64_t hash);
  KeyChange& note(sim::Effect::Kind kind, std::string_view key);
  KeyChange& append(sim::Effect::Kind kind, std::string_view key);
  void change_selection(DatabaseId database);
  /// Of database 0 nothing: its keys are known by their names' digests.
  static std::uint64_t salt_of(DatabaseId database) {
    return database == 0 ? 0 : digest_number(database, digest_bytes("database"));
  }
  /// Null: nothing has been put there yet.
  const FlatTable<Entry>* table(DatabaseId database) const;
  FlatTable<Entry>& table(DatabaseId database);

  KeyWatcher* watcher_ = nullptr;
  std::vector<Library> libraries_;
  ExpiryRule expiry_rule_ = ExpiryRule::removes;
  FlatTable<Entry> first_;                ///< database 0: nearly all that is ever used
  std::vector<FlatTable<Entry>> others_;  ///< 1 and up; none until one is selected
  FlatTable<Entry>* table_ = &first_;     ///< the selected one
  std::uint64_t salt_ = 0;                ///< of the selected one
  DatabaseId selected_ = 0;
  std::vector<KeyChange> changes_;
  std::size_t changes_count_ = 0;
  std::vector<PartChange> parts_;
  std::size_t parts_count_ = 0;
  std::size_t command_begin_ = 0;
  SessionId by_ = 0;
  bool records_misses_ = false;
  std::vector<std::string> misses_;
};

}  // namespace lockstep::models::redis
