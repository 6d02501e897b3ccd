#include "models/scripted/reading.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/locks/entries.hpp"
#include "models/redis/script/questions/lua_questions.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/machine.hpp"
#include "models/scripted/program.hpp"
#include "models/scripted/scripted_lock.hpp"
#include "models/scripted/server_table.hpp"

namespace lockstep::models::scripted {
namespace {

using locks::ParameterRole;
using locks::ParameterSpec;
using locks::ParameterValue;

/// What is wrong, without the file.
struct Wrong {
  std::string what;
};

/// Lua alone, to compile.
class Compiler {
 public:
  Compiler() : lua_(luaL_newstate()) {}
  ~Compiler() { lua_close(lua_); }
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  /// What is wrong with it, or nothing; then the function is on the stack.
  std::optional<std::string> load(const std::string& text, const std::string& file) {
    lua_settop(lua_, 0);
    if (luaL_loadbuffer(lua_, text.data(), text.size(), ("@" + file).c_str()) == 0) return std::nullopt;
    return std::string(lua_tostring(lua_, -1));
  }
  std::string bytecode() {
    std::string code;
    const auto append = [](lua_State*, const void* bytes, std::size_t size, void* out) {
      static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
      return 0;
    };
    lua_dump(lua_, append, &code);
    return code;
  }

