// Locks as scripts, and the client that comes when everybody is done or dead: docs/decisions/recoverable-is-tried.md. What is
// right for each lock is said beside it, on paper; `run`, `check` and concrete runs say the same.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>

#include "scenarios/checking/check.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::visitor_test {
namespace {

using checker::Verdict;
using testing::catalogue;

namespace fs = std::filesystem;

Scenario story_of(const std::string& script, const std::string& rest) {
  const fs::path folder = fs::temp_directory_path() / ("lockstep-visitor-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "mine.lua") << "claims = { \"recoverable\" }\n" << script;
  auto loaded =
      parse("title = \"t\"\n[lock]\nscript = \"mine.lua\"\n" + rest, (folder / "s.toml").string(), catalogue());
  fs::remove_all(folder);
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
  return std::get<Scenario>(std::move(loaded));
}

Verdict said_by_run(const Scenario& story) {
  auto result = run(story, catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  for (const Judgement& judgement : std::get<Outcome>(result).properties) {
    if (judgement.finding.property == "recoverable") return judgement.finding.verdict;
  }
  FAIL("it is judged");
  return Verdict::unknown;
}

/// With the second opinion.
Exploration checked(const Scenario& story) {
  auto result = check(story, catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  Exploration exploration = std::get<Exploration>(std::move(result));
  CHECK(exploration.disagreements == 0);
  CHECK(exploration.unconfirmed == 0);
  CHECK(exploration.counts.complete);
  return exploration;
}

void check_both(Verdict right, const std::string& script, const std::string& rest) {
  INFO(script << rest);
  const Scenario story = story_of(script, rest);
  CHECK(said_by_run(story) == right);
  CHECK(checked(story).property("recoverable").verdict == right);
}

constexpr const char* kLost = "[[client]]\nname = \"A\"\nhold = \"20ms\"\nrelease = false\n";
constexpr const char* kDone = "[[client]]\nname = \"A\"\nhold = \"20ms\"\n";
constexpr const char* kDelete = "function release(c, hold) return c.redis:del(c.key) == 1 end\n";
constexpr const char* kLease = "parameters = { ttl = { default = \"100ms\", role = \"lease\" }, retry = \"10ms\" }\n";

std::string redis(const std::string& acquire) { return kLease + acquire + kDelete; }

}  // namespace

TEST_CASE("visitor: who rests for longer than it takes the lock to come back tries again all the same") {
  // A dies between its two commands, and the key has no lease. The bound is 9 and a few round trips, a client rests for 100.
  const std::string two_steps = R"(parameters = { ttl = { default = "9ms", role = "lease" } }
function acquire(c)
  if c.redis:setnx(c.key, c.name) == 1 then
    c.redis:pexpire(c.key, c.parameters.ttl)
    return { token = c.name }
  end
end
)" + std::string(kDelete);
  const std::string one = "[[client]]\nname = \"A\"\nhold = \"6ms\"\nattempts = 1\n";
  CHECK(checked(story_of(two_steps, one)).property("recoverable").verdict == Verdict::holds);
  CHECK(checked(story_of(two_steps, one + "[[may]]\nkind = \"crash\"\nclient = \"A\"\n"))
            .property("recoverable")
            .verdict == Verdict::violated);
  const std::string dies = one + "[[fault]]\nkind = \"crash\"\nclient = \"A\"\nat = \"1500us\"\n";
  CHECK(said_by_run(story_of(two_steps, dies)) == Verdict::violated);
}

TEST_CASE("visitor: an attempt is given up only when its answer could not come") {
  // The end of the lease, 23ms after the grant, is the key's value, and a lost holder's task keeps the key. A visitor that
  // comes before that rests for 100ms, and then gets it: an answer takes 2ms, and it waits 5ms for one.
  const std::string by_value = R"(parameters = { lease = { default = "23ms", role = "renewed_lease" } }
background = true
local take = [[
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local ends = redis.call('GET', KEYS[1])
if ends and tonumber(ends) > now then return 0 end
redis.call('SET', KEYS[1], now + tonumber(ARGV[1]))
return 1
]]
function acquire(c)
  if c.redis:eval(take, { c.key }, { c.parameters.lease }) ~= 1 then return nil end
  c:every(c.parameters.lease / 3, function(w) return w.redis:pexpire(c.key, c.parameters.lease) == 1 end)
  return { token = c.name }
end
)" + std::string(kDelete);
  const std::string world = R"([network]
latency = "1ms"
timeout = "5ms"
[[client]]
name = "A"
attempts = 1
[[client]]
name = "B"
acquire_at = ["6ms", "8ms"]
hold = "5ms"
attempts = 1
release = false
[[may]]
kind = "delay"
client = "A"
length = "14ms"
times = 2
)";
  check_both(Verdict::holds, by_value, world);
}

TEST_CASE("visitor: what a failed attempt does to the lock keeps it from the next one") {
  // Each attempt gives the key another 100ms, and the next comes 12ms later.
  const std::string renews = redis(R"(function acquire(c)
  local got = c.redis:setnx("app:lock", "x")
  c.redis:pexpire("app:lock", c.parameters.ttl)
  if got == 1 then return { token = "x" } end
end
)");
  check_both(Verdict::violated, renews, kLost);
  // The same with a pause between two attempts that is longer than the lease: the second one gets it.
  check_both(Verdict::holds, renews, std::string("retry = \"150ms\"\n") + kLost);
  // Whoever is refused leaves a note, and whoever reads it gives up: the first attempt of the visitor is its last chance.
  check_both(Verdict::violated, redis(R"(function acquire(c)
  if c.redis:get("note") ~= nil then return nil end
  if c.redis:set(c.key, "x", { nx = true, px = 100 }) == "OK" then return { token = "x" } end
  c.redis:set("note", "x")
end
)"),
             kLost);
  // The same note, but it is gone after 5ms, and the next attempt comes 12ms later.
  check_both(Verdict::holds, redis(R"(function acquire(c)
  if c.redis:get("note") ~= nil then return nil end
  if c.redis:set(c.key, "x", { nx = true, px = 100 }) == "OK" then return { token = "x" } end
  c.redis:set("note", "x", { px = 5 })
end
)"),
             kLost);
}

TEST_CASE("visitor: a lock that only runs out is got when it has") {
  const std::string plain = redis(R"(function acquire(c)
  if c.redis:set(c.key, "x", { nx = true, px = c.parameters.ttl }) == "OK" then return { token = "x" } end
end
)");
  check_both(Verdict::holds, plain, kLost);
  check_both(Verdict::holds, plain, kDone);
  // Without a lease it is taken for ever.
  const std::string endless = redis(R"(function acquire(c)
  if c.redis:setnx(c.key, "x") == 1 then return { token = "x" } end
end
)");
  check_both(Verdict::violated, endless, kLost);
  check_both(Verdict::holds, endless, kDone);
}

TEST_CASE("visitor: who sleeps, remembers or leaves tasks behind has the lock all the same") {
  for (const char* nap : {"5", "15", "90", "400"}) {
    const std::string sleeps = redis(
        "function acquire(c)\n"
        "  if c.redis:set(c.key, \"x\", { nx = true, px = 600 }) ~= \"OK\" then return nil end\n"
        "  c:sleep(" +
        std::string(nap) + ")\n  return { token = \"x\" }\nend\n");
    check_both(Verdict::holds, sleeps, std::string("ttl = \"600ms\"\n") + kDone);
    check_both(Verdict::holds, sleeps, std::string("ttl = \"600ms\"\n") + kLost);
  }
  // Who has seen the same value for as long as a lease takes it over: the visitor needs a lease of its own for that.
  check_both(Verdict::holds, std::string(kLease) + R"(
local seen, since
function acquire(c)
  local v = c.redis:get(c.key)
  if v ~= nil then
    if v ~= seen then seen = v; since = c:monotonic(); return nil end
    if c:monotonic() < since + c.parameters.ttl then return nil end
  end
  c.redis:set(c.key, c:token())
  return { token = "x" }
end
function release(c, hold) end
)",
             kDone);
  const std::string background =
      "background = true\nparameters = { ttl = { default = \"100ms\", role = \"renewed_lease\" }, "
      "retry = \"10ms\" }\nfunction acquire(c)\n"
      "  if c.redis:set(c.key, \"x\", { nx = true, px = 100 }) ~= \"OK\" then return nil end\n";
  // A task that nobody stops and that does nothing to the lock.
  check_both(Verdict::holds,
             background + "  return { watch = c:every(33, function(w) return true end) }\nend\n" + kDelete, kDone);
  check_both(Verdict::holds, background + "  c:spawn(function(w) w:tick(1000) end)\n  return {}\nend\n" + kDelete,
             kDone);
  // One that nobody stops and that goes on renewing a lock that was never given back.
  check_both(Verdict::violated,
             background +
                 "  return { watch = c:every(33, function(w) w.redis:pexpire(w.key, 100) return true end) }\nend\n" +
                 kDelete,
             kLost);
}

