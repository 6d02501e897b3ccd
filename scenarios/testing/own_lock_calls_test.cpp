// What scripts of locks can call: that it does what docs/your-own-lock.md says.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::own_lock_calls_test {
namespace {

using testing::catalogue;

namespace fs = std::filesystem;
using checker::Verdict;
using sim::Duration;

Scenario story_of(const std::string& script, const std::string& rest) {
  const fs::path folder = fs::temp_directory_path() / ("lockstep-own-lock-calls-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "mine.lua") << script;
  auto loaded =
      parse("title = \"t\"\n[lock]\nscript = \"mine.lua\"\n" + rest, (folder / "s.toml").string(), catalogue());
  fs::remove_all(folder);
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
  return std::get<Scenario>(std::move(loaded));
}

Outcome outcome_of(const std::string& script, const std::string& rest) {
  const Scenario story = story_of(script, rest);
  auto result = run(story, catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  Outcome outcome = std::get<Outcome>(std::move(result));
  std::string mistakes;
  for (const std::string& mistake : outcome.script_mistakes) mistakes += mistake + "\n";
  CHECK(mistakes == "");
  return outcome;
}

/// Operations of this kind, but those of the probe.
std::vector<sim::Operation> all(const Outcome& outcome, std::string_view function) {
  std::vector<sim::Operation> found;
  for (const sim::Operation& operation : outcome.history.operations) {
    if (operation.function == function && outcome.lanes[operation.process.index].role == Lane::Role::client)
      found.push_back(operation);
  }
  return found;
}

Verdict verdict_of(const Outcome& outcome, std::string_view property) {
  const auto found = std::find_if(outcome.properties.begin(), outcome.properties.end(),
                                  [&](const Judgement& judgement) { return judgement.finding.property == property; });
  REQUIRE(found != outcome.properties.end());
  return found->finding.verdict;
}

constexpr const char* kRelease = "function release(c, hold) return c.redis:del(c.key) == 1 end\n";
constexpr const char* kTwo = "[[client]]\nname = [\"A\", \"B\"]\nhold = \"5ms\"\n";

}  // namespace

TEST_CASE("own lock: a variable at the top lives as long as the process, and each process has its own") {
  const std::string script = R"(
local count = 0
function acquire(c)
  count = count + 1
  c.lock.count = (c.lock.count or 0) + 1
  assert(c.lock.count == count)
  c.redis:rpush("seen", c.name .. count)
  if c.redis:setnx(c.key, c:token()) ~= 1 then return nil end
  return { fencing_token = count }
end
)" + std::string(kRelease);
  const Outcome outcome =
      outcome_of(script,
                 "[[client]]\nname = \"A\"\nrounds = 3\nbetween = \"20ms\"\nhold = \"1ms\"\n[[client]]\nname = "
                 "\"B\"\nacquire_at = \"7ms\"\nhold = \"1ms\"\n[[fault]]\nkind = \"crash\"\nclient = \"A\"\nat = "
                 "\"70ms\"\nrestart_after = \"5ms\"\n");
  std::vector<std::int64_t> of_a, of_b;
  for (const sim::Operation& acquire : all(outcome, "acquire"))
    if (acquire.value) (acquire.process.index == 0 ? of_a : of_b).push_back(*acquire.value);
  CHECK(of_a == std::vector<std::int64_t>{1, 2, 3, 1, 2, 3});
  CHECK(of_b == std::vector<std::int64_t>{1});
}

TEST_CASE("own lock: threads of a process share its variables and its latches") {
  const std::string script = R"(
local turn
local taken = false
function acquire(c)
  turn = turn or c:latch()
  -- One thread of a process at a time.
  while taken do
    if not turn:wait(1000) then return nil end
  end
  taken = true
  if c.redis:setnx(c.key, c.name) ~= 1 then
    taken = false
    turn:release()
    return nil
  end
  return { token = c.name }
end
function release(c, hold)
  local freed = c.redis:del(c.key) == 1
  taken = false
  turn:release()
  return freed
end
)";
  const Outcome outcome = outcome_of(script,
                                     "[[client]]\nname = \"A\"\nhold = \"10ms\"\nthreads = [{}, { acquire_at = \"1ms\" "
                                     "}, { acquire_at = \"2ms\" }]\n");
  const auto acquires = all(outcome, "acquire");
  REQUIRE(acquires.size() == 3);
  for (const sim::Operation& acquire : acquires) CHECK(acquire.phase == sim::Phase::ok);
  CHECK(verdict_of(outcome, "mutual-exclusion") == Verdict::holds);
}

