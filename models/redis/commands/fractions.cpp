// Counters with a fraction: INCRBYFLOAT, HINCRBYFLOAT.

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

/// Redis adds in this type and prints 17 decimals. Nothing is decided by it: the sum is text again at once.
using Wide = long double;  // tidy: not deciding

/// What strtold takes as a whole, without blanks in front.
std::optional<Wide> read_wide(const Value& value) {
  const std::string text = value.text();
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front()))) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const Wide number = std::strtold(text.c_str(), &end);
  const bool overflows = errno == ERANGE && (std::isinf(number) || number == 0);
  if (end != text.c_str() + text.size() || overflows || std::isnan(number)) return std::nullopt;
  return number;
}

std::string print_wide(Wide number) {
  std::array<char, 5 * 1024> digits;
  const int length = std::snprintf(digits.data(), digits.size(), "%.17Lf", number);
  std::string text(digits.data(), static_cast<std::size_t>(length));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

Reply not_a_float() { return Reply::error("ERR value is not a valid float"); }
Reply no_number() { return Reply::error("ERR increment would produce NaN or Infinity"); }

}  // namespace

Reply incrbyfloat_command(Call& call) {
  Entry* entry = call.keys.find(call.key(), call.clock);
  std::optional<Wide> sum = 0;
  if (entry != nullptr) {
    const Value* value = string_in(*entry);
    if (value == nullptr) return wrong_type();
    sum = read_wide(*value);
  }
  const std::optional<Wide> increment = read_wide(call.arguments[2]);
  if (!sum || !increment) return not_a_float();
  *sum += *increment;
  if (!std::isfinite(*sum)) return no_number();
  const std::string text = print_wide(*sum);
  Entry& target = entry != nullptr ? *entry : call.keys.overwrite(call.key());
  target.object = Value(text);
  call.keys.written(target);
  call.keys.part_changed(target.key, {}, MemberChange::nameless);
  call.database.replicate_as(Command{"SET", call.arguments[1], text, "KEEPTTL"});
  return Reply::bulk(text);
}

Reply hincrbyfloat_command(Call& call) {
  const std::optional<Wide> increment = read_wide(call.arguments[3]);
  if (!increment) return not_a_float();
  if (!std::isfinite(*increment)) return Reply::error("ERR value is NaN or Infinity");
  auto found = find_object<Hash>(call);
  if (found.is_wrong()) return wrong_type();
  std::optional<Wide> sum = 0;
  if (const HashField* field = found ? found->find(call.key(2)) : nullptr) sum = read_wide(field->value);
  if (!sum) return Reply::error("ERR hash value is not a float");
  *sum += *increment;
  if (!std::isfinite(*sum)) return no_number();
  const std::string text = print_wide(*sum);
  Hash& hash = found.get_or_create(call);
  const std::string_view name = call.key(2);
  HashField* field = hash.find(name);
  (field != nullptr ? *field : hash.insert(name)).value = text;
  call.keys.part_changed(found.entry->key, name, MemberChange::written);
  call.database.replicate_as(Command{"HSET", call.arguments[1], call.arguments[2], text});
  return Reply::bulk(text);
}

}  // namespace lockstep::models::redis
