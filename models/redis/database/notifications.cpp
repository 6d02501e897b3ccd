#include "models/redis/database/notifications.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace lockstep::models::redis {
namespace {

using EffectKind = sim::Effect::Kind;

/// What a command calls a change of what a key holds.
struct Event {
  std::string_view command;
  EventClass which;
  std::string_view name;
};

constexpr std::array kEvents = std::to_array<Event>({
    {"APPEND", EventClass::string, "append"},
    {"DECR", EventClass::string, "incrby"},
    {"DECRBY", EventClass::string, "incrby"},
    {"GETSET", EventClass::string, "set"},
    {"HDEL", EventClass::hash, "hdel"},
    {"HINCRBY", EventClass::hash, "hincrby"},
    {"HINCRBYFLOAT", EventClass::hash, "hincrbyfloat"},
    {"HMSET", EventClass::hash, "hset"},
    {"HSET", EventClass::hash, "hset"},
    {"HSETNX", EventClass::hash, "hset"},
    {"INCR", EventClass::string, "incrby"},
    {"INCRBY", EventClass::string, "incrby"},
    {"INCRBYFLOAT", EventClass::string, "incrbyfloat"},
    {"LINSERT", EventClass::list, "linsert"},
    {"LPOP", EventClass::list, "lpop"},
    {"BLPOP", EventClass::list, "lpop"},
    {"LPUSH", EventClass::list, "lpush"},
    {"LPUSHX", EventClass::list, "lpush"},
    {"LREM", EventClass::list, "lrem"},
    {"LSET", EventClass::list, "lset"},
    {"LTRIM", EventClass::list, "ltrim"},
    {"PSETEX", EventClass::string, "set"},
    {"RPOP", EventClass::list, "rpop"},
    {"BRPOP", EventClass::list, "rpop"},
    {"RPUSH", EventClass::list, "rpush"},
    {"RPUSHX", EventClass::list, "rpush"},
    {"SADD", EventClass::set, "sadd"},
    {"SDIFFSTORE", EventClass::set, "sdiffstore"},
    {"SET", EventClass::string, "set"},
    {"SETEX", EventClass::string, "set"},
    {"SETNX", EventClass::string, "set"},
    {"SETRANGE", EventClass::string, "setrange"},
    {"SINTERSTORE", EventClass::set, "sinterstore"},
    {"SPOP", EventClass::set, "spop"},
    {"SREM", EventClass::set, "srem"},
    {"SUNIONSTORE", EventClass::set, "sunionstore"},
    {"ZADD", EventClass::sorted_set, "zadd"},
    {"ZDIFFSTORE", EventClass::sorted_set, "zdiffstore"},
    {"ZINCRBY", EventClass::sorted_set, "zincr"},
    {"ZINTERSTORE", EventClass::sorted_set, "zinterstore"},
    {"ZPOPMAX", EventClass::sorted_set, "zpopmax"},
    {"BZPOPMAX", EventClass::sorted_set, "zpopmax"},
    {"ZPOPMIN", EventClass::sorted_set, "zpopmin"},
    {"BZPOPMIN", EventClass::sorted_set, "zpopmin"},
    {"ZRANGESTORE", EventClass::sorted_set, "zrangestore"},
    {"ZREM", EventClass::sorted_set, "zrem"},
    {"ZREMRANGEBYLEX", EventClass::sorted_set, "zremrangebylex"},
    {"ZREMRANGEBYRANK", EventClass::sorted_set, "zremrangebyrank"},
    {"ZREMRANGEBYSCORE", EventClass::sorted_set, "zremrangebyscore"},
    {"ZUNIONSTORE", EventClass::sorted_set, "zunionstore"},
});

bool is_any(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The telling of one command's events.
class Announcement {
 public:
  Announcement(Call& call, const CommandSpec& spec, NotifiedEvents events) : call_(call), spec_(spec), events_(events) {
    // Nothing is looked up meanwhile, so they stay valid.
    changes_ = call.keys.changes_of_command();
    told_.assign(changes_.size(), false);
  }

  void expiries() {
    for (std::size_t i = 0; i < changes_.size(); ++i) tell_expiry(i);
  }

  void all() {
    misses();
    expiries();
    if (is_any(spec_.name, {"FLUSHALL", "FLUSHDB", "SWAPDB"})) return;
    if (is_any(spec_.name, {"RENAME", "RENAMENX"})) return of_two_keys("rename_from", "rename_to");
    if (is_any(spec_.name, {"MSET", "MSETNX"})) return of_pairs();
    if (spec_.name == "MOVE") return of_move();
    if (spec_.name == "COPY") return of_copy();
    if (spec_.name == "SMOVE") return of_set_move();
    if (is_any(spec_.name, {"LMOVE", "BLMOVE", "RPOPLPUSH", "BRPOPLPUSH"})) return of_list_move();
    for (const KeyChange& change : changes_) of_change(change);
  }

  std::vector<Notification> take() { return std::move(notifications_); }

 private:
  void tell(EventClass which, std::string_view event, std::string_view key, DatabaseId database) {
    if (!events_.has(which)) return;
    notifications_.push_back({event, std::string(key), database, written_before(which, event)});
  }

  /// How much of its reply the command has written when it tells of this: each does it at a moment of its own.
  std::size_t written_before(EventClass which, std::string_view event) const {
    const std::string_view name = spec_.name;
    const bool is_found = which == EventClass::missed || which == EventClass::expired;
    if (is_found) return name == "MGET" ? 1 + item_ : 0;
    const bool replies_old = name == "SET" && std::any_of(call_.arguments.begin() + 3, call_.arguments.end(),
                                                          [](const Value& word) { return word.is_word("GET"); });
    if (replies_old || name == "GETSET") return Delivery::kWhole;
    if (which == EventClass::created) return 0;
    if (name.find("POP") != std::string_view::npos && event.starts_with('z')) {
      return name.ends_with("ZMPOP") ? 3 : name.starts_with('B') ? 2 : 1;
    }
    const bool is_del = event == "del";
    if (is_any(name, {"LMOVE", "BLMOVE", "RPOPLPUSH", "BRPOPLPUSH"})) {
      return is_del || event.ends_with("pop") ? Delivery::kWhole : 0;
    }
    if (name.ends_with("STORE")) {
      return name == "SINTERSTORE" && is_del && has_missing_source() ? 0 : Delivery::kWhole;
    }
    if (name == "SPOP") return is_del ? Delivery::kWhole : 0;
    if (name.find("EXPIRE") != std::string_view::npos) return is_del ? 0 : Delivery::kWhole;
    return is_any(name,
                  {"GETEX",  "GETDEL", "HSETNX",  "HSET",    "HMSET",    "HINCRBY",  "HINCRBYFLOAT", "LPUSH", "RPUSH",
                   "LPUSHX", "RPUSHX", "LSET",    "ZADD",    "ZINCRBY",  "LPOP",     "RPOP",         "BLPOP", "BRPOP",
                   "LMPOP",  "BLMPOP", "ZPOPMIN", "ZPOPMAX", "BZPOPMIN", "BZPOPMAX", "ZMPOP",        "BZMPOP"})
               ? Delivery::kWhole
               : 0;
  }

  /// SINTERSTORE then looks no further. Its destination has been there, or nobody would hear of its end.
  bool has_missing_source() const {
    for (std::size_t i = 2; i < call_.size(); ++i) {
      if (call_.key(i) != call_.key(1) && call_.keys.peek(call_.key(i)) == nullptr) return true;
    }
    return false;
  }
  void tell(EventClass which, std::string_view event, const KeyChange& change) {
    tell(which, event, change.key, change.database);
  }

  void tell_expiry(std::size_t i) {
    if (told_[i] || changes_[i].kind != EffectKind::expire) return;
    told_[i] = true;
    tell(EventClass::expired, "expired", changes_[i]);
  }

  const KeyChange* change_of(std::string_view key, DatabaseId database) const {
    const KeyChange* found = nullptr;
    for (const KeyChange& change : changes_) {
      if (change.kind == EffectKind::expire || change.kind == EffectKind::read) continue;
      if (change.key == key && change.database == database) found = &change;
    }
    return found;
  }

  // --- Keys that somebody asked for and that are not there.

  /// Whether the command looked this key up for what it holds, and not to change it.
  bool is_asked_for(std::string_view key) {
    const std::size_t size = call_.size();
    const auto is_among = [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) {
        if (call_.key(i) == key) return true;
      }
      return false;
    };
    const bool gets = spec_.name == "SET" && std::any_of(call_.arguments.begin() + 3, call_.arguments.end(),
                                                         [](const Value& word) { return word.is_word("GET"); });
    if (gets || is_any(spec_.name, {"GETEX", "GETDEL", "GETSET", "COPY"})) return is_among(1, 2);
    if (is_any(spec_.name, {"SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"})) return is_among(2, size);
    if (is_any(spec_.name, {"ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE"})) return is_among(3, size);
    if (spec_.name == "ZRANGESTORE") return is_among(2, 3);
    return spec_.is(kReadOnly) && !spec_.is(kEveryKey);
  }

  /// Each after its own expiry, as it was met.
  void misses() {
    if (!events_.has(EventClass::missed)) return;
    const DatabaseId database = call_.keys.selected();
    const std::vector<std::string> misses(call_.keys.misses().begin(), call_.keys.misses().end());
    for (const std::string& key : misses) {
      while (spec_.name == "MGET" && item_ + 2 < call_.size() && call_.key(item_ + 1) != key) ++item_;
      for (std::size_t i = 0; i < changes_.size(); ++i) {
        if (changes_[i].key == key && changes_[i].database == database) tell_expiry(i);
      }
      // Where a copy goes may have the same name in another database.
      const bool is_destination = spec_.name == "COPY" && call_.keys.peek(key) != nullptr;
      if (is_asked_for(key) && !is_destination) tell(EventClass::missed, "keymiss", key, database);
      ++item_;
    }
  }

  // --- What was done.

  void of_change(const KeyChange& change) {
    switch (change.kind) {
      case EffectKind::touch: return tell(EventClass::generic, persists() ? "persist" : "expire", change);
      case EffectKind::write: return of_write(change);
      case EffectKind::remove: return of_remove(change);
      default: return;
    }
  }

  bool persists() const { return spec_.name == "PERSIST" || (spec_.name == "GETEX" && call_.size() == 3); }

  const Event* event() const {
    const auto found =
        std::find_if(kEvents.begin(), kEvents.end(), [&](const Event& event) { return event.command == spec_.name; });
    return found == kEvents.end() ? nullptr : &*found;
  }

  /// (B)LMPOP and (B)ZMPOP: by the word behind the keys.
  std::string_view popped_from() const {
    const std::size_t first = spec_.name.starts_with('B') ? 2 : 1;
    const auto behind = first + 1 + static_cast<std::size_t>(call_.arguments[first].integer().value_or(0));
    const Value& end = call_.arguments[std::min(behind, call_.size() - 1)];
    return end.is_word("LEFT") ? "lpop" : end.is_word("RIGHT") ? "rpop" : end.is_word("MIN") ? "zpopmin" : "zpopmax";
  }

  void of_content(const KeyChange& change) {
    if (is_any(spec_.name, {"LMPOP", "BLMPOP"})) return tell(EventClass::list, popped_from(), change);
    if (is_any(spec_.name, {"ZMPOP", "BZMPOP"})) return tell(EventClass::sorted_set, popped_from(), change);
    if (const Event* own = event()) {
      const bool increments =
          spec_.name == "ZADD" && std::any_of(call_.arguments.begin() + 2, call_.arguments.end() - 2,
                                              [](const Value& word) { return word.is_word("INCR"); });
      tell(own->which, increments ? "zincr" : own->name, change);
    }
  }

  void of_write(const KeyChange& change) {
    if (change.creates) tell(EventClass::created, "new", change);
    of_content(change);
    const bool has_time =
        is_any(spec_.name, {"SETEX", "PSETEX"}) ||
        (spec_.name == "SET" && std::any_of(call_.arguments.begin() + 3, call_.arguments.end(), [](const Value& word) {
           return word.is_word("EX") || word.is_word("PX") || word.is_word("EXAT") || word.is_word("PXAT");
         }));
    if (has_time) tell(EventClass::generic, "expire", change);
  }

  void of_remove(const KeyChange& change) {
    // A result that is empty is no result; elsewhere the last member went.
    if (!spec_.name.ends_with("STORE")) of_content(change);
    tell(EventClass::generic, "del", change);
  }

  void of_two_keys(std::string_view from, std::string_view to) {
    const DatabaseId database = call_.keys.selected();
    const std::string source(call_.key(1)), destination(call_.key(2));
    if (change_of(destination, database) == nullptr) return;
    tell(EventClass::created, "new", destination, database);
    tell(EventClass::generic, from, source, database);
    tell(EventClass::generic, to, destination, database);
  }

  /// A key that is named twice is set twice.
  void of_pairs() {
    std::vector<std::string> seen;
    for (std::size_t i = 1; i + 1 < call_.size(); i += 2) {
      const std::string key(call_.key(i));
      const KeyChange* change = change_of(key, call_.keys.selected());
      if (change == nullptr) continue;
      const bool is_first = std::find(seen.begin(), seen.end(), key) == seen.end();
      if (change->creates && is_first) tell(EventClass::created, "new", *change);
      tell(EventClass::string, "set", *change);
      seen.push_back(key);
    }
  }

  void of_move() {
    const std::string key(call_.key(1));
    const KeyChange* left = change_of(key, call_.keys.selected());
    if (left == nullptr) return;
    const auto to = static_cast<DatabaseId>(call_.arguments[2].integer().value_or(0));
    tell(EventClass::created, "new", key, to);
    tell(EventClass::generic, "move_from", *left);
    tell(EventClass::generic, "move_to", key, to);
  }

  void of_copy() {
    for (const KeyChange& change : changes_) {
      if (change.kind != EffectKind::write) continue;
      tell(EventClass::created, "new", change);
      tell(EventClass::generic, "copy_to", change);
    }
  }

  void of_set_move() {
    const DatabaseId database = call_.keys.selected();
    const std::string source(call_.key(1)), destination(call_.key(2));
    const KeyChange* left = change_of(source, database);
    if (left == nullptr) return;
    tell(EventClass::set, "srem", *left);
    if (left->kind == EffectKind::remove) tell(EventClass::generic, "del", *left);
    const KeyChange* came = change_of(destination, database);
    if (came == nullptr || source == destination) return;
    if (came->creates) tell(EventClass::created, "new", *came);
    tell(EventClass::set, "sadd", *came);
  }

  /// The element comes before it goes.
  void of_list_move() {
    const DatabaseId database = call_.keys.selected();
    const std::string source(call_.key(1)), destination(call_.key(2));
    const KeyChange* left = change_of(source, database);
    if (left == nullptr) return;
    const bool has_ends = spec_.name.ends_with("MOVE");
    const bool from_left = has_ends && call_.arguments[3].is_word("LEFT");
    const bool to_left = !has_ends || call_.arguments[4].is_word("LEFT");
    const KeyChange* came = change_of(destination, database);
    if (came != nullptr && came->creates) tell(EventClass::created, "new", *came);
    tell(EventClass::list, to_left ? "lpush" : "rpush", destination, database);
    tell(EventClass::list, from_left ? "lpop" : "rpop", *left);
    if (left->kind == EffectKind::remove) tell(EventClass::generic, "del", *left);
  }

  Call& call_;
  const CommandSpec& spec_;
  NotifiedEvents events_;
  std::span<const KeyChange> changes_;
  std::vector<bool> told_;
  std::vector<Notification> notifications_;
  std::size_t item_ = 0;  ///< of MGET: whose key is just looked up
};

/// What is written first of `left` parts stays; the messages come then.
Reply inserted(const Reply& reply, std::size_t& left, std::vector<Reply>& messages, Protocol protocol) {
  if (left == 0 && !messages.empty()) {
    std::vector<Reply> all = std::exchange(messages, {});
    all.push_back(reply);
    return Reply::several(std::move(all));
  }
  if (!reply.is_several() && left > 0) --left;
  if (!reply.is_array() && !reply.is_several()) return reply;
  std::vector<Reply> items;
  if (reply.form() == Form::pairs && protocol == Protocol::resp3) {
    for (std::size_t i = 0; i + 1 < reply.items().size(); i += 2) {
      items.push_back(Reply::array({reply.items()[i], reply.items()[i + 1]}));
    }
  } else {
    items = reply.items();
  }
  for (Reply& item : items) item = inserted(item, left, messages, protocol);
  if (reply.is_several()) return Reply::several(std::move(items));
  return Reply::array(std::move(items)).as(reply.form() == Form::pairs ? Form::plain : reply.form());
}

}  // namespace