 private:
  lua_State* lua_;
};

bool is_name(std::string_view name) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= 40 && is_small(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_small(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

constexpr std::array<std::pair<std::string_view, ParameterRole>, 9> kRoles{
    {{"lease", ParameterRole::lease},
     {"renewed_lease", ParameterRole::renewed_lease},
     {"newcomers_lease", ParameterRole::newcomers_lease},
     {"session_ttl", ParameterRole::session_ttl},
     {"lock_delay", ParameterRole::lock_delay},
     {"server_patience", ParameterRole::server_patience},
     {"replica_patience", ParameterRole::replica_patience},
     {"longest_delay", ParameterRole::longest_delay},
     {"places", ParameterRole::places}}};

/// Reads what the main part has declared. Raw accesses only: nothing of the script runs here.
class Declarations {
 public:
  Declarations(Machine& machine, Program& program) : machine_(machine), lua_(machine.lua()), program_(program) {}

  locks::Entry entry() {
    for (const char* name : {"acquire", "release"}) {
      machine_.push_defined(name);
      if (!lua_isfunction(lua_, -1))
        throw Wrong{fmt::format("it defines no function {}: write `function {}(c{}) … end`", name, name,
                                std::string_view(name) == "release" ? ", hold" : "")};
      lua_pop(lua_, 1);
    }
    locks::Entry entry;
    entry.id = program_.file;
    entry.documents = {program_.file};
    entry.summary = keep(text("summary").value_or("a script of its own"));
    program_.has_try_acquire = has_function("try_acquire");
    program_.has_call = entry.answers_calls = has_function("call");
    program_.has_background = entry.has_background = flag("background");
    program_.subscribes = entry.subscribes = flag("subscribes");
    entry.is_blind_to_names = flag("blind_to_names");
    entry.many_nodes = one_of("servers", "one", "several");
    read_server(entry);
    if (one_of("mode", "exclusive", "shared")) entry.mode = Mode::shared;
    read_parameters(entry);
    read_claims(entry);
    return entry;
  }

 private:
  std::string_view keep(std::string text) { return program_.strings.emplace_back(std::move(text)); }

  bool has_function(const char* name) {
    machine_.push_defined(name);
    const bool is_there = !lua_isnil(lua_, -1);
    if (is_there && !lua_isfunction(lua_, -1)) throw Wrong{fmt::format("{} is not a function", name)};
    lua_pop(lua_, 1);
    return is_there;
  }

  bool flag(const char* name) {
    machine_.push_defined(name);
    if (!lua_isnil(lua_, -1) && !lua_isboolean(lua_, -1)) throw Wrong{fmt::format("{}: expected true or false", name)};
    const bool value = lua_toboolean(lua_, -1) != 0;
    lua_pop(lua_, 1);
    return value;
  }

  std::optional<std::string> text_on_top(std::string_view what) {
    std::optional<std::string> value;
    if (lua_type(lua_, -1) == LUA_TSTRING) {
      std::size_t size = 0;
      const char* bytes = lua_tolstring(lua_, -1, &size);
      value.emplace(bytes, size);
      if (value->size() > 500 ||
          std::any_of(value->begin(), value->end(), [](char c) { return c == '\n' || c == '\0'; }))
        throw Wrong{fmt::format("{}: expected one line of at most 500 characters", what)};
    } else if (!lua_isnil(lua_, -1)) {
      throw Wrong{fmt::format("{}: expected a text", what)};
    }
    lua_pop(lua_, 1);
    return value;
  }

  std::optional<std::string> text(const char* name) {
    machine_.push_defined(name);
    return text_on_top(name);
  }

  /// False: the first, or nothing is said.
  bool one_of(const char* name, std::string_view first, std::string_view second) {
    const std::optional<std::string> value = text(name);
    if (value && *value != first && *value != second)
      throw Wrong{fmt::format("{}: expected \"{}\" or \"{}\"", name, first, second)};
    return value == second;
  }

  void read_server(locks::Entry& entry) {
    const std::span<const ServerLibrary* const> known = server_libraries();
    const std::optional<std::string> name = text("server");
    for (const ServerLibrary* library : known) {
      if (program_.server == nullptr && (!name || library->name() == *name)) program_.server = library;
    }
    if (program_.server == nullptr) {
      std::string all;
      for (const ServerLibrary* library : known)
        all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", library->name());
      throw Wrong{fmt::format("server: there is no kind of server \"{}\" for scripts: there are {}", *name, all)};
    }
    entry.server_kind = &program_.server->kind();
    if (program_.server->has_background) program_.has_background = entry.has_background = true;
    if (program_.server == known.front()) return;
    for (const auto& [flag, is_set] : {std::pair("subscribes", entry.subscribes), {"servers", entry.many_nodes}}) {
      if (is_set)
        throw Wrong{fmt::format("{}: only servers of kind \"{}\" have that for scripts; leave it out", flag,
                                known.front()->name())};
    }
  }

  void read_claims(locks::Entry& entry) {
    machine_.push_defined("claims");
    if (lua_isnil(lua_, -1)) {
      lua_pop(lua_, 1);
      const bool is_semaphore = std::any_of(entry.parameters.begin(), entry.parameters.end(),
                                            [](const auto& spec) { return spec.role == ParameterRole::places; });
      entry.claims = is_semaphore ? std::vector<std::string_view>{"capacity"}
                                  : std::vector<std::string_view>{"mutual-exclusion", "own-release"};
      entry.claims_nothing_itself = true;
      return;
    }
    if (!lua_istable(lua_, -1)) throw Wrong{"claims: expected names of properties: { \"mutual-exclusion\" }"};
    const std::vector<std::string> names = texts_on_top("claims");
    for (const std::string& name : names) entry.claims.push_back(keep(name));
  }

  /// A list, which it pops.
  std::vector<std::string> texts_on_top(std::string_view what) {
    std::vector<std::string> texts;
    const std::size_t count = lua_objlen(lua_, -1);
    if (count > 100) throw Wrong{fmt::format("{}: more than 100", what)};
    for (std::size_t i = 1; i <= count; ++i) {
      lua_rawgeti(lua_, -1, static_cast<int>(i));
      std::optional<std::string> one = text_on_top(what);
      if (!one) throw Wrong{fmt::format("{}: expected a list of texts", what)};
      texts.push_back(*std::move(one));
    }
    lua_pop(lua_, 1);
    return texts;
  }

  void read_parameters(locks::Entry& entry) {
    std::vector<std::string> names;
    machine_.push_defined("parameters");
    if (!lua_isnil(lua_, -1)) {
      if (!lua_istable(lua_, -1)) throw Wrong{"parameters: expected a table: { ttl = \"30s\" }"};
      for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
        const std::string name = lua_type(lua_, -2) == LUA_TSTRING ? lua_tostring(lua_, -2) : "";
        if (!is_name(name)) throw Wrong{"parameters: names are of small letters, digits and _: { ttl = \"30s\" }"};
        if (name == "algorithm" || name == "script" || name == "key")
          throw Wrong{fmt::format("parameters: {} is a key of [lock] already; take another name", name)};
        names.push_back(name);
      }
      if (names.size() > 100) throw Wrong{"parameters: more than 100"};
      // The order of a table is that of its hashes.
      std::sort(names.begin(), names.end());
      for (const std::string& name : names) {
        lua_pushlstring(lua_, name.data(), name.size());
        lua_rawget(lua_, -2);
        entry.parameters.push_back(parameter(name));
      }
    }
    lua_pop(lua_, 1);
    if (!std::binary_search(names.begin(), names.end(), "attempts"))
      entry.parameters.push_back(locks::attempts_parameter(1));
    if (!std::binary_search(names.begin(), names.end(), "retry")) {
      const auto pause = sim::Duration::milliseconds(100);
      entry.parameters.push_back(locks::retry_parameter({pause, pause}));
    }
    for (const auto& role : kRoles) {
      const auto has_role = [&](const ParameterSpec& spec) { return spec.role == role.second; };
      if (std::count_if(entry.parameters.begin(), entry.parameters.end(), has_role) > 1)
        throw Wrong{fmt::format("parameters: more than one has the role \"{}\"", role.first)};
    }
  }

  /// The parameter that is on the stack, which it pops.
  ParameterSpec parameter(const std::string& name) {
    const std::string what = "parameters." + name;
    ParameterSpec spec{keep(name), false, ""};
    const bool is_described = lua_istable(lua_, -1) && lua_objlen(lua_, -1) == 0;
    if (!is_described) {
      spec.fallback = value_on_top(what);
    } else {
      read_description(what, spec);
    }
    if (name == "attempts") {
      if (!std::holds_alternative<std::int64_t>(spec.fallback)) throw Wrong{what + ": expected a whole number"};
      spec = locks::attempts_parameter(std::max<std::int64_t>(1, std::get<std::int64_t>(spec.fallback)));
    } else if (name == "retry") {
      if (const auto* length = std::get_if<sim::Duration>(&spec.fallback))
        spec.fallback = sim::DurationRange::exactly(*length);
      if (!std::holds_alternative<sim::DurationRange>(spec.fallback))
        throw Wrong{what + ": expected a length of time, or { \"100ms\", \"300ms\" }"};
      spec = locks::retry_parameter(std::get<sim::DurationRange>(spec.fallback));
    }
    return spec;
  }

  /// { default = "30s", role = "lease", meaning = "time to live of the key" }
  void read_description(const std::string& what, ParameterSpec& spec) {
    constexpr std::array<std::string_view, 6> kKeys{"default", "role", "meaning", "choices", "least", "one_for_all"};
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      const std::string_view key = lua_type(lua_, -2) == LUA_TSTRING ? lua_tostring(lua_, -2) : "";
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
        throw Wrong{fmt::format("{}: expected default, role, meaning, choices, least or one_for_all", what)};
    }
    const auto field = [&](const char* key) {
      lua_pushstring(lua_, key);
      lua_rawget(lua_, -2);
    };
    field("default");
    if (lua_isnil(lua_, -1)) throw Wrong{what + ": it needs a default: { default = \"30s\", role = \"lease\" }"};
    spec.fallback = value_on_top(what + ".default");
    field("meaning");
    spec.meaning = keep(text_on_top(what + ".meaning").value_or(""));
    field("one_for_all");
    spec.one_for_all = keep(text_on_top(what + ".one_for_all").value_or(""));
    field("least");
    if (!lua_isnil(lua_, -1)) {
      const ParameterValue least = value_on_top(what + ".least");
      if (!std::holds_alternative<std::int64_t>(least) || !std::holds_alternative<std::int64_t>(spec.fallback))
        throw Wrong{what + ".least: expected a whole number, for a parameter that is one"};
      spec.min = std::get<std::int64_t>(least);
    } else {
      lua_pop(lua_, 1);
    }
    read_choices(what, spec);
    field("role");
    if (const std::optional<std::string> role = text_on_top(what + ".role")) set_role(what, *role, spec);
    lua_pop(lua_, 1);
    if (!locks::accepts(spec, spec.fallback)) throw Wrong{what + ": its own default is not allowed"};
  }

  void read_choices(const std::string& what, ParameterSpec& spec) {
    lua_pushliteral(lua_, "choices");
    lua_rawget(lua_, -2);
    if (lua_isnil(lua_, -1)) {
      lua_pop(lua_, 1);
      return;
    }
    if (!lua_istable(lua_, -1) || !std::holds_alternative<std::string>(spec.fallback))
      throw Wrong{what + ".choices: expected a list of texts, for a parameter that is a text"};
    std::vector<std::string_view>& choices = program_.choices.emplace_back();
    for (std::string& choice : texts_on_top(what + ".choices")) choices.push_back(keep(std::move(choice)));
    spec.choices = choices;
  }

  void set_role(const std::string& what, const std::string& role, ParameterSpec& spec) {
    const auto known = std::find_if(kRoles.begin(), kRoles.end(), [&](const auto& one) { return one.first == role; });
    if (known == kRoles.end()) {
      std::string all;
      for (const auto& [word, unused] : kRoles) all += (all.empty() ? "" : ", ") + std::string(word);
      throw Wrong{fmt::format("{}.role: expected one of {}", what, all)};
    }
    spec.role = known->second;
    const bool is_places = spec.role == ParameterRole::places;
    if (is_places != std::holds_alternative<std::int64_t>(spec.fallback) ||
        (!is_places && !std::holds_alternative<sim::Duration>(spec.fallback)))
      throw Wrong{
          fmt::format("{}.role: \"{}\" is for {}", what, role, is_places ? "a whole number" : "a length of time")};
    if (!is_places) return;
    spec.min = std::max<std::int64_t>(1, spec.min);
    if (spec.one_for_all.empty()) spec.one_for_all = "the places are the lock's";
  }

  /// Pops it.
  ParameterValue value_on_top(const std::string& what) {
    ParameterValue value = false;
    if (lua_isboolean(lua_, -1)) {
      value = lua_toboolean(lua_, -1) != 0;
    } else if (lua_type(lua_, -1) == LUA_TNUMBER) {
      const lua_Number number = lua_tonumber(lua_, -1);
      if (number != std::trunc(number) || std::fabs(number) > 1e15)
        throw Wrong{what + ": expected a whole number, or a length of time with its unit: \"1.5s\""};
      value = static_cast<std::int64_t>(number);
    } else if (lua_type(lua_, -1) == LUA_TSTRING) {
      lua_pushvalue(lua_, -1);
      value = *text_on_top(what);
      if (const auto length = sim::parse_duration(std::get<std::string>(value))) value = *length;
    } else if (lua_istable(lua_, -1) && lua_objlen(lua_, -1) == 2) {
      lua_pushvalue(lua_, -1);
      const std::vector<std::string> ends = texts_on_top(what);
      const auto least = sim::parse_duration(ends[0]), most = sim::parse_duration(ends[1]);
      if (!least || !most || *most < *least)
        throw Wrong{what + ": expected two lengths of time, the smaller first: { \"100ms\", \"300ms\" }"};
      value = sim::DurationRange{*least, *most};
    } else {
      throw Wrong{what +
                  ": expected true, false, a whole number, a text, a length of time such as \"30s\", or two of them"};
    }
    lua_pop(lua_, 1);
    const auto* length = std::get_if<sim::Duration>(&value);
    if (length != nullptr && *length < sim::Duration::zero()) throw Wrong{what + ": a length of time is not negative"};
    return value;
  }

  Machine& machine_;
  lua_State* lua_;
  Program& program_;
};

}  // namespace

std::variant<locks::Entry, Mistake> read_script(std::string file, std::string text) {
  const auto program = std::make_shared<Program>();
  program->file = std::move(file);
  program->text = std::move(text);
  const auto wrong = [&](std::string_view what) { return Mistake{fmt::format("{}: {}", program->file, what)}; };
  if (program->text.size() > kScriptBytesMax) return wrong("larger than 256 KiB");
  if (program->text.starts_with(LUA_SIGNATURE[0])) return wrong("bytecode; expected the text of a script");

  Compiler compiler;
  if (const auto problem = compiler.load(program->text, program->file)) return Mistake{*problem};
  const std::optional<std::string> asking = redis::with_questions(program->text);
  if (!asking)
    return wrong(fmt::format("its comparisons cannot be followed: it uses `...` in its main part, or the name {}",
                             redis::kQuestion));
  // A function that makes the main part: each process has one of its own.
  const std::string maker =
      "local " + std::string(redis::kQuestion) + " = ... return function() return function() " + *asking + "\nend end";
  if (const auto problem = compiler.load(maker, program->file)) return Mistake{*problem};
  program->bytecode = compiler.bytecode();

  const auto interpreter = std::make_shared<Interpreter>(*program, kLibrary);
  auto globals = interpreter->execute_main(nullptr);
  if (auto* problem = std::get_if<std::string>(&globals)) return Mistake{std::move(*problem)};
  Machine machine(interpreter, std::get<int>(globals));
  try {
    locks::Entry entry = Declarations(machine, *program).entry();
    entry.make = [program](const locks::Parameters& parameters) {
      return std::make_unique<ScriptedLock>(*program, parameters);
    };
    return entry;
  } catch (const Wrong& mistake) {
    return wrong(mistake.what);
  }
}

}  // namespace lockstep::models::scripted
