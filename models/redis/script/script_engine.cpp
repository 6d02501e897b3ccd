#include "models/redis/script/script_engine.hpp"

#include <lua.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "models/redis/script/lua/lua_memory.hpp"
#include "models/redis/script/lua/lua_session.hpp"
#include "models/redis/script/lua/lua_symbols.hpp"
#include "models/redis/script/lua/lua_timestamps.hpp"
#include "models/redis/script/lua_redis.hpp"
#include "models/redis/script/lua_sandbox.hpp"
#include "models/redis/script/questions/lua_comparisons.hpp"
#include "models/redis/script/questions/lua_questions.hpp"
#include "models/redis/script/sha1.hpp"
#include "sim/coroutines/region.hpp"

namespace lockstep::models::redis {
namespace {

/// What the first line of a script, `#!lua flags=no-writes`, says.
struct Shebang {
  bool may_write = true;
  std::size_t length = 0;  ///< up to the end of the line, which stays: line numbers count it
};

/// What lies between commas, also if that is nothing; an empty text has no parts.
std::vector<std::string_view> flags_in(std::string_view text) {
  std::vector<std::string_view> flags;
  if (text.empty()) return flags;
  for (std::size_t end = text.find(','); end != std::string_view::npos; end = text.find(',')) {
    flags.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  flags.push_back(text);
  return flags;
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::variant<Shebang, Reply> read_shebang(std::string_view script) {
  Shebang shebang;
  if (!script.starts_with("#!")) return shebang;
  shebang.length = script.find('\n');
  if (shebang.length == std::string_view::npos) return Reply::error("ERR Invalid script shebang");
  const std::vector<std::string_view> words = words_in(script.substr(0, shebang.length));
  if (words[0] != "#!lua") return Reply::error("ERR Unexpected engine in script shebang: " + std::string(words[0]));
  for (std::size_t i = 1; i < words.size(); ++i) {
    constexpr std::string_view kFlags = "flags=";
    if (!words[i].starts_with(kFlags)) return Reply::error("ERR Unknown lua shebang option: " + std::string(words[i]));
    for (const std::string_view flag : flags_in(words[i].substr(kFlags.size()))) {
      constexpr std::string_view kIgnored[] = {"allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"};
      if (flag == "no-writes") {
        shebang.may_write = false;
      } else if (std::find(std::begin(kIgnored), std::end(kIgnored), flag) == std::end(kIgnored)) {
        return Reply::error("ERR Unexpected flag in script shebang: " + std::string(flag));
      }
    }
  }
  return shebang;
}

constexpr std::string_view kPlace = "user_script:";
constexpr std::string_view kStopped = "ERR user_script:";

/// "…user_script:3: attempt to …" as a mistake of that line; nothing if the text has no such place.
std::optional<ScriptEngine::Mistake> mistake_of(const std::string& script, std::string_view text) {
  const std::size_t begin = text.find(kPlace);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin + kPlace.size());
  std::size_t line = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || !text.starts_with(": ")) return std::nullopt;
  return ScriptEngine::Mistake{script, std::string(text.substr(2)), line};
}

constexpr const char* kBind = "lockstep bind";

// --- The globals of a library's functions. Upvalues: the table that is `redis` while it is loaded, whether it is
// loaded, the globals of scripts.

int refuse_unknown(lua_State* lua) {
  return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'", lua_tostring(lua, 2));
}

int library_global(lua_State* lua) {
  lua_rawgeti(lua, lua_upvalueindex(2), 1);
  const bool is_loaded = lua_toboolean(lua, -1) != 0;
  lua_pop(lua, 1);
  const std::string_view name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
  if (!is_loaded && name == "redis") {
    lua_pushvalue(lua, lua_upvalueindex(1));
    return 1;
  }
  if (is_loaded && name != "KEYS" && name != "ARGV" && name != kBind) {
    lua_pushvalue(lua, 2);
    lua_rawget(lua, lua_upvalueindex(3));
    if (!lua_isnil(lua, -1)) return 1;
  }
  return refuse_unknown(lua);
}

int refuse_global(lua_State* lua) { return luaL_error(lua, "Attempt to modify a readonly table"); }

/// Upvalue: whether it is loaded.
int is_loaded_now(lua_State* lua) {
  lua_pushboolean(lua, 1);
  lua_rawseti(lua, lua_upvalueindex(1), 1);
  return 0;
}

/// (function, table). Upvalue: the globals of scripts.
int bind(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TFUNCTION);
  luaL_checktype(lua, 2, LUA_TTABLE);
  lua_settop(lua, 2);
  lua_newtable(lua);  // 3: whether it is loaded
  lua_newtable(lua);  // 4: the globals
  lua_newtable(lua);  // 5: their metatable
  lua_pushvalue(lua, 2);
  lua_pushvalue(lua, 3);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_pushcclosure(lua, library_global, 3);
  lua_setfield(lua, 5, "__index");
  lua_pushcfunction(lua, refuse_global);
  lua_setfield(lua, 5, "__newindex");
  lua_setmetatable(lua, 4);
  lua_setfenv(lua, 1);
  lua_pushcclosure(lua, is_loaded_now, 1);
  lua_pushcfunction(lua, refuse_unknown);
  lua_pushcfunction(lua, refuse_global);
  return 3;
}

}  // namespace

