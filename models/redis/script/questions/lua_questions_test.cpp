// A script whose comparisons ask, against the script as it is written: the same results and the same errors for plain values.

#include "models/redis/script/questions/lua_questions.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <lua.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "models/redis/script/script_engine.hpp"
#include "sim/schedules/random.hpp"
#include "sim/schedules/scheduler.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::redis::lua_questions_test {
namespace {

const std::uint64_t kScripts = sim::cases<std::uint64_t>(20'000, 1'000);

/// Says that it explores, and is never asked anything: all values are plain.
class Explores final : public sim::Scheduler {
 public:
  void emitted(std::uint32_t) override {}
  void cancelled(std::uint32_t) override {}
  void postponed(std::uint32_t, sim::Duration) override {}
  bool explores() const override { return true; }
  bool is_at_or_after(sim::Instant, sim::Instant) override { return false; }
  sim::Instant later_of(sim::Instant a, sim::Instant) override { return a; }
};

class Host final : public ScriptHost {
 public:
  explicit Host(sim::World* world) : world_(world) {}
  Reply call_from_script(const Command& command, bool) override {
    return command[0].is_word("FAIL") ? Reply::error("ERR no") : Reply::bulk(command[0]);
  }
  bool knows_command(const Command&) const override { return true; }
  sim::World* world() const override { return world_; }

 private:
  sim::World* world_;
};

/// Both ways to run a script.
class Runner {
 public:
  Runner() { explored_.set_scheduler(scheduler_); }

  std::string as_written(const std::string& script) { return run(script, nullptr); }
  std::string asking(const std::string& script) { return run(script, &explored_); }

 private:
  std::string run(const std::string& script, sim::World* world) {
    const auto compiled = engine_.compile(script);
    if (const Reply* error = std::get_if<Reply>(&compiled)) return "does not compile: " + error->describe();
    Host host(world);
    const std::array<Value, 2> keys{Value("k"), Value("5")};
    const std::array<Value, 3> arguments{Value("7"), Value("text"), Value("")};
    const ScriptEngine::Result result = engine_.run(std::get<ScriptId>(compiled), keys, arguments, host);
    return result.reply.describe() + result.limit_hit.value_or("");
  }

  sim::DefaultDecisions decisions_;
  Explores scheduler_;
  sim::World explored_{decisions_};
  ScriptEngine engine_;
};

/// Programs with comparisons of everything with everything. Most of them end with an error, somewhere.
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(sim::combine64(0x6c7561, seed)) {}

  std::string text() {
    std::string all =
        "local a, b, c, d = 1, 2.5, 'text', '7'\n"
        "local t = {1, 2, 3, x = 4, y = {z = 5}}\n"
        "local m = setmetatable({}, {__lt = function(p, q) return true end, __le = function() return false end, "
        "__eq = function() return true end, __index = function(_, k) return k end})\n"
        "local n = setmetatable({}, getmetatable(m))\n"
        "local function f(...) return ... end local function g() end\n"
        "local r\n";
    const std::uint64_t statements = 1 + random_.below(4);
    for (std::uint64_t i = 0; i < statements; ++i) all += statement(2) + gap();
    return all + "return tostring(r)" + (random_.one_in(4) ? " -- the end" : "");
  }

 private:
  std::string gap() {
    constexpr std::array<std::string_view, 9> kGaps{
        " ", " ", " ", " ", "\n", "  ", " --[[ a < b ]] ", " -- a == b\n", " --[==[ ]] ]==]\n"};
    return std::string(kGaps[random_.below(kGaps.size())]);
  }

