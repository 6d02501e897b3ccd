// Commands on strings.

#include <cstdint>
#include <limits>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

/// The `key`-th argument holds this from now on.
void store(Call& call, std::size_t key, const Value& value, const std::optional<Deadline>& time) {
  Entry& entry = call.keys.overwrite(call.key(key), value);
  if (Value* old = string_in(entry)) {
    *old = value;
  } else {
    entry.object = value;
  }
  entry.expires = time.has_value();
  if (time) static_cast<Deadline&>(entry) = *time;
}

/// A length of time means another deadline to whoever hears of it later.
void replicate_set(Call& call, const Value& value, const Deadline& time) {
  if (call.database.records_effects()) {
    call.database.replicate_as(Command{"SET", call.arguments[1], value, "PXAT", moment_of(time)});
  }
}

struct ParsedSet {
  bool only_if_absent = false;
  bool only_if_present = false;
  bool keep_deadline = false;
  bool get = false;
  const Value* compared = nullptr;  ///< with what the key holds
  Comparison comparison = Comparison::equal;
  const Value* time = nullptr;
  std::string_view time_option;
  TimeUnit unit = TimeUnit::seconds;
  TimeBase base = TimeBase::now;
};

struct TimeOption {
  std::string_view word;
  TimeUnit unit;
  TimeBase base;
};
constexpr TimeOption kTimeOptions[] = {{"EX", TimeUnit::seconds, TimeBase::now},
                                       {"PX", TimeUnit::milliseconds, TimeBase::now},
                                       {"EXAT", TimeUnit::seconds, TimeBase::epoch},
                                       {"PXAT", TimeUnit::milliseconds, TimeBase::epoch}};

const TimeOption* time_option(const Value& word) {
  for (const TimeOption& option : kTimeOptions) {
    if (word.is_word(option.word)) return &option;
  }
  return nullptr;
}

/// The comparison that this option of SET asks for, if the server knows it.
std::optional<Comparison> set_comparison(Version version, const Value& word) {
  const std::optional<Comparison> comparison = comparison_of(word);
  const bool knows_all = includes(version, Version::redis_8_4);
  const bool knows_it = knows_all || (comparison == Comparison::equal && includes(version, Version::valkey_8_1));
  return knows_it ? comparison : std::nullopt;
}