TEST_CASE("visitor: no fault strikes while it waits, nor what ticks meanwhile") {
  // A's task looks every 100ms, for the first time long after A is done, and spoils the lock when it hears nothing. The
  // lease ends 300ms after A got it; only a lost GET could keep it from coming back.
  const std::string script =
      "background = true\nparameters = { ttl = { default = \"300ms\", role = \"lease\" }, retry = \"10ms\" }\n"
      "function acquire(c)\n"
      "  if c.redis:set(c.key, \"x\", { nx = true, px = c.parameters.ttl }) ~= \"OK\" then return nil end\n"
      "  c:every(100, function(w)\n"
      "    if w.redis:get(c.key) == unknown then w.redis:set(c.key, \"spoilt\") end\n"
      "    return true\n  end)\n  return {}\nend\n" +
      std::string(kDelete);
  const std::string client =
      "[network]\ntimeout = \"7ms\"\n[[client]]\nname = \"A\"\nhold = \"2ms\"\nattempts = 1\nrelease = false\n";
  for (const std::string fault : {"kind = \"lose\"", "kind = \"delay\"\nlength = [\"0ms\", \"20ms\"]"}) {
    const Exploration exploration = checked(story_of(script, client + "[[may]]\nmessage = \"GET\"\n" + fault + "\n"));
    CHECK(exploration.property("recoverable").verdict == Verdict::holds);
  }
  // What a file lists strikes all the same; and in a story that goes on, the task's messages are its own.
  CHECK(said_by_run(story_of(script, client + "[[fault]]\nkind = \"lose\"\nclient = \"A\"\nmessage = \"GET\"\n")) ==
        Verdict::violated);
  const std::string longer =
      "[network]\ntimeout = \"7ms\"\n[[client]]\nname = \"A\"\nhold = \"150ms\"\nattempts = 1\nrelease = false\n";
  CHECK(checked(story_of(script, longer + "[[may]]\nmessage = \"GET\"\nkind = \"lose\"\n"))
            .property("recoverable")
            .verdict == Verdict::violated);
}

