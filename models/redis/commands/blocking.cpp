// Commands that wait until a list or a sorted set has an element, and LMPOP and ZMPOP, which wait for nothing. Inside a
// script or a transaction all of them reply at once, as if their time were out.

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

using WaitingKind = Waiting::Kind;

/// As Redis reads a timeout: strtold, without blanks in front. What only 80 bits hold, 1e-400 say, is a timeout of one
/// millisecond.
using Seconds = long double;  // tidy: not deciding (one number read, one product, rounded up)

std::optional<Seconds> parse_seconds(std::string_view argument) {
  const std::string text(argument);
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) != 0) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const Seconds seconds = std::strtold(text.c_str(), &end);
  if (end != text.c_str() + text.size() || std::isnan(seconds)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(seconds) || seconds == 0)) return std::nullopt;
  return seconds;
}

/// Seconds, with a part below; 0: for ever.
std::variant<std::optional<sim::Duration>, Reply> read_timeout(const Value& argument) {
  std::string scratch;
  const std::optional<Seconds> seconds = parse_seconds(argument.view(scratch));
  if (!seconds) return Reply::error("ERR timeout is not a float or out of range");
  constexpr Seconds kPerSecond = 1000, kMost = 9223372036854775808.0L;
  const Seconds milliseconds = std::ceil(*seconds * kPerSecond);
  // A cast to 64 bits makes a negative number of what is too large.
  if (milliseconds < 0 || milliseconds >= kMost) return Reply::error("ERR timeout is negative");
  if (milliseconds == 0) return std::optional<sim::Duration>();
  const auto longest = static_cast<Seconds>(sim::Duration::forever().count_ns() / 1'000'000);
  return std::optional(sim::Duration::milliseconds(static_cast<std::int64_t>(std::min(milliseconds, longest))));
}

bool is_of_sets(WaitingKind kind) { return kind == WaitingKind::pop_min || kind == WaitingKind::pop_max; }

std::string_view name_of(WaitingKind kind) {
  switch (kind) {
    case WaitingKind::pop_left: return "LPOP";
    case WaitingKind::pop_right: return "RPOP";
    case WaitingKind::pop_min: return "ZPOPMIN";
    default: return "ZPOPMAX";
  }
}

/// What it takes from that key, which has something, and how it replies: `waiting.count` is what (B)LMPOP and (B)ZMPOP
/// say.
Reply pop_from(Call& call, const Waiting& waiting, const std::string& key) {
  Command plain = plain_of(waiting, key);
  if (waiting.count) {
    const Entry& entry = *call.keys.peek(key);
    const std::size_t size =
        is_of_sets(waiting.kind) ? std::get<SortedSet>(entry.object).size() : std::get<List>(entry.object).size();
    plain.push_back(std::min(*waiting.count, static_cast<std::int64_t>(size)));
  }
  Call popping{call.database, call.keys, call.session, plain.values(), call.clock, call.command, false};
  Reply taken = plain.spec()->handler(popping);
  if (!is_of_sets(waiting.kind)) {
    call.database.replicate_as(plain);
    return Reply::array({Reply::bulk(key), std::move(taken)});
  }
  std::vector<Reply> parts = {Reply::bulk(key)};
  if (!waiting.count) {
    parts.insert(parts.end(), taken.items().begin(), taken.items().end());
    return Reply::array(std::move(parts));
  }
  std::vector<Reply> pairs;
  for (std::size_t i = 0; i + 1 < taken.items().size(); i += 2) {
    pairs.push_back(Reply::array({taken.items()[i], taken.items()[i + 1]}));
  }
  parts.push_back(Reply::array(std::move(pairs)));
  return Reply::array(std::move(parts));
}

/// From the first of its keys that has something. Nothing: none has.
std::optional<Reply> pop(Call& call, const Waiting& waiting) {
  for (const std::string& key : waiting.keys) {
    const Entry* entry = call.keys.find(key, call.clock);
    if (entry == nullptr) continue;
    const bool fits = is_of_sets(waiting.kind) ? std::holds_alternative<SortedSet>(entry->object)
                                               : std::holds_alternative<List>(entry->object);
    return fits ? pop_from(call, waiting, key) : wrong_type();
  }
  return std::nullopt;
}

Reply pop_or_wait(Call& call, const Value& timeout, Waiting waiting) {
  const auto time = read_timeout(timeout);
  if (const Reply* error = std::get_if<Reply>(&time)) return *error;
  waiting.timeout = std::get<0>(time);
  if (std::optional<Reply> popped = pop(call, waiting)) return *std::move(popped);
  if (call.may_block) call.database.block(call.session, std::move(waiting));
  return Reply::null_array();
}

/// BLPOP and its relatives: keys, and the timeout last.
Reply blocking_pop(Call& call, WaitingKind kind) {
  Waiting waiting{.kind = kind};
  for (std::size_t i = 1; i + 1 < call.size(); ++i) waiting.keys.emplace_back(call.key(i));
  return pop_or_wait(call, call.arguments.back(), std::move(waiting));
}