/// Nothing for a syntax error. As Redis, the same option twice is no error: the last one counts.
std::optional<ParsedSet> read_set_options(Version version, std::span<const Value> words) {
  ParsedSet options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Value& word = words[i];
    const bool compares = options.compared != nullptr;
    if (word.is_word("NX") && !options.only_if_present && !compares) {
      options.only_if_absent = true;
    } else if (word.is_word("XX") && !options.only_if_absent && !compares) {
      options.only_if_present = true;
    } else if (const auto comparison = set_comparison(version, word);
               comparison && i + 1 < words.size() && !options.only_if_absent && !options.only_if_present &&
               (!compares || options.comparison == *comparison)) {
      options.compared = &words[++i];
      options.comparison = *comparison;
    } else if (word.is_word("GET")) {
      options.get = true;
    } else if (word.is_word("KEEPTTL") && options.time == nullptr) {
      options.keep_deadline = true;
    } else if (const TimeOption* option = time_option(word);
               option != nullptr && !options.keep_deadline && i + 1 < words.size() &&
               (options.time == nullptr || options.time_option == option->word)) {
      options.time = &words[++i];
      options.time_option = option->word;
      options.unit = option->unit;
      options.base = option->base;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

Reply set_with_time(Call& call, TimeUnit unit) {
  const auto time = read_expire_time(call, call.arguments[2], unit, TimeBase::now, true);
  if (const Reply* error = std::get_if<Reply>(&time)) return *error;
  store(call, 1, call.arguments[3], std::get<Deadline>(time));
  replicate_set(call, call.arguments[3], std::get<Deadline>(time));
  return Reply::ok();
}

Reply add(Call& call, std::int64_t increment) {
  Entry* entry = call.keys.find(call.key(), call.clock);
  std::int64_t sum = 0;
  if (entry != nullptr) {
    const Value* value = string_in(*entry);
    if (value == nullptr) return wrong_type();
    const std::optional<std::int64_t> number = value->integer();
    if (!number) return not_an_integer();
    sum = *number;
  }
  if (__builtin_add_overflow(sum, increment, &sum)) return Reply::error("ERR increment or decrement would overflow");
  Entry& target = entry != nullptr ? *entry : call.keys.overwrite(call.key());
  target.object = Value(sum);
  call.keys.written(target);
  call.keys.part_changed(target.key, {}, MemberChange::nameless);
  return Reply::integer(sum);
}

/// What GET replies for an entry, or the error if it is not a string.
Reply content(Entry* entry) {
  if (entry == nullptr) return Reply::nil();
  const Value* value = string_in(*entry);
  return value != nullptr ? Reply::bulk(*value) : wrong_type();
}

/// Pairs of key and value behind the name of the command; wrong if one is alone.
bool has_pairs(const Call& call) { return call.size() % 2 == 1; }

void set_all(Call& call) {
  for (std::size_t i = 1; i < call.size(); i += 2) {
    store(call, i, call.arguments[i + 1], std::nullopt);
  }
}

}  // namespace

Reply mget_command(Call& call) {
  std::vector<Reply> values;
  for (std::size_t i = 1; i < call.size(); ++i) {
    Reply value = content(call.keys.find(call.key(i), call.clock));
    values.push_back(value.is_error() ? Reply::nil() : std::move(value));
  }
  return Reply::array(std::move(values));
}

Reply mset_command(Call& call) {
  if (!has_pairs(call)) return wrong_number_of_arguments(call);
  set_all(call);
  return Reply::ok();
}

Reply msetnx_command(Call& call) {
  if (!has_pairs(call)) return wrong_number_of_arguments(call);
  for (std::size_t i = 1; i < call.size(); i += 2) {
    if (call.keys.find(call.key(i), call.clock) != nullptr) return Reply::integer(0);
  }
  set_all(call);
  return Reply::integer(1);
}

/// GET that also sets, moves or removes the deadline.
Reply getex_command(Call& call) {
  const TimeOption* option = nullptr;
  const Value* time_argument = nullptr;
  bool persists = false;
  for (std::size_t i = 2; i < call.size(); ++i) {
    const TimeOption* read = time_option(call.arguments[i]);
    if (read != nullptr && !persists && i + 1 < call.size() && (option == nullptr || option == read)) {
      option = read;
      time_argument = &call.arguments[++i];
    } else if (call.arguments[i].is_word("PERSIST") && option == nullptr) {
      persists = true;
    } else {
      return syntax_error();
    }
  }
  Entry* entry = call.keys.find(call.key(), call.clock);
  Reply reply = content(entry);
  if (!reply.is_bulk()) return reply;
  if (option != nullptr) {
    const auto time = read_expire_time(call, *time_argument, option->unit, option->base, true);
    if (const Reply* error = std::get_if<Reply>(&time)) return *error;
    set_deadline(call, *entry, std::get<Deadline>(time), option->base);
  } else if (persists && entry->expires) {
    entry->expires = false;
    call.keys.touched(*entry);
    call.database.replicate_as(Command{"PERSIST", call.arguments[1]});
  }
  return reply;
}

Reply set_command(Call& call) {
  const std::optional<ParsedSet> options = read_set_options(call.database.version(), call.arguments.subspan(3));
  if (!options) return syntax_error();
  std::optional<Deadline> deadline;
  if (options->time != nullptr) {
    const auto time = read_expire_time(call, *options->time, options->unit, options->base, true);
    if (const Reply* error = std::get_if<Reply>(&time)) return *error;
    deadline = std::get<Deadline>(time);
  }
  const Value& value = call.arguments[2];

  // A blind SET does not care whether an older value had expired.
  const bool compares = options->compared != nullptr;
  const bool looks =
      options->only_if_absent || options->only_if_present || options->get || options->keep_deadline || compares;
  if (!looks) {
    store(call, 1, value, deadline);
    if (deadline) replicate_set(call, value, *deadline);
    return Reply::ok();
  }

  Entry* entry = call.keys.find(call.key(), call.clock);
  Reply reply = Reply::ok();
  if (options->get) {
    reply = content(entry);
    if (reply.is_error()) return reply;
  }
  const bool needs_one = options->only_if_present || (compares && holds_if_same(options->comparison));
  bool holds = !(options->only_if_absent && entry != nullptr) && !(needs_one && entry == nullptr);
  if (holds && compares && entry != nullptr) {
    const Value* present = string_in(*entry);
    if (present == nullptr) return wrong_type();
    const auto compared = compare(call, *present, options->comparison, *options->compared);
    if (const Reply* error = std::get_if<Reply>(&compared)) return *error;
    holds = std::get<bool>(compared);
  }
  if (!holds) return options->get ? reply : Reply::nil();
  if (options->keep_deadline && entry != nullptr && entry->expires) {
    deadline = *entry;
  }
  store(call, 1, value, deadline);
  if (deadline) {
    replicate_set(call, value, *deadline);
  } else {
    call.database.replicate_as(Command{"SET", call.arguments[1], value});
  }
  return reply;
}

Reply setnx_command(Call& call) {
  if (call.keys.find(call.key(), call.clock) != nullptr) return Reply::integer(0);
  store(call, 1, call.arguments[2], std::nullopt);
  return Reply::integer(1);
}

Reply setex_command(Call& call) { return set_with_time(call, TimeUnit::seconds); }
Reply psetex_command(Call& call) { return set_with_time(call, TimeUnit::milliseconds); }

Reply get_command(Call& call) { return content(call.keys.find(call.key(), call.clock)); }

Reply key_holds_command(Call& call) {
  const Value& text = call.arguments[2];
  if (surely_holds_another(call, text)) return Reply::integer(0);
  Reply found = content(call.keys.find(call.key(), call.clock));
  if (found.is_error()) return found;
  return Reply::integer(found.is_bulk() && found.value() == text ? 1 : 0);
}

Reply getset_command(Call& call) {
  Reply old = content(call.keys.find(call.key(), call.clock));
  // The new value has no deadline, whatever the old one had.
  if (!old.is_error()) store(call, 1, call.arguments[2], std::nullopt);
  return old;
}

Reply getdel_command(Call& call) {
  Entry* entry = call.keys.find(call.key(), call.clock);
  Reply old = content(entry);
  if (old.is_bulk()) {
    call.keys.remove(*entry);
    call.database.replicate_as(Command{"DEL", call.arguments[1]});
  }
  return old;
}

Reply incr_command(Call& call) { return add(call, 1); }
Reply decr_command(Call& call) { return add(call, -1); }

Reply incrby_command(Call& call) {
  const std::optional<std::int64_t> increment = call.arguments[2].integer();
  return increment ? add(call, *increment) : not_an_integer();
}

Reply decrby_command(Call& call) {
  const std::optional<std::int64_t> decrement = call.arguments[2].integer();
  if (!decrement) return not_an_integer();
  if (*decrement == std::numeric_limits<std::int64_t>::min()) return Reply::error("ERR decrement would overflow");
  return add(call, -*decrement);
}

Reply append_command(Call& call) {
  Entry* entry = call.keys.find(call.key(), call.clock);
  if (entry == nullptr) {
    store(call, 1, call.arguments[2], std::nullopt);
    return Reply::integer(static_cast<std::int64_t>(call.arguments[2].text().size()));
  }
  Value* value = string_in(*entry);
  if (value == nullptr) return wrong_type();
  std::string text = value->text();
  call.arguments[2].append_to(text);
  const auto length = static_cast<std::int64_t>(text.size());
  *value = std::move(text);
  call.keys.written(*entry);
  return Reply::integer(length);
}

Reply strlen_command(Call& call) {
  Entry* entry = call.keys.find(call.key(), call.clock);
  if (entry == nullptr) return Reply::integer(0);
  const Value* value = string_in(*entry);
  if (value == nullptr) return wrong_type();
  return Reply::integer(static_cast<std::int64_t>(value->view(call.scratch).size()));
}

}  // namespace lockstep::models::redis