TEST_CASE("visitor: who comes before a session has ended may leave a queue behind that no session ends") {
  const std::string queue = R"(server = "zookeeper"
parameters = { session_timeout = { default = "3s", role = "renewed_lease" }, leaves = { default = false } }
function acquire(c)
  local patience = c:patience(100)
  if not c.zookeeper:open(c.parameters.session_timeout) then return nil end
  local own = c.zookeeper:create("/locks/lock/n", { ephemeral = true, sequential = true })
  if own == unknown or error_of(own) then return nil end
  while true do
    local names = c.zookeeper:children("/locks/lock")
    local before
    for i = 1, names.n do
      local path = "/locks/lock/" .. names[i]
      if path < own and (before == nil or before < path) then before = path end
    end
    if before == nil then return { token = own } end
    local stat, watch = c.zookeeper:exists(before, { watch = true })
    if stat ~= nil and watch:wait({ patience = patience }) == nil then
      if c.parameters.leaves then c.zookeeper:delete(own) end
      return nil
    end
  end
end
function release(c, hold) return c.zookeeper:delete(hold.token) == true end
)";
  const std::string crash =
      "[[server]]\nkind = \"zookeeper\"\n[[client]]\nname = \"A\"\nhold = \"200ms\"\n"
      "[[fault]]\nkind = \"crash\"\nclient = \"A\"\nafter = \"GET_CHILDREN\"\n"
      "[[may]]\nkind = \"crash\"\nclient = \"A\"\n";
  check_both(Verdict::violated, queue, crash);
  check_both(Verdict::holds, queue, "leaves = true\n" + crash);
}

}  // namespace lockstep::scenarios::visitor_test
