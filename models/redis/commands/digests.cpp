// Commands that act only if a key holds a certain text, or one of a certain digest: Redis 8.4 and Valkey 9.
// Source: redis/redis src/db.c (delexCommand) and src/t_string.c (stringDigest, setGenericCommand), 8.4 and later;
// valkey-io/valkey src/t_string.c (delifeqCommand), 9.0.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

constexpr std::size_t kDigestLength = 16;

/// XXH3 of 64 bits; or that there is nothing yet that it could be taken of.
std::variant<std::uint64_t, Reply> digest_of(Call& call, const Value& text) {
  const Timestamp* time = text.timestamp();
  if (time != nullptr && time->instant.anchor() != 0)
    return call.database.give_up("a digest needs the digits of a time, which an exploration does not have");
  const std::string bytes = text.text();
  return std::uint64_t{XXH3_64bits(bytes.data(), bytes.size())};
}

Reply remove(Call& call, Entry& entry) {
  call.keys.remove(entry);
  call.database.replicate_as(Command{"DEL", call.arguments[1]});
  return Reply::integer(1);
}

}  // namespace

std::optional<Comparison> comparison_of(const Value& word) {
  static constexpr std::string_view kWords[] = {"IFEQ", "IFNE", "IFDEQ", "IFDNE"};
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    if (word.is_word(kWords[i])) return static_cast<Comparison>(i);
  }
  return std::nullopt;
}

/// As in Redis, only the length of a digest is checked, and capitals are the same.
std::variant<bool, Reply> compare(Call& call, const Value& present, Comparison comparison, const Value& with) {
  if (comparison == Comparison::equal || comparison == Comparison::unequal)
    return call.equal(present, with) == holds_if_same(comparison);
  if (with.text().size() != kDigestLength) return Reply::error("ERR must be exactly 16 hexadecimal characters");
  auto digest = digest_of(call, present);
  if (Reply* error = std::get_if<Reply>(&digest)) return std::move(*error);
  const std::uint64_t number = std::get<std::uint64_t>(digest);
  // What has no letter may have come as a number, which is no word.
  const bool is_it = with.is_word(fmt::format("{:016X}", number)) || with.text() == fmt::format("{:016x}", number);
  return is_it == holds_if_same(comparison);
}

/// DELEX key [IFEQ value | IFNE value | IFDEQ digest | IFDNE digest]. As in Redis, a condition that does not exist is
/// only noticed at a key that does, and a key of another type before that.
Reply delex_command(Call& call) {
  const bool is_conditional = call.size() == 4;
  if (!is_conditional && call.size() != 2) return wrong_number_of_arguments(call);
  const std::optional<Comparison> comparison = is_conditional ? comparison_of(call.arguments[2]) : std::nullopt;
  if (comparison == Comparison::equal && surely_holds_another(call, call.arguments[3])) return Reply::integer(0);
  Entry* entry = call.keys.find(call.key(), call.clock);
  if (entry == nullptr) return Reply::integer(0);
  if (!is_conditional) return remove(call, *entry);
  const Value* present = string_in(*entry);
  if (present == nullptr) return Reply::error("ERR Key should be of string type if conditions are specified");
  if (!comparison) return Reply::error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
  const auto holds = compare(call, *present, *comparison, call.arguments[3]);
  if (const Reply* error = std::get_if<Reply>(&holds)) return *error;
  return std::get<bool>(holds) ? remove(call, *entry) : Reply::integer(0);
}

/// DELIFEQ key value.
Reply delifeq_command(Call& call) {
  if (surely_holds_another(call, call.arguments[2])) return Reply::integer(0);
  Entry* entry = call.keys.find(call.key(), call.clock);
  if (entry == nullptr) return Reply::integer(0);
  const Value* present = string_in(*entry);
  if (present == nullptr) return wrong_type();
  return call.equal(*present, call.arguments[2]) ? remove(call, *entry) : Reply::integer(0);
}

Reply digest_command(Call& call) {
  Entry* entry = call.keys.find(call.key(), call.clock);
  if (entry == nullptr) return Reply::nil();
  const Value* present = string_in(*entry);
  if (present == nullptr) return wrong_type();
  auto digest = digest_of(call, *present);
  if (Reply* error = std::get_if<Reply>(&digest)) return std::move(*error);
  return Reply::bulk(fmt::format("{:016x}", std::get<std::uint64_t>(digest)));
}

}  // namespace lockstep::models::redis