/// The Lua state, and all scripts that it has compiled. They are found by their text: of a few scripts hardly
/// two are equally long, and a SHA-1 costs as much as a short script's run.
class ScriptEngine::Interpreter {
 public:
  explicit Interpreter(const ScriptLimits& limits) : session_(limits, memory_) {
    lua_ = lua_newstate(&LuaSession::allocate, &session_);
    assert(lua_ != nullptr);
    // When Lua collects depends on what ran before. Within a script nothing may, so the session says when.
    lua_gc(lua_, LUA_GCSTOP, 0);
    open_safe_libraries(lua_);
    install_redis_functions(lua_);
    lua_pushvalue(lua_, -1);
    globals_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
    lua_pushcfunction(lua_, key_holds);
    key_holds_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
    lua_pushcfunction(lua_, answer_question);
    answer_question_ = luaL_ref(lua_, LUA_REGISTRYINDEX);
    install_globals(lua_);
    lua_pushcfunction(lua_, describe_error);  // stays at the bottom of the stack
    memory_.mark();
    at_first_ = session_;
  }
  // The state is not closed: nothing in it has a finalizer, and its memory goes as a whole.
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  std::variant<ScriptId, Reply> compile(std::string_view text) {
    for (std::size_t i = 0; i < scripts_.size(); ++i) {
      if (scripts_[i].text == text) return static_cast<ScriptId>(i);
    }
    const auto shebang = read_shebang(text);
    if (const Reply* error = std::get_if<Reply>(&shebang)) return *error;
    const Shebang& first_line = std::get<Shebang>(shebang);

    const std::string body = body_of(text);
    const std::string with_calls = with_comparisons(body);
    // It has one name more than the script, which may be one too many.
    bool compares = with_calls != body;
    if (compares && !load(with_calls)) {
      lua_pop(lua_, 1);
      compares = false;
    }
    if (!compares && !load(body)) {
      Reply error = Reply::error("ERR Error compiling script (new function): " + std::string(lua_tostring(lua_, -1)));
      const sim::Region::Outside outside;
      note(mistake_of(std::string(text), lua_tostring(lua_, -1)));
      lua_pop(lua_, 1);
      return error;
    }
    const int function = luaL_ref(lua_, LUA_REGISTRYINDEX);
    const bool has_flags = first_line.length > 0;
    const sim::Region::Outside outside;
    scripts_.push_back(
        {std::string(text), sha1_hex(text), function, first_line.may_write, has_flags, compares, std::nullopt});
    return static_cast<ScriptId>(scripts_.size() - 1);
  }

  std::string_view sha1(ScriptId script) const { return scripts_[script].sha1; }
  bool declares_writes(ScriptId script) const { return scripts_[script].has_flags && scripts_[script].may_write; }

