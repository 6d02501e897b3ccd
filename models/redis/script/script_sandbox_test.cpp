// What a hostile or unlucky script may not do: run for ever, eat the memory, reach outside, or make two runs differ.

#include <string>

#include "models/redis/conformance/test_server.hpp"

namespace lockstep::models::redis::script_sandbox_test {
namespace {

/// Why the script was stopped, or "" if it was not. The server must live on.
std::string stopped(std::string_view script, ScriptLimits limits = {}) {
  TestServer server(limits);
  const Reply reply = server.eval(script);
  INFO(script << " => " << reply.describe());
  const std::string reason = server.database.limit_hit().value_or("");
  CHECK(reply.is_error() == !reason.empty());
  if (!reason.empty()) CHECK(reply.text().find(reason) != std::string::npos);
  CHECK(server.eval("return {KEYS[1], #ARGV}").resp() == "*2\r\n$3\r\nkey\r\n:1\r\n");
  return reason;
}

constexpr std::string_view kTooLong = "script ran for more than 1,000,000 instructions";
constexpr std::string_view kTooBig = "script used more than 16,777,216 bytes of memory";

}  // namespace

TEST_CASE("a script without end is stopped") {
  CHECK(stopped("while true do end") == kTooLong);
  CHECK(stopped("repeat local x = 1 until false") == kTooLong);
  CHECK(stopped("local function f() return f() end return f()") == kTooLong);
  CHECK(stopped("for i = 1, 1e12 do end") == kTooLong);
  CHECK(stopped("while true do redis.call('ping') end") == kTooLong);
  CHECK(stopped("return 1") == "");
}

TEST_CASE("a script cannot catch that it was stopped") {
  CHECK(stopped("while true do pcall(function() while true do end end) end") == kTooLong);
  CHECK(stopped("pcall(function() while true do end end) return 'alive'") == kTooLong);
  CHECK(stopped("xpcall(function() while true do end end, function() while true do end end) return 1") == kTooLong);
  CHECK(stopped("local t = setmetatable({}, {__index = function() while true do end end}) return pcall(function() "
                "return t.x end)") == kTooLong);
  CHECK(stopped("table.sort({1,2,3,4}, function() while true do end end)") == kTooLong);
  CHECK(stopped("string.gsub('aaa', 'a', function() while true do end end)") == kTooLong);
  CHECK(stopped("load(function() return ' ' end)") == kTooLong);
  CHECK(stopped("while true do pcall(string.rep, 'x', 1e9) end") == kTooBig);
}

TEST_CASE("a script that eats memory is stopped") {
  CHECK(stopped("local t = {} while true do t[#t+1] = ('x'):rep(1e6) .. #t end") == kTooBig);
  CHECK(stopped("return #string.rep('x', 1e9)") == kTooBig);
  CHECK(stopped("return #string.rep('xy', 2^31 - 1)") == kTooBig);
  CHECK(stopped("local s = 'x' while true do s = s .. s end") == kTooBig);
  CHECK(stopped("return #(('x'):rep(1e6):gsub('x', ('y'):rep(1000)))") != "");
  CHECK(stopped("local t = {} for i = 1, 1e9 do t[i] = i end") != "");
  CHECK(stopped("local s = ('x'):rep(1e5) for i = 1, 1000 do local u = s .. i end return 1") ==
        "");  // garbage is reclaimed
}

TEST_CASE("functions of the library that loop are counted") {
  CHECK(stopped("return string.rep('', 1e9)") == "");
  CHECK(stopped("table.insert({1}, -2^31, 2)") == kTooLong);
  CHECK(stopped("return ('a'):rep(1e6):find('.-.-.-.-b')") == kTooLong);
  CHECK(stopped("return (('a'):rep(30)):find(('a?'):rep(30) .. ('a'):rep(30))") == kTooLong);
  CHECK(stopped("return (('a'):rep(1e5)):match('(.-)(.-)(.-)b')") == kTooLong);
  CHECK(stopped("local s = ('9'):rep(1e6) local n = 0 while true do n = s + 0 end") == kTooLong);
  CHECK(stopped("local s = ('x'):rep(1e6) while s <= s do end") == kTooLong);
  CHECK(stopped(
            "local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1e5 do t[i] = nil end while true do next(t) end") ==
        kTooLong);
  CHECK(stopped("while true do loadstring(('local x = 1 '):rep(100)) end") == kTooLong);
}

TEST_CASE("a reply that grows without bound is stopped") {
  CHECK(stopped("local t = {} for i = 1, 60 do t = {t, t} end return t") == "script returned more than 100,000 items");
  TestServer server;
  CHECK(server.eval("local t = {} t[1] = t return t").is_array());
  CHECK(server.eval("local t = {1} for i = 1, 100 do t = {t} end return t").resp().ends_with("*1\r\n*1\r\n:1\r\n"));
}

TEST_CASE("deep recursion ends") {
  CHECK(stopped("local function f() return 1 + f() end return f()") != "");
  CHECK(stopped("local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(150)") == "");
  CHECK(stopped("local function f() pcall(f) end f() return 1") == "");
  CHECK(TestServer().eval("return string.find(('a'):rep(1000), ('a?'):rep(1000))").text().find("pattern too complex") !=
        std::string::npos);
  CHECK(stopped("return loadstring(('('):rep(10000) .. ')')") == "");
  CHECK(stopped("local s = ('x'):rep(100) return string.find(s, ('x?'):rep(100))") == "");
}

TEST_CASE("limits are parameters") {
  CHECK(stopped("for i = 1, 1000 do end", {.instructions = 500}) == "script ran for more than 500 instructions");
  CHECK(stopped("for i = 1, 2e6 do end", {.instructions = 10'000'000}) == "");
  CHECK(stopped("return #string.rep('x', 1e5)", {.memory_bytes = 1 << 16}) ==
        "script used more than 65,536 bytes of memory");
}

TEST_CASE("the limit that was hit stays known until reset") {
  TestServer server;
  server.eval("while true do end");
  CHECK(server.eval("return 1").is_integer(1));
  CHECK(server.database.limit_hit() == std::string(kTooLong));
  server.database.restart_empty();
  CHECK(server.database.limit_hit());
  server.database.reset();
  CHECK_FALSE(server.database.limit_hit());
}

TEST_CASE("no script can change what a later one sees") {
  TestServer server;
  const char* const attacks[] = {
      "KEYS[1] = 'stolen' ARGV = nil",
      "rawset(string, 'rep', nil)",
      "setmetatable(string, {})",
      "getmetatable('').__index = {}",
      "local t = setmetatable({}, getmetatable('')) getmetatable(t).__index = {}",
      "for k in pairs(_G) do rawset(_G, k, nil) end",
      "table.foreach(_G, function(k, v) _G[k] = nil end)",
      "table.insert(_G, 1, 'x')",
      "table.sort(string)",
      "_G._G._G.redis.call = 1",
      "math.randomseed(5)",
      "tostring({}) tostring({})",
      "loadstring('string.x = 1')()",
      "local mt = getmetatable(_G) or {} mt.__newindex = nil x = 1",
      "redis.setresp(3)",
      "select('#', string.gsub('x', 'x', function() string.rep = nil end))",
  };
  const char* const probe =
      "return {KEYS[1], ARGV[1], type(string.rep), type(redis.call), ('x'):rep(2), tostring(math.random()), "
      "tostring({}), "
      "#string, rawget(_G, 'x') or 0, (pcall(function() return x end)) and 1 or 0}";
  const std::string before = server.eval(probe).resp();
  for (const char* attack : attacks) {
    INFO(attack);
    server.eval(attack);
    CHECK(server.eval(probe).resp() == before);
  }
}

TEST_CASE("addresses do not show") {
  TestServer server;
  CHECK(server.eval("return {tostring({}), tostring({}), tostring(print_nothing or redis.call)}").is_error());
  const std::string_view script =
      "local t, f = {}, function() end return {tostring(t), tostring(f), tostring(t), tostring(redis.call), "
      "tostring({})}";
  const std::string reply = server.eval(script).describe();
  CHECK(reply == "1) \"table: 0x1\" 2) \"function: 0x2\" 3) \"table: 0x1\" 4) \"function: 0x3\" 5) \"table: 0x4\"");
  CHECK(server.eval(script).describe() == reply);
  TestServer other;
  other.eval("local t = {} for i = 1, 1000 do t[i] = {} end");
  CHECK(other.eval(script).describe() == reply);
}

TEST_CASE("iteration does not follow addresses") {
  TestServer server;
  const std::string_view names =
      "local t = {} for w in ('e d c b a lock token owner 1'):gmatch('%w+') do t[w] = w end "
      "local s = '' for k in pairs(t) do s = s .. k .. ' ' end return s";
  const std::string reply = server.eval(names).describe();
  TestServer other;
  other.eval("local t = {} for i = 1, 100 do t['k' .. i] = i end");
  CHECK(other.eval(names).describe() == reply);

  const std::string reason =
      "script iterated over a table with keys that are tables or functions, in an order that depends on addresses";
  CHECK(stopped("local t = {a = 1} t[{}] = 1 for k in pairs(t) do end") == reason);
  CHECK(stopped("local t = {} t[function() end] = 1 t[redis.call] = 2 return next(t)") == reason);
  CHECK(stopped("local t = {} t[{}] = 1 t[{}] = 2 table.foreach(t, function() end)") == reason);
  CHECK(stopped("local t = {} t[{}] = 1 for k in pairs(t) do end") == "");
  CHECK(stopped("local t = {} t[{}] = 1 t[{}] = 2 return t[{}]") == "");
}

TEST_CASE("random numbers begin anew with each script") {
  TestServer server;
  const std::string_view script = "return {math.random(1000000), math.random(1000000)}";
  CHECK(server.eval(script) == server.eval(script));
}

TEST_CASE("memory that scripts see does not depend on earlier ones") {
  TestServer server;
  const std::string before = server.eval("return {collectgarbage('count'), gcinfo(), collectgarbage()}").resp();
  server.eval("local t = {} for i = 1, 10000 do t[i] = {} end");
  CHECK(server.eval("return {collectgarbage('count'), gcinfo(), collectgarbage()}").resp() == before);
}

TEST_CASE("scripts leave no garbage behind for long") {
  TestServer server;
  for (int i = 0; i < 300; ++i) server.send(Command{"EVAL", "return #(('x'):rep(20000) .. ARGV[1])", 0, i});
  CHECK(server.engine.memory_bytes() < 4'000'000);
}

TEST_CASE("an error without a text does not crash the server, as it does the real one") {
  TestServer server;
  CHECK(server.eval("error({})").is_error());
  CHECK(server.eval("error(setmetatable({}, {__tostring = function() return 'T' end}))").is_error());
  CHECK(server.eval("error(function() end)").is_error());
  CHECK(server.eval("return error({ok = 'x'})").is_error());
}

TEST_CASE("cjson and cmsgpack stay within the limits, whatever they are given") {
  CHECK(stopped("local s = ('x'):rep(1e6) local t = {} for i = 1, 100 do t[i] = s end return #cjson.encode(t)") != "");
  CHECK(stopped("local s = ('x'):rep(1e6) local t = {} for i = 1, 100 do t[i] = s end return #cmsgpack.pack(t)") != "");
  CHECK(stopped("local s = '[' .. ('1,'):rep(1e6) .. '1]' while true do cjson.decode(s) end") == kTooLong);
  CHECK(stopped("local s = ('\\1'):rep(1e6) while true do pcall(cmsgpack.unpack, s) end") == kTooLong);
  CHECK(stopped("local t = {} t[1] = t return pcall(cjson.encode, t)").empty());  // an error, not the end of the stack
  CHECK(stopped("local t = {} t[1] = t return #cmsgpack.pack(t)").empty());
  CHECK(stopped("return pcall(cmsgpack.unpack, ('\\145'):rep(1e6))").empty());
  CHECK(stopped("return pcall(cjson.decode, ('{\"a\":'):rep(1e5))").empty());
  CHECK(stopped("return pcall(cmsgpack.unpack, '\\223\\255\\255\\255\\255')").empty());
  const std::string reason =
      "script iterated over a table with keys that are tables or functions, in an order that depends on addresses";
  CHECK(stopped("local t = {} t[{}] = 1 t[{}] = 2 return cjson.encode(t)") == reason);
  CHECK(stopped("local t = {} t[{}] = 1 t[{}] = 2 return cmsgpack.pack(t)") == reason);
}

TEST_CASE("what the libraries give out reaches nothing outside") {
  TestServer server;
  for (const std::string_view script :
       {"cjson.decode = nil", "cjson.new = 1", "bit.band = print", "rawset(cmsgpack, 'pack', 1)",
        "getmetatable(cjson).__index = 1", "setmetatable(bit, {})", "cjson.null.x = 1", "return cjson.null()"}) {
    INFO(script);
    CHECK(server.eval(script).is_error());
  }
  CHECK(server.eval("return {cjson.encode({1}), bit.band(7, 3), cmsgpack.pack(1)}").resp() ==
        "*3\r\n$3\r\n[1]\r\n:3\r\n$1\r\n\x01\r\n");
}

}  // namespace lockstep::models::redis::script_sandbox_test