TEST_CASE(
    "own lock: a latch that nobody releases is waited for as long as was said, and spawn runs beside the caller") {
  const std::string script = R"(
background = true
function acquire(c)
  local latch, started = c:latch(), c:monotonic()
  assert(not latch:wait(30))
  assert(c:monotonic() - started == 30)
  c:spawn(function(b)
    b:sleep(15)
    b.redis:set("beside", b.name)
    latch:release()
  end)
  assert(latch:wait(100))
  -- 15ms, and a round trip
  assert(c:monotonic() - started == 47, tostring(c:monotonic() - started))
  assert(c.redis:get("beside") == c.name .. "/watchdog")
  local patience = c:patience(20)
  assert(not patience:over())
  c:sleep(20)
  c:sleep(1)
  assert(patience:over())
  assert(not latch:wait({ patience = patience }))
  local other = c:patience(5)
  other:cancel()
  c:sleep(10)
  local moment = c:now() + 12.5
  c:sleep_until(moment)
  assert(c:now() == moment and not (c:now() < moment))
  c:sleep_until(moment)
  return c:token()
end
function release(c, hold) return true end
)";
  const Outcome outcome = outcome_of(script, "[[client]]\nname = \"A\"\n");
  CHECK(all(outcome, "acquire").front().phase == sim::Phase::ok);
}

TEST_CASE("own lock: every renews, says so, and stops; who is told of a loss is not blamed") {
  const std::string script = R"(
background = true
parameters = { ttl = { default = "30ms", role = "renewed_lease" }, tells = true }
function acquire(c)
  local token = c:token()
  local hold = c:hold({ token = token, renewed = true })
  if c.redis:set(c.key, token, { nx = true, px = c.parameters.ttl }) ~= "OK" then return nil end
  hold.watch = c:every(c.parameters.ttl / 3, function(w)
    if w.redis:get(w.key) ~= token then
      if w.parameters.tells then w:lost(hold) end
      return false
    end
    return w.redis:pexpire(w.key, w.parameters.ttl) == 1
  end)
  return hold
end
function release(c, hold)
  hold.watch:stop()
  return c.redis:del(c.key) == 1
end
)";
  const Outcome calm = outcome_of(script, "[[client]]\nname = \"A\"\nhold = \"65ms\"\n");
  const auto renewals = all(calm, "renew");
  CHECK(renewals.size() == 4);  // each takes two round trips
  for (const sim::Operation& renewal : renewals) {
    CHECK(renewal.phase == sim::Phase::ok);
    CHECK(renewal.of == all(calm, "acquire").front().id);
  }
  CHECK(verdict_of(calm, "faithful-renewal") == Verdict::holds);

  // Somebody deletes the key: the next renewal finds out.
  const std::string taken =
      "[[client]]\nname = \"A\"\nhold = \"65ms\"\n[[client]]\nname = \"op\"\nacquire_at = \"20ms\"\ncommands = [\"DEL "
      "lock\"]\n";
  const Outcome told = outcome_of(script, taken);
  CHECK(all(told, "renew").back().phase == sim::Phase::fail);
  REQUIRE(all(told, "lost").size() == 1);
  CHECK(all(told, "lost").front().of == all(told, "acquire").front().id);
  CHECK(all(told, "release").empty());
}

TEST_CASE("own lock: hold:extend moves the moment from which on the owner knows that it is over, and not after that") {
  const auto script = [](const char* when) {
    return std::string(R"(
background = true
function acquire(c)
  local hold = c:hold({ valid_until = c:now() + 50, token = c:token() })
  c:spawn(function(b)
    b:sleep()" + std::string(when) +
                       R"()
    b.redis:set("extended", tostring(hold:extend(b:now() + 100)))
  end)
  return hold
end
function release(c, hold)
  c.redis:set("seen", tostring(hold.valid_until ~= nil))
  return true
end
)");
  };
  const std::string one = "[[client]]\nname = \"A\"\nhold = \"200ms\"\n";
  const Outcome in_time = outcome_of(script("40"), one);
  CHECK(in_time.history.operations.front().valid_until->offset() == Duration::milliseconds(140));
  const Outcome too_late = outcome_of(script("60"), one);
  CHECK(too_late.history.operations.front().valid_until->offset() == Duration::milliseconds(50));
}