/// The arguments of (B)LMPOP and (B)ZMPOP from the number of keys on, or the error.
std::variant<Waiting, Reply> read_multiple(Call& call, std::size_t first, bool of_sets) {
  const std::optional<std::int64_t> keys = call.arguments[first].integer();
  if (!keys || *keys < 1) return Reply::error("ERR numkeys should be greater than 0");
  const auto behind = static_cast<std::int64_t>(call.size() - first);
  if (*keys >= behind - 1) return syntax_error();
  Waiting waiting;
  std::size_t i = first + 1;
  for (; i <= first + static_cast<std::size_t>(*keys); ++i) waiting.keys.emplace_back(call.key(i));
  const Value& end = call.arguments[i++];
  if (end.is_word(of_sets ? "MIN" : "LEFT")) {
    waiting.kind = of_sets ? WaitingKind::pop_min : WaitingKind::pop_left;
  } else if (end.is_word(of_sets ? "MAX" : "RIGHT")) {
    waiting.kind = of_sets ? WaitingKind::pop_max : WaitingKind::pop_right;
  } else {
    return syntax_error();
  }
  for (; i < call.size(); i += 2) {
    if (waiting.count || !call.arguments[i].is_word("COUNT") || i + 1 == call.size()) return syntax_error();
    waiting.count = call.arguments[i + 1].integer();
    if (!waiting.count || *waiting.count < 1) return Reply::error("ERR count should be greater than 0");
  }
  if (!waiting.count) waiting.count = 1;
  return waiting;
}

Reply pop_of_several(Call& call, bool of_sets) {
  const auto waiting = read_multiple(call, 1, of_sets);
  if (const Reply* error = std::get_if<Reply>(&waiting)) return *error;
  return pop(call, std::get<Waiting>(waiting)).value_or(Reply::null_array());
}

Reply blocking_pop_of_several(Call& call, bool of_sets) {
  auto waiting = read_multiple(call, 2, of_sets);
  if (const Reply* error = std::get_if<Reply>(&waiting)) return *error;
  return pop_or_wait(call, call.arguments[1], std::get<Waiting>(std::move(waiting)));
}

Reply blocking_move(Call& call, bool from_left, bool to_left, const Value& timeout) {
  const auto time = read_timeout(timeout);
  if (const Reply* error = std::get_if<Reply>(&time)) return *error;
  const Command plain{"LMOVE", call.arguments[1], call.arguments[2], from_left ? "LEFT" : "RIGHT",
                      to_left ? "LEFT" : "RIGHT"};
  const auto source = find_object<List>(call);
  if (source.is_wrong()) return wrong_type();
  if (source) {
    Call moving{call.database, call.keys, call.session, plain.values(), call.clock, call.command, false};
    Reply moved = lmove_command(moving);
    if (moved.is_error()) return moved;
    call.database.replicate_as(call.command == "BRPOPLPUSH" ? Command{"RPOPLPUSH", call.arguments[1], call.arguments[2]}
                                                            : plain);
    return moved;
  }
  if (!call.may_block) return Reply::nil();
  call.database.block(call.session, {.kind = WaitingKind::move,
                                     .keys = {std::string(call.key(1))},
                                     .destination = std::string(call.key(2)),
                                     .from_left = from_left,
                                     .to_left = to_left,
                                     .timeout = std::get<0>(time)});
  return Reply::null_array();
}

}  // namespace

Reply blpop_command(Call& call) { return blocking_pop(call, WaitingKind::pop_left); }
Reply brpop_command(Call& call) { return blocking_pop(call, WaitingKind::pop_right); }
Reply bzpopmin_command(Call& call) { return blocking_pop(call, WaitingKind::pop_min); }
Reply bzpopmax_command(Call& call) { return blocking_pop(call, WaitingKind::pop_max); }
Reply lmpop_command(Call& call) { return pop_of_several(call, false); }
Reply zmpop_command(Call& call) { return pop_of_several(call, true); }
Reply blmpop_command(Call& call) { return blocking_pop_of_several(call, false); }
Reply bzmpop_command(Call& call) { return blocking_pop_of_several(call, true); }

Reply blmove_command(Call& call) {
  const bool from_left = call.arguments[3].is_word("LEFT");
  const bool to_left = call.arguments[4].is_word("LEFT");
  if ((!from_left && !call.arguments[3].is_word("RIGHT")) || (!to_left && !call.arguments[4].is_word("RIGHT"))) {
    return syntax_error();
  }
  return blocking_move(call, from_left, to_left, call.arguments[5]);
}

Reply brpoplpush_command(Call& call) { return blocking_move(call, false, true, call.arguments[3]); }

// --- For those that waited.

bool can_serve(const Waiting& waiting, const Object& object) {
  if (waiting.kind == WaitingKind::replicas) return false;
  return is_of_sets(waiting.kind) ? std::holds_alternative<SortedSet>(object) : std::holds_alternative<List>(object);
}

Command plain_of(const Waiting& waiting, const std::string& key) {
  if (waiting.kind != WaitingKind::move) return Command{name_of(waiting.kind), key};
  return Command{"LMOVE", key, waiting.destination, waiting.from_left ? "LEFT" : "RIGHT",
                 waiting.to_left ? "LEFT" : "RIGHT"};
}

Reply serve_blocked(Call& call, const Waiting& waiting, const std::string& key) {
  if (waiting.kind != WaitingKind::move) return pop_from(call, waiting, key);
  const Command plain = plain_of(waiting, key);
  Call moving{call.database, call.keys, call.session, plain.values(), call.clock, call.command, false};
  Reply moved = lmove_command(moving);
  if (!moved.is_error()) call.database.replicate_as(plain);
  return moved;
}

}  // namespace lockstep::models::redis
