// Commands on parts of a string.

#include <algorithm>
#include <cstdint>
#include <string>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {

/// GETRANGE and SUBSTR.
Reply getrange_command(Call& call) {
  const std::optional<std::int64_t> start = call.arguments[2].integer();
  const std::optional<std::int64_t> stop = call.arguments[3].integer();
  if (!start || !stop) return not_an_integer();
  Entry* entry = call.keys.find(call.key(), call.clock);
  if (entry == nullptr) return Reply::bulk("");
  const Value* value = string_in(*entry);
  if (value == nullptr) return wrong_type();
  const std::string text = value->text();
  const auto size = static_cast<std::int64_t>(text.size());
  if (*start < 0 && *stop < 0 && *start > *stop) return Reply::bulk("");
  const std::int64_t first = std::max<std::int64_t>(0, *start < 0 ? *start + size : *start);
  // Unlike the end of a list's range, one before the beginning is the first byte.
  const std::int64_t last = std::min(size - 1, std::max<std::int64_t>(0, *stop < 0 ? *stop + size : *stop));
  if (first > last) return Reply::bulk("");
  return Reply::bulk(text.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)));
}

Reply setrange_command(Call& call) {
  constexpr std::int64_t kLongest = 512LL << 20;
  const std::optional<std::int64_t> offset = call.arguments[2].integer();
  if (!offset) return not_an_integer();
  if (*offset < 0) return Reply::error("ERR offset is out of range");
  Entry* entry = call.keys.find(call.key(), call.clock);
  const Value* value = entry != nullptr ? string_in(*entry) : nullptr;
  if (entry != nullptr && value == nullptr) return wrong_type();
  std::string text = value != nullptr ? value->text() : "";
  const std::string part = call.arguments[3].text();
  if (part.empty()) return Reply::integer(static_cast<std::int64_t>(text.size()));
  if (*offset > kLongest || *offset + static_cast<std::int64_t>(part.size()) > kLongest) {
    return Reply::error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  }
  const auto begin = static_cast<std::size_t>(*offset);
  if (text.size() < begin + part.size()) text.resize(begin + part.size());
  text.replace(begin, part.size(), part);
  const auto length = static_cast<std::int64_t>(text.size());
  Entry& target = entry != nullptr ? *entry : call.keys.overwrite(call.key());
  target.object = Value(text);
  call.keys.written(target);
  return Reply::integer(length);
}

}  // namespace lockstep::models::redis
