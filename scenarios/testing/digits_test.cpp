// Margins of locks that compare rounded times: worked out on paper, and confirmed by a run that breaks the lock with two
// nanoseconds more. And waits that are as long as what PTTL said.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>

#include "scenarios/checking/check.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::digits_test {
namespace {

using namespace sim::literals;
using checker::Extent;
using checker::Verdict;
using testing::catalogue;

namespace fs = std::filesystem;

/// Two clients with the given lock; the second one comes at any time.
Scenario story_of(const std::string& script, const std::string& rest) {
  const fs::path folder = fs::temp_directory_path() / ("lockstep-digits-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "mine.lua") << script;
  const std::string lock = script.empty() ? "[lock]\n" : "[lock]\nscript = \"mine.lua\"\n";
  auto loaded = parse("title = \"t\"\n" + lock + rest, (folder / "s.toml").string(), catalogue());
  fs::remove_all(folder);
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
  return std::get<Scenario>(std::move(loaded));
}

/// With the second opinion.
Exploration checked(const Scenario& story) {
  auto result = check(story, catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  Exploration exploration = std::get<Exploration>(std::move(result));
  CHECK(exploration.counts.complete);
  CHECK(exploration.disagreements == 0);
  CHECK(exploration.unconfirmed == 0);
  return exploration;
}

void check_margin(const Exploration& exploration, std::string_view property, Extent right) {
  const ExploredProperty& explored = exploration.property(property);
  INFO(property << ": " << explored.why);
  REQUIRE(explored.verdict == Verdict::violated);
  REQUIRE(explored.witness);
  REQUIRE(explored.thresholds.size() == 1);
  CHECK(explored.thresholds.front().is_exact);
  CHECK(explored.thresholds.front().infimum == right);
}

/// The end of the lease, in whole units of the server's clock. `now`: what the script makes of TIME.
std::string lock_by_time(const std::string& now, const std::string& lease, const std::string& factor) {
  return "parameters = { lease = { default = \"" + lease +
         "\", role = \"lease\" } }\nclaims = { \"mutual-exclusion\" }\n" +
         "local take = [[\nlocal t = redis.call('TIME')\nlocal now = " + now + R"(
local ends = redis.call('GET', KEYS[1])
if ends and tonumber(ends) > now then return 0 end
redis.call('SET', KEYS[1], now + tonumber(ARGV[1]))" +
         factor + R"()
return 1
]]
function acquire(c)
  if c.redis:eval(take, { c.key }, { c.parameters.lease }) == 1 then return { token = "x" } end
end
function release(c, hold) return false end
)";
}

constexpr const char* kTwo =
    "[network]\nlatency = \"1ms\"\n[[client]]\nname = \"A\"\nacquire_at = [\"0ms\", \"10ms\"]\nhold = \"20ms\"\n"
    "[[client]]\nname = \"B\"\nacquire_at = [\"0ms\", \"200ms\"]\nhold = \"5ms\"\n[[may]]\nkind = \"pause\"\n"
    "client = \"A\"\nlength = [\"0ms\", \"1s\"]\n";

}  // namespace

TEST_CASE("digits: a lease in whole milliseconds of TIME ends up to a millisecond early") {
  // A's script at s writes floor(s) + 50. B's at y gets the lock from floor(y) >= floor(s) + 50 on, so from y = s + 49ms and
  // a little on, and knows 1 later. A knows 1 after s, works 20 and is paused for P: s + 21 + P > s + 49 + 1.
  const Exploration whole = checked(story_of(lock_by_time("t[1] * 1000 + math.floor(t[2] / 1000)", "50ms", ""), kTwo));
  check_margin(whole, "mutual-exclusion", {29_ms, false});
  // Microseconds: s + 49.999ms.
  const Exploration fine = checked(story_of(lock_by_time("t[1] * 1000000 + t[2]", "50ms", " * 1000"), kTwo));
  check_margin(fine, "mutual-exclusion", {sim::Duration::microseconds(29'999), false});
}

TEST_CASE("digits: Redisson's waiter wakes up when what PTTL said is over, which is up to a millisecond early") {
  // A's lease runs until 42. B's EVAL comes at t, hears floor(42 - t) at t + 1 and asks again when that is over: from 42 and a
  // little on, to 43. It knows two later, so from 44 and a little on. A works from 13 until 18 and is paused for P: 18 + P > 44.
  const Exploration exploration = checked(
      story_of("",
               "algorithm = \"redisson-lock\"\nlease = \"30ms\"\nwait = \"40ms\"\nattempts = 1\n[network]\nlatency = "
               "\"1ms\"\n[[client]]\nname = \"A\"\nacquire_at = \"11ms\"\nhold = \"5ms\"\n[[client]]\nname = \"B\"\n"
               "acquire_at = [\"0ms\", \"30ms\"]\nhold = \"15ms\"\n[[may]]\nkind = \"pause\"\nclient = \"A\"\n"
               "length = [\"0ms\", \"100ms\"]\n"));
  check_margin(exploration, "mutual-exclusion", {26_ms, false});
}

TEST_CASE("digits: a wait as long as a lease begins when it begins, not when PTTL was answered") {
  // B hears at t + 1 what is left, subscribes, which takes 2, and waits that long: it asks again up to 3 after the end of the
  // lease. Nobody tells it more, as A's message comes before it listens. Its patience of 30 is never used up.
  const std::string script = R"(parameters = { lease = { default = "18ms", role = "lease" } }
claims = { "mutual-exclusion" }
subscribes = true
local take = [[
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[1]) then return false end
return redis.call('PTTL', KEYS[1])
]]
function acquire(c)
  local token = c:token()
  local patience = c:patience(30)
  local left = c.redis:eval(take, { c.key }, { c.parameters.lease, token })
  if left == nil then return { token = token } end
  local channel = c:subscribe("freed", { patience = patience })
  if not channel then return nil end
  if type(left) == "number" and left >= 0 then channel:wait({ patience = patience, lease = left }) end
  if left ~= nil and left ~= unknown then left = c.redis:eval(take, { c.key }, { c.parameters.lease, token }) end
  channel:leave()
  if left == nil then return { token = token } end
end
function release(c, hold)
  if c.redis:get(c.key) ~= hold.token then return false end
  local freed = c.redis:del(c.key)
  c.redis:publish("freed", "")
  return freed == 1
end
)";
  const std::string clients =
      "[network]\nlatency = \"1ms\"\n[[client]]\nname = \"A\"\nhold = \"13ms\"\nattempts = 1\n[[client]]\nname = "
      "\"B\"\n"
      "acquire_at = [\"0ms\", \"30ms\"]\nhold = \"4ms\"\nattempts = 1\n";
  for (const char* faults : {"", "[[may]]\nkind = \"pause\"\nlength = \"6ms\"\nduring = \"work\"\n"}) {
    INFO(faults);
    const Exploration exploration = checked(story_of(script, clients + faults));
    CHECK(exploration.property("no-lost-wakeup").verdict == Verdict::holds);
    CHECK(exploration.property("mutual-exclusion").verdict == (*faults == 0 ? Verdict::holds : Verdict::violated));
  }
}

}  // namespace lockstep::scenarios::digits_test
