#include "models/redis/script/questions/lua_comparisons.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "models/redis/database/database.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis::lua_comparisons_test {
namespace {

const std::string kCall = "redis.call('GET', KEYS[1]) == ARGV[1]";
const std::string kInstead = "lockstep_key_holds(KEYS[1],ARGV[1])";
const std::string kBegin = "local lockstep_key_holds = ... ";

bool is_left_alone(const std::string& script) { return with_comparisons(script) == script; }

}  // namespace

TEST_CASE("comparisons of a key's text with an argument become one call") {
  CHECK(with_comparisons("return " + kCall) == kBegin + "return " + kInstead);
  CHECK(with_comparisons("if redis.call(\"get\",KEYS[2])~=ARGV[3] then return 0 end return 1") ==
        kBegin + "if not lockstep_key_holds(KEYS[2],ARGV[3]) then return 0 end return 1");
  CHECK(with_comparisons("-- a comment\nlocal x = 1\nif x == 1 and " + kCall + " or (" + kCall + ") then end") ==
        kBegin + "-- a comment\nlocal x = 1\nif x == 1 and " + kInstead + " or (" + kInstead + ") then end");
  CHECK(with_comparisons("return {" + kCall + ", " + kCall + "}") ==
        kBegin + "return {" + kInstead + ", " + kInstead + "}");
}

TEST_CASE("lines stay what they are, and blanks and comments within a comparison do not matter") {
  const std::string script = "return redis . call(\n'Get', -- why\n KEYS [1]\n)\n== ARGV[ 1 ]\n";
  CHECK(with_comparisons(script) == kBegin + "return lockstep_key_holds(\n\nKEYS [1],\n\nARGV[ 1 ])\n");
}

TEST_CASE("what could mean something else is left alone") {
  CHECK(is_left_alone(""));
  CHECK(is_left_alone("return redis.call('GET', KEYS[1])"));
  for (const std::string& script :
       std::vector<std::string>{"return not " + kCall,     // of the call alone
                                "return 'x' .. " + kCall,  // likewise
                                "return #" + kCall,
                                "return 1 == " + kCall,
                                "return " + kCall + " .. 'x'",
                                "return " + kCall + ".x",
                                "return " + kCall + "[1]",
                                "return " + kCall + "(1)",
                                "return " + kCall + ":len()",
                                "return " + kCall + " == true",
                                "local x = " + kCall + " x = 1",  // perhaps no end
                                "return x." + kCall,
                                "f " + kCall,
                                "return redis.call('GET', KEYS[1]) == 'token'",
                                "return redis.call('GET', key) == ARGV[1]",
                                "return redis.call('GET', KEYS[1]) < ARGV[1]",
                                "return redis.call('GET', KEYS[i]) == ARGV[1]",
                                "return redis.call('GET', KEYS[1], 1) == ARGV[1]",
                                "return redis.call('HGET', KEYS[1]) == ARGV[1]",
                                "return redis.pcall('GET', KEYS[1]) == ARGV[1]",
                                "return redis.call('G\\69T', KEYS[1]) == ARGV[1]",
                                "return '" + std::string("redis.call(\"GET\", KEYS[1]) == ARGV[1]") + "'",
                                "--[[ " + kCall + " ]]",
                                "return [==[ " + kCall + " ]==]",
                                "-- " + kCall}) {
    INFO(script);
    CHECK(is_left_alone(script));
  }
  for (const std::string& before :
       std::vector<std::string>{"local redis = {call = function() return 1 end} ", "local r = redis ", "redis = nil ",
                                "local function f(...) end ", "lockstep_key_holds = 1 ", "return @ ", "x = 'open\n",
                                "x = [[open ", "--[[open ", "redis.call = f x(redis) "}) {
    INFO(before);
    CHECK(is_left_alone(before + "return " + kCall));
  }
}

TEST_CASE("a script with a comparison does what it is written to do") {
  sim::DefaultDecisions decisions;
  sim::World world(decisions);
  const sim::Clock clock(world, sim::Duration::zero(), 0);
  ScriptEngine scripts;
  Database database(scripts);
  const auto eval = [&](const std::string& script, const char* key, const Value& text) {
    return database.execute(Command{"EVAL", script, 1, key, text}, clock).describe();
  };
  const std::string same = "if redis.call('GET', KEYS[1]) == ARGV[1] then return 'same' end return 'other'";
  const std::string differs = "return redis.call('GET', KEYS[1]) ~= ARGV[1]";
  database.execute(Command{"SET", "k", "v"}, clock);
  database.execute(Command{"SET", "n", 12}, clock);
  database.execute(Command{"RPUSH", "l", "v"}, clock);
  CHECK(eval(same, "k", "v") == "\"same\"");
  CHECK(eval(same, "k", "w") == "\"other\"");
  CHECK(eval(same, "n", "12") == "\"same\"");
  CHECK(eval(same, "n", 12) == "\"same\"");
  CHECK(eval(same, "missing", "") == "\"other\"");
  CHECK(eval(differs, "k", "v") == "(nil)");
  CHECK(eval(differs, "missing", "v") == "(integer) 1");
  // Errors tell the same as without it: WRONGTYPE, and where.
  const auto of_error = [&](const std::string& line) {
    std::string text = eval(line, "l", "v");
    return text.substr(0, text.find(" script: ")) + text.substr(text.rfind(", on"));
  };
  CHECK(of_error("\nreturn redis.call('GET', KEYS[1]) == ARGV[1]") ==
        of_error("\nlocal v = redis.call('GET', KEYS[1]) return v == ARGV[1]"));
  CHECK(of_error("return redis.call('GET', KEYS[2]) == ARGV[1]") ==
        of_error("local v = redis.call('GET', KEYS[2]) return v == ARGV[1]"));
  CHECK(eval("return redis.call('GET', KEYS[1]) == ARGV[2]", "missing", "v") == "(nil)");
  // As many names as Lua can take, which is one less than it would be with the comparison.
  std::string names = "local a1";
  for (int i = 2; i <= 200; ++i) names += ", a" + std::to_string(i);
  CHECK(eval(names + " " + same, "k", "v") == "\"same\"");
}

}  // namespace lockstep::models::redis::lua_comparisons_test
