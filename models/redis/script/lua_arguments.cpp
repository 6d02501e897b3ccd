#include "models/redis/script/lua_arguments.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "models/redis/script/lua/lua_session.hpp"
#include "models/redis/script/lua/lua_symbols.hpp"
#include "models/redis/script/lua/lua_timestamps.hpp"

namespace lockstep::models::redis {
namespace {

/// What a server does with an argument that is a time.
enum class Use : std::uint8_t {
  kept,    ///< as it is
  moment,  ///< compares it with its clock, or with other times: a unit of more than a millisecond would be rounded
  length,  ///< milliseconds from now
  digits
};

bool is_one_of(const Value& word, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return word.is_word(w); });
}

/// Of the argument at `i`; the command's name is at 0.
Use use_of(const std::vector<Value>& values, std::size_t i) {
  const Value& name = values[0];
  if (i >= 2 && is_one_of(name, {"SETNX", "GETSET", "LPUSH", "RPUSH", "LPUSHX", "RPUSHX", "PUBLISH"})) return Use::kept;
  if (i == 2 && is_one_of(name, {"SET", "DELIFEQ"})) return Use::kept;
  if (i >= 3 && is_one_of(name, {"SET", "DELEX"}) && is_one_of(values[i - 1], {"IFEQ", "IFNE"})) return Use::kept;
  if (is_one_of(name, {"MSET", "MSETNX"}) && i % 2 == 0 && i > 0) return Use::kept;
  if (is_one_of(name, {"HSET", "HMSET", "HSETNX"}) && i % 2 == 1 && i > 1) return Use::kept;
  if (i == 2 && name.is_word("PEXPIREAT")) return Use::moment;
  if (i >= 3 && is_one_of(name, {"SET", "GETEX"}) && values[i - 1].is_word("PXAT")) return Use::moment;
  if (i == 2 && name.is_word("GETEX") && values[1].is_word("PXAT")) return Use::digits;
  if (i >= 2 && name.is_word("ZADD") && (values.size() - i) % 2 == 0) return Use::moment;
  if ((i == 2 || i == 3) && is_one_of(name, {"ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZREMRANGEBYSCORE", "ZCOUNT"})) {
    return Use::moment;
  }
  if (i == 2 && is_one_of(name, {"PEXPIRE", "PSETEX"})) return Use::length;
  if (i >= 3 && is_one_of(name, {"SET", "GETEX"}) && values[i - 1].is_word("PX")) return Use::length;
  return Use::digits;
}

void put_length(lua_State* lua, std::vector<Value>& values, std::size_t i) {
  constexpr sim::Duration kUnit = sim::Duration::milliseconds(1);
  const LuaSession& session = LuaSession::of(lua);
  const auto deadline = symbolic_deadline_at(lua, static_cast<int>(i) + 1, session.host->now(), kUnit);
  if (!deadline) {
    values[i] = Value(0);
    return;
  }
  values[i] = Value::milliseconds(*deadline);
  if (values[0].is_word("PEXPIRE")) {
    values[0] = Value("PEXPIREAT");
  } else if (values[0].is_word("PSETEX") && values.size() == 4) {
    values = {Value("SET"), values[1], values[3], Value("PXAT"), values[2]};
  } else {
    values[i - 1] = Value("PXAT");
  }
}

}  // namespace

void put_symbols(lua_State* lua, Command& command) {
  std::vector<Value> values(command.values().begin(), command.values().end());
  const auto count = static_cast<int>(values.size());
  // The last first: what a length becomes may stand at another place.
  for (int i = count; i >= 1; --i) {
    if (!is_symbolic(lua, i)) continue;
    const auto at = static_cast<std::size_t>(i - 1);
    const Use use = use_of(values, at);
    if (use == Use::digits) stop_for_digits(lua, "gives a command the digits of a time");
    if (use == Use::length) {
      put_length(lua, values, at);
      continue;
    }
    values[at] = *symbolic_value_at(lua, i);
    const Timestamp* time = values[at].timestamp();
    if (use == Use::moment && time->unit != sim::Duration::milliseconds(1)) {
      stop_for_digits(lua, "gives a command a time that is not in milliseconds, where that makes a difference");
    }
  }
  command.clear();
  for (Value& value : values) command.push_back(std::move(value));
}

}  // namespace lockstep::models::redis