  std::string statement(int depth) {
    const auto e = [&] { return expression(3); };
    switch (random_.below(depth > 0 ? 9 : 3)) {
      case 0: return "r =" + gap() + e();
      case 1: return "local v" + gap() + "=" + gap() + e() + gap() + "r = {v, " + e() + "}";
      case 2: return "t[" + e() + "]" + gap() + "= " + e();
      case 3:
        return "if " + e() + gap() + "then " + statement(depth - 1) + " elseif" + gap() + e() +
               " then r = 1 else r = 2 end";
      case 4:
        return "for i = 1, 3 do" + gap() + statement(depth - 1) + " if i" + gap() + "> " + e() + " then break end end";
      case 5: return "local i = 0 while i < 2 do i = i + 1 " + statement(depth - 1) + gap() + "end";
      case 6: return "repeat local z = 1 " + statement(depth - 1) + " until z ==" + gap() + "1 or " + e();
      case 7: return "do" + gap() + statement(depth - 1) + "; end";
      default:
        return "local function h(x, y, ...) if x < y then return x" + gap() + "end return ... end r = h(" + e() + ", " +
               e() + ")";
    }
  }

  std::string expression(int depth) {
    if (depth == 0 || random_.one_in(4)) return leaf();
    const auto e = [&] { return expression(depth - 1); };
    constexpr std::array<std::string_view, 18> kSigns{
        "<", "<=", ">", ">=", "==", "~=", "<", "==", "~=", "..", "+", "-", "*", "/", "%", "^", "and", "or"};
    switch (random_.below(20)) {
      case 0: return "not" + gap() + e();
      case 1: return "- " + e();
      case 2: return "#" + gap() + e();
      case 3: return "(" + e() + gap() + ")";
      case 4: return "f(" + e() + ")";
      case 5: return "t[" + gap() + e() + "]";
      case 6: return "(" + e() + ")." + (random_.one_in(2) ? "x" : "y.z");
      case 7: return "{" + e() + ", x = " + e() + ";" + gap() + "[" + e() + "] = " + e() + "}";
      case 8: return "select(2, pcall(function() return " + e() + " end))";
      case 9: return "tostring" + gap() + "(" + e() + ")";
      case 10: return "(function(...) return ..." + gap() + "end)(" + e() + ")";
      case 11: return "loadstring('local a = 1 return a < ' .. " + e() + ")()";
      default: return e() + gap() + std::string(kSigns[random_.below(kSigns.size())]) + gap() + e();
    }
  }

  std::string leaf() {
    constexpr std::array<std::string_view, 34> kLeaves{"1",
                                                       "2",
                                                       "0x10",
                                                       ".5",
                                                       "1e-5",
                                                       "3",
                                                       "'text'",
                                                       "\"<\"",
                                                       "'\\'=='",
                                                       "[[ > ]]",
                                                       "[=[ ]] ]=]",
                                                       "nil",
                                                       "true",
                                                       "false",
                                                       "a",
                                                       "b",
                                                       "c",
                                                       "d",
                                                       "t",
                                                       "m",
                                                       "n",
                                                       "f",
                                                       "g()",
                                                       "t.x",
                                                       "t.y.z",
                                                       "t[1]",
                                                       "t.none",
                                                       "KEYS[1]",
                                                       "ARGV[1]",
                                                       "ARGV[9]",
                                                       "c:len()",
                                                       "('x'):rep(2)",
                                                       "redis.call('GET')",
                                                       "#t"};
    return std::string(kLeaves[random_.below(kLeaves.size())]);
  }

  sim::Random random_;
};

/// `times` things in each other, of each kind that Lua reads by functions that call themselves.
std::vector<std::string> nested(std::size_t times) {
  const auto repeated = [&](std::string_view text) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
  };
  const std::string ends = repeated(" end");
  return {"return " + repeated("not ") + "a",
          "return " + repeated("- ") + "a",
          "return " + repeated("(") + "a" + repeated(")"),
          "return " + repeated("{") + repeated("}"),
          "return " + repeated("{a=") + "a" + repeated("}"),
          "return " + repeated("a[") + "a" + repeated("]"),
          "return " + repeated("a(") + repeated(")"),
          "return a" + repeated("^a"),
          "return a" + repeated("..a"),
          "return " + repeated("function() return ") + "a" + ends,
          repeated("do ") + ends,
          repeated("while a do ") + ends,
          repeated("if a then ") + ends,
          repeated("for i = 1, 2 do ") + ends,
          repeated("repeat ") + repeated(" until a"),
          repeated("function a() ") + ends};
}

