// Commands on keys of any type, and their time to live.

#include <algorithm>
#include <cassert>
#include <limits>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

constexpr std::int64_t kLongestMilliseconds = Deadline::kLongestMilliseconds;

struct Conditions {
  bool only_if_none = false;     // NX
  bool only_if_some = false;     // XX
  bool only_if_later = false;    // GT
  bool only_if_earlier = false;  // LT
};

std::variant<Conditions, Reply> read_conditions(std::span<const Value> words) {
  Conditions c;
  for (const Value& word : words) {
    if (word.is_word("NX")) {
      c.only_if_none = true;
    } else if (word.is_word("XX")) {
      c.only_if_some = true;
    } else if (word.is_word("GT")) {
      c.only_if_later = true;
    } else if (word.is_word("LT")) {
      c.only_if_earlier = true;
    } else {
      return Reply::error("ERR Unsupported option " + up_to_zero(word));
    }
  }
  if (c.only_if_none && (c.only_if_some || c.only_if_later || c.only_if_earlier)) {
    return Reply::error("ERR NX and XX, GT or LT options at the same time are not compatible");
  }
  if (c.only_if_later && c.only_if_earlier) {
    return Reply::error("ERR GT and LT options at the same time are not compatible");
  }
  return c;
}

/// Whether a new deadline is later (`GT`), or earlier (`LT`), than the one that a key has.
///
/// The new one is mostly the present plus a length, so the question is put to the clock: that works for symbolic
/// instants too. Two deadlines that were both sent as timestamps have no present in them.
bool is_later(const Deadline& time, TimeBase base, const Deadline& than, const sim::Clock& clock) {
  if (time.far_ms() != 0 || than.far_ms() != 0) return time.far_ms() > than.far_ms();
  const bool is_known = time.at.anchor() == than.at.anchor();
  if (base == TimeBase::now && !is_known) return clock.has_passed(than.at - time.lifetime);
  assert(is_known && "two symbolic deadlines cannot be compared yet");
  return time.at.offset() > than.at.offset();
}

bool is_earlier(const Deadline& time, TimeBase base, const Deadline& than, const sim::Clock& clock) {
  if (time.far_ms() != 0 || than.far_ms() != 0) return time.far_ms() < than.far_ms();
  const bool is_known = time.at.anchor() == than.at.anchor();
  if (base == TimeBase::now && !is_known) return !clock.has_reached(than.at - time.lifetime);
  assert(is_known && "two symbolic deadlines cannot be compared yet");
  return time.at.offset() < than.at.offset();
}

/// A key without a deadline counts as one that lives for ever: nothing is later than it, everything is earlier.
bool allows(const Conditions& c, const Entry& entry, const Deadline& time, TimeBase base, const sim::Clock& clock) {
  if (c.only_if_none && entry.expires) return false;
  if (c.only_if_some && !entry.expires) return false;
  if (c.only_if_later && (!entry.expires || !is_later(time, base, entry, clock))) return false;
  if (c.only_if_earlier && entry.expires && !is_earlier(time, base, entry, clock)) return false;
  return true;
}

Reply expire(Call& call, TimeUnit unit, TimeBase base) {
  const auto conditions = read_conditions(call.arguments.subspan(3));
  if (const Reply* error = std::get_if<Reply>(&conditions)) return *error;
  const auto time = read_expire_time(call, call.arguments[2], unit, base, false);
  if (const Reply* error = std::get_if<Reply>(&time)) return *error;
  const auto& expire_time = std::get<Deadline>(time);

  Entry* entry = call.keys.find(call.key(), call.clock);
  if (entry == nullptr) return Reply::integer(0);
  if (!allows(std::get<Conditions>(conditions), *entry, expire_time, base, call.clock)) return Reply::integer(0);

  set_deadline(call, *entry, expire_time, base);
  return Reply::integer(1);
}

/// What is there goes before another comes: whoever waits for the key is served then.
void remove_old(Call& call, const std::string& key) {
  if (call.database.blocked_clients() == 0 || call.keys.peek(key) == nullptr) return;
  if (Entry* old = call.keys.find(key, call.clock)) call.keys.remove(*old);
}

constexpr std::int64_t kNoKey = -2;
constexpr std::int64_t kNoDeadline = -1;

/// Seconds are rounded to the nearest.
sim::Duration to_round_down(sim::Duration length, TimeUnit unit) {
  return unit == TimeUnit::seconds ? length + sim::Duration::milliseconds(500) : length;
}