  Result run(ScriptId id, std::span<const Value> keys, std::span<const Value> arguments, ScriptHost& host,
             bool may_write) {
    Script& script = scripts_[id];
    const bool explores = host.world() != nullptr && host.world()->is_explored();
    if (explores && !script.asking) compile_asking(script);
    session_.explores = explores;
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, globals_);
    std::size_t largest = script.text.size();
    set_global_list("KEYS", keys, largest);
    set_global_list("ARGV", arguments, largest);
    if (script.text.starts_with(kLibraryMark)) {
      lua_pushvalue(lua_, -1);
      lua_pushcclosure(lua_, bind, 1);
    } else {
      lua_pushnil(lua_);
    }
    lua_setfield(lua_, -2, kBind);
    lua_pop(lua_, 1);
    session_.begin(lua_, host, script.may_write && may_write, largest);
    const bool asks = explores && script.asking->function != LUA_NOREF;
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, asks ? script.asking->function : script.function);
    const bool compares = asks ? script.asking->compares : script.compares;
    if (asks) lua_rawgeti(lua_, LUA_REGISTRYINDEX, answer_question_);
    if (compares) lua_rawgeti(lua_, LUA_REGISTRYINDEX, key_holds_);
    session_.has_blind_part = !asks;
    const int status = lua_pcall(lua_, (asks ? 1 : 0) + (compares ? 1 : 0), 1, kHandler);
    if (session_.has_blind_part && session_.has_met_symbols) {
      session_.mark_stopped(std::string(kNeedsDigits) + ": its comparisons cannot be followed");
    }
    session_.end();

    Result result = finish(script, status);
    lua_settop(lua_, kHandler);
    if (session_.printed_objects > 0) forget_printed_objects(lua_);
    // Its arguments are there before it begins, so this ends with a script and does not begin with one.
    if (std::exchange(session_.has_met_symbols, false)) forget_timestamps(lua_);
    session_.collect_if_worthwhile(lua_);
    if (session_.host_failure) std::rethrow_exception(std::exchange(session_.host_failure, nullptr));
    return result;
  }

  std::size_t memory_bytes() const { return session_.memory_bytes(); }
  const std::map<std::string, Mistake>& mistakes() const { return mistakes_; }

  /// To the moment after its construction: nothing that it has run leaves a trace.
  void start_over() {
    memory_.go_back();
    session_ = at_first_;
    scripts_.clear();
    mistakes_.clear();
  }

 private:
  /// A script as explorations run it, whose comparisons ask: it takes `answer_question`, and then perhaps `key_holds`.
  struct Asking {
    int function;  ///< in the registry; LUA_NOREF: the script cannot be followed
    bool compares;
  };
  struct Script {
    std::string text;
    std::string sha1;
    int function;  ///< in the registry
    bool may_write;
    bool has_flags;
    bool compares;                 ///< takes `key_holds` as its argument
    std::optional<Asking> asking;  ///< nothing: nobody has needed it yet
  };
  static constexpr int kHandler = 1;
  /// As many as a client of the simulation would ever read, and few enough for the memory limit to mean something.
  static constexpr std::size_t kMostItems = 100'000;

  bool load(const std::string& script) {
    return luaL_loadbuffer(lua_, script.data(), script.size(), "@user_script") == 0;
  }

  /// Leaves `function` unset if the script cannot be followed.
  void compile_asking(Script& script) {
    const sim::Region::Outside outside;
    script.asking = Asking{LUA_NOREF, false};
    std::string body = body_of(script.text);
    const std::string taking_one = "local " + std::string(kComparison) + " = ... ";
    for (const std::string& with_calls : {with_comparisons(body), body}) {
      const bool compares = with_calls != body;
      const std::optional<std::string> asking = with_questions(
          compares ? std::string_view(with_calls).substr(taking_one.size()) : std::string_view(with_calls));
      const std::string names = std::string(kQuestion) + (compares ? ", " + std::string(kComparison) : "");
      if (asking && load("local " + names + " = ... " + *asking)) {
        script.asking = Asking{luaL_ref(lua_, LUA_REGISTRYINDEX), compares};
        return;
      }
      if (asking) lua_pop(lua_, 1);
    }
  }

  /// A first byte that would announce bytecode is read as text behind a blank.
  static std::string body_of(std::string_view text) {
    const std::size_t first_line = text.starts_with("#!") ? text.find('\n') : 0;
    std::string body(text.substr(first_line));
    if (body.starts_with(LUA_SIGNATURE[0])) body.insert(0, 1, ' ');
    return body;
  }

  void set_global_list(const char* name, std::span<const Value> values, std::size_t& largest) {
    lua_pushstring(lua_, name);
    lua_createtable(lua_, static_cast<int>(values.size()), 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (const auto bytes = values[i].bytes()) largest = std::max(largest, bytes->size());
      push_value(lua_, values[i]);
      lua_rawseti(lua_, -2, static_cast<int>(i) + 1);
    }
    lua_rawset(lua_, -3);
  }

  /// Few enough for a server that strangers talk to.
  void note(std::optional<Mistake> mistake) {
    constexpr std::size_t kMost = 100;
    if (!mistake || (mistakes_.size() == kMost && mistakes_.count(mistake->script) == 0)) return;
    const auto [known, is_new] = mistakes_.try_emplace(mistake->script, *mistake);
    if (!is_new) known->second = std::min(known->second, *std::move(mistake));
  }

  /// The error is on the stack, as `describe_error` left it.
  void note_error(const Script& script) {
    if (!lua_istable(lua_, -1)) return;
    lua_getfield(lua_, -1, "err");
    lua_getfield(lua_, -2, "line");
    const char* text = lua_tostring(lua_, -2);
    const std::string_view said = text == nullptr ? "" : text;
    const sim::Region::Outside outside;
    if (said.starts_with(kStopped)) {
      note(mistake_of(script.text, said));
    } else if (is_mistake_of_script(said)) {
      note(Mistake{script.text, std::string(said.substr(4)), static_cast<std::size_t>(lua_tointeger(lua_, -1))});
    }
    lua_pop(lua_, 2);
  }

  Result finish(const Script& script, int status) {
    std::optional<std::string> stopped = session_.stopped();
    if (!stopped && status == 0) {
      auto reply = to_reply(lua_, kMostItems);
      if (Reply* made = std::get_if<Reply>(&reply)) return {std::move(*made), std::nullopt};
      stopped = std::get<std::string>(std::move(reply));
    }
    if (stopped) {
      return {Reply::error("ERR Lockstep: " + *stopped + " script: " + script.sha1 + "."), std::move(stopped)};
    }
    note_error(script);
    return {to_error_reply(lua_, script.sha1), std::nullopt};
  }

  LuaMemory memory_;
  LuaSession session_;
  LuaSession at_first_ = session_;
  lua_State* lua_;
  int globals_ = LUA_NOREF;
  int key_holds_ = LUA_NOREF;
  int answer_question_ = LUA_NOREF;
  std::vector<Script> scripts_;
  std::map<std::string, Mistake> mistakes_;
};