Reply with_messages(Reply reply, std::vector<Delivery> messages, Protocol protocol) {
  std::vector<Reply> before, behind;
  for (Delivery& message : messages) {
    if (message.written == 0) before.push_back(std::move(message.reply));
    if (message.written == Delivery::kWhole) behind.push_back(std::move(message.reply));
  }
  // From the last place on, so that those before it are where they were.
  while (true) {
    std::size_t place = 0;
    for (const Delivery& message : messages) {
      if (message.written != Delivery::kWhole) place = std::max(place, message.written);
    }
    if (place == 0) break;
    std::vector<Reply> among;
    for (Delivery& message : messages) {
      if (message.written != place) continue;
      among.push_back(std::move(message.reply));
      message.written = 0;
    }
    reply = inserted(reply, place, among, protocol);
  }
  if (before.empty() && behind.empty()) return reply;
  before.push_back(std::move(reply));
  for (Reply& message : behind) before.push_back(std::move(message));
  return Reply::several(std::move(before));
}

std::vector<Notification> notifications_of(Call& call, const CommandSpec& spec, NotifiedEvents events) {
  Announcement announcement(call, spec, events);
  announcement.all();
  return announcement.take();
}

std::vector<Notification> expiries_of(Call& call, const CommandSpec& spec, NotifiedEvents events) {
  Announcement announcement(call, spec, events);
  announcement.expiries();
  return announcement.take();
}

}  // namespace lockstep::models::redis
