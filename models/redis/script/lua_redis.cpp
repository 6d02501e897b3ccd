#include "models/redis/script/lua_redis.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "models/redis/script/lua/lua_session.hpp"
#include "models/redis/script/lua/lua_tables.hpp"
#include "models/redis/script/lua/lua_timestamps.hpp"
#include "models/redis/script/lua_arguments.hpp"
#include "models/redis/script/sha1.hpp"
#include "models/redis/wire/command_spec.hpp"

namespace lockstep::models::redis {
namespace {

void push_string(lua_State* lua, std::string_view text) { lua_pushlstring(lua, text.data(), text.size()); }

void push_table_with(lua_State* lua, const char* field, std::string_view text) {
  lua_createtable(lua, 0, 1);
  push_string(lua, text);
  lua_setfield(lua, -2, field);
}

/// Of Redis' own errors, `text` is what a client would read: "WRONGTYPE …". Scripts see that the server made them.
void push_server_error(lua_State* lua, std::string_view text) {
  push_table_with(lua, "err", text);
  lua_pushboolean(lua, 1);
  lua_setfield(lua, -2, "ignore_error_stats_update");
}

void push_reply(lua_State* lua, const Reply& reply);

/// `count` items from `first` on as a table.
void push_items(lua_State* lua, const std::vector<Reply>& items, std::size_t first, std::size_t count) {
  lua_createtable(lua, static_cast<int>(count), 0);
  for (std::size_t i = 0; i < count; ++i) {
    push_reply(lua, items[first + i]);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
}

/// What has a type of its own in RESP3, for a script that has asked for it: a table with one field, which names the
/// type.
void push_resp3(lua_State* lua, const Reply& reply) {
  const auto named = [&](const char* type) {
    lua_createtable(lua, 0, 1);
    lua_insert(lua, -2);
    lua_setfield(lua, -2, type);
  };
  switch (reply.form()) {
    case Form::plain:
    case Form::push:
    case Form::boolean: lua_pushboolean(lua, reply.is_integer() && reply.integer() != 0); return;
    case Form::map:
      lua_newtable(lua);
      for (std::size_t i = 0; i + 1 < reply.items().size(); i += 2) {
        push_reply(lua, reply.items()[i]);
        push_reply(lua, reply.items()[i + 1]);
        lua_rawset(lua, -3);
      }
      return named("map");
    case Form::set:
      lua_newtable(lua);
      for (const Reply& item : reply.items()) {
        push_reply(lua, item);
        lua_pushboolean(lua, 1);
        lua_rawset(lua, -3);
      }
      return named("set");
    case Form::pairs:
      lua_createtable(lua, static_cast<int>(reply.items().size() / 2), 0);
      for (std::size_t i = 0; i + 1 < reply.items().size(); i += 2) {
        push_items(lua, reply.items(), i, 2);
        lua_rawseti(lua, -2, static_cast<int>(i / 2) + 1);
      }
      return;
    case Form::real:
      if (reply.value().timestamp() != nullptr) {
        push_value(lua, reply.value());  // an exploration has no digits
      } else {
        lua_pushnumber(lua, std::strtod(reply.value().text().c_str(), nullptr));
      }
      return named("double");
    case Form::big_number: push_value(lua, reply.value()); return named("big_number");
    case Form::verbatim:
      lua_createtable(lua, 0, 2);
      push_string(lua, reply.format());
      lua_setfield(lua, -2, "format");
      push_value(lua, reply.value());
      lua_setfield(lua, -2, "string");
      return named("verbatim_string");
  }
}

void push_reply(lua_State* lua, const Reply& reply) {
  luaL_checkstack(lua, 6, "reply is nested too deeply");
  const bool is_resp3 = LuaSession::of(lua).speaks_resp3;
  if (is_resp3 && reply.form() != Form::plain && !reply.is_nil()) {
    push_resp3(lua, reply);
  } else if (reply.is_time_left()) {
    push_time_left(lua, reply);
  } else if (reply.is_integer()) {
    lua_pushnumber(lua, static_cast<lua_Number>(reply.integer()));
  } else if (reply.is_bulk()) {
    push_value(lua, reply.value());
  } else if (reply.is_error()) {
    push_server_error(lua, reply.text());
  } else if (reply.is_status()) {
    push_table_with(lua, "ok", reply.text());
  } else if (reply.is_array()) {
    push_items(lua, reply.items(), 0, reply.items().size());
  } else if (is_resp3) {
    lua_pushnil(lua);
  } else {
    lua_pushboolean(lua, 0);  // RESP2's nil
  }
}

/// A number as Redis prints it for redis.call: up to 17 digits, so that it reads back as the same number.
Value argument_of(lua_Number number) {
  constexpr lua_Number kExact = 1e15;
  if (std::fabs(number) < kExact && number == std::trunc(number) && !(number == 0 && std::signbit(number))) {
    return Value(static_cast<std::int64_t>(number));
  }
  std::array<char, 32> digits;
  const int length = std::snprintf(digits.data(), digits.size(), "%.17g", number);
  return Value(std::string(digits.data(), static_cast<std::size_t>(length)));
}

/// The arguments of redis.call as a command, or what is wrong with them.
const char* read_command(lua_State* lua, Command& command) {
  const int count = lua_gettop(lua);
  if (count == 0) return "ERR Please specify at least one argument for this redis lib call";
  command.clear();
  bool has_symbols = false;
  for (int i = 1; i <= count; ++i) {
    if (lua_type(lua, i) == LUA_TNUMBER) {
      command.push_back(argument_of(lua_tonumber(lua, i)));
    } else if (lua_type(lua, i) == LUA_TSTRING) {
      std::size_t length = 0;
      const char* bytes = lua_tolstring(lua, i, &length);
      command.push_back(std::string_view(bytes, length));
    } else if (is_symbolic(lua, i)) {
      command.push_back(Value());
      has_symbols = true;
    } else {
      return "ERR Lua redis lib command arguments must be strings or integers";
    }
  }
  if (has_symbols) put_symbols(lua, command);
  return nullptr;
}

/// Lua catches every exception. The host's own goes on when the script has ended, which it does at once.
Reply ask_host(lua_State* lua, LuaSession& session) {
  try {
    return session.host->call_from_script(session.command, session.may_write);
  } catch (...) {
    session.host_failure = std::current_exception();
  }
  (void)lua;
  session.stop("the server failed");
}

int call_or_pcall(lua_State* lua, bool raise) {
  LuaSession& session = LuaSession::of(lua);
  if (const char* wrong = read_command(lua, session.command)) {
    push_server_error(lua, wrong);
  } else {
    const Reply reply = ask_host(lua, session);
    push_reply(lua, reply);
    if (!reply.is_error()) return 1;
  }
  return raise ? lua_error(lua) : 1;
}

int redis_call(lua_State* lua) { return call_or_pcall(lua, true); }
int redis_pcall(lua_State* lua) { return call_or_pcall(lua, false); }

int raise(lua_State* lua, const char* text) {
  push_server_error(lua, text);
  return lua_error(lua);
}

int sha1hex(lua_State* lua) {
  if (lua_gettop(lua) != 1) return raise(lua, "ERR wrong number of arguments");
  if (is_symbolic(lua, 1)) explain_misuse(lua, "redis.sha1hex of userdata");
  std::size_t length = 0;
  const char* bytes = lua_tolstring(lua, 1, &length);
  LuaSession::of(lua).charge(length / 4);
  push_string(lua, sha1_hex({bytes != nullptr ? bytes : "", length}));
  return 1;
}

/// "-CODE text" and "CODE text" are the same; a single word is the text of a generic error.
std::string error_text(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text.find(' ') == std::string_view::npos ? "ERR " + std::string(text) : std::string(text);
}

bool is_one_string(lua_State* lua) { return lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING; }

int error_reply(lua_State* lua) {
  if (is_symbolic(lua, 1)) explain_misuse(lua, "redis.error_reply of userdata");
  if (!is_one_string(lua)) {
    push_table_with(lua, "err", "ERR wrong number or type of arguments");
  } else {
    push_table_with(lua, "err", error_text(string_at(lua, 1)));
  }
  return 1;
}

int status_reply(lua_State* lua) {
  if (is_symbolic(lua, 1)) explain_misuse(lua, "redis.status_reply of userdata");
  if (!is_one_string(lua)) {
    push_table_with(lua, "err", "ERR wrong number or type of arguments");
  } else {
    push_table_with(lua, "ok", string_at(lua, 1));
  }
  return 1;
}

int log(lua_State* lua) {
  if (lua_gettop(lua) < 2) return raise(lua, "ERR redis.log() requires two arguments or more.");
  if (!lua_isnumber(lua, 1)) return raise(lua, "ERR First argument must be a number (log level).");
  const lua_Number level = lua_tonumber(lua, 1);
  if (level < 0 || level > 3) return raise(lua, "ERR Invalid debug level.");
  return 0;
}

int setresp(lua_State* lua) {
  if (lua_gettop(lua) != 1) return raise(lua, "ERR redis.setresp() requires one argument.");
  const lua_Number version = lua_tonumber(lua, 1);
  if (version != 2 && version != 3) return raise(lua, "ERR RESP version must be 2 or 3.");
  LuaSession::of(lua).speaks_resp3 = version == 3;
  return 0;
}

int set_repl(lua_State* lua) {
  if (lua_gettop(lua) != 1) return raise(lua, "ERR redis.set_repl() requires two arguments.");
  const lua_Number flags = lua_tonumber(lua, 1);
  if (flags < 0 || flags > 3) {
    return raise(lua, "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
  }
  return 0;
}

int replicate_commands(lua_State* lua) {
  lua_pushboolean(lua, 1);
  return 1;
}

int breakpoint(lua_State* lua) {
  lua_pushboolean(lua, 0);
  return 1;
}

int debug(lua_State*) { return 0; }

int acl_check_cmd(lua_State* lua) {
  LuaSession& session = LuaSession::of(lua);
  if (const char* wrong = read_command(lua, session.command)) return raise(lua, wrong);
  if (!session.host->knows_command(session.command)) {
    return raise(lua, "ERR Invalid command passed to redis.acl_check_cmd()");
  }
  lua_pushboolean(lua, 1);
  return 1;
}

/// What a C cast makes of a number on the machines that run Redis; the cast itself is undefined outside of 64 bits.
std::int64_t truncated(lua_Number number) {
  constexpr lua_Number kLimit = 9223372036854775808.0;
  if (!(number >= -kLimit && number < kLimit)) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(number);
}

/// Turns a value into a reply. Fields are read raw, as Redis does: metatables have no say.
class ReplyMaker {
 public:
  ReplyMaker(lua_State* lua, std::size_t most_items) : lua_(lua), items_left_(most_items) {}

  /// Of the value on top of the stack, which it pops.
  Reply make(int depth) {
    if (items_left_ == 0) {
      lua_pop(lua_, 1);
      return Reply::nil();
    }
    --items_left_;
    Reply reply = Reply::nil();
    switch (lua_type(lua_, -1)) {
      case LUA_TSTRING: reply = Reply::bulk(string_at(lua_, -1)); break;
      case LUA_TNUMBER: reply = Reply::integer(truncated(lua_tonumber(lua_, -1))); break;
      case LUA_TBOOLEAN: reply = of_boolean(lua_toboolean(lua_, -1) != 0); break;
      case LUA_TTABLE: reply = of_table(depth); break;
      case LUA_TUSERDATA: reply = of_symbol(); break;
      default: break;
    }
    lua_pop(lua_, 1);
    return reply;
  }

  bool has_room() const { return items_left_ > 0; }
  /// Why there is no reply.
  std::string_view trouble() const { return has_room() ? trouble_ : "script returned more than 100,000 items"; }

 private:
  static constexpr int kDeepest = 1000;

  /// A string field of the table on top.
  std::optional<std::string> field(const char* name) {
    lua_pushstring(lua_, name);
    lua_rawget(lua_, -2);
    std::optional<std::string> text;
    if (lua_type(lua_, -1) == LUA_TSTRING) text = string_at(lua_, -1);
    lua_pop(lua_, 1);
    return text;
  }

  Reply of_boolean(bool value) {
    if (LuaSession::of(lua_).speaks_resp3) return Reply::boolean(value);
    return value ? Reply::integer(1) : Reply::nil();
  }

  Reply of_symbol() {
    auto reply = symbolic_reply_at(lua_, -1);
    if (const auto* why = std::get_if<std::string_view>(&reply)) {
      trouble_ = *why;
      return Reply::nil();
    }
    return std::get<Reply>(std::move(reply));
  }

  Reply of_table(int depth) {
    if (depth == kDeepest || !lua_checkstack(lua_, 4)) return Reply::error("ERR reached lua stack limit");
    if (auto text = field("err")) return Reply::error(trimmed(std::move(*text)));
    if (auto text = field("ok")) return Reply::status(std::move(*text));
    if (has_type("double", LUA_TNUMBER)) return of_double();
    if (auto text = field("big_number")) return Reply::big_number(without_line_breaks(std::move(*text)));
    if (auto text = verbatim()) return *std::move(text);
    if (has_type("map", LUA_TTABLE)) return of_pairs("map", depth, true);
    if (has_type("set", LUA_TTABLE)) return of_pairs("set", depth, false);
    std::vector<Reply> items;
    for (int i = 1; has_room(); ++i) {
      lua_rawgeti(lua_, -1, i);
      if (lua_isnil(lua_, -1)) {
        lua_pop(lua_, 1);
        break;
      }
      items.push_back(make(depth + 1));
    }
    return Reply::array(std::move(items));
  }

  bool has_type(const char* name, int type) {
    lua_pushstring(lua_, name);
    lua_rawget(lua_, -2);
    const bool has = lua_type(lua_, -1) == type;
    lua_pop(lua_, 1);
    return has;
  }

  Reply of_double() {
    lua_pushliteral(lua_, "double");
    lua_rawget(lua_, -2);
    std::array<char, 32> digits;
    const int length = std::snprintf(digits.data(), digits.size(), "%.17g", lua_tonumber(lua_, -1));
    lua_pop(lua_, 1);
    return Reply::real(std::string(digits.data(), static_cast<std::size_t>(length)));
  }

  std::optional<Reply> verbatim() {
    if (!has_type("verbatim_string", LUA_TTABLE)) return std::nullopt;
    lua_pushliteral(lua_, "verbatim_string");
    lua_rawget(lua_, -2);
    const std::optional<std::string> format = field("format");
    const std::optional<std::string> text = field("string");
    lua_pop(lua_, 1);
    if (!format || !text) return std::nullopt;
    return Reply::verbatim(*text, *format);
  }

  static std::string without_line_breaks(std::string text) {
    for (char& c : text) {
      if (c == '\r' || c == '\n') c = ' ';
    }
    return text;
  }

  Reply of_pairs(const char* name, int depth, bool with_values) {
    lua_pushstring(lua_, name);
    lua_rawget(lua_, -2);
    std::vector<Reply> items;
    for (lua_pushnil(lua_); has_room() && lua_next(lua_, -2) != 0;) {
      lua_pushvalue(lua_, -2);
      items.push_back(make(depth + 1));
      if (with_values) {
        items.push_back(make(depth + 1));  // pops the value
      } else {
        lua_pop(lua_, 1);
      }
    }
    lua_settop(lua_, has_room() ? lua_gettop(lua_) - 1 : lua_gettop(lua_));
    return with_values ? Reply::map(std::move(items)) : Reply::set(std::move(items));
  }

  static std::string trimmed(std::string text) {
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    return text;
  }

  lua_State* lua_;
  std::size_t items_left_;
  std::string_view trouble_;
};

}  // namespace

void install_redis_functions(lua_State* lua) {
  lua_newtable(lua);
  constexpr luaL_Reg kFunctions[] = {{"call", redis_call},
                                     {"pcall", redis_pcall},
                                     {"sha1hex", sha1hex},
                                     {"error_reply", error_reply},
                                     {"status_reply", status_reply},
                                     {"log", log},
                                     {"setresp", setresp},
                                     {"set_repl", set_repl},
                                     {"replicate_commands", replicate_commands},
                                     {"breakpoint", breakpoint},
                                     {"debug", debug},
                                     {"acl_check_cmd", acl_check_cmd},
                                     {nullptr, nullptr}};
  luaL_register(lua, nullptr, kFunctions);
  struct Constant {
    const char* name;
    int value;
  };
  constexpr Constant kConstants[] = {
      {"LOG_DEBUG", 0}, {"LOG_VERBOSE", 1}, {"LOG_NOTICE", 2},   {"LOG_WARNING", 3}, {"REPL_NONE", 0},
      {"REPL_AOF", 1},  {"REPL_SLAVE", 2},  {"REPL_REPLICA", 2}, {"REPL_ALL", 3},    {"REDIS_VERSION_NUM", 0x07000f}};
  for (const auto& [name, value] : kConstants) {
    lua_pushinteger(lua, value);
    lua_setfield(lua, -2, name);
  }
  lua_pushliteral(lua, "7.0.15");
  lua_setfield(lua, -2, "REDIS_VERSION");
  make_read_only(lua);
  lua_setfield(lua, -2, "redis");
}

int key_holds(lua_State* lua) {
  LuaSession& session = LuaSession::of(lua);
  if (lua_type(lua, 1) != LUA_TSTRING || lua_type(lua, 2) != LUA_TSTRING) {
    // A key or an argument that was not given, or one that has no digits yet: as it is written.
    lua_settop(lua, 2);
    lua_insert(lua, 1);
    lua_pushcfunction(lua, redis_call);
    lua_insert(lua, 2);
    lua_pushliteral(lua, "GET");
    lua_insert(lua, 3);
    lua_call(lua, 2, 1);
    lua_pushboolean(lua, lua_equal(lua, 1, 2));
    return 1;
  }
  session.command = Command::as(key_holds_spec(), {Value("GET"), Value(string_at(lua, 1)), Value(string_at(lua, 2))});
  const Reply reply = ask_host(lua, session);
  if (reply.is_error()) {
    push_reply(lua, reply);
    return lua_error(lua);
  }
  lua_pushboolean(lua, reply.is_integer(1));
  return 1;
}

std::variant<Reply, std::string> to_reply(lua_State* lua, std::size_t most_items) {
  ReplyMaker maker(lua, most_items);
  Reply reply = maker.make(0);
  if (!maker.trouble().empty()) return std::string(maker.trouble());
  return reply;
}

Reply to_error_reply(lua_State* lua, std::string_view sha1) {
  // A table without `err` makes Redis 7.0.15 crash.
  std::string text = "ERR unknown error", place;
  if (lua_istable(lua, -1)) {
    lua_pushliteral(lua, "err");
    lua_rawget(lua, -2);
    if (lua_isstring(lua, -1)) text = string_at(lua, -1);
    lua_pop(lua, 1);
    lua_pushliteral(lua, "source");
    lua_rawget(lua, -2);
    lua_pushliteral(lua, "line");
    lua_rawget(lua, -3);
    if (lua_isstring(lua, -2) && lua_isstring(lua, -1)) {
      place = ", on " + std::string(string_at(lua, -2)) + ":" + std::string(string_at(lua, -1));
    }
    lua_pop(lua, 2);
  } else if (lua_isstring(lua, -1)) {
    text = "ERR " + std::string(string_at(lua, -1));
  }
  return Reply::error(text + " script: " + std::string(sha1) + place + ".");
}

int describe_error(lua_State* lua) {
  if (LuaSession::of(lua).is_stopped()) return 1;
  lua_settop(lua, 1);
  if (lua_isstring(lua, 1) && mark_misuse(lua, string_at(lua, 1))) return 1;
  if (is_symbolic(lua, 1) && mark_misuse(lua, "userdata as an error")) return 1;
  if (!lua_istable(lua, 1)) {
    const std::string text = lua_isstring(lua, 1)    ? std::string(string_at(lua, 1))
                             : lua_isboolean(lua, 1) ? (lua_toboolean(lua, 1) ? "true" : "false")
                                                     : luaL_typename(lua, 1);
    push_table_with(lua, "err", "ERR " + text);
    lua_replace(lua, 1);
  }
  // Level 1 raised the error; if that was a function of a library, who called it is of more use.
  lua_Debug at;
  bool known = false;
  for (int level = 1; lua_getstack(lua, level, &at) == 1; ++level) {
    known = lua_getinfo(lua, "Sl", &at) != 0;
    if (at.what != std::string_view("C")) break;
  }
  if (known) {
    lua_pushstring(lua, "source");
    lua_pushstring(lua, at.source);
    lua_rawset(lua, 1);
    lua_pushstring(lua, "line");
    lua_pushinteger(lua, at.currentline);
    lua_rawset(lua, 1);
  }
  return 1;
}

}  // namespace lockstep::models::redis
