// A lock of one's own as a script: what is read, what is refused, what a mistake looks like.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <utility>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::own_lock_test {
namespace {

using testing::catalogue;

namespace fs = std::filesystem;
using checker::Verdict;

/// A folder that goes with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("lockstep-own-lock-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }

 private:
  fs::path path_;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

constexpr const char* kClients = "[network]\ntimeout = \"50ms\"\n[[client]]\nname = [\"A\", \"B\"]\nhold = \"5ms\"\n";

/// A story in the folder, with the script as mine.lua.
std::variant<Scenario, Diagnostic> story_with(const Folder& folder, const std::string& script,
                                              const std::string& lock = "", const std::string& rest = kClients) {
  folder.write("mine.lua", script);
  return parse("title = \"t\"\n[lock]\nscript = \"mine.lua\"\n" + lock + rest, (folder.path() / "s.toml").string(),
               catalogue());
}

Scenario good(const Folder& folder, const std::string& script, const std::string& lock = "",
              const std::string& rest = kClients) {
  auto loaded = story_with(folder, script, lock, rest);
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
  return std::get<Scenario>(std::move(loaded));
}

std::string refusal(const Folder& folder, const std::string& script, const std::string& lock = "",
                    const std::string& rest = kClients) {
  const auto loaded = story_with(folder, script, lock, rest);
  const auto* trouble = std::get_if<Diagnostic>(&loaded);
  if (trouble == nullptr) return "(a scenario)";
  const std::string text = trouble->to_string();
  return text.starts_with(folder.path().string()) ? text.substr(folder.path().string().size() + 1) : text;
}

/// A whole script around the body of acquire.
std::string acquiring(const std::string& body) {
  return "function acquire(c)\n" + body + "\nend\nfunction release(c, hold) return true end\n";
}

/// What a run says of the scripts' mistakes, or why there is no result.
std::string said(const Scenario& story) {
  const auto result = run(story, catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) return trouble->message;
  std::string text;
  for (const std::string& mistake : std::get<Outcome>(result).script_mistakes) text += mistake + "\n";
  return text;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::size_t grants(const Scenario& story) {
  const auto result = run(story, catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  const auto& operations = std::get<Outcome>(result).history.operations;
  return static_cast<std::size_t>(std::count_if(operations.begin(), operations.end(), [](const sim::Operation& o) {
    return o.function == "acquire" && o.phase == sim::Phase::ok && o.process.index < 2;
  }));
}

}  // namespace

TEST_CASE("own lock: what is wrong with a script is told with its file and line, at its place in the story") {
  const Folder folder;
  const auto check = [&](const std::string& script, std::string_view expected) {
    const std::string text = refusal(folder, script);
    INFO(text);
    CHECK(text.starts_with("s.toml:3:10: script: "));
    CHECK(contains(text, expected));
  };
  check("function acquire(c)\n  retrun 1\nend", "mine.lua:2: '=' expected near '1'");
  check("local x = 1", "mine.lua: it defines no function acquire: write `function acquire(c) … end`");
  check("function acquire(c) end", "it defines no function release: write `function release(c, hold) … end`");
  check("acquire = 1 function release() end", "it defines no function acquire");
  check("x = 1", "mine.lua:1: a script declares acquire, release");
  check("local x = os.time()", "mine.lua:1: there is no os: the client's own clocks are c:now() and c:monotonic()");
  check("math.randomseed(1)", "mine.lua:1: there is no math.random: a pause of random length is c:sleep");
  check("print(1)", "there is no print");
  check("coroutine.create(1)", "there is no coroutine: c:spawn(f)");
  check("while true do end", "script ran for more than 1,000,000 instructions");
  check("local t = {} while true do t[#t + 1] = {} end", "mine.lua:1: script ");
  check("local s = string.rep('x', 1e9)", "bytes of memory");
  check("local function f() return 1 + f() end f()", "mine.lua:1: script ran for more than");
  check("error({})", "the main part ended with an error that is no text");
  check("\x1bLua", "bytecode; expected the text of a script");
  check("local lockstep_question = 1", "the name lockstep_question");
  check(std::string(300'000, ' '), "larger than 256 KiB");
  const std::string fine = acquiring("return nil");
  check(fine + "parameters = 1", "parameters: expected a table");
  check(fine + "parameters = { ttl = 1.5 }", "parameters.ttl: expected a whole number");
  check(fine + "parameters = { Ttl = 1 }", "parameters: names are of small letters");
  check(fine + "parameters = { key = 'x' }", "key is a key of [lock] already");
  check(fine + "parameters = { a = { default = '1s', rule = 1 } }", "parameters.a: expected default, role, meaning");
  check(fine + "parameters = { a = { default = '1s', role = 'leese' } }", "parameters.a.role: expected one of lease");
  check(fine + "parameters = { a = { default = 5, role = 'lease' } }", "\"lease\" is for a length of time");
  check(fine + "parameters = { a = { role = 'lease' } }", "it needs a default");
  check(fine + "parameters = { a = { default = '1s', role = 'lease' }, b = { default = '1s', role = 'lease' } }",
        "more than one has the role \"lease\"");
  check(fine + "claims = { 'mutual-exlusion' }", "did you mean \"mutual-exclusion\"?");
  check(fine + "servers = 'many'", "servers: expected \"one\" or \"several\"");
  check(fine + "background = 1", "background: expected true or false");
  CHECK(refusal(folder, fine) == "(a scenario)");
}

TEST_CASE("own lock: its keys in a story are what it declares") {
  const Folder folder;
  const std::string script =
      acquiring("return nil") +
      "parameters = { ttl = { default = '1s', role = 'lease' }, how = { default = 'a', choices "
      "= { 'a', 'b' } }, n = { default = 3, least = 2 }, strict = false, wait = { '1ms', '5ms' } }";
  CHECK(contains(refusal(folder, script, "tll = \"5s\"\n"),
                 "unknown key \"tll\" in [lock] of mine.lua: did you mean \"ttl\"?"));
  CHECK(contains(refusal(folder, script, "ttl = 5\n"), "s.toml:4:7: ttl: expected a duration"));
  CHECK(contains(refusal(folder, script, "n = 1\n"), "s.toml:4:5: n: "));
  CHECK(contains(refusal(folder, script, "how = \"c\"\n"), "s.toml:4:7: how: "));
  CHECK(contains(refusal(folder, script, "strict = 1\n"), "s.toml:4:10: strict: expected true or false"));
  CHECK(contains(refusal(folder, script, "algorithm = \"setnx-del\"\n"), "both \"script\" and \"algorithm\""));
  CHECK(refusal(folder, script, "ttl = \"5s\"\nhow = \"b\"\nn = 2\nstrict = true\nwait = \"2ms\"\nattempts = 2\n") ==
        "(a scenario)");
  const Scenario story = good(folder, script, "", std::string(kClients) + "lock = { ttl = \"7s\" }\n");
  CHECK(story.clients[0].parameters.size() == 1);
  CHECK(models::locks::find(story.lock.own.entry->parameters, models::locks::ParameterRole::lease)->name == "ttl");
}

TEST_CASE("own lock: files that are no script are refused") {
  const Folder folder;
  const auto refused = [&](const std::string& name) {
    const auto loaded = parse("title = \"t\"\n[lock]\nscript = \"" + name + "\"\n[[client]]\nname = \"A\"\n",
                              (folder.path() / "s.toml").string(), catalogue());
    const auto* trouble = std::get_if<Diagnostic>(&loaded);
    REQUIRE(trouble != nullptr);
    return trouble->message;
  };
  folder.write("other.lua", "");
  CHECK(contains(refused("othr.lua"), "othr.lua: no such file; did you mean \"other.lua\"?"));
  CHECK(contains(refused("."), "a directory; expected a Lua script"));
  CHECK(contains(refused("/dev/zero"), "not a regular file; expected a Lua script"));
  CHECK(contains(refused(""), "script"));
  const auto loaded =
      parse("title = \"t\"\n[lock]\nalgorithm = \"x.lua\"\n[[client]]\nname = \"A\"\n", "s.toml", catalogue());
  CHECK(contains(std::get<Diagnostic>(loaded).message, "a script of your own is `script = \"x.lua\"`"));
}

TEST_CASE("own lock: a story that is written into another folder finds its script") {
  const Folder folder;
  fs::create_directories(folder.path() / "found");
  const Scenario story = good(folder, acquiring("return c:token()"));
  for (const fs::path& where : {fs::path(), folder.path() / "found"}) {
    const std::string text = to_toml(story, where);
    INFO(text);
    CHECK(contains(text, where.empty() ? folder.path().string() + "/mine.lua" : "script = \"../mine.lua\""));
    const auto again = parse(text, (folder.path() / "found" / "s.toml").string(), catalogue());
    REQUIRE(std::holds_alternative<Scenario>(again));
    Scenario read = without_positions(std::get<Scenario>(again));
    read.file = story.file;
    CHECK(read == without_positions(story));
    CHECK(grants(read) == 2);
  }
  // Another text is another lock.
  const Scenario other = good(folder, acquiring("return c:token() "));
  CHECK_FALSE(other.lock == story.lock);
  CHECK(identity_of(other) != identity_of(story));
}

TEST_CASE("own lock: an error that nobody catches ends the attempt, and is told with its file and line") {
  const Folder folder;
  bool is_first = true;
  const auto check = [&](const std::string& body, std::string_view expected) {
    const Scenario story = good(folder, acquiring(body));
    const std::string text = said(story);
    INFO(body << "\n" << text);
    CHECK(contains(text, expected));
    CHECK(contains(text, "(uncaught: acquire ended there)"));
    if (!is_first) return;
    is_first = false;
    ExplorationOptions options;
    options.max_events = 300;
    const auto explored = explore(story, catalogue(), options);
    CHECK(std::get<Exploration>(explored).script_mistakes.size() == 1);
  };
  check("local x = c.nothing.more", "mine.lua:2: attempt to index field 'nothing' (a nil value)");
  check("c.redis:set(c.key, 1)\nerror('no luck')", "mine.lua:3: no luck");
  check("error(c.redis:incr(c.key, 1, 2))", "error reply: ERR wrong number of arguments for 'incr' command");
  check("c.redis:set(c.key, nil)", "mine.lua:2: argument 2 of SET is nil; expected a text or a number");
  check("c.redis:set(c.key, 1, { px = 5, nxx = true })", "a table behind a command has its options");
  check("return c.now()", "expected c in front of a colon, as in c:now()");
  check("counter = 1", "counter is assigned to and is no local variable: write `local counter`");
  check("return counter", "there is no variable counter");
  check("return os.time()", "there is no os: the client's own clocks are c:now()");
  check("return math.random()", "there is no math.random");
  check("c:every(10, function() end)", "write `background = true` at the top of the script");
  check("c:subscribe('x')", "write `subscribes = true` at the top of the script");
  check("c:sleep('soon')", "how long to sleep is the text \"soon\"; expected milliseconds");
  check("c:lost({})", "expected a hold that c:hold made");
  check("local t = {} t[c:now()] = 1", "a time is no key of a table here");
  check("table.sort({ 1, 2 }, function() c:sleep(1) end)", "cannot be called from an iterator, a metamethod");
  check("c.redis:multi()", "MULTI and EXEC are one call");
  check("local r = c.redis:get(c.key) return (r or unknown) + 1", "a reply that never came is `unknown`");
  check("error({})", "mine.lua: an error that is no text");
  check("local function f() pcall(f) error('deep') end f()", "deep");
}

TEST_CASE("own lock: one that nobody ever gets, and that asks nobody, is not recoverable") {
  const Folder folder;
  const Scenario story = good(folder, acquiring("return nil"));
  const auto found = explore(story, catalogue(), {});
  CHECK(std::get<Exploration>(found).property("recoverable").verdict == Verdict::violated);
  const auto happened = run(story, catalogue());
  for (const Judgement& judgement : std::get<Outcome>(happened).properties) {
    if (judgement.finding.property == "recoverable") CHECK(judgement.finding.verdict == Verdict::violated);
  }
}

TEST_CASE("own lock: a script that runs away is stopped, and the run says so") {
  const Folder folder;
  const auto check = [&](const std::string& body, std::string_view expected) {
    const Scenario story = good(folder, acquiring(body));
    const std::string text = said(story);
    INFO(body << "\n" << text);
    CHECK(text.starts_with("mine.lua:2: "));
    CHECK(contains(text, expected));
    CHECK(contains(text, "(in acquire of "));
    const auto explored = explore(story, catalogue(), {});
    for (const ExploredProperty& property : std::get<Exploration>(explored).properties) {
      if (property.applies) CHECK(property.verdict != Verdict::holds);
    }
  };
  check("while true do end", "script ran for more than 1,000,000 instructions");
  check("return c:now() .. ''", "a script needs the digits of a time, which an exploration does not have: line 2");
  check("while true do pcall(function() while true do end end) end", "instructions");
  check("local t = {} while true do t[#t + 1] = 'x' .. #t end", "");
  check("return string.rep('x', 1e9)", "bytes of memory");
  check("return ('x'):rep(1e6):rep(1e6)", "bytes of memory");
  check("return ('a'):rep(30):find(('a?'):rep(30) .. ('a'):rep(30))", "instructions");
}

TEST_CASE("own lock: what stopped a script in one execution does not stop it in the next") {
  const Folder folder;
  // It runs away if another has the lock: in some executions. A table's name tells nothing of other executions either.
  const Scenario story = good(folder, acquiring(R"(
    c.redis:set(tostring({}), 1)
    if c.redis:setnx(c.key, c.name) == 1 then return c:token() end
    while true do end)"),
                              "", "[[client]]\nname = [\"A\", \"B\"]\nacquire_at = [\"0ms\", \"20ms\"]\n");
  for (const bool goes_back : {true, false}) {
    ExplorationOptions options;
    options.goes_back = goes_back;
    const auto found = explore(story, catalogue(), options);
    const Exploration& exploration = std::get<Exploration>(found);
    CHECK(exploration.counts.complete);
    CHECK(exploration.counts.traces > 1);
    CHECK(exploration.property("own-release").verdict != Verdict::holds);
  }
}

TEST_CASE("own lock: nil, an error and a reply that never came are told apart") {
  const Folder folder;
  const std::string script = acquiring(R"(
    local key = c:token()
    assert(c.redis:get(key) == nil)
    assert(error_of(nil == nil) == nil)
    local wrong = c.redis:call("NOSUCH")
    assert(wrong ~= nil and wrong ~= unknown and error_of(wrong):find("unknown command"), "an error")
    assert(c.redis.set(key, "x") == "OK")
    assert(c.redis[1]:get(key) == "x" and #c.redis == 1)
    assert(c.redis:incr(key .. "n") == 1)
    local two = c.redis:transaction({ { "GET", key }, { "GET", "none" }, { "INCR", key .. "n" } })
    assert(two.n == 3 and two[1] == "x" and two[2] == nil and two[3] == 2)
    assert(c.redis:within(10):del(key) == 1)
    local reply = c.redis:eval("return {KEYS[1], ARGV[1]}", { key }, { 5 })
    assert(reply[1] == key and reply[2] == "5")
    local ok, text = pcall(function() c:sleep(3) error("inner") end)
    assert(not ok and text:find("mine.lua:16: inner"), text)
    local fine, a, b = pcall(function(x) return c.redis:get("none"), x end, 7)
    assert(fine and a == nil and b == 7)
    assert(tostring({}) and type(c:now()) == "number")
    return c:token())");
  const Scenario story = good(folder, script);
  CHECK(said(story) == "");
  CHECK(grants(story) == 2);

  const std::string lost =
      acquiring("local r = c.redis:set(c.key, 1) assert(r == unknown and error_of(r) == nil) return r");
  const Scenario loses =
      good(folder, lost, "",
           "[network]\ntimeout = \"50ms\"\n[[client]]\nname = [\"A\", \"B\"]\n[[fault]]\nkind = \"lose\"\nclient = "
           "\"A\"\nmessage = \"SET\"\n");
  CHECK(contains(said(loses), "assertion failed"));  // B's reply comes
  CHECK(grants(loses) == 0);
}

TEST_CASE("own lock: its clock's comparisons fork an exploration, and its arithmetic stays symbolic") {
  const Folder folder;
  // It believes in its lease for 40ms from before the SET; the work takes as long as it takes.
  const std::string script = R"(
parameters = { ttl = { default = "100ms", role = "lease" } }
claims = { "mutual-exclusion" }
function acquire(c)
  local started = c:monotonic()
  local token = c:token()
  if c.redis:set(c.key, token, { nx = true, px = c.parameters.ttl }) ~= "OK" then return nil end
  local taken = c:monotonic() - started
  if taken > 15 then return nil end
  if not (c:monotonic() < started + 50 and 20 > taken) then return nil end
  return { token = token, valid_until = started + c.parameters.ttl, monotonic = true }
end
function release(c, hold) return c.redis:eval("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0", { c.key }, { hold.token }) == 1 end
)";
  const std::string rest =
      "[network]\nlatency = [\"1ms\", \"10ms\"]\n[[client]]\nname = \"A\"\nhold = \"20ms\"\n[[client]]\nname = "
      "\"B\"\nacquire_at = "
      "[\"0ms\", \"400ms\"]\n[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"1s\"]\n";
  const Scenario story = good(folder, script, "", rest);
  const auto result = explore(story, catalogue(), {});
  const Exploration& found = std::get<Exploration>(result);
  CHECK(found.script_mistakes.empty());
  CHECK(found.counts.complete);
  // Who finds that the SET took more than 15ms gives up and leaves the key: some orders and delays lead there, and others do not.
  CHECK(found.property("truthful-reports").verdict == Verdict::violated);
  CHECK(found.property("truthful-reports").violating_traces < found.counts.traces);
  CHECK(found.property("mutual-exclusion").verdict == Verdict::holds);
  const Scenario careless = good(folder, replaced(script, "if taken > 15 then return nil end", ""), "", rest);
  const auto other = explore(careless, catalogue(), {});
  CHECK(std::get<Exploration>(other).property("truthful-reports").verdict == Verdict::violated);
  const Scenario plain = good(folder,
                              replaced(replaced(script, "if taken > 15 then return nil end", ""),
                                       "if not (c:monotonic() < started + 50 and 20 > taken) then return nil end", ""),
                              "", rest);
  const auto calm = explore(plain, catalogue(), {});
  CHECK(std::get<Exploration>(calm).property("truthful-reports").verdict == Verdict::holds);
  CHECK(std::get<Exploration>(calm).counts.traces < found.counts.traces);
}

}  // namespace lockstep::scenarios::own_lock_test