/// What TTL and its relatives reply: from now, or from the origin of the server's clock, to the key's deadline; -1 or
/// -2.
///
/// Redis takes one whole millisecond from another. Here no clock is rounded, so what is left is, down; of instants that
/// are whole milliseconds that is the same.
Reply time_left(Call& call, TimeUnit unit, TimeBase base) {
  const Entry* entry = call.keys.find(call.key(), call.clock);
  if (entry == nullptr) return Reply::integer(kNoKey);
  if (!entry->expires) return Reply::integer(kNoDeadline);
  const sim::Instant from = base == TimeBase::epoch ? sim::Instant::origin() : call.clock.now();
  const sim::Duration length = sim::Duration::milliseconds(unit == TimeUnit::seconds ? 1000 : 1);
  if (entry->far_ms() != 0) {
    const std::int64_t left = entry->far_ms() - (base == TimeBase::epoch ? 0 : from.offset().floor_ms());
    // To the nearest second, without a sum that no 64 bits hold.
    return Reply::integer(unit == TimeUnit::milliseconds ? left : left / 1000 + (left % 1000 + 500) / 1000);
  }
  if (from.anchor() != entry->at.anchor()) {
    const sim::Instant until = entry->at + to_round_down(sim::Duration::zero(), unit);
    if (const auto left = call.clock.world().whole_units(from, until, length))
      return Reply::integer(base == TimeBase::now ? std::max<std::int64_t>(*left, 0) : *left);
    // The difference of two symbolic instants has no number; what is known is how long the key was to live.
    const bool is_known = base == TimeBase::now && entry->lifetime > sim::Duration::zero();
    const auto longest = is_known ? entry->lifetime : sim::Duration::forever();
    return Reply::time_left(
        {entry->at + to_round_down(sim::Duration::zero(), unit), from, longest, length, &call.clock.world()});
  }
  sim::Duration left = entry->at.offset() - from.offset();
  if (base == TimeBase::now) left = std::max(left, sim::Duration::zero());
  const std::int64_t milliseconds = to_round_down(left, unit).floor_ms();
  return Reply::integer(unit == TimeUnit::seconds ? milliseconds / 1000 : milliseconds);
}

}  // namespace

void set_deadline(Call& call, Entry& entry, const Deadline& time, TimeBase base) {
  // For one that counts from now the sign says it all.
  // A replica does as it is told, however late that comes: it is not the one to say that a key is gone.
  const bool is_told = call.keys.expiry_rule() == ExpiryRule::ignores;
  const bool passed =
      !is_told && (base == TimeBase::now ? time.lifetime <= sim::Duration::zero() : call.clock.has_reached(time.at));
  if (passed) {
    call.keys.remove(entry);
    call.database.replicate_as(Command{"DEL", call.arguments[1]});
    return;
  }
  entry.expires = true;
  static_cast<Deadline&>(entry) = time;
  call.keys.touched(entry);
  if (call.database.records_effects()) {
    call.database.replicate_as(Command{"PEXPIREAT", call.arguments[1], moment_of(time)});
  }
}

std::variant<Deadline, Reply> read_expire_time(const Call& call, const Value& argument, TimeUnit unit, TimeBase base,
                                               bool only_positive) {
  const std::int64_t factor = unit == TimeUnit::seconds ? 1000 : 1;
  if (const Timestamp* t = argument.timestamp();
      t != nullptr && base == TimeBase::epoch && t->unit == sim::Duration::milliseconds(factor)) {
    const bool known = t->instant.anchor() == 0;
    if (only_positive && known && argument.integer() <= 0) return invalid_expire_time(call);
    return Deadline{t->instant, sim::Duration::zero()};
  }

  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::optional<std::int64_t> number = argument.integer();
  if (!number) return not_an_integer();
  if (only_positive && *number <= 0) return invalid_expire_time(call);
  if (*number > kMost / factor || *number < std::numeric_limits<std::int64_t>::min() / factor) {
    return invalid_expire_time(call);
  }
  const std::int64_t milliseconds = *number * factor;
  if (base == TimeBase::epoch) return Deadline::moment(milliseconds);
  const sim::Instant now = call.clock.now();
  // An old anchor's offset says nothing of the present reading, and matters only within a story's length of the limit.
  if (milliseconds > kMost - std::max<std::int64_t>(0, now.offset().floor_ms())) return invalid_expire_time(call);
  const auto length =
      sim::Duration::milliseconds(std::clamp(milliseconds, -kLongestMilliseconds, kLongestMilliseconds));
  if (now.anchor() == 0 && milliseconds >= kLongestMilliseconds - now.offset().floor_ms()) {
    return Deadline::moment(now.offset().floor_ms() + milliseconds);
  }
  return Deadline{now + length, length};
}