TEST_CASE("own lock: who waits for messages hears them, and try_acquire, call and mode are asked for") {
  const std::string script = R"(
subscribes = true
mode = "shared"
function acquire(c)
  assert(c.mode == "shared")
  local patience = c:patience(1000)
  local channel = c:subscribe("news", { patience = patience, server = 1 })
  assert(channel)
  assert(channel:wait({ patience = patience }))
  assert(not channel:wait(5))
  channel:leave()
  local ok, text = pcall(function() channel:wait(1) end)
  assert(not ok and text:find("this channel has been left"), text)
  return c:token()
end
function try_acquire(c) return c:token() end
function call(c, what) return what == "isHeldByCurrentThread" end
function release(c) return true end
)";
  const Outcome outcome =
      outcome_of(script,
                 "[[client]]\nname = \"A\"\nfinally = [\"isHeldByCurrentThread\", \"unlock\"]\n[[client]]\nname = "
                 "\"op\"\nacquire_at = \"50ms\"\ncommands = [\"PUBLISH news 0\"]\n");
  CHECK(all(outcome, "acquire").front().phase == sim::Phase::ok);
  CHECK(all(outcome, "release").front().phase == sim::Phase::ok);
  CHECK(verdict_of(outcome, "recoverable") == Verdict::holds);
}

TEST_CASE("own lock: a script cannot make up objects of ours, nor reach those of others") {
  const auto refused = [](const std::string& body, const std::string& expected) {
    const Scenario story =
        story_of("background = true\nlocal stolen\nfunction acquire(c)\n" + body + "\nend\n" + kRelease, kTwo);
    const auto result = run(story, catalogue());
    const auto* outcome = std::get_if<Outcome>(&result);
    const std::string said = outcome == nullptr                 ? std::get<Diagnostic>(result).message
                             : outcome->script_mistakes.empty() ? "nothing"
                                                                : outcome->script_mistakes.front();
    INFO(body);
    CHECK(said.find(expected) != std::string::npos);
  };
  refused("for k in pairs(c) do end", "keys that are tables or functions");
  // The only entry of an object is its number.
  refused("stolen = stolen or c:every(10, function() end) local k = next(stolen) rawset(stolen, k, 1e9) stolen:stop()",
          "there is no such watch");
  refused("local l = c:latch() local k = next(l) rawset(l, k, 1e9) l:release()", "there is no such latch");
  refused("local p = c:patience(5) local k = next(p) rawset(p, k, 3) p:over()", "expected what c:patience");
  refused("local p = c:patience(5) local k = next(p) rawset(p, k, -1) p:over()", "expected what c:patience");
  refused("local p = c:patience(5) local k = next(p) rawset(c, k, 77) c:now()", "this c belongs to another thread");
  refused("setmetatable(c, {})", "cannot change a protected metatable");
  refused("getmetatable(c).__index = nil", "attempt to index a boolean value");
  refused("setmetatable(unknown, nil)", "cannot change a protected metatable");
  refused("string.rep = nil", "Attempt to modify a readonly table");
  refused("c.redis.set = nil c.redis:now()", "nothing");
  refused("stolen = stolen or c:hold() return stolen.extend(c, c:now())", "expected an object in front of a colon");
  refused("error(unknown)", "an error that is no text");
  refused("error(setmetatable({}, { __index = error }))", "an error that is no text");
  refused("return setmetatable({ token = 'x' }, { __index = error, __newindex = error })", "nothing");
  refused("local function f(n) return pcall(f, n + 1) end assert(f(1))", "");
  refused("return {} .. 'x'", "attempt to concatenate a table value");
  refused("return setmetatable({}, { __index = function() c:sleep(1) end }).x",
          "cannot be called from an iterator, a metamethod");
}

TEST_CASE("own lock: a time that is sent where no server wants one is an error reply, in an exploration as well") {
  const std::string script = R"(
function acquire(c)
  assert(error_of(c.redis:call("NOSUCH", c.key, c:now())):find("unknown command"))
  assert(error_of(c.redis:call("SCRIPT", c:now())))
  assert(error_of(c.redis:set(c.key, 1, { px = c:now() - c:now() })))
  return c:token()
end
)" + std::string(kRelease);
  const Scenario story = story_of(script, kTwo);
  for (const bool goes_back : {true, false}) {
    ExplorationOptions options;
    options.goes_back = goes_back;
    const auto found = explore(story, catalogue(), options);
    CHECK(std::get<Exploration>(found).counts.complete);
  }
}

TEST_CASE("own lock: a random wait is explored in full, and a wait is one place where others come in between") {
  const std::string script = R"(
function acquire(c)
  c:sleep({ 0, 30 })
  if c.redis:get(c.key) == nil then
    c.redis:set(c.key, c.name)
    return c:token()
  end
end
)" + std::string(kRelease);
  const auto result = explore(story_of(script, kTwo), catalogue(), {});
  const Exploration& found = std::get<Exploration>(result);
  CHECK(found.counts.complete);
  CHECK(found.property("mutual-exclusion").verdict == Verdict::violated);
  REQUIRE(found.property("mutual-exclusion").witness.has_value());
}

}  // namespace lockstep::scenarios::own_lock_calls_test