/// Those of worlds that are gone. Which of them a world gets makes no difference: they start over. One store for all
/// threads: where one of each thread has to be destroyed with it, glibc ends the program when memory is short
/// ("failed to register TLS destructor").
class ScriptEngine::IdleInterpreters {
 public:
  static IdleInterpreters& shared() {
    static IdleInterpreters idle;  // tidy: allocation only
    return idle;
  }

  std::unique_ptr<Interpreter> take() {
    const std::lock_guard lock(mutex_);
    return count_ == 0 ? nullptr : std::move(idle_[--count_]);
  }
  void give_back(std::unique_ptr<Interpreter> interpreter) {
    interpreter->start_over();
    const std::lock_guard lock(mutex_);
    if (count_ < idle_.size()) idle_[count_++] = std::move(interpreter);
  }

 private:
  std::mutex mutex_;
  std::array<std::unique_ptr<Interpreter>, 64> idle_;
  std::size_t count_ = 0;
};

ScriptEngine::ScriptEngine(ScriptLimits limits) : limits_(limits) {}

ScriptEngine::~ScriptEngine() {
  const sim::Region::Outside outside;
  if (interpreter_ && limits_ == ScriptLimits()) IdleInterpreters::shared().give_back(std::move(interpreter_));
  interpreter_.reset();
}

ScriptEngine::Interpreter& ScriptEngine::interpreter() {
  if (!interpreter_) {
    const sim::Region::Outside outside;
    if (limits_ == ScriptLimits()) interpreter_ = IdleInterpreters::shared().take();
    if (!interpreter_) interpreter_ = std::make_unique<Interpreter>(limits_);
  }
  return *interpreter_;
}

bool is_mistake_of_script(std::string_view error) {
  constexpr std::string_view kMistakes[] = {kStopped, "ERR Error compiling script",
                                            "ERR Unknown Redis command called from script",
                                            "ERR Wrong number of args calling Redis command from script"};
  return std::any_of(std::begin(kMistakes), std::end(kMistakes), [&](auto begin) { return error.starts_with(begin); });
}

std::variant<ScriptId, Reply> ScriptEngine::compile(std::string_view text) { return interpreter().compile(text); }
bool ScriptEngine::declares_writes(ScriptId script) const { return interpreter_->declares_writes(script); }
std::string_view ScriptEngine::sha1(ScriptId script) const { return interpreter_->sha1(script); }

ScriptEngine::Result ScriptEngine::run(ScriptId script, std::span<const Value> keys, std::span<const Value> arguments,
                                       ScriptHost& host, bool may_write) {
  return interpreter().run(script, keys, arguments, host, may_write);
}

std::vector<ScriptEngine::Mistake> ScriptEngine::mistakes() const {
  std::vector<Mistake> mistakes;
  if (!interpreter_) return mistakes;
  for (const auto& [script, mistake] : interpreter_->mistakes()) mistakes.push_back(mistake);
  return mistakes;
}

std::size_t ScriptEngine::memory_bytes() const { return interpreter_ ? interpreter_->memory_bytes() : 0; }

}  // namespace lockstep::models::redis