Value moment_of(const Deadline& deadline) {
  return deadline.far_ms() != 0 ? Value(deadline.far_ms()) : Value::milliseconds(deadline.at);
}

Reply del_command(Call& call) {
  std::int64_t removed = 0;
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    if (Entry* entry = call.keys.find(call.key(i), call.clock)) {
      call.keys.remove(*entry);
      ++removed;
    }
  }
  return Reply::integer(removed);
}

Reply exists_command(Call& call) {
  std::int64_t found = 0;
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    if (call.keys.find(call.key(i), call.clock) != nullptr) ++found;
  }
  return Reply::integer(found);
}

Reply type_command(Call& call) {
  const Entry* entry = call.keys.find(call.key(), call.clock);
  return Reply::status(entry == nullptr ? "none" : std::string(type_name(entry->object)));
}

Reply expire_command(Call& call) { return expire(call, TimeUnit::seconds, TimeBase::now); }
Reply pexpire_command(Call& call) { return expire(call, TimeUnit::milliseconds, TimeBase::now); }
Reply expireat_command(Call& call) { return expire(call, TimeUnit::seconds, TimeBase::epoch); }
Reply pexpireat_command(Call& call) { return expire(call, TimeUnit::milliseconds, TimeBase::epoch); }

Reply ttl_command(Call& call) { return time_left(call, TimeUnit::seconds, TimeBase::now); }
Reply pttl_command(Call& call) { return time_left(call, TimeUnit::milliseconds, TimeBase::now); }
Reply expiretime_command(Call& call) { return time_left(call, TimeUnit::seconds, TimeBase::epoch); }
Reply pexpiretime_command(Call& call) { return time_left(call, TimeUnit::milliseconds, TimeBase::epoch); }

namespace {

/// Moves what the first key holds, with its deadline, to the second.
Reply rename(Call& call, bool only_if_absent) {
  Entry* source = call.keys.find(call.key(), call.clock);
  if (source == nullptr) return Reply::error("ERR no such key");
  const std::string destination(call.key(2));
  if (source->key == destination) return only_if_absent ? Reply::integer(0) : Reply::ok();
  if (only_if_absent) {
    if (call.keys.find(destination, call.clock) != nullptr) return Reply::integer(0);
    source = call.keys.find(call.key(), call.clock);  // an expiry of the other key may have moved it
  }
  Entry moved = std::move(*source);
  source->key = moved.key;
  call.keys.remove(*source);
  remove_old(call, destination);
  Entry& target = call.keys.overwrite(destination);
  target.object = std::move(moved.object);
  target.expires = moved.expires;
  static_cast<Deadline&>(target) = moved;
  return only_if_absent ? Reply::integer(1) : Reply::ok();
}

}  // namespace

Reply copy_command(Call& call) {
  bool replaces = false;
  const DatabaseId from = call.keys.selected();
  DatabaseId to = from;
  for (std::size_t i = 3; i < call.size(); ++i) {
    if (call.arguments[i].is_word("REPLACE")) {
      replaces = true;
    } else if (call.arguments[i].is_word("DB") && i + 1 < call.size()) {
      const auto database = read_database(call.arguments[++i]);
      if (const Reply* error = std::get_if<Reply>(&database)) return *error;
      to = std::get<DatabaseId>(database);
    } else {
      return syntax_error();
    }
  }
  const std::string destination(call.key(2));
  if (from == to && call.key() == destination) return Reply::error("ERR source and destination objects are the same");
  if (call.keys.find(call.key(), call.clock) == nullptr) return Reply::integer(0);
  call.keys.select(to);
  const bool is_taken = call.keys.find(destination, call.clock) != nullptr;
  call.keys.select(from);
  if (is_taken && !replaces) return Reply::integer(0);
  // An expiry of the other key may have moved it, and so may a new entry.
  const Entry copied = *call.keys.find(call.key(), call.clock);
  call.keys.select(to);
  remove_old(call, destination);
  Entry& target = call.keys.overwrite(destination);
  target.object = copied.object;
  target.expires = copied.expires;
  static_cast<Deadline&>(target) = copied;
  call.keys.select(from);
  return Reply::integer(1);
}

Reply rename_command(Call& call) { return rename(call, false); }
Reply renamenx_command(Call& call) { return rename(call, true); }

Reply persist_command(Call& call) {
  Entry* entry = call.keys.find(call.key(), call.clock);
  if (entry == nullptr || !entry->expires) return Reply::integer(0);
  entry->expires = false;
  call.keys.touched(*entry);
  return Reply::integer(1);
}

}  // namespace lockstep::models::redis
