#pragma once

// What several families of commands do alike: with the object at a key, with a time to live, with a range of indices.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/redis/data/keyspace.hpp"
#include "models/redis/data/objects.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::models::redis {

using MemberChange = sim::MemberChange::Kind;

/// The object of one type at a key. It is valid until the next call that may insert, remove or expire a key.
template <class Type>
struct Found {
  Entry* entry = nullptr;
  Type* object = nullptr;

  /// There is something else at the key.
  bool is_wrong() const { return entry != nullptr && object == nullptr; }
  explicit operator bool() const { return object != nullptr; }
  Type* operator->() const { return object; }

  /// The object, new if there was none; and a note that the command changes it.
  Type& get_or_create(Call& call, std::size_t i = 1) {
    if (object == nullptr) {
      entry = &call.keys.overwrite(call.key(i));
      object = &entry->object.template emplace<Type>();
    } else {
      call.keys.written(*entry);
    }
    if constexpr (std::is_same_v<Type, List>) call.keys.part_changed(entry->key, {}, MemberChange::nameless);
    return *object;
  }
  /// Something was taken out: an object that is empty now is no more.
  void shrunk(Call& call) {
    if constexpr (std::is_same_v<Type, List>) call.keys.part_changed(entry->key, {}, MemberChange::nameless);
    if (object->empty()) {
      call.keys.remove(*entry);
      entry = nullptr;
      object = nullptr;
    } else {
      call.keys.written(*entry);
    }
  }
};

template <class Type>
Found<Type> find_object(Call& call, std::size_t i = 1) {
  Entry* entry = call.keys.find(call.key(i), call.clock);
  return {entry, entry != nullptr ? std::get_if<Type>(&entry->object) : nullptr};
}

/// What LLEN, HLEN, SCARD and ZCARD reply.
template <class Type>
Reply size_of(Call& call) {
  const auto found = find_object<Type>(call);
  if (found.is_wrong()) return wrong_type();
  return Reply::integer(found ? static_cast<std::int64_t>(found->size()) : 0);
}

/// Puts a result at the first argument's key, whatever was there; an empty one removes it.
template <class Type>
void store_result(Call& call, Type result) {
  // From now on what is looked up is not asked for.
  call.keys.record_misses(false);
  if (result.empty()) {
    if (Entry* entry = call.keys.find(call.key(), call.clock)) call.keys.remove(*entry);
    return;
  }
  // Who waits for the key is served if it was not there, which otherwise makes no difference.
  if (call.database.blocked_clients() > 0) call.keys.find(call.key(), call.clock);
  Entry& entry = call.keys.overwrite(call.key());
  // Who is among them is another's doing.
  call.keys.part_changed(call.key(), {}, MemberChange::nameless);
  entry.object = std::move(result);
  entry.expires = false;
}

/// LRANGE's and ZRANGE's indices as positions [first, end): negative ones count from the end.
struct IndexRange {
  std::size_t first = 0;
  std::size_t end = 0;
};
IndexRange index_range(std::int64_t start, std::int64_t stop, std::size_t size);

enum class TimeUnit : std::uint8_t { seconds, milliseconds };
enum class TimeBase : std::uint8_t { now, epoch };

/// Reads an argument of EX, PEXPIREAT and the like, or gives the error to reply with. `only_positive`: SET and its
/// relatives refuse zero and less.
///
/// A timestamp sent to EXPIREAT, PEXPIREAT, EXAT or PXAT becomes the deadline as it is, unrounded. What Redis refuses
/// as an overflow is refused; what it takes and no `Instant` holds is a `Deadline::far_ms`.
std::variant<Deadline, Reply> read_expire_time(const Call& call, const Value& argument, TimeUnit unit, TimeBase base,
                                               bool only_positive);

/// Gives an entry its deadline, or removes it if that has passed already.
void set_deadline(Call& call, Entry& entry, const Deadline& time, TimeBase base);
/// As PXAT and PEXPIREAT take it.
Value moment_of(const Deadline& deadline);

/// Whether the key holds something else for sure, whatever the time: then only those matter to this request who put
/// this text there or take it away. Replicas hear of what a look has removed, so there it is looked at.
inline bool surely_holds_another(Call& call, const Value& text) {
  return !call.database.records_effects() && call.keys.holds_another(call.key(), text);
}

/// The string that an entry holds, or null if it holds something else.
inline Value* string_in(Entry& entry) { return std::get_if<Value>(&entry.object); }

// --- What a key holds, compared with what the request says: digests.cpp.

enum class Comparison : std::uint8_t { equal, unequal, digest_equal, digest_unequal };
/// IFEQ, IFNE, IFDEQ or IFDNE; nothing: another word.
std::optional<Comparison> comparison_of(const Value& word);
/// Whether it is for the same to be there; a key that is not there is not the same.
constexpr bool holds_if_same(Comparison comparison) {
  return comparison == Comparison::equal || comparison == Comparison::digest_equal;
}
/// Whether it holds, or the error.
std::variant<bool, Reply> compare(Call& call, const Value& present, Comparison comparison, const Value& with);

}  // namespace lockstep::models::redis