bool compiles(const std::string& script) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> lua(luaL_newstate(), lua_close);
  return luaL_loadbuffer(lua.get(), script.data(), script.size(), "script") == 0;
}

}  // namespace

TEST_CASE("what Lua compiles is read, however deep, and any number of levels does no harm") {
  std::size_t deepest = 0;
  for (std::size_t times = 90; times < 210; ++times) {
    const std::vector<std::string> scripts = nested(times);
    for (const std::string& script : scripts) {
      if (!compiles(script)) continue;
      INFO(script);
      CHECK(with_questions(script).has_value());
      deepest = std::max(deepest, times);
    }
  }
  CHECK(deepest > 190);
  for (const std::string& script : nested(sim::cases<std::size_t>(1'000'000, 100'000))) {
    INFO(script.substr(0, 30));
    CHECK(with_questions(script).has_value() == compiles(script));
  }
}

TEST_CASE("many comparisons that begin at one place are read in time that grows as they do") {
  std::string script = "return a";
  for (int i = 0; i < 200'000; ++i) script += "<a";
  const std::optional<std::string> asking = with_questions(script);
  REQUIRE(asking.has_value());
  CHECK(asking->size() > 200'000 * kQuestion.size());
}

TEST_CASE("both sides of a comparison pass through a function, and nothing else is changed") {
  CHECK(with_questions("return a < b") == "return  lockstep_question('l',a ,0)<  lockstep_question('<',b)");
  CHECK(with_questions("if(a)<-1 then x=t[i]end") ==
        "if lockstep_question('l',(a),0)< lockstep_question('<',-1) then x=t[ lockstep_question('k',i)]end");
  CHECK(with_questions("return not a\n== b.c[1]") ==
        "return  lockstep_question('l',not a\n,0)==  lockstep_question('==',b.c[1])");
  CHECK(with_questions("return a + 1 <= #b .. c and d") ==
        "return  lockstep_question('l',a + 1 ,0)<=  lockstep_question('<=',#b .. c) and d");
  for (const std::string same : {"return a == nil or 'x' ~= b or 1 < 2 or t.x or t['y'] or t[1]", "",
                                 "return 'a < b' -- a < b", "return [[a < b]] --[==[ a < b ]==]"}) {
    CHECK(with_questions(same) == same);
  }
  for (const char* left_alone : {"return ... < 1", "local lockstep_question = 1", "return a <", "return 'x"}) {
    CHECK(with_questions(left_alone) == std::nullopt);
  }
  CHECK(with_questions("return ... < 1", true) == "return  lockstep_question('l',... ,0)<  lockstep_question('<',1)");
}

TEST_CASE("a script that asks about its comparisons does with plain values what it does as it is written") {
  Runner runner;
  std::size_t errors = 0;
  for (std::uint64_t seed = 0; seed < kScripts; ++seed) {
    const std::string script = Program(seed).text();
    const std::string expected = runner.as_written(script);
    if (expected.starts_with("does not compile")) continue;
    REQUIRE(with_questions(script).has_value());
    errors += expected.starts_with("(error)") ? 1 : 0;
    if (runner.asking(script) != expected) {
      INFO("script " << seed << ":\n" << script);
      CHECK(runner.asking(script) == expected);
    }
  }
  WARN(errors << " of " << kScripts << " scripts end with an error");
  CHECK(errors > kScripts / 5);
  CHECK(errors < kScripts * 9 / 10);
}

}  // namespace lockstep::models::redis::lua_questions_test
